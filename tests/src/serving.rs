//! A server within the test's process.

use axum::Router;
use std::net::TcpListener;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Serves on loopback, on a thread of its own; stopped when dropped, also in the middle of an answer.
pub(crate) struct Serving {
    /// `http://127.0.0.1:PORT`.
    pub(crate) address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Starts on a free port. `app` creates the router for its address.
    pub(crate) fn start(app: impl FnOnce(&str) -> anyhow::Result<Router>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = format!("http://{}", listener.local_addr()?);
        let app = app(&address)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    // The next request finds the server unreachable.
                    _ = axum::serve(listener, app) => {}
                    // An error only says that the owner is gone, which means the same.
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
