//! A running server: it loads in the background, listens at once, and drains on request.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use lyra_serve::connections;
use lyra_serve::names::Allowed;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::config::ServerConfig;
use crate::engine::Engine;
use crate::error::Error;
use crate::http::{AppState, Phase, admitting, router};
use crate::load;

/// Shortest time for answers that are written already to reach their clients.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Starts serving on `listener`. Returns at once: models load in the background, and until then `/ready` answers 503.
/// Must be called inside a tokio runtime.
///
/// # Errors
/// When the listener has no address. Failures to load show in [`ServerHandle::ready`].
pub fn start(config: ServerConfig, listener: TcpListener) -> Result<ServerHandle, Error> {
    let address = listener.local_addr().map_err(|error| Error::Start(format!("listener: {error}")))?;
    let names = [&config.embed, &config.nli, &config.verify]
        .into_iter()
        .flatten()
        .map(crate::model::ModelSource::name)
        .collect();
    let state = AppState::new(config.limits.clone(), names);
    let (drain, most) = (config.drain, connections::within_file_limit(config.max_connections));
    // On other addresses than loopback, access control is up to the network.
    let allowed = address.ip().is_loopback().then(|| Allowed::new(&config.allowed_hosts, &[], address.ip()));
    let app = router(state.clone());
    let app = match allowed {
        Some(allowed) => admitting(app, allowed),
        None => app,
    };

    tokio::task::spawn_blocking({
        let state = state.clone();
        move || {
            let load = || load::engine(&config, Arc::clone(state.metrics()));
            let loaded = catch_unwind(AssertUnwindSafe(load))
                .unwrap_or_else(|_| Err(Error::Start("reading the models panicked".to_owned())));
            match loaded {
                Ok(engine) => state.serve_with(engine),
                Err(error) => state.set_phase(Phase::Failed(Arc::new(error))),
            }
        }
    });
    let stop = CancellationToken::new();
    let serving = tokio::spawn(connections::serve(listener, app, most, stop.clone()));
    Ok(ServerHandle { address, state, stop, serving, drain })
}

/// A running server. Dropping it leaves the server running; call [`shutdown`](Self::shutdown).
pub struct ServerHandle {
    address: SocketAddr,
    state: AppState,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    drain: Duration,
}

impl ServerHandle {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL for clients on this machine.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The state that the routes share.
    pub fn state(&self) -> &AppState {
        &self.state
    }

    /// Waits until requests are answered.
    ///
    /// # Errors
    /// Why a model could not be loaded, or that the server is shutting down.
    pub async fn ready(&self) -> Result<(), Arc<Error>> {
        let mut phase = self.state.phase();
        let settled = phase.wait_for(|phase| !matches!(phase, Phase::Loading(_))).await;
        match settled.map(|phase| phase.clone()) {
            Ok(Phase::Ready) => Ok(()),
            Ok(Phase::Failed(error)) => Err(error),
            _ => Err(Arc::new(Error::Start("the server is shutting down".to_owned()))),
        }
    }

    /// Refuses new requests, finishes those in progress for at most the configured time, then stops listening and stops
    /// the engine.
    pub async fn shutdown(mut self) {
        let deadline = Instant::now() + self.drain;
        self.state.set_phase(Phase::Draining);
        if let Some(engine) = self.state.loaded()
            && timeout_at(deadline, engine.idle()).await.is_err()
        {
            tracing::warn!(after = ?self.drain, "aborting the requests still in progress");
            engine.abandon();
        }
        self.stop.cancel();
        let rest = deadline.saturating_duration_since(Instant::now()).max(LAST_WORDS);
        match timeout(rest, &mut self.serving).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the server task failed"),
            Err(_) => {
                tracing::warn!("dropping clients that do not read their answers");
                self.serving.abort();
            }
        }
        let state = self.state.clone();
        let closed = tokio::task::spawn_blocking(move || state.loaded().map(Engine::close));
        if closed.await.is_err() {
            tracing::warn!("the engine did not close cleanly");
        }
    }
}
