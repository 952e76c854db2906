//! The place to drop files, which are imported into a corpus one after the other.

use crate::words::Words;
use maud::{Markup, html};

/// Files for this corpus, or for one that the visitor names.
pub(crate) fn form(words: Words, corpus: Option<&str>) -> Markup {
    html! {
        form.drop data-imports
            data-reading=(words.t("corpora.reading"))
            data-done=(words.t("corpora.import_done"))
            data-line=(words.t("corpora.line")) {
            h2 { (words.t("corpora.add")) }
            p.small.quiet { (words.t("corpora.add_note")) }
            @match corpus {
                Some(name) => { input type="hidden" name="corpus" value=(name); }
                None => label.field {
                    (words.t("corpora.corpus_name"))
                    input name="corpus" required value="library" pattern="[A-Za-z0-9_][A-Za-z0-9._\\-]*" maxlength="64"
                        title=(words.t("corpora.name_rule"));
                }
            }
            div.row.grow {
                label.field { (words.t("corpora.files")) input type="file" multiple; }
                label.field { (words.t("corpora.folder")) input type="file" webkitdirectory; }
            }
            p.small data-sent role="status" {}
            progress max="1" value="0" aria-label=(words.t("corpora.import_progress")) hidden {}
            div.stack.tight.small data-rejections hidden {
                h3 { (words.t("corpora.rejected")) }
                ul.stack.tight {}
            }
        }
    }
}
