//! PRISMA: the flow of a task's documents in the boxes of PRISMA 2020, as it stands now.

use crate::failure::{Failed, Failure, id};
use crate::parts::file::attachment;
use crate::parts::tabs;
use crate::pictures::flow::{self, Block, Line, Row, Texts};
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, State};
use axum::response::Response;
use lyra_domain::TaskId;
use lyra_usecases::{App, PrismaFlow};
use maud::html;

pub(super) async fn show(
    State(app): State<App>,
    Path(task): Path<String>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let task: TaskId = id(&task, &visit)?;
    let question = app.task(&task).await.shown_to(&visit)?.query;
    let prisma = app.prisma(&task).await.shown_to(&visit)?;
    let (rows, texts) = (rows(words, &prisma), texts(words));
    let title = words.t("prisma.title");
    let content = html! {
        div.stack.wide data-events-of=(task) {
            (tabs::head(words, &task, &question, "prisma.title", Some("screening.title")))
            p.measure { (words.t("prisma.note")) }
            div.flow.figure #flow data-live {
                // Wider than a phone, so that it scrolls, which the keyboard has to reach.
                div.drawing tabindex="0" role="group" aria-label=(title) { (flow::picture("prisma", &rows, &texts)) }
                details #prisma-table {
                    summary.small { (words.t("figures.as_table")) }
                    div.table tabindex="0" role="group" aria-label=(words.t("figures.as_table")) {
                        (flow::table(&rows, &texts))
                    }
                }
            }
            div.stack.tight #beside data-live {
                @if prisma.not_fetched > 0 {
                    p.small { (words.count("prisma.not_fetched_one", "prisma.not_fetched_other", prisma.not_fetched)) }
                }
                @if prisma.requires_person > 0 {
                    p.small { (words.count("prisma.person_one", "prisma.person_other", prisma.requires_person)) }
                }
                p.small.quiet.measure { (words.t("prisma.not_recorded_note")) }
                p { a.button href=(format!("/tasks/{task}/prisma.svg")) download { (words.t("prisma.download")) } }
            }
        }
    };
    Ok(Page { title, here: "/", content }.answer(&visit))
}

/// The picture as a file.
pub(super) async fn file(
    State(app): State<App>,
    Path(task): Path<String>,
    visit: Visit,
) -> Result<Response, Failure> {
    let task: TaskId = id(&task, &visit)?;
    let prisma = app.prisma(&task).await.shown_to(&visit)?;
    let drawing = flow::drawing("prisma", &rows(visit.words, &prisma), &texts(visit.words)).into_string();
    let svg =
        drawing.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" ", 1);
    Ok(attachment(&format!("{task}-prisma.svg"), "image/svg+xml", svg))
}

fn texts(words: Words) -> Texts<'static> {
    Texts {
        title: words.t("prisma.title"),
        description: words.t("prisma.description"),
        what: words.t("prisma.what"),
        count: words.t("prisma.count"),
    }
}

/// The boxes.
fn rows(words: Words, prisma: &PrismaFlow) -> Vec<Row> {
    let line = |text: &str, count: u64| Line { text: text.to_owned(), count: words.number(count) };
    let named = |key, count| line(words.t(key), count);
    let block = |lines: Vec<Line>| Block(lines);
    let sum = |counts: &[(String, u64)]| counts.iter().map(|(_, count)| count).sum();
    let source = |name: &str| match name {
        "citations" => words.t("prisma.citations").to_owned(),
        "added" => words.t("prisma.added").to_owned(),
        "web" => words.t("prisma.web").to_owned(),
        name => name.to_owned(),
    };
    let listed = |first: Line, counts: &[(String, u64)]| {
        let rest = counts.iter().map(|(name, count)| line(&source(name), *count));
        Block(std::iter::once(first).chain(rest).collect())
    };
    let progress = prisma.progress;
    let removed = prisma.duplicates + progress.blocked + progress.quarantined;
    let not_recorded = Line {
        text: words.t("prisma.by_tools").to_owned(),
        count: words.t("prisma.not_recorded").to_owned(),
    };
    let excluded_reports: u64 = prisma.excluded_reports.iter().map(|(_, count)| count).sum();
    let reasons = prisma.excluded_reports.iter().map(|(reason, count)| {
        let text = reason
            .as_deref()
            .map_or(words.t("screening.no_reason"), |reason| super::screening::reason_text(words, reason));
        line(text, *count)
    });
    vec![
        Row {
            left: listed(named("prisma.databases", sum(&prisma.databases)), &prisma.databases),
            right: Some(listed(named("prisma.others", sum(&prisma.others)), &prisma.others)),
            joins: true,
        },
        Row {
            left: block(vec![named("prisma.identified", prisma.identified())]),
            right: Some(block(vec![
                named("prisma.removed", removed),
                named("prisma.duplicates", prisma.duplicates),
                not_recorded,
                named("prisma.blocked", progress.blocked),
                named("prisma.quarantined", progress.quarantined),
            ])),
            joins: false,
        },
        Row {
            left: block(vec![
                named("prisma.screened", prisma.screened()),
                named("prisma.open", progress.open),
                named("prisma.undecided", progress.undecided),
            ]),
            right: Some(block(vec![named("prisma.excluded", prisma.excluded)])),
            joins: false,
        },
        Row {
            left: block(vec![named("prisma.sought", prisma.sought())]),
            right: Some(block(vec![named("prisma.not_retrieved", prisma.not_retrieved)])),
            joins: false,
        },
        Row {
            left: block(vec![named("prisma.assessed", prisma.assessed())]),
            right: Some(Block(
                std::iter::once(named("prisma.excluded_reports", excluded_reports)).chain(reasons).collect(),
            )),
            joins: false,
        },
        Row {
            left: block(vec![
                named("prisma.included", progress.included),
                named("prisma.without_full_text", prisma.included_without_full_text),
            ]),
            right: None,
            joins: false,
        },
    ]
}
