//! Checks the installation, and suggests fixes.

mod isolation;
mod machine;
mod web;
mod work;

use super::{App, LocalModels, Remedy, llm};
use crate::config::{Config, shown_address};
use lyra_corpus::CorpusInfo;
use lyra_domain::named_enum;
use lyra_ml_client::{ClientConfig, Error as MlError, MlClient};
use lyra_research::ports::Inference;
use std::sync::Arc;

named_enum! {
    /// State of one part.
    pub enum Health {
        /// It works.
        Ok = "ok",
        /// It works, with a limitation.
        Note = "note",
        /// It does not work.
        Broken = "broken",
    }
}

/// The finding for one part.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which part.
    pub part: &'static str,
    /// Its state.
    pub health: Health,
    /// The observation.
    pub seen: String,
    /// What to do about it.
    pub remedy: Option<Remedy>,
}

impl Finding {
    pub(super) fn ok(part: &'static str, seen: impl Into<String>) -> Self {
        Self { part, health: Health::Ok, seen: seen.into(), remedy: None }
    }

    pub(super) fn note(part: &'static str, seen: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self { part, health: Health::Note, seen: seen.into(), remedy: Some(remedy.into()) }
    }

    /// It does not work.
    pub fn broken(part: &'static str, seen: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self { part, health: Health::Broken, seen: seen.into(), remedy: Some(remedy.into()) }
    }
}

impl App {
    /// Checks everything that commonly goes wrong, with remedies. Only creates a missing data folder, and changes
    /// nothing else.
    pub async fn examine(config: Config, local: Arc<dyn LocalModels>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let data_dir = match config.data_dir() {
            Ok(dir) => dir,
            Err(error) => {
                return vec![Finding::broken(
                    "disk",
                    format!("{error:#}"),
                    "set `data_dir` to a folder that this user may write",
                )];
            }
        };
        findings.push(machine::disk(&data_dir));
        findings.push(machine::space(super::measures::free_bytes(&data_dir)));
        findings.push(machine::port(&config.server).await);
        findings.push(llm::examine(&config.llm).await);
        // Without it: whether it can be used was said.
        let without = Config { llm: crate::config::LlmSettings::default(), ..config.clone() };
        match Self::open(without, local).await {
            Ok(app) => {
                findings.extend(app.parts(&config).await);
                app.close().await;
            }
            Err(error) => {
                let full = |cause: &(dyn std::error::Error + 'static)| {
                    matches!(cause.downcast_ref(), Some(lyra_store::StoreError::DiskFull))
                };
                let remedy = if error.chain().any(full) {
                    "free space on that disk; stored data is safe"
                } else {
                    "set `data_dir` to another folder, or use the version of Lyra that wrote this one"
                };
                findings.push(Finding::broken("database", format!("{error:#}"), remedy));
            }
        }
        findings
    }

    /// As [`App::examine`], of an application that is open.
    pub async fn examine_open(&self) -> Vec<Finding> {
        let config = self.config();
        let mut findings = vec![
            machine::disk(self.data_dir()),
            machine::space(super::measures::free_bytes(self.data_dir())),
            machine::port(&config.server).await,
            llm::examine(&config.llm).await,
        ];
        findings.extend(self.parts(config).await);
        findings
    }

    /// The parts that an open application has.
    async fn parts(&self, config: &Config) -> Vec<Finding> {
        let mut findings = vec![
            self.database().await,
            machine::privacy(self.data_dir()),
            self.isolation().await,
            self.work().await,
            self.corpora().await,
            self.outside().await,
            self.web_search(),
        ];
        let models = self.models(config).await;
        // Models that do not answer would be waited for once more.
        let answer = models.health != Health::Broken;
        findings.push(models);
        if answer {
            findings.extend(self.vectors().await);
        }
        findings.push(self.browser());
        findings
    }

    fn browser(&self) -> Finding {
        match self.web().browser.executable() {
            Ok(path) => Finding::ok("browser", path.display().to_string()),
            Err(error) => {
                Finding::note("browser", error.to_string(), "needed only for JavaScript-rendered pages")
            }
        }
    }

    async fn database(&self) -> Finding {
        match self.list_tasks(1).await {
            Ok(tasks) if tasks.is_empty() => Finding::ok("database", "readable, no task yet"),
            Ok(tasks) => Finding::ok("database", format!("readable, newest task {}", tasks[0].id)),
            Err(error) => Finding::broken("database", error.message, "restore the data folder from a backup"),
        }
    }

    async fn corpora(&self) -> Finding {
        match self.list_corpora().await {
            Ok(corpora) if corpora.is_empty() && self.unreadable_corpora(&corpora).is_empty() => {
                Finding::note(
                    "corpora",
                    "none imported: the example corpus is searched",
                    Remedy::ImportCorpus,
                )
            }
            Ok(corpora) => {
                let mut unread = self.unreadable_corpora(&corpora);
                if !unread.is_empty() {
                    return Finding::broken(
                        "corpora",
                        format!("{} cannot be read", unread.join(", ")),
                        Remedy::ReimportCorpus { name: Some(unread.remove(0)).filter(|_| unread.is_empty()) },
                    );
                }
                let all: Vec<String> =
                    corpora.iter().map(|c| format!("{} ({})", c.name, c.documents)).collect();
                Finding::ok("corpora", all.join(", "))
            }
            Err(error) => {
                Finding::broken("corpora", error.message, "remove the broken corpus and import it again")
            }
        }
    }

    /// Folders of corpora that the list omits.
    fn unreadable_corpora(&self, listed: &[CorpusInfo]) -> Vec<String> {
        let folders = std::fs::read_dir(self.data_dir().join("corpora")).into_iter().flatten().flatten();
        let names = folders
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut unread: Vec<String> = names
            .filter(|name| !name.starts_with('.') && listed.iter().all(|corpus| corpus.name != *name))
            .collect();
        unread.sort();
        unread
    }

    /// Whether stored texts can be searched by meaning; no finding when the models do not answer.
    async fn vectors(&self) -> Option<Finding> {
        let status = self.embeddings_status().await.ok()?;
        let stored: u64 = status.stored.iter().map(|made| made.vectors).sum();
        Some(if status.outdated == 0 {
            Finding::ok("vectors", format!("{stored} stored, all texts have one of the current model"))
        } else {
            Finding::note(
                "vectors",
                format!(
                    "{} texts only have vectors of a model other than {}: semantic search does not find them",
                    status.outdated, status.present_model
                ),
                Remedy::RebuildEmbeddings,
            )
        })
    }

    async fn models(&self, config: &Config) -> Finding {
        let servers = config.ml.servers();
        let part = if servers.is_empty() { "models" } else { "ml-server" };
        let mut failing = None;
        if !servers.is_empty() {
            // Checked once without waiting, because the doctor should report what is missing now.
            let found = match MlClient::of_servers(&servers, ClientConfig::default()) {
                Ok(client) => client.examine().await,
                Err(error) => vec![Some(error)],
            };
            let (all, mut errors) = (found.len(), found.into_iter().flatten().collect::<Vec<_>>());
            let conflict = errors.iter().position(|error| matches!(error, MlError::Different { .. }));
            if errors.len() == all {
                let error = errors.swap_remove(conflict.unwrap_or_default());
                return Finding::broken(part, error.to_string(), no_ml_server(&servers));
            }
            if !errors.is_empty() {
                let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
                failing = Some(format!("{} of {all} are not used: {}", errors.len(), said.join("; ")));
            }
        }
        match self.inner.inference.models().await {
            Ok(models) => {
                let at = if servers.len() > 1 && failing.is_none() {
                    format!(" at {}", addresses(&servers))
                } else {
                    String::new()
                };
                let seen = format!(
                    "{} ({} dimensions) and {} answer{at}",
                    models.embedder, models.dimension, models.classifier
                );
                if let Some(failing) = failing {
                    Finding::note(part, format!("{seen}; {failing}"), no_ml_server(&servers))
                } else if !models.prompts_known {
                    let seen = format!("{seen}; it is unknown which prompts {} needs", models.embedder);
                    Finding::note(part, seen, "state them in the model's config_sentence_transformers.json")
                } else if models.languages.is_empty() {
                    Finding::ok(part, seen)
                } else {
                    let seen = format!("{seen}; they read {}", models.languages.join(", "));
                    Finding::note(part, seen, "for other languages use the `standard` profile")
                }
            }
            Err(error) => {
                let remedy = if servers.is_empty() {
                    "put lite-embed.gguf and lite-verify.gguf into a folder and set LYRA_MODELS_DIR to it"
                        .to_owned()
                } else {
                    no_ml_server(&servers)
                };
                Finding::broken(part, error.to_string(), remedy)
            }
        }
    }
}

/// What to do when the ml-servers at these addresses do not answer.
fn no_ml_server(urls: &[String]) -> String {
    let shown = addresses(urls);
    match urls {
        [_] => format!("start lyra-ml-server so that {shown} answers, or unset `ml.url`"),
        _ => format!("start lyra-ml-server with the same models at {shown}, or correct `ml.urls`"),
    }
}

fn addresses(urls: &[String]) -> String {
    urls.iter().map(|url| shown_address(url)).collect::<Vec<_>>().join(", ")
}
