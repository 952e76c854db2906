//! The answer as an app inside an AI's client (the extension `io.modelcontextprotocol/ui`): a template that the client
//! shows, and the content that its module reads for a task.

use super::finding::Passages;
use super::{ReportOptions, STYLE, content, words};
use lyra_usecases::answer::Answer;
use maud::{DOCTYPE, PreEscaped, html};

/// The module of the template, which speaks with the client.
const MODULE: &str = include_str!("../../assets/app.js");
/// Findings, and passages of each side, that the app shows.
const FINDINGS: usize = 10;
const PASSAGES: usize = 5;

/// The template: stylesheet and module in one page, without any content. It loads nothing.
pub fn template() -> String {
    let words = words(None);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Lyra" }
                style { (PreEscaped(STYLE)) }
            }
            body.report.inside {
                main #content { p.quiet role="status" { (words.t("report.waiting")) } }
                script type="module" { (PreEscaped(MODULE)) }
            }
        }
    }
    .into_string()
}

/// The answer as a page whose `main` the module shows. `language` is a tag such as `ja-JP`.
pub fn answer(answer: Answer, language: Option<String>, made_at: jiff::Timestamp) -> String {
    let words = words(language.as_deref());
    let options = ReportOptions { language, limit: Some(FINDINGS), only_evidence: false };
    let title = answer.progress.task.query.clone();
    let content = content(words, answer, &options, Passages::Correctable(PASSAGES), made_at);
    html! {
        (DOCTYPE)
        html lang=(words.0.code()) {
            head { meta charset="utf-8"; title { (title) } }
            body {
                main data-failed=(words.t("common.failed")) data-saved=(words.t("common.saved")) { (content) }
            }
        }
    }
    .into_string()
}
