//! Facts about a corpus, as its pages word them.

use crate::words::Words;
use lyra_corpus::CorpusInfo;
use maud::{Markup, html};

/// Documents that a search by meaning finds.
pub(super) fn embedded(words: Words, corpus: &CorpusInfo) -> String {
    if !corpus.pending.is_empty() {
        let values = [("n", &*words.number(corpus.embedded)), ("all", &*words.number(corpus.documents))];
        words.with("corpora.embedding", &values)
    } else if corpus.scopes.is_empty() {
        words.t("corpora.not_embedded").to_owned()
    } else {
        words.number(corpus.embedded)
    }
}

/// Bytes in decimal units, with one digit after the point below ten.
pub(super) fn size(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    while amount >= 999.5 && unit + 1 < units.len() {
        amount /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && amount < 9.95);
    format!("{amount:.digits$} {}", units[unit])
}

/// A day; a module shows it in the reader's language and time zone.
pub(super) fn date(at: jiff::Timestamp) -> Markup {
    html! { time datetime=(at) { (at.strftime("%Y-%m-%d")) } }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_the_unit_that_keeps_them_short() {
        let sizes = [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (9_960, "10 kB"),
            (999_600, "1.0 MB"),
            (2_340_000_000, "2.3 GB"),
        ];
        for (bytes, shown) in sizes {
            assert_eq!(size(bytes), shown);
        }
        assert_eq!(size(u64::MAX), "18446744 TB");
    }
}
