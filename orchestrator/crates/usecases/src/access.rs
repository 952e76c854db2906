//! Access of remote callers, and the audit log.

use super::rate::Limiter;
use super::retention::PruneReport;
use super::{App, AppError};
use crate::config::Config;
use lyra_research::trace;
use lyra_store::{
    AuditEntry, AuditFilter, AuditOutcome, AuditVia, NewAudit, NewToken, Scope, Token, TokenRefusal,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longest name of a token, in characters.
const MAX_NAME: usize = 64;

/// The period of `server.reader_searches_per_hour`.
const HOUR: Duration = Duration::from_hours(1);

/// A caller and its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// As the audit log names them.
    pub actor: String,
    /// Which way they came.
    pub via: AuditVia,
    /// Its permissions.
    pub scope: Scope,
}

impl Caller {
    /// A local caller without a token, who could open the database itself.
    pub fn local(via: AuditVia) -> Self {
        Self { actor: "local".to_owned(), via, scope: Scope::Full }
    }

    /// The user of the command line.
    pub fn user() -> Self {
        let name = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
        let actor = format!("user:{}", name.as_deref().unwrap_or("unknown"));
        Self { actor, via: AuditVia::Cli, scope: Scope::Full }
    }

    /// The holder of this token.
    pub fn token(token: &Token, via: AuditVia) -> Self {
        Self { actor: format!("token:{}", token.name), via, scope: token.scope }
    }
}

/// Why a read-only caller may not search now. A search or a fusion stores a run, which expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SearchRefusal {
    /// The configuration allows such callers none.
    #[error("this token is read-only, and the server lets such tokens store no runs")]
    Never,
    /// It has stored as many runs as it may for now.
    #[error("this read-only token has stored as many runs as it may for now; try again in {seconds} s")]
    Later {
        /// How long it must wait.
        seconds: u64,
    },
}

/// The limit on the searches of read-only callers.
pub(super) fn searches(config: &Config) -> Limiter {
    Limiter::new(config.server.reader_searches_per_hour, HOUR)
}

/// Counts a search of a read-only caller, who may make `per_hour`.
fn admitted(searches: &Limiter, per_hour: u32, caller: &str, now: Instant) -> Result<(), SearchRefusal> {
    if per_hour == 0 {
        return Err(SearchRefusal::Never);
    }
    let later = |wait: Duration| SearchRefusal::Later { seconds: wait.as_secs_f64().ceil().max(1.0) as u64 };
    searches.admit(caller, now).map_err(later)
}

/// A call that changes something, until its outcome is known.
#[derive(Debug, Clone)]
pub struct Mutation {
    caller: Caller,
    action: String,
    arguments: Value,
    task: Option<String>,
    cause_id: String,
}

impl Mutation {
    /// Begins a call, under the id of its trace: the log of the process, the jobs that it causes and the audit log name it alike.
    pub fn begin(caller: Caller, action: impl Into<String>, arguments: Value) -> Self {
        let task = arguments.get("task_id").and_then(Value::as_str).map(str::to_owned);
        let cause_id = trace::cause().unwrap_or_default().to_string();
        Self { caller, action: action.into(), arguments, task, cause_id }
    }

    /// Its task, if the arguments do not name it.
    pub fn about(&mut self, task: &str) {
        self.task = Some(task.to_owned());
    }
}

impl App {
    /// Creates a token. The result is the only chance to see it.
    ///
    /// # Errors
    /// A name that is empty, too long or taken; a time in the past.
    pub async fn create_token(
        &self,
        name: &str,
        scope: Scope,
        expires_at: Option<jiff::Timestamp>,
    ) -> Result<NewToken, AppError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
        if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(fits) {
            return Err(AppError::invalid(
                format!("`{name}` is not a valid token name"),
                format!("use 1 to {MAX_NAME} letters, digits, `.`, `_`, `-` or `@`"),
            ));
        }
        if expires_at.is_some_and(|end| end <= self.now()) {
            return Err(AppError::invalid(
                "the token would already have expired",
                "choose a time in the future",
            ));
        }
        Ok(self.store().create_token(name, scope, expires_at).await?)
    }

    /// Every token, the newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn tokens(&self) -> Result<Vec<Token>, AppError> {
        Ok(self.store().tokens().await?)
    }

    /// Revokes a token immediately.
    ///
    /// # Errors
    /// No active token has that name or id.
    pub async fn revoke_token(&self, name_or_id: &str) -> Result<Token, AppError> {
        Ok(self.store().revoke_token(name_or_id).await?)
    }

    /// Whose token this is.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn authenticate(&self, text: &str) -> Result<Result<Token, TokenRefusal>, AppError> {
        Ok(self.store().authenticate(text).await?)
    }

    /// Counts a search or a fusion that this caller is about to make. `server.reader_searches_per_hour` limits read-only
    /// callers, over all edges together; others are not limited.
    ///
    /// # Errors
    /// It may not search, or not now.
    pub fn admit_search(&self, caller: &Caller) -> Result<(), SearchRefusal> {
        match caller.scope {
            Scope::Full => Ok(()),
            Scope::Read => {
                let per_hour = self.config().server.reader_searches_per_hour;
                admitted(&self.inner.searches, per_hour, &caller.actor, Instant::now())
            }
        }
    }

    /// Records the use of a token. Failing to record it does not refuse the request.
    pub async fn note_token_use(&self, id: &str) {
        if let Err(error) = self.store().note_token_use(id).await {
            tracing::warn!(token = id, %error, "the use of a token could not be recorded");
        }
    }

    /// Records the outcome of a call. A failure to record it only concerns the operator: the call is done.
    pub async fn audit(&self, call: Mutation, outcome: AuditOutcome, detail: Option<String>) {
        let Mutation { caller, action, arguments, task, cause_id } = call;
        let Caller { actor, via, .. } = caller;
        tracing::info!(actor, action, cause_id, outcome = outcome.as_str(), "call");
        let entry = NewAudit { actor, via, action, arguments, task, cause_id, outcome, detail };
        if let Err(error) = self.store().audit(&entry).await {
            let NewAudit { actor, action, cause_id, .. } = entry;
            tracing::error!(actor, action, cause_id, outcome = outcome.as_str(), %error, "not in the audit log");
        }
    }

    /// At most `limit` entries of the audit log, the newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn audit_log(&self, filter: &AuditFilter, limit: u32) -> Result<Vec<AuditEntry>, AppError> {
        Ok(self.store().audit_log(filter, limit).await?)
    }

    pub(super) async fn audit_retention(&self, report: &PruneReport) {
        let caller = Caller { actor: "server".to_owned(), via: AuditVia::Server, scope: Scope::Full };
        let arguments = json!({ "task_days": self.config().retention.task_days, "tasks": report.tasks });
        let call = Mutation::begin(caller, "retention", arguments);
        self.audit(call, AuditOutcome::Ok, None).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_callers_search_in_bursts_and_then_at_their_rate() {
        let (searches, start) = (Limiter::new(120, HOUR), Instant::now());
        let admit = |caller: &str, now: Instant| admitted(&searches, 120, caller, now);
        for _ in 0..20 {
            assert_eq!(admit("a", start), Ok(()));
        }
        assert_eq!(admit("a", start), Err(SearchRefusal::Later { seconds: 30 }));
        assert_eq!(admit("b", start), Ok(()), "another caller");
        let later = start + Duration::from_secs(30);
        assert_eq!(admit("a", later), Ok(()), "it said how long");
        assert!(admit("a", later).is_err());
        let rare = Limiter::new(1, HOUR);
        assert_eq!(admitted(&rare, 1, "c", start + 2 * HOUR), Ok(()));
    }

    #[test]
    fn zero_allows_no_search() {
        assert_eq!(admitted(&Limiter::new(0, HOUR), 0, "a", Instant::now()), Err(SearchRefusal::Never));
    }

    #[tokio::test]
    async fn full_access_is_not_limited() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
        config.server.reader_searches_per_hour = 0;
        let app = crate::testing::open(config).await;
        let full = Caller::local(AuditVia::Http);
        let reader = Caller { actor: "token:viewer".to_owned(), scope: Scope::Read, ..full.clone() };
        assert_eq!(app.admit_search(&full), Ok(()));
        assert_eq!(app.admit_search(&reader), Err(SearchRefusal::Never));
        app.close().await;
    }
}
