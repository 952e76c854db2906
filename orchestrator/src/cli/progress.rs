//! Progress of a task on stderr: a moving line on a terminal, one line a step elsewhere.

use super::report::counted;
use super::{escaped, tell};
use indicatif::{ProgressBar, ProgressStyle};
use lyra_domain::TaskId;
use lyra_research::{Progress, Step};
use lyra_usecases::config::LogFormat;
use lyra_usecases::{App, idle};
use std::io::{IsTerminal, Write};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// Shows the steps of a task until it is dropped.
pub(super) struct TaskProgressLine {
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl TaskProgressLine {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar, quiet }
    }

    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(text.to_owned()),
            None if self.quiet => {}
            None => tell(text),
        }
    }
}

impl Drop for TaskProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Waits until the task is done, showing its steps. `false` when `cancel` came first.
pub(super) async fn follow(
    app: &App,
    task: &TaskId,
    mut steps: broadcast::Receiver<Progress>,
    quiet: bool,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let line = TaskProgressLine::new(quiet);
    line.say("loading the models");
    loop {
        tokio::select! {
            step = steps.recv() => match step {
                Ok(progress) if progress.task == *task => line.say(&words(&progress.step)),
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            () = tokio::time::sleep(Duration::from_millis(100)) => {}
            () = cancel.cancelled() => return Ok(false),
        }
        if idle(&app.task_status(task, Duration::ZERO).await?) {
            return Ok(true);
        }
    }
}

/// Says when ml-servers are waited for; on `cancel` that wait ends.
pub(super) async fn waits(app: App, cancel: CancellationToken) {
    let mut awaited = app.models_awaited();
    let say = async {
        while awaited.changed().await.is_ok() {
            let why = awaited.borrow_and_update().clone();
            match why {
                Some(why) if app.config().log.format == LogFormat::Json => tracing::warn!("{why}"),
                Some(why) => interject(&why),
                None => {}
            }
        }
    };
    cancel.run_until_cancelled(say).await;
    app.stop_awaiting_models();
}

/// Prints a line on stderr in the place of a moving one, which is then drawn again below.
fn interject(text: &str) {
    let start = if std::io::stderr().is_terminal() { "\r\u{1b}[2K" } else { "" };
    // When stderr is closed there is nowhere to write.
    let _ = writeln!(std::io::stderr(), "{start}{}", escaped(text));
}

fn words(step: &Step) -> String {
    match step {
        Step::Collected { query, hits } => {
            format!("found {} for “{query}”", counted(*hits as u64, "document"))
        }
        Step::Ranked { relevant: 1 } => "ranked: 1 passage is relevant".to_owned(),
        Step::Ranked { relevant } => format!("ranked: {relevant} passages are relevant"),
        Step::Fetched { read, of } => format!("pages of works without abstract: {read} of {of} read"),
        Step::Expanded { found, chosen } => format!("citations: {found} works found, {chosen} taken in"),
        Step::Extracted { claims } => format!("{} to judge", counted(*claims as u64, "claim")),
        Step::Judged { done, of } => format!("judged {done} of {}", counted(*of as u64, "claim")),
    }
}
