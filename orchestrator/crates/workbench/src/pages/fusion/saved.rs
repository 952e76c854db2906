//! Searches that are run again, with what was new the last time.

use crate::parts::moment;
use crate::words::Words;
use lyra_wire::fusion::SavedInfo;
use maud::{Markup, html};

/// Characters of a query that are shown.
const QUERY: usize = 90;

/// The saved searches.
pub(super) fn section(words: Words, may_write: bool, saved: &[SavedInfo]) -> Markup {
    html! {
        section.stack.tight #saved data-live aria-labelledby="saved-searches" {
            h2 #saved-searches { (words.t("fusion.saved")) }
            @if saved.is_empty() { p.small.quiet { (words.t("fusion.no_saved")) } }
            ul.stack.small { @for search in saved { li.stack.tight { (entry(words, may_write, search)) } } }
        }
    }
}

fn entry(words: Words, may_write: bool, saved: &SavedInfo) -> Markup {
    let path = format!("/api/v1/fusion/saved/{}", super::escaped(&saved.name));
    let named = [("name", saved.name.as_str())];
    let is_long = saved.query.chars().count() > QUERY;
    html! {
        div {
            a href=(super::address(&saved.last_run_id)) { bdi { (saved.name) } }
            " " span.quiet { (saved.corpus) " · " (saved.lane) " · " (moment::time(&saved.last_run_at)) }
            br; bdi.code { (saved.query.chars().take(QUERY).collect::<String>()) @if is_long { "…" } }
        }
        @if saved.last_new_count > 0 {
            details {
                summary { (words.count("fusion.new_one", "fusion.new_other", saved.last_new_count as u64)) }
                ul.stack.tight {
                    @for id in &saved.last_new {
                        li { a href=(super::document_address(&saved.corpus, id)) { code { (id) } } }
                    }
                }
            }
        }
        @if may_write {
            p.row.middle {
                button.quiet type="button" data-api={ "POST " (path) "/run" }
                    aria-label=(words.with("fusion.run_named", &named))
                    data-said=(words.with("fusion.ran_said", &named)) { (words.t("fusion.run_again")) }
                button.quiet type="button" data-api={ "DELETE " (path) }
                    aria-label=(words.with("fusion.forget_named", &named))
                    data-ask=(words.with("fusion.ask_forget", &named))
                    data-said=(words.with("fusion.forgot_said", &named)) { (words.t("fusion.forget")) }
            }
        }
    }
}

/// A form that saves the search of a lane's run.
pub(super) fn form(words: Words, run: &str) -> Markup {
    html! {
        section.stack.tight aria-labelledby="save-search" {
            h2 #save-search { (words.t("fusion.save_search")) }
            p.small.quiet { (words.t("fusion.save_note")) }
            form.row data-api="POST /api/v1/fusion/saved" data-said=(words.t("fusion.saved_said")) {
                input type="hidden" name="run_id" value=(run);
                label.field.grows { (words.t("fusion.save_name")) input name="name" required maxlength="80" autocomplete="off"; }
                button.button { (words.t("fusion.save")) }
            }
        }
    }
}
