//! What all pages share: the head, the navigation, and the places for notices.

use crate::assets;
use crate::visit::{Theme, Visit};
use crate::words::Language;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use lyra_serve::gzip::{self, Level};
use maud::{DOCTYPE, Markup, html};

/// Sections of the workbench: address, and the text of its link.
const SECTIONS: &[(&str, &str)] = &[
    ("/", "common.ask"),
    ("/corpora", "common.library"),
    ("/sources", "common.sources"),
    ("/fusion", "fusion.title"),
    ("/explore", "explore.title"),
    ("/calibration", "calibration.title"),
    ("/operations", "operations.title"),
];

/// A page to send.
pub(crate) struct Page<'a> {
    /// Of the window.
    pub(crate) title: &'a str,
    /// Address of its section in the navigation; empty for none.
    pub(crate) here: &'a str,
    pub(crate) content: Markup,
}

impl Page<'_> {
    /// The whole document, compressed if the client accepts that.
    pub(crate) fn answer(self, visit: &Visit) -> Response {
        sent(self.document(visit).into_string(), visit)
    }

    fn document(self, visit: &Visit) -> Markup {
        let words = visit.words;
        html! {
            (DOCTYPE)
            html lang=(words.0.code()) data-theme=(visit.theme.word()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Lyra" }
                    link rel="icon" href=(assets::address("icon.svg")) type="image/svg+xml";
                    link rel="stylesheet" href=(assets::address("workbench.css"));
                    script type="module" src=(assets::address("workbench.js")) {}
                }
                body data-may-write[visit.may_write] data-event=(visit.event) {
                    a.skip href="#content" { (words.t("common.skip")) }
                    header.top {
                        a.brand href="/" { (logo()) "Lyra" }
                        nav aria-label=(words.t("common.sections")) {
                            @for (address, text) in SECTIONS {
                                a href=(address) aria-current=[(*address == self.here).then_some("page")] { (words.t(text)) }
                            }
                        }
                        (settings(visit))
                    }
                    main #content tabindex="-1" { (self.content) }
                    footer.bottom {
                        p { (words.t("common.reading_note")) }
                        button.quiet type="button" data-open="keys" { (words.t("common.keys")) " " kbd { "?" } }
                    }
                    div #notices role="status" aria-live="polite" {}
                    (texts_of_modules(visit))
                    (key_sheet(visit))
                }
            }
        }
    }
}

/// A document, compressed if the client accepts that.
pub(crate) fn sent(document: String, visit: &Visit) -> Response {
    if !visit.takes_gzip {
        return Html(document).into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_ENCODING, "gzip"),
        (header::VARY, "accept-encoding, accept-language, cookie"),
    ];
    (headers, gzip::compressed(document.as_bytes(), Level::fast())).into_response()
}

/// Language, theme, and who is signed in.
fn settings(visit: &Visit) -> Markup {
    let words = visit.words;
    html! {
        div.settings {
            label {
                span.hidden { (words.t("common.language")) }
                select data-setting="lyra_language" {
                    @for language in Language::ALL {
                        option value=(language.code()) lang=(language.code()) selected[language == words.0] { (language.name()) }
                    }
                }
            }
            label {
                span.hidden { (words.t("common.theme")) }
                select data-setting="lyra_theme" {
                    @for (theme, text) in [
                        (Theme::Automatic, "common.theme_auto"),
                        (Theme::Light, "common.theme_light"),
                        (Theme::Dark, "common.theme_dark"),
                    ] {
                        option value=(theme.word()) selected[theme == visit.theme] { (words.t(text)) }
                    }
                }
            }
            @if let Some(token) = &visit.token {
                button.quiet type="button" data-api="DELETE /api/v1/session" data-then="/login" {
                    (words.with("common.sign_out", &[("token", token)]))
                }
            }
        }
    }
}

/// Texts that modules show, as data.
fn texts_of_modules(visit: &Visit) -> Markup {
    let words = visit.words;
    html! {
        template #texts
            data-undo=(words.t("common.undo"))
            data-undone=(words.t("common.undone"))
            data-saved=(words.t("common.saved"))
            data-close=(words.t("common.close"))
            data-offline=(words.t("common.offline"))
            data-online=(words.t("common.online"))
            data-signed-out=(words.t("common.signed_out"))
            data-failed=(words.t("common.failed")) {}
    }
}

/// The keys, opened by `?`.
fn key_sheet(visit: &Visit) -> Markup {
    let words = visit.words;
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { (words.t("common.keys")) }
            dl.keys {
                @for (keys, text) in [
                    ("j k", "common.key_move"), ("Enter", "common.key_open"), ("s", "common.key_supports"),
                    ("r", "common.key_refutes"), ("n", "common.key_neutral"), ("x", "common.key_leave_out"),
                    ("u", "common.key_undo"), ("i e d", "common.key_screen"), ("1 … 9", "common.key_reason"), ("/", "common.key_search"), ("?", "common.key_help"),
                ] {
                    dt { @for key in keys.split(' ') { kbd { (key) } " " } }
                    dd { (words.t(text)) }
                }
            }
            form method="dialog" { button.button autofocus { (words.t("common.close")) } }
        }
    }
}

/// Five stars of the constellation.
fn logo() -> Markup {
    html! {
        svg.logo viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false" {
            path d="M12 3 9 10l-2 9 7 2 2-9-4-2" fill="none" stroke="currentColor" stroke-width="1.2" {}
            circle cx="12" cy="3" r="2.2" fill="currentColor" {}
            @for (x, y) in [(9, 10), (7, 19), (14, 21), (16, 12)] {
                circle cx=(x) cy=(y) r="1.5" fill="currentColor" {}
            }
        }
    }
}
