//! A backup as a download.

use super::call::Call;
use super::route::{Needs, Route, download};
use crate::problem::Failure;
use axum::body::Body;
use axum::http::{Method, header};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use lyra_usecases::{AppError, ErrorCode};
use tokio::fs::File;
use tokio_util::io::ReaderStream;

const GZIP: &str = "application/gzip";

pub(super) fn route() -> Route {
    let summary =
        "A verified backup (.tar.gz) of the evidence and the corpora, with login cookies: keep it safe";
    let route =
        download::<super::route::Nothing>("/backups", "create_backup", summary, &[GZIP], |call, _| {
            make(call)
        });
    // It takes work and space, and the audit log shall name who has one.
    Route { method: Method::POST, ..route.needs(Needs::Writing).secret() }
}

fn make(call: Call) -> BoxFuture<'static, Result<Response, Failure>> {
    async move {
        let app = call.app();
        let (spooled, _) = app.spool_backup().await?;
        let unread = |error: std::io::Error| {
            AppError::new(ErrorCode::Internal, format!("the backup cannot be read: {error}"))
        };
        let file = File::open(spooled.path()).await.map_err(unread)?;
        let length = file.metadata().await.map_err(unread)?.len();
        let day = app.now().strftime("%Y-%m-%d").to_string();
        let headers = [
            (header::CONTENT_TYPE, GZIP.to_owned()),
            (header::CONTENT_LENGTH, length.to_string()),
            (header::CONTENT_DISPOSITION, format!("attachment; filename=\"lyra-{day}.tar.gz\"")),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        // The file is removed when it was sent, or when its reader goes away.
        let pieces = ReaderStream::new(file).inspect(move |_| {
            let _ = &spooled;
        });
        Ok((headers, Body::from_stream(pieces)).into_response())
    }
    .boxed()
}
