//! A time, which a module shows in the reader's language and time zone.

use maud::{Markup, html};

/// A time of RFC 3339 in UTC: date, hours, and minutes.
pub(crate) fn time(at: &str) -> Markup {
    html! { time datetime=(at) { (at.get(..16).unwrap_or(at).replace('T', " ")) } }
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn what_is_no_time_is_shown_as_it_is() {
        let html = time("2026-11-20T12:34:56.789Z").into_string();
        assert_eq!(html, "<time datetime=\"2026-11-20T12:34:56.789Z\">2026-11-20 12:34</time>");
        assert!(time("<b>").into_string().contains(">&lt;b&gt;<"));
        assert!(time("日本語の日時").into_string().contains("日本語の日時"));
    }
}
