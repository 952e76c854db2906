//! A task as files: its report as one page, its references, its graph, and everything as JSON.

use crate::failure::{Failed, Failure, id};
use crate::parts::file::{CSV, attachment};
use crate::report::{ReportOptions, policy, report};
use crate::shell;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use lyra_domain::TaskId;
use lyra_usecases::{App, AppError, ErrorCode, GraphFormat};
use maud::{Markup, html};

/// Most findings of a report that is made here; `lyra task export` has no limit.
const FINDINGS: usize = 200;

/// A file that a task can be exported as.
struct File {
    /// How it ends, which is also its name in the address.
    ending: &'static str,
    kind: &'static str,
    /// The text of its link.
    text: &'static str,
    content: Content,
}

#[derive(Clone, Copy)]
enum Content {
    Graph(GraphFormat),
    Materials,
}

const FILES: &[File] = &[
    File {
        ending: "ris",
        kind: "application/x-research-info-systems",
        text: "task.export_ris",
        content: Content::Graph(GraphFormat::Ris),
    },
    File {
        ending: "bib",
        kind: "application/x-bibtex",
        text: "task.export_bibtex",
        content: Content::Graph(GraphFormat::Bibtex),
    },
    File {
        ending: "json",
        kind: "application/json",
        text: "task.export_materials",
        content: Content::Materials,
    },
    File {
        ending: "graphml",
        kind: "application/xml",
        text: "task.export_graph",
        content: Content::Graph(GraphFormat::GraphMl),
    },
    File { ending: "csv", kind: CSV, text: "task.export_edges", content: Content::Graph(GraphFormat::Csv) },
];

/// Links to the files.
pub(super) fn links(words: Words, task: &TaskId) -> Markup {
    html! {
        section.stack.tight aria-labelledby="export-title" {
            h2 #export-title { (words.t("task.export")) }
            ul.stack.tight.small {
                li { a href={ "/tasks/" (task) "/report" } { (words.t("task.export_report")) } }
                @for File { ending, text, .. } in FILES {
                    li { a href={ "/tasks/" (task) "/files/" (ending) } download { (words.t(text)) } }
                }
            }
        }
    }
}

/// The report, to be read, printed, or saved.
pub(in crate::pages) async fn page(
    State(app): State<App>,
    Path(task): Path<String>,
    visit: Visit,
) -> Result<Response, Failure> {
    let task: TaskId = id(&task, &visit)?;
    let answer = app.answer(&task).await.shown_to(&visit)?;
    let language = Some(visit.words.0.code().to_owned());
    let options = ReportOptions { language, limit: Some(FINDINGS), only_evidence: false };
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy().to_owned()),
        (header::CONTENT_DISPOSITION, format!("inline; filename=\"lyra-{task}.html\"")),
    ];
    Ok((headers, shell::sent(report(answer, &options, app.now()), &visit)).into_response())
}

/// One of the files.
pub(in crate::pages) async fn file(
    State(app): State<App>,
    Path((task, ending)): Path<(String, String)>,
    visit: Visit,
) -> Result<Response, Failure> {
    let task: TaskId = id(&task, &visit)?;
    let found = FILES.iter().find(|file| file.ending == ending);
    let none = || AppError::new(ErrorCode::NotFound, format!("a task has no file `{ending}`"));
    let File { kind, content, .. } = found.ok_or_else(none).shown_to(&visit)?;
    let text = match content {
        Content::Graph(format) => app.export_graph(&task, *format).await.shown_to(&visit)?,
        Content::Materials => {
            let materials = app.materials(&task).await.shown_to(&visit)?;
            let failed = |error: serde_json::Error| AppError::new(ErrorCode::Internal, error.to_string());
            serde_json::to_string(&materials).map_err(failed).shown_to(&visit)?
        }
    };
    Ok(attachment(&format!("lyra-{task}.{ending}"), kind, text))
}
