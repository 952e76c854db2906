//! Every source with its settings and its state.

use crate::words::Words;
use lyra_usecases::SourceInfo;
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

pub(super) fn of(words: Words, sources: &[SourceInfo]) -> Markup {
    html! {
        div.table {
            table {
                caption.hidden { (words.t("sources.all")) }
                thead {
                    tr {
                        th scope="col" { (words.t("sources.name")) }
                        th scope="col" { (words.t("sources.kind")) }
                        th scope="col" { (words.t("sources.state")) }
                        th scope="col" { (words.t("sources.key")) }
                        th scope="col" { (words.t("sources.address")) }
                    }
                }
                tbody { @for source in sources { (row(words, source)) } }
            }
        }
    }
}

fn row(words: Words, source: &SourceInfo) -> Markup {
    html! {
        tr data-item {
            th scope="row" {
                @if source.kind == "corpus" {
                    a data-opens href=(format!("/corpora/{}", utf8_percent_encode(&source.name, NON_ALPHANUMERIC))) { (source.name) }
                } @else { (source.name) }
            }
            td { (kind(words, source.kind)) }
            td {
                div.stack.tight {
                    @if source.by_default { span { span.pill.busy { (words.t("sources.by_default")) } } }
                    @if let Some(setting) = &source.missing {
                        span { (words.t("sources.missing")) " " code { (setting) } }
                    }
                    @if let Some((seconds, why)) = &source.left_alone {
                        span {
                            span.pill.bad { (words.with("sources.cooling", &[("n", &words.number(*seconds))])) }
                            " " span.quiet { (why) }
                        }
                    }
                }
            }
            td { (key(words, source)) }
            td { @if let Some(address) = &source.base_url { code { (address) } } }
        }
    }
}

fn kind<'a>(words: Words, kind: &'a str) -> &'a str {
    match kind {
        "api" => words.t("sources.kind_api"),
        "web" => words.t("sources.kind_web"),
        "web_api" => words.t("sources.kind_web_api"),
        "corpus" => words.t("sources.kind_corpus"),
        other => other,
    }
}

fn key(words: Words, source: &SourceInfo) -> &'static str {
    match source.key {
        Some(true) => words.t("sources.has_key"),
        Some(false) => words.t("sources.no_key"),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[test]
    fn a_source_says_what_it_lacks_and_why_it_rests() {
        let source = SourceInfo {
            name: "<b>brave</b>".to_owned(),
            kind: "web_api",
            by_default: true,
            base_url: Some("https://api.example".to_owned()),
            key: Some(false),
            missing: Some("sources.web.apis.brave.api_key".to_owned()),
            left_alone: Some((1_200, "429 <Too Many>".to_owned())),
        };
        let shown = of(Words(Language::English), &[source]).into_string();
        for part in [
            "&lt;b&gt;brave",
            "sources.web.apis.brave.api_key",
            "1,200",
            "429 &lt;Too Many&gt;",
            "https://api.example",
        ] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
    }
}
