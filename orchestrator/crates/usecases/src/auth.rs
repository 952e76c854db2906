//! Pages that require a person, and what the person does about them.

use super::{App, AppError, ErrorCode, Remedy};
use lyra_domain::{AuthId, AuthItem, TaskId};
use lyra_sources::browser::Visible;
use lyra_sources::cookies::{Session, session_domain};
use lyra_store::{AuthOutcome, AuthResolved, AuthTarget};
use lyra_wire::TaskChange;
use url::Url;

/// A person's action on an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    /// Resolved, with the session of the visit if available.
    Completed(Option<AuthSession>),
    /// Left it out.
    Skipped,
}

/// Cookies of one domain. They are secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthSession(Session);

impl AuthSession {
    /// How many cookies there are.
    pub fn cookies(&self) -> usize {
        self.0.len()
    }
}

impl App {
    /// The auth queue of one task or of all, highest priority first.
    ///
    /// # Errors
    /// No such task.
    pub async fn auth_queue(&self, task: Option<&TaskId>) -> Result<Vec<AuthItem>, AppError> {
        if let Some(task) = task {
            self.task(task).await?;
        }
        Ok(self.store().auth_queue(task).await?)
    }

    /// One item of the auth queue.
    ///
    /// # Errors
    /// No such item.
    pub async fn auth_item(&self, id: &AuthId) -> Result<AuthItem, AppError> {
        Ok(self.store().auth_item(id).await?)
    }

    /// Records a person's action. The workers repeat completed searches, and their tasks resume; skipped ones are
    /// dropped. A session is stored for the item's domain and used from then on.
    ///
    /// # Errors
    /// No such item or task, an item that is resolved already.
    pub async fn resolve_auth(
        &self,
        target: AuthTarget,
        resolution: Resolution,
    ) -> Result<AuthResolved, AppError> {
        let target = match target {
            AuthTarget::Domain(domain) => AuthTarget::Domain(session_domain(domain.trim())),
            AuthTarget::Task(task) => AuthTarget::Task(self.task(&task).await?.id),
            item @ AuthTarget::Item(_) => item,
        };
        let outcome = match resolution {
            Resolution::Skipped => AuthOutcome::Skipped,
            Resolution::Completed(None) => AuthOutcome::Completed { session: None },
            Resolution::Completed(Some(AuthSession(session))) => {
                let session = serde_json::to_string(&session)
                    .map_err(|error| AppError::new(ErrorCode::Internal, error.to_string()))?;
                AuthOutcome::Completed { session: Some(session) }
            }
        };
        let resolved = self.store().resolve_auth(&target, &outcome).await?;
        for task in &resolved.tasks {
            self.publish_task(task, TaskChange::Changed);
        }
        self.inner.wake.notify_waiters();
        Ok(resolved)
    }

    /// Opens a visible browser for an item and waits until the person is done or closes it. Returns the cookies of the
    /// item's domain; nothing is resolved yet.
    ///
    /// # Errors
    /// No such item, one that is resolved already, no browser, no display.
    pub async fn visit(
        &self,
        item: &AuthItem,
        done: impl Future<Output = ()>,
    ) -> Result<AuthSession, AppError> {
        still_open(item)?;
        let url: Url = item
            .url
            .parse()
            .map_err(|error| AppError::new(ErrorCode::Internal, format!("{}: {error}", item.url)))?;
        let web = self.web();
        let opened = Visible::open(web.http.clone(), web.browser.config(), web.visit.clone(), url).await;
        let opened = opened.map_err(|error| {
            AppError::new(ErrorCode::Unavailable, error.to_string()).with(Remedy::HandOverCookies)
        })?;
        self.store().mark_auth(&item.id, true).await?;
        let session = opened.until_done(done).await;
        if session.is_err() {
            self.store().mark_auth(&item.id, false).await?;
        }
        Ok(AuthSession(session?))
    }

    /// Marks an item as no longer in progress.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn leave_auth(&self, id: &AuthId) -> Result<(), AppError> {
        Ok(self.store().mark_auth(id, false).await?)
    }

    /// Reads the cookies of an item's domain from a file of the Netscape format.
    ///
    /// # Errors
    /// An item that is resolved already, a file of another format, or one without a cookie of the domain.
    pub fn session_from_file(
        &self,
        item: &AuthItem,
        text: &str,
        user_agent: Option<String>,
    ) -> Result<AuthSession, AppError> {
        still_open(item)?;
        let session = Session::from_file(&item.domain, text, user_agent, self.now());
        session.map(AuthSession).map_err(|error| {
            AppError::invalid(
                error.to_string(),
                "save it as cookies.txt (Netscape format) while you are on the page",
            )
        })
    }

    /// Deletes the cookies of a domain. `false` when none were stored.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn forget_session(&self, domain: &str) -> Result<bool, AppError> {
        Ok(self.store().forget_session(&session_domain(domain.trim())).await?)
    }
}

fn still_open(item: &AuthItem) -> Result<(), AppError> {
    if item.status.is_open() {
        return Ok(());
    }
    Err(AppError::invalid(format!("{} is already {}", item.id, item.status), Remedy::ListWaitingPages))
}
