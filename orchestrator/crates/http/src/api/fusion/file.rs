//! A run as a file.

use crate::api::body;
use crate::api::call::Call;
use crate::api::route::{Route, download};
use crate::problem::Failure;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use futures::future::BoxFuture;
use lyra_usecases::fusion::RunFormat;
use lyra_wire::schema::one_of;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

pub(super) fn route() -> Route {
    download::<AsFile>(
        "/fusion/runs/{run_id}/file",
        "export_run",
        "A run as a file: its documents with ranks, shares, labels and metadata",
        &[
            "text/csv",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/x-research-info-systems",
        ],
        |call, _: Body| answer(call).boxed(),
    )
}

/// Which file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AsFile {
    /// Format of the file. Default: `csv`.
    #[serde(default)]
    #[schemars(schema_with = "formats")]
    format: Option<RunFormat>,
}

fn formats(_: &mut SchemaGenerator) -> Schema {
    one_of(RunFormat::ALL.iter().map(|format| format.as_str()))
}

fn answer(call: Call) -> BoxFuture<'static, Result<Response, Failure>> {
    async move {
        let AsFile { format } = body::query(call.query())?;
        let format = format.unwrap_or(RunFormat::Csv);
        let file = call.app().fusion().export_run(call.part("run_id"), format).await?;
        let headers = [
            (header::CONTENT_TYPE, file.media_type.to_owned()),
            // Ids of runs need no escaping.
            (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", file.name)),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
            (header::CACHE_CONTROL, "private, no-cache".to_owned()),
        ];
        Ok((headers, file.bytes).into_response())
    }
    .boxed()
}
