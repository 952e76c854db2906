//! Sending a file to a corpus.

use super::body;
use super::call::Call;
use super::route::{Route, file};
use crate::problem::Failure;
use axum::Json;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use lyra_serve::body::Fault;
use lyra_usecases::ErrorCode;
use lyra_wire::ImportAccepted;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Largest file, in bytes.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Longest pause between two pieces of a file.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn route() -> Route {
    file::<ImportFile, ImportAccepted>(
        "/corpora/{name}/files",
        "import_file",
        "Import a file, at most 512 MiB; creates the corpus if it does not exist",
        |call, body| take(call, body).boxed(),
    )
}

/// The file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ImportFile {
    /// Its name without a folder, such as `paper.pdf`.
    #[schemars(regex(pattern = r"^[^/\\]*[^/\\.][^/\\]*$"))]
    filename: String,
}

fn take(call: Call, sent: Body) -> BoxFuture<'static, Result<Response, Failure>> {
    async move {
        let ImportFile { filename } = body::query(call.query())?;
        let announced = call.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if announced.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > MAX_BYTES) {
            return Err(too_large());
        }
        let name = call.part("name");
        let mut upload = call.app().upload(name, &filename).await?;
        let mut pieces = sent.into_data_stream();
        loop {
            let piece = tokio::time::timeout(PATIENCE, pieces.next()).await;
            let piece = match piece.map_err(|_| body::unread(&Fault::Slow(PATIENCE.as_secs())))? {
                None => break,
                Some(Ok(piece)) => piece,
                Some(Err(error)) => return Err(body::unread(&Fault::Broken(error.to_string()))),
            };
            if upload.bytes() + piece.len() as u64 > MAX_BYTES {
                return Err(too_large());
            }
            upload.write(&piece).await?;
        }
        let bytes = upload.bytes();
        if bytes == 0 {
            return Err(Failure::invalid("the body is empty; send the bytes of the file"));
        }
        upload.import(call.api.stop.clone()).await?;
        let accepted = ImportAccepted { corpus: name.to_owned(), filename, bytes };
        Ok((StatusCode::ACCEPTED, [(header::CACHE_CONTROL, "no-store")], Json(accepted)).into_response())
    }
    .boxed()
}

fn too_large() -> Failure {
    let message = format!("the file is larger than {MAX_BYTES} bytes");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::InvalidArgument, message)
        .hint("import it on the machine of the server: lyra corpus import NAME FILE")
}
