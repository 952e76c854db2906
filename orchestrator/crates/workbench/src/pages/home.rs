//! Home: ask, drop files, and see what is going on.

use crate::failure::{Failed, Failure};
use crate::parts::{drop, figures, progress};
use crate::pictures::bar::Counts;
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::State;
use axum::response::Response;
use lyra_corpus::CorpusInfo;
use lyra_domain::Budget;
use lyra_usecases::{App, SourceInfo};
use maud::{Markup, html};

/// Tasks that are listed.
const TASKS: u32 = 20;

pub(super) async fn show(State(app): State<App>, visit: Visit) -> Result<Response, Failure> {
    let words = visit.words;
    let tasks = app.task_summaries(TASKS, None).await.shown_to(&visit)?.tasks;
    let corpora = app.list_corpora().await.shown_to(&visit)?;
    let sources = app.list_sources().await.shown_to(&visit)?;
    let waiting = app.auth_queue(None).await.shown_to(&visit)?;
    let resting: Vec<&SourceInfo> = sources.iter().filter(|source| source.left_alone.is_some()).collect();
    let content = html! {
        div.stack.wide {
            section.stack aria-labelledby="ask" {
                h1 #ask { (words.t("home.title")) }
                p.quiet { (words.t("home.lead")) }
                @if visit.may_write { (form(words, &corpora, &sources)) } @else { p.note { (words.t("home.read_only")) } }
            }
            div.columns {
                section aria-labelledby="recent" {
                    h2 #recent { (words.t("home.recent")) }
                    ul.tasks #tasks data-live {
                        @for summary in &tasks {
                            li {
                                div.between {
                                    a href=(format!("/tasks/{}", summary.task.id)) { (summary.task.query) }
                                    (progress::status(words, summary.task.status))
                                }
                                (figures::spread(words, &format!("bar-{}", summary.task.id), Counts {
                                    supports: summary.supporting,
                                    neutral: summary.neutral,
                                    refutes: summary.refuting,
                                    unjudged: 0,
                                }))
                                p.facts {
                                    span { (words.count("home.claims_one", "home.claims_other", summary.claims)) }
                                    @if summary.contested > 0 {
                                        span { (words.with("home.contested", &[("n", &words.number(summary.contested))])) }
                                    }
                                    span { time datetime=(summary.task.created_at) { (summary.task.created_at.strftime("%Y-%m-%d")) } }
                                }
                            }
                        }
                        @if tasks.is_empty() { li.quiet { (words.t("home.no_tasks")) } }
                    }
                }
                aside.stack.wide {
                    @if visit.may_write { (drop::form(words, None)) }
                    section.stack.tight #attention data-live {
                        h2 { (words.t("home.attention")) }
                        @for item in waiting.iter().take(5) { p.small { (item.domain) ": " (item.url) } }
                        @for source in &resting {
                            @if let Some((seconds, why)) = &source.left_alone {
                                p.small {
                                    (words.with("home.resting", &[("source", &source.name), ("seconds", &seconds.to_string())]))
                                    " " span.quiet { (why) }
                                }
                            }
                        }
                        @if waiting.is_empty() && resting.is_empty() { p.quiet.small { (words.t("home.nothing_waits")) } }
                    }
                }
            }
        }
    };
    Ok(Page { title: words.t("common.ask"), here: "/", content }.answer(&visit))
}

/// The question, and where to look for its answer.
fn form(words: Words, corpora: &[CorpusInfo], sources: &[SourceInfo]) -> Markup {
    let usable = sources.iter().filter(|source| source.kind != "corpus" && source.missing.is_none());
    let budget = Budget::default();
    html! {
        form.ask method="post" data-api="POST /api/v1/tasks" data-then="created" {
            label {
                span.hidden { (words.t("home.question")) }
                textarea name="query" required maxlength="2000" rows="2" placeholder=(words.t("home.example")) {}
            }
            div.between {
                fieldset.choices {
                    legend.hidden { (words.t("home.kind")) }
                    label.check { input type="radio" name="claims" value="" checked; (words.t("home.as_question")) }
                    label.check { input type="radio" name="claims" value="1" data-as="copy" data-from="query"; (words.t("home.as_claim")) }
                }
                button.button.main { (words.t("home.ask")) }
            }
            details #where {
                summary { (words.t("home.where")) }
                div.stack {
                    fieldset.stack.tight {
                        legend { b { (words.t("home.corpora")) } }
                        div.choices {
                            @for corpus in corpora {
                                label.check {
                                    input type="checkbox" name="corpora" value=(corpus.name) data-as="list";
                                    (corpus.name) " " span.quiet.small { (words.number(corpus.documents)) }
                                }
                            }
                        }
                        p.quiet.small { (words.t("home.corpora_note")) }
                    }
                    fieldset.stack.tight {
                        legend { b { (words.t("home.sources")) } }
                        div.choices {
                            @for source in usable {
                                label.check {
                                    input type="checkbox" name="sources" value=(source.name) data-as="list" checked[source.by_default];
                                    (source.name)
                                }
                            }
                        }
                    }
                    div.row {
                        label.field {
                            (words.t("home.pages"))
                            input type="number" name="budget_pages" data-as="number" min="1" max="500" value=(budget.max_pages);
                        }
                        label.field {
                            (words.t("home.seconds"))
                            input type="number" name="budget_seconds" data-as="number" min="1" value=(budget.max_seconds);
                        }
                        label.field {
                            (words.t("home.max_claims"))
                            input type="number" name="max_claims" data-as="number" min="1" max="100" value="10";
                        }
                    }
                }
            }
        }
    }
}
