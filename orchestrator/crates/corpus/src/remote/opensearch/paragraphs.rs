//! The paragraphs of full texts that say most about a question, chosen by the nodes that hold the texts: a book does not
//! travel for a few of its pages.

use super::shelf::Shelf;
use crate::Result;
use lyra_text::{Analysis, content_words, tokens};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use tokio_util::sync::CancellationToken;

/// Paragraphs of one text that are fetched, at most.
const MOST: usize = 80;
/// Words of a question that are compared, at most.
const MOST_WORDS: usize = 32;
/// Paragraphs of one text that are compared, at most. With [`MOST_WORDS`], a node's limit on the steps of a script
/// (1,000,000) is not reached.
const MOST_COMPARED: usize = 20_000;

/// Paragraphs in the order of the text, with their lines. Those with more of the words come first where there are too many,
/// and of equals the earlier ones.
const SCRIPT: &str = "\
    def text = params['_source']['desc'];
    def chosen = new ArrayList();
    if (text == null) { return chosen; }
    String[] lines = text.splitOnToken(params.end);
    int compared = (int) Math.min(lines.length, params.compared);
    int[] shared = new int[compared];
    int[] having = new int[params.words.size() + 1];
    for (int n = 0; n < compared; n++) {
        if (lines[n].trim().isEmpty()) { shared[n] = -1; continue; }
        String line = lines[n].toLowerCase();
        for (def word : params.words) { if (line.contains(word)) { shared[n]++; } }
        having[shared[n]]++;
    }
    int least = params.words.size();
    int room = params.most;
    while (least > 0 && having[least] <= room) { room -= having[least]; least--; }
    for (int n = 0; n < compared; n++) {
        boolean more = shared[n] > least;
        if (more || (shared[n] == least && room > 0)) {
            chosen.add(['line': n, 'text': lines[n]]);
            if (!more) { room--; }
        }
    }
    return chosen;";

/// The full texts of documents that have one, with empty lines in place of the paragraphs that say less about a question, so
/// that sections keep their lines.
pub(super) async fn told(
    shelf: &Shelf,
    ids: &[String],
    question: &str,
    stop: &CancellationToken,
) -> Result<HashMap<String, String>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let script = json!({"lang": "painless", "source": SCRIPT,
        "params": {"words": words(question), "end": "\n", "most": MOST, "compared": MOST_COMPARED}});
    let body = json!({"size": ids.len(), "query": {"ids": {"values": ids}}, "_source": false,
        "track_total_hits": false, "script_fields": {"paragraphs": {"script": script}}});
    let answer = shelf.cluster.search(Some(&shelf.index), &body, stop).await?;
    let hits = answer["hits"]["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |hit: &Value| Some((hit["_id"].as_str()?.to_owned(), text(&hit["fields"]["paragraphs"])));
    Ok(hits.iter().filter_map(text).collect())
}

/// The beginnings of a question's words that their other forms share (`memor` of “memory”), in lower case.
fn words(question: &str) -> Vec<String> {
    let cut = tokens(question, Analysis { stem: false, stop: true });
    let begins = cut.iter().map(|token| {
        let stem = content_words(&token.text).concat();
        let shared = token.text.chars().zip(stem.chars()).take_while(|(a, b)| a == b);
        shared.map(|(a, _)| a).collect::<String>()
    });
    let distinct: BTreeSet<String> = begins.filter(|word| !word.is_empty()).collect();
    distinct.into_iter().take(MOST_WORDS).collect()
}

/// A text that has only these paragraphs, each on its line.
fn text(paragraphs: &Value) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for paragraph in paragraphs.as_array().into_iter().flatten() {
        let (Some(line), Some(said)) = (paragraph["line"].as_u64(), paragraph["text"].as_str()) else {
            continue;
        };
        let line = line as usize;
        if line < MOST_COMPARED {
            lines.resize(lines.len().max(line + 1), "");
            lines[line] = said;
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_where_their_forms_part() {
        assert_eq!(words("Does the memory of adults improve?"), ["adult", "improv", "memor"]);
        assert_eq!(words("昼寝は記憶を改善するか"), ["改善", "昼寝", "記憶"]);
    }

    #[test]
    fn paragraphs_keep_their_lines() {
        let found = json!([{"line": 1, "text": "Naps help."}, {"line": 3, "text": "So they say."}]);
        assert_eq!(text(&found), "\nNaps help.\n\nSo they say.");
        assert_eq!(text(&json!(null)), "");
    }
}
