//! `lyra research`.

use super::report::{self, ReportArgs};
use super::{progress, tell};
use clap::Args;
use lyra_domain::{Budget, Priority, Task, TaskConfig, TaskId};
use lyra_store::TaskProgress;
use lyra_usecases::{App, AppError, ErrorCode, NewTask, QueueSearches, failed, served_at};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
pub(super) struct ResearchArgs {
    /// The question, in words
    question: String,
    /// Maximum number of claims to extract
    #[arg(long, default_value_t = 10, value_name = "N")]
    claims: usize,
    /// Treat the question as a topic: do not judge the claim behind it
    #[arg(long)]
    no_judge_question: bool,
    #[command(flatten)]
    task: TaskArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// What `research` and `check` have in common.
#[derive(Debug, Args)]
pub(super) struct TaskArgs {
    /// Corpus to search: its name, or a JSONL file or folder to import first; may be given several times
    /// [default: every imported corpus, else the example corpus, unless --sources says otherwise]
    #[arg(long, value_name = "NAME|PATH")]
    corpus: Vec<String>,
    #[command(flatten)]
    narrow: super::corpus::NarrowArgs,
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help = sources_help())]
    sources: Vec<String>,
    /// Page limit, 1 to 500
    #[arg(long, default_value_t = Budget::default().max_pages, value_name = "N")]
    max_pages: u32,
    /// Time limit in seconds of work
    #[arg(long, default_value_t = Budget::default().max_seconds, value_name = "S")]
    max_seconds: u32,
    /// No progress on stderr
    #[arg(long, short)]
    pub(super) quiet: bool,
}

fn sources_help() -> String {
    format!(
        "Sources to search, separated by commas: {}, corpora, names of corpora [default: `default` under [sources] in \
         the configuration, normally corpora]",
        lyra_sources::registry::introductions()
    )
}

impl TaskArgs {
    /// The configuration of the task; a corpus given as a path is imported first.
    pub(super) async fn config(&self, app: &App, cancel: &CancellationToken) -> anyhow::Result<TaskConfig> {
        let corpora = super::corpus::named(app, &self.corpus, self.quiet, cancel).await?;
        let budget = Budget { max_pages: self.max_pages, max_seconds: self.max_seconds };
        let super::corpus::NarrowArgs { tags, collections } = self.narrow.clone();
        let sources = self.sources.clone();
        Ok(TaskConfig { budget, corpora, tags, collections, sources, ..TaskConfig::default() })
    }
}

pub(super) async fn run(
    app: &App,
    args: &ResearchArgs,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let config = TaskConfig { max_claims: Some(args.claims), ..args.task.config(app, cancel).await? };
    let judge_question = args.no_judge_question.then_some(false);
    let new = NewTask { query: args.question.clone(), config, claims: Vec::new(), judge_question };
    let task = app.create_task(new).await?;
    app.queue_searches(QueueSearches {
        run_id: None,
        task: task.id.clone(),
        queries: vec![args.question.clone()],
        sources: Vec::new(),
        engines: Vec::new(),
        budget_pages: None,
        priority: Priority::Medium,
    })
    .await?;
    if !work(app, &task, args.task.quiet, cancel).await? {
        return Ok(ExitCode::from(130));
    }
    show(app, &task, &args.report).await
}

/// Runs a task until it is done. When interrupted, prints how to continue and returns `false`.
pub(super) async fn work(
    app: &App,
    task: &Task,
    quiet: bool,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let steps = app.progress();
    let workers = app.start_workers(Some(&task.id), cancel);
    let stop = cancel.child_token();
    let done = progress::follow(app, &task.id, steps, quiet, &stop).await?;
    if !done {
        workers.wait().await;
        tell(&format!("interrupted; results are kept. To continue: lyra task resume {}", task.id));
    }
    Ok(done)
}

/// Prints a task's answer. Fails when the task failed; without findings it then prints no text report.
pub(super) async fn show(app: &App, task: &Task, args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let mut answer = app.answer(&task.id).await?;
    if answer.progress.pending_auth > 0 {
        let (waiting, id) = (answer.progress.pending_auth, &task.id);
        let what = if waiting == 1 { "1 engine or page waits" } else { "engines or pages wait" };
        let many = if waiting == 1 { String::new() } else { format!("{waiting} ") };
        answer.notes.push(format!("{many}{what} for a person; see: lyra auth list --task {id}"));
    }
    let failure = failure(&answer.progress);
    if failure.is_none() || answer.progress.pages > 0 || args.is_json() {
        report::show(answer, args, app.now())?;
        link(app, &task.id).await;
    }
    failure.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Names the task's page, when a server runs on the data folder.
pub(super) async fn link(app: &App, task: &TaskId) {
    if let Some(address) = served_at(app.data_dir()).await {
        tell(&format!("in the browser: {address}/tasks/{task}"));
    }
}

/// Why the task failed, if it did.
pub(super) fn failure(progress: &TaskProgress) -> Option<anyhow::Error> {
    let why = progress.task.error.clone().unwrap_or_else(|| "the task failed".to_owned());
    failed(progress).then(|| AppError::new(ErrorCode::Unavailable, why).into())
}
