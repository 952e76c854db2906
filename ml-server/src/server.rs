//! A running server: load in the background, listen at once, drain on request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::ServerConfig;
use crate::error::Error;
use crate::http::{AppState, Phase, router};
use crate::load;

/// Starts serving on `listener`. Returns at once: models load in the background, and until they are there `/ready`
/// says 503. Must be called inside a tokio runtime.
///
/// # Errors
/// When the listener has no address. Failures to load show in [`ServerHandle::ready`].
pub fn start(config: ServerConfig, listener: TcpListener) -> Result<ServerHandle, Error> {
    let address = listener.local_addr().map_err(|error| Error::Start(format!("listener: {error}")))?;
    let names =
        [&config.embed, &config.nli].into_iter().flatten().map(crate::model::ModelSource::name).collect();
    let state = AppState::new(config.limits.clone(), names);
    let drain = config.drain;

    tokio::task::spawn_blocking({
        let state = state.clone();
        move || match load::engine(&config, Arc::clone(state.metrics())) {
            Ok(engine) => state.serve_with(engine),
            Err(error) => state.set_phase(Phase::Failed(Arc::new(error))),
        }
    });
    let stop = CancellationToken::new();
    let serving = tokio::spawn({
        let (app, stop) = (router(state.clone()), stop.clone());
        async move { axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).await }
    });
    Ok(ServerHandle { address, state, stop, serving, drain })
}

/// A running server. Dropping it leaves the server running; call [`shutdown`](Self::shutdown).
pub struct ServerHandle {
    address: SocketAddr,
    state: AppState,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
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

    /// Stops accepting, finishes requests in work for at most the configured time, then ends the engine.
    pub async fn shutdown(mut self) {
        self.state.set_phase(Phase::Draining);
        self.stop.cancel();
        match tokio::time::timeout(self.drain, &mut self.serving).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "the listener failed"),
            Ok(Err(error)) => tracing::warn!(%error, "the server task failed"),
            Err(_) => {
                tracing::warn!(after = ?self.drain, "requests still in work are given up");
                // Aborting drops their reply channels, so the engine skips their inputs.
                self.serving.abort();
            }
        }
        let state = self.state.clone();
        let closed = tokio::task::spawn_blocking(move || state.loaded().map(crate::engine::Engine::close));
        if closed.await.is_err() {
            tracing::warn!("the engine did not close cleanly");
        }
    }
}
