//! Keeping a corpus in step with folders.

mod disk;

use super::{App, AppError, CompletedMetadata};
use disk::Disk;
use lyra_corpus::{CorpusError, FileChange, FileKind, ImportOptions, ImportReport, Stamp};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a file must stay as it is before it is read.
const SETTLE: Duration = Duration::from_secs(1);
/// How often folders are looked at that the system says nothing about.
const POLL: Duration = Duration::from_secs(30);
/// How often the others are looked at, in case that the system has said too little.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// How a corpus is kept in step.
#[derive(Debug, Clone, Default)]
pub struct WatchOptions {
    /// How files are imported. `except` is for the watch itself.
    pub import: ImportOptions,
    /// Look at the folders this often in place of what the system says.
    pub poll: Option<Duration>,
    /// Sources that complete metadata, as [`App::complete_corpus`] takes them; `None` for none.
    pub complete: Option<Vec<String>>,
}

/// What a watch says.
#[derive(Debug)]
pub enum Watched<'a> {
    /// It begins; a folder is looked at this often because of the reason.
    Polls(&'a Path, Duration, &'a str),
    /// A file is new, changed, or gone, and what was wrong with it.
    File(&'a FileChange, Option<&'a str>),
    /// A round ended.
    Round(&'a ImportReport),
    /// Metadata was completed.
    Completed(&'a CompletedMetadata),
    /// Something failed; the watch goes on.
    Failed(String),
}

impl App {
    /// Imports new and changed files below `paths` as they appear, until `cancel` is canceled. A file is read once it
    /// stays as it is. Between rounds others may use the corpus.
    ///
    /// # Errors
    /// A name that no corpus can have, or a path that is not there at the beginning. Later failures are said, and the
    /// watch goes on.
    pub async fn watch_corpus(
        &self,
        name: &str,
        paths: &[PathBuf],
        options: &WatchOptions,
        say: &(dyn Fn(Watched<'_>) + Send + Sync),
        cancel: &CancellationToken,
    ) -> Result<(), AppError> {
        if let Some(missing) = paths.iter().find(|path| !path.exists()) {
            return Err(AppError::invalid(
                format!("there is no {}", missing.display()),
                "name files and folders that are there",
            ));
        }
        self.inner.corpora.survey(name, paths, &options.import).await?;
        let mut disk = Disk::watch(paths, options.poll);
        for (path, why) in &disk.polled {
            say(Watched::Polls(path, options.poll.unwrap_or(POLL), why));
        }
        let pause = if disk.polled.is_empty() { LOOK_AGAIN } else { options.poll.unwrap_or(POLL) };
        let mut watch = Watch {
            app: self,
            name,
            paths,
            options,
            say,
            seen: HashSet::new(),
            failed: HashSet::new(),
            gone: HashSet::new(),
            said: None,
        };
        loop {
            let unsettled = watch.round(cancel).await;
            let next = async {
                if unsettled {
                    tokio::time::sleep(SETTLE).await;
                } else {
                    disk.changed(pause).await;
                }
            };
            if cancel.is_cancelled() || cancel.run_until_cancelled(next).await.is_none() {
                return Ok(());
            }
        }
    }
}

struct Watch<'a> {
    app: &'a App,
    name: &'a str,
    paths: &'a [PathBuf],
    options: &'a WatchOptions,
    say: &'a (dyn Fn(Watched<'_>) + Send + Sync),
    /// Files of the last look that were to be read.
    seen: HashSet<Stamp>,
    /// Files that cannot be imported as they are.
    failed: HashSet<Stamp>,
    /// Files that were said to be gone.
    gone: HashSet<PathBuf>,
    /// The latest failure, which is said once.
    said: Option<String>,
}

impl Watch<'_> {
    /// Imports what has settled; whether something has not.
    async fn round(&mut self, cancel: &CancellationToken) -> bool {
        let corpora = &self.app.inner.corpora;
        let survey = match corpora.survey(self.name, self.paths, &self.options.import).await {
            Ok(survey) => survey,
            Err(error) => {
                self.fail(error.to_string());
                return false;
            }
        };
        let now: HashSet<Stamp> =
            survey.changed.into_iter().filter(|stamp| !self.failed.contains(stamp)).collect();
        let (settled, unsettled): (HashSet<Stamp>, HashSet<Stamp>) =
            now.iter().cloned().partition(|stamp| self.seen.contains(stamp));
        self.seen = now;
        let lost = survey.gone.iter().any(|file| !self.gone.contains(file));
        if settled.is_empty() && !(lost && unsettled.is_empty()) {
            return !unsettled.is_empty();
        }
        let mut except: Vec<PathBuf> = unsettled.iter().map(|stamp| stamp.file.clone()).collect();
        loop {
            except.extend(self.failed.iter().map(|stamp| stamp.file.clone()));
            let import = ImportOptions { except: except.clone(), ..self.options.import.clone() };
            let inference = &*self.app.inner.inference;
            match corpora.import_with(self.name, self.paths, &import, inference, &|_| {}, cancel).await {
                Ok(report) => {
                    self.said = None;
                    self.tell(&report);
                    // What is still not known was read and cannot be remembered; it is read again when it changes.
                    if !report.cancelled {
                        self.failed.extend(self.left(&settled).await);
                        self.complete(cancel).await;
                    }
                    return !unsettled.is_empty();
                }
                Err(error) => {
                    self.fail(error.to_string());
                    // One file must not keep the others out.
                    let culprit = match &error {
                        CorpusError::File { path, .. } | CorpusError::Io { path, .. } => {
                            settled.iter().find(|stamp| path.starts_with(&stamp.file)).cloned()
                        }
                        _ => None,
                    };
                    match culprit {
                        Some(stamp) if self.failed.insert(stamp.clone()) => {}
                        _ => return !unsettled.is_empty(),
                    }
                    if settled.iter().all(|stamp| self.failed.contains(stamp)) {
                        return !unsettled.is_empty();
                    }
                }
            }
        }
    }

    /// Files of a round that the corpus does not remember, as they are.
    async fn left(&self, round: &HashSet<Stamp>) -> Vec<Stamp> {
        let survey = self.app.inner.corpora.survey(self.name, self.paths, &self.options.import).await;
        survey
            .map(|survey| survey.changed.into_iter().filter(|stamp| round.contains(stamp)).collect())
            .unwrap_or_default()
    }

    fn fail(&mut self, why: String) {
        if self.said.as_ref() != Some(&why) {
            (self.say)(Watched::Failed(why.clone()));
            self.said = Some(why);
        }
    }

    fn tell(&mut self, report: &ImportReport) {
        let why: HashMap<&Path, &str> = report
            .rejected
            .iter()
            .filter(|rejected| rejected.line == 0)
            .map(|rejected| (rejected.file.as_path(), rejected.reason.as_str()))
            .collect();
        for change in &report.files.changes {
            let told = match change.kind {
                FileKind::Gone => !self.gone.insert(change.file.clone()),
                FileKind::New | FileKind::Changed => {
                    self.gone.remove(&change.file);
                    false
                }
            };
            if !told {
                (self.say)(Watched::File(change, why.get(change.file.as_path()).copied()));
            }
        }
        (self.say)(Watched::Round(report));
    }

    async fn complete(&self, cancel: &CancellationToken) {
        let Some(sources) = &self.options.complete else { return };
        match self.app.complete_corpus(self.name, sources, &|_, _| {}, cancel).await {
            Ok(completed) if completed.is_empty() => {}
            Ok(completed) => (self.say)(Watched::Completed(&completed)),
            Err(error) => (self.say)(Watched::Failed(error.to_string())),
        }
    }
}
