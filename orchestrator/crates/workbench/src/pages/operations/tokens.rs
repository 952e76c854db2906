//! Tokens: who may reach this server from elsewhere.

use crate::parts::moment;
use crate::words::Words;
use jiff::Timestamp;
use lyra_store::{Scope, Token};
use maud::{Markup, html};

/// Days after which a new token expires: value and text. Without one it never does.
const EXPIRIES: [(&str, &str); 4] = [
    ("90", "operations.days_90"),
    ("30", "operations.days_30"),
    ("365", "operations.days_365"),
    ("", "operations.never"),
];

/// Whether a token still lets someone in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    Expired,
    Revoked,
}

impl State {
    fn of(token: &Token, now: Timestamp) -> Self {
        let ends = token.expires_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        match (&token.revoked_at, ends) {
            (Some(_), _) => Self::Revoked,
            (None, Some(end)) if end <= now => Self::Expired,
            (None, _) => Self::Active,
        }
    }
}

/// Creates a token. A module shows its secret, which the server tells once.
pub(super) fn form(words: Words) -> Markup {
    html! {
        form.stack method="post" data-new-token aria-label=(words.t("operations.new_token")) {
            div.row {
                label.field {
                    (words.t("operations.name"))
                    input name="name" required maxlength="64" pattern="[A-Za-z0-9._@\\-]+" autocomplete="off"
                        title=(words.t("operations.name_note"));
                }
                label.field {
                    (words.t("operations.scope"))
                    select name="scope" {
                        option value="read" { (words.t("operations.scope_read")) }
                        option value="full" { (words.t("operations.scope_full")) }
                    }
                }
                label.field {
                    (words.t("operations.expires"))
                    select name="days" { @for (days, text) in EXPIRIES { option value=(days) { (words.t(text)) } } }
                }
                button.button { (words.t("operations.create")) }
            }
            p.note role="alert" hidden {}
            div role="status" {
                div.card.stack.tight data-secret hidden {
                    p { b { (words.t("operations.secret")) } " " (words.t("operations.secret_note")) }
                    p { output.code {} }
                    div.actions {
                        button.button type="button" data-copy data-said=(words.t("operations.copied")) { (words.t("operations.copy")) }
                        button.quiet type="button" data-forget { (words.t("operations.hide")) }
                    }
                }
            }
        }
    }
}

pub(super) fn list(words: Words, tokens: &[Token], now: Timestamp) -> Markup {
    html! {
        div #tokens data-live {
            @if tokens.is_empty() {
                p.quiet { (words.t("operations.no_tokens")) }
            } @else {
                div.table tabindex="0" role="group" aria-labelledby="tokens-title" {
                    table {
                        caption.hidden { (words.t("operations.tokens")) }
                        thead {
                            tr {
                                th scope="col" { (words.t("operations.name")) }
                                th scope="col" { (words.t("operations.scope")) }
                                th scope="col" { (words.t("operations.state")) }
                                th scope="col" { (words.t("operations.created")) }
                                th scope="col" { (words.t("operations.expires")) }
                                th scope="col" { (words.t("operations.last_used")) }
                                th scope="col" { span.hidden { (words.t("operations.revoke")) } }
                            }
                        }
                        tbody { @for token in tokens { (row(words, token, now)) } }
                    }
                }
            }
        }
    }
}

fn row(words: Words, token: &Token, now: Timestamp) -> Markup {
    let state = State::of(token, now);
    let scope = match token.scope {
        Scope::Read => words.t("operations.scope_read"),
        Scope::Full => words.t("operations.scope_full"),
    };
    let time = |at: &Option<String>| {
        at.as_deref().map_or_else(|| html! { (words.t("operations.never")) }, moment::time)
    };
    let named = [("name", token.name.as_str())];
    html! {
        tr {
            th scope="row" { (token.name) " " span.quiet.code { (token.id) } }
            td { (scope) }
            td {
                @match state {
                    State::Active => span.pill.busy { (words.t("operations.active")) },
                    State::Expired => span.pill { (words.t("operations.expired")) },
                    State::Revoked => span.pill { (words.t("operations.revoked")) },
                }
            }
            td { (moment::time(&token.created_at)) }
            td { (time(&token.expires_at)) }
            td { (time(&token.last_used_at)) }
            td {
                @if state == State::Active {
                    button.quiet type="button" id=(format!("revoke-{}", token.id))
                        aria-label=(words.with("operations.revoke_named", &named))
                        data-api=(format!("DELETE /api/v1/tokens/{}", token.id))
                        data-ask=(words.with("operations.ask_revoke", &named))
                        data-said=(words.with("operations.revoke_said", &named)) { (words.t("operations.revoke")) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    fn token(expires_at: Option<&str>, revoked_at: Option<&str>) -> Token {
        Token {
            id: "abc".to_owned(),
            name: "laptop".to_owned(),
            scope: Scope::Full,
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            expires_at: expires_at.map(str::to_owned),
            last_used_at: None,
            revoked_at: revoked_at.map(str::to_owned),
        }
    }

    #[test]
    fn only_an_active_token_can_be_revoked() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().expect("a time");
        for (token, state) in [
            (token(None, None), State::Active),
            (token(Some("2026-06-02T00:00:00Z"), None), State::Active),
            (token(Some("2026-06-01T00:00:00Z"), None), State::Expired),
            (token(Some("2026-06-02T00:00:00Z"), Some("2026-05-01T00:00:00Z")), State::Revoked),
        ] {
            assert_eq!(State::of(&token, now), state);
            let html = row(Words(Language::English), &token, now).into_string();
            assert_eq!(html.contains("DELETE /api/v1/tokens/abc"), state == State::Active, "{html}");
        }
    }
}
