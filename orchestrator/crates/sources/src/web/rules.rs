//! The configured rules for the web: engines, domains, dangerous patterns. Reloaded when a file changes.

use crate::{Error, Result};
use async_trait::async_trait;
use lyra_domain::domains::{DomainPolicy, DomainRules};
use lyra_research::PortError;
use lyra_research::ports::{ContentRules, Danger, DomainStore};
use lyra_web::ConfigError;
use lyra_web::danger::DangerousPatterns;
use lyra_web::serp::Engines;
use notify::{RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Pause between a change and the reading of the file.
const SETTLE: Duration = Duration::from_millis(50);

/// Files that replace the built-in rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleFiles {
    /// Search engines.
    pub engines: Option<PathBuf>,
    /// Categories of domains.
    pub domains: Option<PathBuf>,
    /// Dangerous patterns.
    pub dangerous_patterns: Option<PathBuf>,
}

/// The active rules. Cheap to clone; clones share the same rules.
#[derive(Clone)]
pub struct Rules {
    inner: Arc<Inner>,
    /// Decisions of people and the server about domains; none without it.
    stored: Option<Arc<dyn DomainStore>>,
}

struct Inner {
    engines: Watched<Engines>,
    domains: Watched<DomainPolicy>,
    patterns: Watched<DangerousPatterns>,
}

impl Rules {
    /// Reads the files, and the built-in defaults for those that are not given. Files are reloaded when they change; an
    /// invalid file is logged with its line, and the last valid rules stay active.
    ///
    /// # Errors
    /// A file that cannot be read or used now: at the start there is no last good one.
    pub fn open(files: &RuleFiles) -> Result<Self> {
        Ok(Self {
            inner: Arc::new(Inner {
                engines: Watched::open(files.engines.as_deref(), Engines::from_yaml, Engines::built_in)?,
                domains: Watched::open(
                    files.domains.as_deref(),
                    lyra_web::domains::policy_from_yaml,
                    lyra_web::domains::built_in_policy,
                )?,
                patterns: Watched::open(
                    files.dangerous_patterns.as_deref(),
                    DangerousPatterns::from_yaml,
                    DangerousPatterns::built_in,
                )?,
            }),
            stored: None,
        })
    }

    /// Adds the stored state of domains: people's decisions and blocks. It is read again for every decision.
    #[must_use]
    pub fn with_stored(self, stored: Arc<dyn DomainStore>) -> Self {
        Self { stored: Some(stored), ..self }
    }

    /// Everything that decides about domains now: files and store.
    ///
    /// # Errors
    /// The store cannot be read: without it no domain is known to be allowed.
    pub async fn domain_rules(&self) -> Result<DomainRules, PortError> {
        let policy = self.domains();
        let Some(stored) = &self.stored else { return Ok(DomainRules { policy, ..DomainRules::default() }) };
        Ok(DomainRules {
            policy,
            overrides: stored.overrides().await?,
            blocked: stored.blocked().await?,
            confirmed: stored.confirmed().await?,
        })
    }

    /// The search engines.
    pub fn engines(&self) -> Arc<Engines> {
        self.inner.engines.get()
    }

    /// The rules for domains.
    pub fn domains(&self) -> Arc<DomainPolicy> {
        self.inner.domains.get()
    }

    /// Rules for text that is meant for the reading AI.
    pub fn patterns(&self) -> Arc<DangerousPatterns> {
        self.inner.patterns.get()
    }
}

#[async_trait]
impl ContentRules for Rules {
    async fn domains(&self) -> Result<DomainRules, PortError> {
        self.domain_rules().await
    }

    async fn dangers(&self, texts: Vec<String>) -> Result<Vec<Option<Danger>>, PortError> {
        let patterns = self.patterns();
        let look = move |text: &String| {
            let finding = patterns.gravest(text)?;
            Some(Danger { severity: finding.severity.as_str().to_owned(), rule: finding.rule })
        };
        let looking = tokio::task::spawn_blocking(move || texts.iter().map(look).collect());
        looking.await.map_err(|_| PortError::Failed {
            what: "dangerous patterns".to_owned(),
            why: "a rule failed inside its matcher".to_owned(),
        })
    }
}

/// One file's rules.
struct Watched<T> {
    current: Arc<RwLock<Arc<T>>>,
    /// Ends the watching when it is dropped.
    _watcher: Option<notify::RecommendedWatcher>,
}

impl<T: Send + Sync + 'static> Watched<T> {
    fn open(
        file: Option<&Path>,
        read: fn(&str) -> Result<T, ConfigError>,
        built_in: fn() -> Result<T, ConfigError>,
    ) -> Result<Self> {
        let Some(file) = file else {
            let rules =
                built_in().map_err(|error| setting(Path::new("built-in rules"), &error.to_string()))?;
            return Ok(Self { current: Arc::new(RwLock::new(Arc::new(rules))), _watcher: None });
        };
        let first = read_file(file, read)?;
        let current = Arc::new(RwLock::new(Arc::new(first)));
        let watcher = watch(file, read, current.clone());
        Ok(Self { current, _watcher: watcher })
    }

    fn get(&self) -> Arc<T> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn read_file<T>(file: &Path, read: fn(&str) -> Result<T, ConfigError>) -> Result<T> {
    let text = std::fs::read_to_string(file).map_err(|error| setting(file, &error.to_string()))?;
    read(&text).map_err(|error| setting(file, &error.to_string()))
}

fn setting(file: &Path, why: &str) -> Error {
    Error::Setting { setting: file.display().to_string(), why: why.to_owned() }
}

/// Watches the folder: editors replace a file instead of writing into it.
fn watch<T: Send + Sync + 'static>(
    file: &Path,
    read: fn(&str) -> Result<T, ConfigError>,
    current: Arc<RwLock<Arc<T>>>,
) -> Option<notify::RecommendedWatcher> {
    let name = file.file_name()?.to_owned();
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let path = file.to_owned();
    let changed = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        let ours = event.paths.iter().any(|path| path.file_name() == Some(&name));
        if !ours || event.kind.is_access() || !path.is_file() {
            return;
        }
        // A partly written file is read again at later events.
        std::thread::sleep(SETTLE);
        match read_file(&path, read) {
            Ok(rules) => {
                *current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
                tracing::info!(file = %path.display(), "rules reloaded");
            }
            Err(error) => tracing::error!(%error, "the last valid rules stay active"),
        }
    };
    let watcher = notify::recommended_watcher(changed)
        .and_then(|mut watcher| watcher.watch(folder, RecursiveMode::NonRecursive).map(|()| watcher));
    match watcher {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "changes to the file will not be noticed until a restart");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::domains::{DomainCategory, decide};

    fn category(rules: &Rules, host: &str) -> DomainCategory {
        decide(host, &rules.domains(), &[], |_| false).category
    }

    async fn becomes(rules: &Rules, host: &str, expect: DomainCategory) {
        for _ in 0..500 {
            if category(rules, host) == expect {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{host} is {}", category(rules, host));
    }

    #[tokio::test]
    async fn a_changed_file_is_read_and_a_bad_one_leaves_the_last_good_rules() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("domains.yaml");
        std::fs::write(&file, "categories: {trusted: {domains: [a.example]}}\n").unwrap();
        let rules = Rules::open(&RuleFiles { domains: Some(file.clone()), ..RuleFiles::default() }).unwrap();
        assert_eq!(category(&rules, "a.example"), DomainCategory::Trusted);
        std::fs::write(&file, "categories: {low: {domains: [a.example]}}\n").unwrap();
        becomes(&rules, "a.example", DomainCategory::Low).await;
        std::fs::write(&file, "categories: {low: [\n").unwrap();
        // Replaced as editors do it; by then the bad one has been seen and refused.
        let next = folder.path().join("next.yaml");
        std::fs::write(&next, "deny: [b.example]\n").unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(category(&rules, "a.example"), DomainCategory::Low);
        std::fs::rename(&next, &file).unwrap();
        becomes(&rules, "b.example", DomainCategory::Blocked).await;
    }

    #[tokio::test]
    async fn a_bad_file_at_the_start_is_an_error_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("engines.yaml");
        let open = || Rules::open(&RuleFiles { engines: Some(file.clone()), ..RuleFiles::default() });
        assert!(open().err().unwrap().to_string().contains("engines.yaml"));
        std::fs::write(&file, "engines:\n  a: 1\n").unwrap();
        let error = open().err().unwrap().to_string();
        assert!(error.contains("engines.yaml") && error.contains("line 2"), "{error}");
    }
}
