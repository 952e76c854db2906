//! Tasks: making one, asking it for more, stopping it, looking at what there is.

use super::{App, AppError};
use lyra_domain::{
    Budget, ClaimId, ClaimReport, FragmentId, Priority, Task, TaskConfig, TaskId, contradictions_first,
};
use lyra_research::ports::TaskStore;
use lyra_sources::registry::WEB;
use lyra_store::{QuestionClaim, QueuedSearches, StopMode, StopOutcome, TaskPage};
use lyra_wire::TaskChange;
use std::collections::HashMap;

/// What the sources of a task that are corpora begin with.
const CORPUS: &str = "corpus:";
/// Longest query or claim, in characters.
const MAX_QUERY_CHARS: usize = 2_000;
/// Most queries in one call.
const MAX_QUERIES: usize = 20;
/// Most pages that a task may register.
const MAX_PAGES: u32 = 500;

/// A task to create.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewTask {
    /// The question or hypothesis.
    pub query: String,
    /// Its limits.
    pub config: TaskConfig,
    /// Claims to gather evidence for. Of a question, the claim behind it.
    pub claims: Vec<String>,
    /// Whether the claim behind the question is judged; as configured (`research.judge_question`) when `None`.
    pub judge_question: Option<bool>,
}

/// Searches to add to a task.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueSearches {
    /// Task.
    pub task: TaskId,
    /// What to search, 1 to 20.
    pub queries: Vec<String>,
    /// Names of the sources to search, a corpus with or without `corpus:`; empty means all of the task's.
    pub sources: Vec<String>,
    /// Names of web search engines to query; given alone, nothing else is searched. Empty means the configured ones.
    pub engines: Vec<String>,
    /// A run whose first documents are judged as well; given alone, nothing else is searched.
    pub run_id: Option<String>,
    /// New limit of pages for the task.
    pub budget_pages: Option<u32>,
    /// Which go first.
    pub priority: Priority,
}

impl App {
    /// Creates a task. With claims, gathering evidence for them starts at once. The claim behind the question is stored
    /// with it, if its form is recognized, and judged against the search results.
    ///
    /// # Errors
    /// An empty or over-long query, a question without a claim among the claims, a budget out of range, a source that
    /// does not exist.
    pub async fn create_task(&self, new: NewTask) -> Result<Task, AppError> {
        let query = checked_text("query", &new.query)?;
        let language = new.config.language.as_deref();
        let stated = |claim: &String| stated(checked_text("claims", claim)?, language);
        let claims = new.claims.iter().map(stated).collect::<Result<Vec<_>, _>>()?;
        let (claims, warnings): (Vec<String>, Vec<Option<String>>) = claims.into_iter().unzip();
        if claims.len() > MAX_QUERIES {
            return Err(AppError::invalid(
                format!("`claims` has {} entries", claims.len()),
                format!("give at most {MAX_QUERIES} claims to one task"),
            ));
        }
        checked_budget(new.config.budget)?;
        let mut config = new.config;
        for source in &mut config.sources {
            if let Some(corpus) = source.strip_prefix(CORPUS) {
                *source = corpus.to_owned();
            }
        }
        self.choose_sources(&mut config).await?;
        let judged = new.judge_question.unwrap_or(self.config().research.judge_question);
        let question_claim = judged.then(|| question_claim(&query, config.language.as_deref())).flatten();
        let new = lyra_store::NewTask { query, config, claims, question_claim };
        let task = self.store().create_task(new, Priority::Medium).await?;
        for warning in warnings.iter().flatten() {
            TaskStore::add_warning(self.store(), &task.id, warning).await?;
        }
        self.publish_task(&task.id, TaskChange::Created);
        self.inner.wake.notify_waiters();
        Ok(task)
    }

    /// Queues searches; the same text already queued or running is skipped. A stopped task resumes.
    ///
    /// # Errors
    /// No such task, no query, too many, an empty or over-long one, an unknown source or engine.
    pub async fn queue_searches(&self, search: QueueSearches) -> Result<QueuedSearches, AppError> {
        if search.queries.is_empty() || search.queries.len() > MAX_QUERIES {
            return Err(AppError::invalid(
                format!("`queries` has {} entries", search.queries.len()),
                format!("give 1 to {MAX_QUERIES} queries"),
            ));
        }
        let queries = search
            .queries
            .iter()
            .map(|query| checked_text("queries", query))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(pages) = search.budget_pages {
            checked_budget(Budget { max_pages: pages, ..Budget::default() })?;
        }
        let task = self.task(&search.task).await?;
        let known = Self::source_names(&task.config);
        let mut sources = named_sources(&search.sources, &known)?;
        if !search.engines.is_empty() {
            self.check_engines(&search.engines, &known)?;
            sources.retain(|source| source != WEB.name);
            sources.extend(search.engines.iter().map(|engine| format!("{}:{engine}", WEB.name)));
        }
        if let Some(run_id) = search.run_id {
            let source = self.fusion().source_name(&run_id).await?;
            self.store().add_source(&search.task, &source).await?;
            sources.push(source);
        }
        if let Some(pages) = search.budget_pages {
            let budget = Budget { max_pages: pages, ..task.config.budget };
            self.store().set_budget(&search.task, budget).await?;
        }
        let queued =
            self.store().queue_searches(&search.task, &queries, None, search.priority, &sources).await?;
        self.publish_task(&search.task, TaskChange::Changed);
        self.inner.wake.notify_waiters();
        Ok(queued)
    }

    /// Gives a task other limits; what is not given stays. Searches that wait or run heed them. What was left out before is
    /// not searched again: queue a search for it.
    ///
    /// # Errors
    /// No such task, nothing to change, a limit out of range.
    pub async fn change_budget(
        &self,
        task: &TaskId,
        pages: Option<u32>,
        seconds: Option<u32>,
    ) -> Result<Task, AppError> {
        if pages.is_none() && seconds.is_none() {
            return Err(AppError::invalid("no limit is given", "give pages, seconds, or both"));
        }
        let known = self.task(task).await?.config.budget;
        let budget = Budget {
            max_pages: pages.unwrap_or(known.max_pages),
            max_seconds: seconds.unwrap_or(known.max_seconds),
        };
        checked_budget(budget)?;
        self.store().set_budget(task, budget).await?;
        self.publish_task(task, TaskChange::Changed);
        self.task(task).await
    }

    /// Stops a task: `graceful` lets running jobs finish, `immediate` cancels them. Results are kept.
    ///
    /// # Errors
    /// No such task.
    pub async fn stop_task(
        &self,
        task: &TaskId,
        reason: &str,
        mode: StopMode,
    ) -> Result<StopOutcome, AppError> {
        let outcome = self.store().stop_task(task, reason, mode).await?;
        if mode == StopMode::Immediate {
            self.inner.stops.stop(task);
        }
        self.publish_task(task, TaskChange::Stopped);
        Ok(outcome)
    }

    /// Queues the work again that stopping a task cancelled, searches and judging; the task resumes. Without any,
    /// nothing changes.
    ///
    /// # Errors
    /// No such task.
    pub async fn resume_task(&self, task: &TaskId) -> Result<QueuedSearches, AppError> {
        let queued = self.store().resume_task(task, Priority::Medium).await?;
        if queued.resumed {
            self.publish_task(task, TaskChange::Changed);
            self.inner.wake.notify_waiters();
        }
        Ok(queued)
    }

    /// A task by id.
    ///
    /// # Errors
    /// No such task.
    pub async fn task(&self, task: &TaskId) -> Result<Task, AppError> {
        Ok(TaskStore::task(self.store(), task).await?)
    }

    /// The newest tasks.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list_tasks(&self, limit: u32) -> Result<Vec<Task>, AppError> {
        Ok(self.store().list_tasks(limit, None).await?.tasks)
    }

    /// A page of the tasks, newest first, from the beginning or from where a cursor points.
    ///
    /// # Errors
    /// An invalid cursor.
    pub async fn task_page(&self, limit: u32, cursor: Option<&str>) -> Result<TaskPage, AppError> {
        Ok(self.store().list_tasks(limit, cursor).await?)
    }

    /// Every adopted claim of a task with its evidence, contradicted ones first.
    ///
    /// # Errors
    /// No such task.
    pub async fn claim_reports(&self, task: &TaskId) -> Result<Vec<ClaimReport>, AppError> {
        let mut reports = self.store().claim_reports(task).await?;
        contradictions_first(&mut reports);
        Ok(reports)
    }

    /// The claim behind a task's question with its evidence, if it has one that is adopted.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn question_claim(&self, task: &TaskId) -> Result<Option<ClaimReport>, AppError> {
        Ok(self.store().question_report(task).await?)
    }

    /// The whole passages of these fragments; those that do not exist are absent.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn passage_texts(
        &self,
        fragments: &[FragmentId],
    ) -> Result<HashMap<FragmentId, String>, AppError> {
        Ok(self.store().passages(fragments).await?)
    }

    /// One claim with its evidence, adopted or not.
    ///
    /// # Errors
    /// No such claim.
    pub async fn claim_report(&self, claim: &ClaimId) -> Result<ClaimReport, AppError> {
        Ok(self.store().claim_report(claim).await?)
    }
}

/// The claim behind a question.
fn question_claim(question: &str, language: Option<&str>) -> Option<QuestionClaim> {
    let language = language.or_else(|| lyra_text::language(question));
    let text = lyra_text::question::proposition(question, language)?.claim;
    Some(QuestionClaim { text, language: language.map(str::to_owned) })
}

/// A claim as it is stored. A question becomes the claim behind it, and a warning says so.
fn stated(claim: String, language: Option<&str>) -> Result<(String, Option<String>), AppError> {
    if !claim.ends_with(['?', '？']) {
        return Ok((claim, None));
    }
    let Some(QuestionClaim { text, .. }) = question_claim(&claim, language) else {
        return Err(AppError::invalid(
            format!("“{claim}” is a question, not a claim"),
            "write it as one statement, or research it as a question",
        ));
    };
    let warning = format!("“{claim}” is a question: judging the claim “{text}”");
    Ok((text, Some(warning)))
}

/// Sources of a task as they are stored; a corpus may be named without `corpus:`.
fn named_sources(named: &[String], known: &[String]) -> Result<Vec<String>, AppError> {
    let source = |name: &String| {
        let corpus = format!("{CORPUS}{name}");
        let found = known.iter().find(|known| *known == name);
        found.or_else(|| known.iter().find(|known| **known == corpus)).cloned().ok_or_else(|| {
            AppError::invalid(
                format!("`{name}` is not a source of this task"),
                format!("its sources are: {}", known.join(", ")),
            )
        })
    };
    named.iter().map(source).collect()
}

/// The text with single spaces, or why it cannot be used.
fn checked_text(argument: &str, text: &str) -> Result<String, AppError> {
    let text = lyra_text::normalise(text);
    let length = text.chars().count();
    if text.is_empty() {
        return Err(AppError::invalid(
            format!("`{argument}` is empty"),
            "write a question or statement in words",
        ));
    }
    if length > MAX_QUERY_CHARS {
        return Err(AppError::invalid(
            format!("`{argument}` has {length} characters"),
            format!("the limit is {MAX_QUERY_CHARS}; split it"),
        ));
    }
    Ok(text)
}

fn checked_budget(budget: Budget) -> Result<(), AppError> {
    if budget.max_pages == 0 || budget.max_pages > MAX_PAGES {
        return Err(AppError::invalid(
            format!("a budget of {} pages is out of range", budget.max_pages),
            format!("use 1 to {MAX_PAGES} pages"),
        ));
    }
    if budget.max_seconds == 0 {
        return Err(AppError::invalid("a budget of 0 seconds allows nothing", "use at least 1 second"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::time::Duration;

    #[test]
    fn a_corpus_may_be_named_without_its_prefix() {
        let known = ["corpus:example", "openalex"].map(str::to_owned);
        for (name, source) in
            [("example", "corpus:example"), ("corpus:example", "corpus:example"), ("openalex", "openalex")]
        {
            assert_eq!(named_sources(&[name.to_owned()], &known).unwrap(), [source]);
        }
        let refused = named_sources(&["s2".to_owned()], &known).unwrap_err();
        assert_eq!(refused.message, "`s2` is not a source of this task");
    }

    #[tokio::test]
    async fn a_question_among_the_claims_becomes_the_claim_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
        let app = crate::testing::open(config).await;
        let checked = async |claim: &str| {
            let config = TaskConfig { sources: vec!["openalex".to_owned()], ..TaskConfig::default() };
            let claims = vec![claim.to_owned()];
            let new = NewTask { query: claim.to_owned(), config, claims, judge_question: Some(false) };
            app.create_task(new).await
        };
        let task = checked("Do naps improve memory?").await.unwrap().id;
        let reports = app.claim_reports(&task).await.unwrap();
        assert_eq!(reports[0].claim.claim_text, "Naps improve memory.");
        let warnings = app.task_status(&task, Duration::ZERO).await.unwrap().warnings;
        assert_eq!(
            warnings,
            ["“Do naps improve memory?” is a question: judging the claim “Naps improve memory.”"]
        );

        let refused = checked("Which naps are best?").await.unwrap_err();
        assert_eq!(refused.message, "“Which naps are best?” is a question, not a claim");
        let stated = checked("Naps improve memory.").await.unwrap().id;
        assert!(app.task_status(&stated, Duration::ZERO).await.unwrap().warnings.is_empty());
        app.close().await;
    }
}
