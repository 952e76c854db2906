//! Login: a token becomes a session of this browser.

use crate::shell::Page;
use crate::visit::Visit;
use axum::extract::Query;
use axum::response::Response;
use maud::html;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    /// Path to go to afterwards.
    #[serde(default)]
    next: String,
}

pub(super) async fn show(Query(wanted): Query<Wanted>, visit: Visit) -> Response {
    let words = visit.words;
    let content = html! {
        div.empty {
            h1 { (words.t("common.sign_in")) }
            p { (words.t("common.sign_in_note")) }
            form.stack method="post" data-api="POST /api/v1/session" data-then=(own(&wanted.next)) {
                label.field {
                    (words.t("common.token"))
                    input type="password" name="token" required autocomplete="current-password" autofocus;
                }
                button.button.main { (words.t("common.sign_in")) }
            }
            p.small { code { "lyra token create NAME --scope full" } }
        }
    };
    Page { title: words.t("common.sign_in"), here: "", content }.answer(&visit)
}

/// A path of this server; anything else would lead a person who has just signed in elsewhere.
fn own(next: &str) -> &str {
    let leaves = next.starts_with("//") || next.contains('\\') || next.contains(|c: char| c.is_control());
    if next.starts_with('/') && !leaves { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn signing_in_leads_to_pages_of_this_server() {
        assert_eq!(own("/tasks/task_1?side=contested"), "/tasks/task_1?side=contested");
        for elsewhere in
            ["", "https://a.example", "//a.example", "/\\a.example", "javascript:alert(1)", "/\n/a"]
        {
            assert_eq!(own(elsewhere), "/", "{elsewhere}");
        }
    }
}
