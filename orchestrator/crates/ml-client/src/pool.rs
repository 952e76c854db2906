//! Several ml-servers as one: the one that answers soonest is asked, another when it fails or takes too long.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{StreamExt, future};
use lyra_proto::{ReadyResponse, ReadyState};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::ClientConfig;
use crate::agreement::{Answers, majority};
use crate::error::Error;
use crate::load::Job;
use crate::server::Server;

/// A server that takes this many times as long as expected is not waited for alone.
const IMPATIENCE: f64 = 4.0;
/// How much longer one may take whose speed is unknown.
const UNMEASURED: u32 = 3;

/// One server, or several that host the same models.
#[derive(Debug)]
pub(crate) struct Pool {
    servers: Vec<Server>,
    config: ClientConfig,
    /// What most of several servers answer.
    agreed: RwLock<Option<Arc<Answers>>>,
    /// Held while they are asked: several requests wait for one agreement.
    agreeing: Mutex<()>,
}

impl Pool {
    pub(crate) fn new(servers: Vec<Server>, config: ClientConfig) -> Self {
        Self { servers, config, agreed: RwLock::default(), agreeing: Mutex::default() }
    }

    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Addresses without passwords, as messages name them.
    pub(crate) fn shown(&self) -> String {
        self.servers.iter().map(Server::shown).collect::<Vec<_>>().join(", ")
    }

    /// Numbers that a vector must have, where several servers agreed on it.
    pub(crate) fn dimension(&self) -> Option<usize> {
        self.agreed().and_then(|agreed| agreed.dimension())
    }

    /// Asks the servers until one answers: all of them, one after the other, and again after a pause while they fail in a
    /// way that may pass.
    pub(crate) async fn ask<'s, T: Send>(
        &'s self,
        job: Job,
        call: impl Fn(&'s Server) -> BoxFuture<'s, Result<T, Error>> + Send + Sync,
    ) -> Result<T, Error> {
        let backoff = ExponentialBuilder::default()
            .with_min_delay(self.config.first_pause)
            .with_max_delay(Duration::from_secs(10))
            .with_max_times(self.config.retries)
            .with_jitter();
        let round = || self.round(job, &call);
        round
            .retry(backoff)
            .when(Error::is_transient)
            // The server's `Retry-After` applies, with jitter so that clients do not all return at once.
            .adjust(|error, pause| {
                pause.map(|pause| error.retry_after().map_or(pause, |after| after.max(pause)))
            })
            .notify(|error, pause| tracing::debug!(%error, ?pause, "retrying the request to the ml-server"))
            .await
    }

    /// The state of each server, without retries.
    pub(crate) async fn states(&self) -> Vec<Result<ReadyResponse, Error>> {
        future::join_all(self.servers.iter().map(Server::ready)).await
    }

    /// What is wrong with each server; `None` where it answers, and as the others do.
    pub(crate) async fn examine(&self) -> Vec<Option<Error>> {
        let of = async |server: &Server| {
            let state = match server.ready().await {
                Ok(ReadyResponse { status: ReadyState::Ready, .. }) => Ok(()),
                state => Err(Error::NotReady {
                    url: server.shown().to_owned(),
                    waited: Duration::ZERO,
                    reason: reason(state),
                }),
            };
            if state.is_ok() && self.servers.len() > 1 { self.admit(server).await.err() } else { state.err() }
        };
        future::join_all(self.servers.iter().map(of)).await
    }

    /// Waits until one server answers requests.
    pub(crate) async fn wait_ready(&self, timeout: Duration) -> Result<(), Error> {
        const PAUSE: Duration = Duration::from_millis(50);
        let started = Instant::now();
        loop {
            let states = self.states().await;
            let is = |wanted: ReadyState| {
                move |state: &Result<ReadyResponse, Error>| {
                    state.as_ref().is_ok_and(|state| state.status == wanted)
                }
            };
            if states.iter().any(is(ReadyState::Ready)) {
                return Ok(());
            }
            let waited = started.elapsed();
            if states.iter().all(is(ReadyState::Failed)) || waited + PAUSE > timeout {
                let reasons: Vec<String> = states.into_iter().map(reason).collect();
                return Err(Error::NotReady { url: self.shown(), waited, reason: reasons.join("; ") });
            }
            sleep(PAUSE).await;
        }
    }

    /// Asks each server once at most, the one that should answer soonest first.
    async fn round<'s, T: Send>(
        &'s self,
        job: Job,
        call: &(impl Fn(&'s Server) -> BoxFuture<'s, Result<T, Error>> + Send + Sync),
    ) -> Result<T, Error> {
        let mut order = self.order(job).into_iter();
        let mut running = FuturesUnordered::new();
        let mut given_up_at = Instant::now();
        let mut failure: Option<Error> = None;
        loop {
            let next = if running.is_empty() || given_up_at <= Instant::now() { order.next() } else { None };
            if let Some(server) = next {
                given_up_at = Instant::now() + self.patience(server, job);
                running.push(self.attempt(server, job, call));
            }
            tokio::select! {
                answer = running.next() => match (answer, failure.take()) {
                    (Some(Ok(answer)), _) => return Ok(answer),
                    (Some(Err(error)), _) if !error.may_pass_elsewhere() => return Err(error),
                    (Some(Err(error)), known) => failure = Some(known.map_or(error.clone(), |known| sooner(known, error))),
                    (None, Some(error)) => return Err(error),
                    (None, None) => return Err(Error::Unreachable {
                        url: String::new(),
                        reason: "no ml-server is configured".to_owned(),
                    }),
                },
                () = sleep_until(given_up_at), if order.len() > 0 && !running.is_empty() => {}
            }
        }
    }

    /// The servers by when they should have answered.
    fn order(&self, job: Job) -> Vec<&Server> {
        let fastest = self.servers.iter().filter_map(|server| server.load.pace(job)).min_by(f64::total_cmp);
        let mut order: Vec<(bool, f64, &Server)> = self
            .servers
            .iter()
            .map(|server| (server.load.is_paused(), server.load.expected(job, fastest), server))
            .collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        order.into_iter().map(|(_, _, server)| server).collect()
    }

    /// For how long only this server is waited for.
    fn patience(&self, server: &Server, job: Job) -> Duration {
        let least = self.config.second_after;
        let expected = Duration::from_secs_f64(IMPATIENCE * server.load.expected(job, None).min(3_600.0));
        if server.load.pace(job).is_some() { expected.max(least) } else { expected.max(least * UNMEASURED) }
    }

    async fn attempt<'s, T: Send>(
        &'s self,
        server: &'s Server,
        job: Job,
        call: &(impl Fn(&'s Server) -> BoxFuture<'s, Result<T, Error>> + Send + Sync),
    ) -> Result<T, Error> {
        let started = server.load.start(job);
        let result = server
            .attempt(async {
                if self.servers.len() > 1 {
                    self.admit(server).await?;
                }
                call(server).await
            })
            .await;
        match &result {
            Ok(_) => started.answered(),
            Err(Error::Busy { retry_after: Some(after), .. }) => server.load.pause(*after),
            Err(Error::Unreachable { .. }) if self.servers.len() > 1 => server.standing.forget().await,
            Err(_) => {}
        }
        result
    }

    fn agreed(&self) -> Option<Arc<Answers>> {
        self.agreed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// That a server answers as the others do.
    async fn admit(&self, server: &Server) -> Result<(), Error> {
        let mut agreed = match self.agreed() {
            Some(agreed) => agreed,
            None => self.agree(None).await?,
        };
        loop {
            let examine = async {
                let answers = Answers::of(server).await?;
                differing(server, &answers, &agreed)
            };
            let different = match server.standing.check(self.config.examined_for, examine).await {
                Err(error @ Error::Different { .. }) => error,
                other => return other,
            };
            let now = self.renewed(&agreed).await?;
            if Arc::ptr_eq(&now, &agreed) {
                return Err(different);
            }
            agreed = now;
            server.standing.forget().await;
        }
    }

    /// What the servers agree on after one of them differed: the same as `before`, unless all of them differ from that.
    async fn renewed(&self, before: &Arc<Answers>) -> Result<Arc<Answers>, Error> {
        if let Some(now) = self.agreed().filter(|now| !Arc::ptr_eq(now, before)) {
            return Ok(now);
        }
        for server in &self.servers {
            if server.standing.fits().await {
                // Another request may have renewed it meanwhile.
                return Ok(self.agreed().unwrap_or_else(|| Arc::clone(before)));
            }
        }
        self.agree(Some(before)).await
    }

    /// What most of the servers that can be reached answer. If they agreed on something `before`, that stays, unless all
    /// of them differ from it: they were started again with other models. A difference in nothing but answers must be that
    /// of over half of all servers.
    async fn agree(&self, before: Option<&Arc<Answers>>) -> Result<Arc<Answers>, Error> {
        let _turn = self.agreeing.lock().await;
        // Another request may have come first.
        if let Some(now) = self.agreed()
            && before.is_none_or(|before| !Arc::ptr_eq(before, &now))
        {
            return Ok(now);
        }
        let (servers, answers) = self.answers().await?;
        let stays = |before: &&Arc<Answers>| {
            let most = 2 * answers.len() > self.servers.len();
            let may_go = most || answers.iter().all(|answers| !answers.same_models(before));
            !may_go || answers.iter().any(|answers| answers.difference(before).is_none())
        };
        let agreed = match before.filter(stays) {
            Some(before) => Arc::clone(before),
            None => Arc::new(self.common(&servers, &answers)?),
        };
        // Before anything is noted: a call that sees that a server fits sees what it fits.
        *self.agreed.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&agreed));
        for server in &self.servers {
            server.standing.forget().await;
        }
        for (server, answers) in servers.iter().zip(&answers) {
            server.standing.note(&differing(server, answers, &agreed)).await;
        }
        Ok(agreed)
    }

    /// The servers that answer in time, at least one, and what.
    async fn answers(&self) -> Result<(Vec<&Server>, Vec<Answers>), Error> {
        let mut asked: FuturesUnordered<_> =
            self.servers.iter().map(|server| async move { (server, Answers::of(server).await) }).collect();
        let (mut answered, mut failure) = (Vec::new(), None);
        let mut until = Instant::now() + self.config.timeout;
        while let Ok(Some((server, answers))) = timeout_at(until, asked.next()).await {
            match answers {
                Ok(answers) => {
                    // One that hangs is examined when it answers again.
                    until = until.min(Instant::now() + self.config.second_after * UNMEASURED);
                    answered.push((server, answers));
                }
                Err(error) => {
                    tracing::warn!(url = server.shown(), %error, "this ml-server does not answer");
                    failure = Some(error);
                }
            }
        }
        if answered.is_empty() {
            let silent =
                || Error::Unreachable { url: self.shown(), reason: "none answered in time".to_owned() };
            return Err(failure.unwrap_or_else(silent));
        }
        Ok(answered.into_iter().unzip())
    }

    /// What most of these answers have in common.
    fn common(&self, servers: &[&Server], answers: &[Answers]) -> Result<Answers, Error> {
        let first = &answers[0];
        if let Some(at) = answers.iter().position(|other| !other.same_models(first)) {
            let reason = format!(
                "{} hosts {}, but {} hosts {}; start them with the same models, or remove one from `ml.urls`",
                servers[0].shown(),
                first.names(),
                servers[at].shown(),
                answers[at].names()
            );
            return Err(Error::Different { url: self.shown(), reason });
        }
        majority(answers).map(|at| answers[at].clone()).ok_or_else(|| {
            let apart = answers.iter().zip(servers).skip(1).find_map(|(answers, server)| {
                Some(format!(
                    "compared with {}, {}: {}",
                    servers[0].shown(),
                    server.shown(),
                    answers.difference(first)?
                ))
            });
            let reason = format!(
                "{}; at least one of them computes wrongly: remove it from `ml.urls`",
                apart.unwrap_or_default()
            );
            Error::Different { url: self.shown(), reason }
        })
    }
}

fn differing(server: &Server, answers: &Answers, agreed: &Answers) -> Result<(), Error> {
    match answers.difference(agreed) {
        Some(reason) => Err(Error::Different { url: server.shown().to_owned(), reason }),
        None => Ok(()),
    }
}

/// The failure after which to ask again first.
fn sooner(a: Error, b: Error) -> Error {
    let rank = |error: &Error| (!error.is_transient(), error.retry_after().unwrap_or_default());
    if rank(&b) < rank(&a) { b } else { a }
}

/// Why a server does not answer requests.
fn reason(state: Result<ReadyResponse, Error>) -> String {
    match state {
        Ok(ReadyResponse { status: ReadyState::Draining, .. }) => "it is shutting down".to_owned(),
        Ok(ReadyResponse { status: ReadyState::Failed, error, .. }) => error.unwrap_or_default(),
        Ok(ReadyResponse { loading, .. }) => format!("loading {}", loading.join(" and ")),
        Err(error) => error.to_string(),
    }
}
