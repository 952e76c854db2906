//! Stalled work, and sources that are cooling down.

use super::{App, Finding};
use crate::Remedy;
use lyra_domain::JobState;
use lyra_store::StoreCounts;

/// Age in seconds from which a waiting job shows that no worker is running.
const STALE: f64 = 600.0;

impl App {
    pub(super) async fn work(&self) -> Finding {
        match self.store().counts().await {
            Ok(counts) => work(&counts),
            Err(error) => Finding::broken("work", error.to_string(), "restore the data folder from a backup"),
        }
    }

    /// Default sources that can be queried, or that are cooling down.
    pub(super) async fn outside(&self) -> Finding {
        const PART: &str = "sources";
        let sources = match self.list_sources().await {
            Ok(sources) => sources,
            Err(error) => {
                return Finding::broken(PART, error.message, "fix [sources] in the configuration");
            }
        };
        let paused: Vec<String> = sources
            .iter()
            .filter_map(|source| {
                let (seconds, why) = source.left_alone.as_ref()?;
                Some(format!("{} is cooling down for {seconds} s: {why}", source.name))
            })
            .collect();
        let asked: Vec<&str> =
            sources.iter().filter(|s| s.by_default && s.kind != "corpus").map(|s| s.name.as_str()).collect();
        if !paused.is_empty() {
            return Finding::note(
                PART,
                paused.join("; "),
                "wait, or get a key for it (README, Sources); tasks continue with the other sources meanwhile",
            );
        }
        if asked.is_empty() {
            return Finding::ok(PART, "external sources are only queried if a task names them");
        }
        let asked = format!("{} used by default", asked.join(", "));
        if self.config().sources.contact.as_deref().is_none_or(|contact| contact.trim().is_empty()) {
            return Finding::note(PART, asked, "set sources.contact: sites want to know whom to contact");
        }
        Finding { remedy: Some(Remedy::TestSources), ..Finding::ok(PART, asked) }
    }
}

fn work(counts: &StoreCounts) -> Finding {
    const PART: &str = "work";
    let jobs = |state| counts.jobs.iter().filter(|job| job.state == state).map(|job| job.count).sum::<u64>();
    let (failed, running) = (jobs(JobState::Failed), jobs(JobState::Running));
    if counts.waiting > 0 && running == 0 && counts.oldest_seconds > STALE {
        return Finding::note(
            PART,
            format!(
                "{}, the oldest for {:.0} minutes, and no worker is running",
                waiting(counts.waiting),
                counts.oldest_seconds / 60.0
            ),
            Remedy::StartWorkers,
        );
    }
    if counts.auth_pending > 0 {
        return Finding::note(
            PART,
            match counts.auth_pending {
                1 => "1 engine or page requires a person".to_owned(),
                many => format!("{many} engines or pages require a person"),
            },
            Remedy::VisitWaitingPages,
        );
    }
    if failed > 0 {
        let jobs = if failed == 1 { "job" } else { "jobs" };
        return Finding::note(PART, format!("{failed} {jobs} failed permanently"), Remedy::InspectTasks);
    }
    let are = if running == 1 { "is" } else { "are" };
    Finding::ok(PART, format!("{}, {running} {are} running", waiting(counts.waiting)))
}

fn waiting(jobs: u64) -> String {
    if jobs == 1 { "1 job waits".to_owned() } else { format!("{jobs} jobs wait") }
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;
    use lyra_store::JobCount;

    #[test]
    fn what_stands_still_is_said() {
        let jobs = |state| vec![JobCount { kind: "search".to_owned(), state, count: 2 }];
        let waiting = StoreCounts { jobs: jobs(JobState::Queued), waiting: 2, ..StoreCounts::default() };
        let cases = [
            (StoreCounts::default(), Health::Ok, "0 jobs wait"),
            (waiting.clone(), Health::Ok, "2 jobs wait"),
            (StoreCounts { waiting: 1, ..waiting.clone() }, Health::Ok, "1 job waits, 0 are running"),
            (StoreCounts { oldest_seconds: 900.0, ..waiting }, Health::Note, "15 minutes"),
            (
                StoreCounts { auth_pending: 1, ..StoreCounts::default() },
                Health::Note,
                "1 engine or page requires a person",
            ),
            (
                StoreCounts { jobs: jobs(JobState::Failed), ..StoreCounts::default() },
                Health::Note,
                "2 jobs failed permanently",
            ),
        ];
        for (counts, health, words) in cases {
            let finding = work(&counts);
            assert_eq!(finding.health, health, "{finding:?}");
            assert!(finding.seen.contains(words), "{finding:?}");
            assert_eq!(finding.remedy.is_some(), health != Health::Ok);
        }
    }
}
