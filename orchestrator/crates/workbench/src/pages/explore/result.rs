//! Rows as a table, with what can be made of them.

use crate::words::Words;
use lyra_store::ViewRows;
use maud::{Markup, html};
use serde_json::Value;

/// The place of a result: a table, and the tools that a module adds to it. A statement's rows are filled in by the
/// module, in the shape of [`table`].
pub(super) fn block(words: Words, id: &str, shown: Option<(&str, &ViewRows)>) -> Markup {
    let caption = shown.map_or(words.t("explore.result_of_statement"), |(caption, _)| caption);
    html! {
        div.stack #(id) data-result hidden[shown.is_none()]
            data-rows-one=(words.t("explore.rows_one")) data-rows-other=(words.t("explore.rows_other"))
            data-rows-cut=(words.t("explore.rows_cut")) data-took=(words.t("explore.took"))
            data-running=(words.t("explore.running")) data-no-rows=(words.t("explore.no_rows"))
            data-caption=(words.t("explore.result_of_statement")) data-against=(words.t("explore.plot_against"))
            data-by=(words.t("explore.plot_by")) data-mean=(words.t("explore.plot_mean"))
            data-first=(words.t("explore.plot_first")) data-count=(words.t("explore.plot_count"))
            data-nothing=(words.t("explore.plot_nothing")) {
            p.small role="status" data-status { @if let Some((_, rows)) = shown { (counted(words, rows)) } }
            div.table.rows tabindex="0" role="group" aria-label=(caption) {
                @if let Some((caption, rows)) = shown { (table(caption, rows)) }
            }
            (tools(words, id))
        }
    }
}

/// How many rows these are, and that there are more.
fn counted(words: Words, rows: &ViewRows) -> String {
    let n = rows.rows.len() as u64;
    match (n, rows.truncated) {
        (0, _) => words.t("explore.no_rows").to_owned(),
        (_, true) => words.with("explore.rows_cut", &[("n", &words.number(n))]),
        (_, false) => words.count("explore.rows_one", "explore.rows_other", n),
    }
}

/// The rows; texts in them are from anywhere and stay text.
fn table(caption: &str, rows: &ViewRows) -> Markup {
    html! {
        table {
            caption { (caption) }
            thead { tr { @for column in &rows.columns { th scope="col" { (column) } } } }
            tbody {
                @for row in &rows.rows {
                    tr { @for column in &rows.columns { (cell(row.get(column).unwrap_or(&Value::Null))) } }
                }
            }
        }
    }
}

/// A cell. Numbers are shown as they are, because people copy them.
fn cell(value: &Value) -> Markup {
    match value {
        Value::Null => html! { td.null { "NULL" } },
        Value::Number(number) => html! { td.number { (number) } },
        Value::String(text) => html! { td { bdi { (text) } } },
        other => html! { td { bdi { (other) } } },
    }
}

/// Download and plot, which need the module: it shows them when there are rows.
fn tools(words: Words, id: &str) -> Markup {
    html! {
        div.stack data-tools hidden {
            div.actions { button.button type="button" data-csv=(format!("lyra-{id}.csv")) { (words.t("explore.csv")) } }
            details data-plots id=(format!("{id}-plot")) {
                summary { (words.t("explore.plot")) }
                div.stack {
                    div.row {
                        label.field { (words.t("explore.plot_y")) select data-plot="y" {} }
                        label.field { (words.t("explore.plot_x")) select data-plot="x" {} }
                    }
                    div data-drawn {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;
    use serde_json::json;

    #[test]
    fn cells_are_text_whatever_they_hold() {
        let rows: Vec<_> =
            [json!({"a": "<script>alert(1)</script>", "b": null}), json!({"a": 12345.5, "b": [1]})]
                .iter()
                .filter_map(|row| row.as_object().cloned())
                .collect();
        let rows = ViewRows {
            columns: vec!["a".to_owned(), "<b>".to_owned(), "b".to_owned()],
            rows,
            truncated: true,
        };
        let html = block(Words(Language::English), "view", Some(("T", &rows))).into_string();
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
        assert!(html.contains("<th scope=\"col\">&lt;b&gt;</th>"), "{html}");
        assert!(
            html.contains("<td class=\"number\">12345.5</td>") && html.contains("<bdi>[1]</bdi>"),
            "{html}"
        );
        assert!(html.contains("<td class=\"null\">NULL</td>"), "{html}");
        assert!(html.contains("The first 2 rows"), "{html}");
    }

    #[test]
    fn no_rows_are_said_in_words() {
        let rows = ViewRows { columns: vec!["a".to_owned()], rows: Vec::new(), truncated: false };
        assert_eq!(counted(Words(Language::English), &rows), "No rows.");
    }
}
