//! Labeled collections: MED and CISI, and Cranfield, which are found beside the repository.

use flate2::read::GzDecoder;
use lyra_text::content_words;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Relevant documents without which a topic has no curve.
const LEAST_RELEVANT: usize = 10;

pub(crate) struct Collection {
    pub(crate) name: &'static str,
    /// The words of each document.
    pub(crate) texts: Vec<Vec<String>>,
    pub(crate) topics: Vec<Topic>,
}

/// A question with the documents in the order of a search, and which of them are relevant.
pub(crate) struct Topic {
    pub(crate) documents: Vec<usize>,
    pub(crate) relevant: Vec<bool>,
}

impl Topic {
    /// The first documents of the search.
    pub(crate) fn pool(&self, most: usize) -> Self {
        let cut = self.documents.len().min(most);
        Self { documents: self.documents[..cut].to_vec(), relevant: self.relevant[..cut].to_vec() }
    }

    pub(crate) fn is_enough(&self) -> bool {
        self.relevant.iter().filter(|is| **is).count() >= LEAST_RELEVANT
    }
}

/// All of them; `None` when they are absent.
pub(crate) fn all() -> Option<Vec<Collection>> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(3);
    let data = above.map(|folder| folder.join("shared/data")).find(|folder| folder.is_dir())?;
    Some(vec![json(&data, "med"), json(&data, "cisi"), cranfield(&data.join("cranfield"))])
}

fn json(data: &Path, name: &'static str) -> Collection {
    let folder = data.join("collections").join(name);
    let mut lines = String::new();
    GzDecoder::new(File::open(folder.join("docs.jsonl.gz")).unwrap()).read_to_string(&mut lines).unwrap();
    let documents: Vec<(String, String)> = lines
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
            (text("id"), format!("{} {}", text("title"), text("abstract")))
        })
        .collect();
    let topics: Value =
        serde_json::from_reader(File::open(folder.join("queries_qrels.json")).unwrap()).unwrap();
    let questions = topics["queries"].as_object().unwrap();
    let topics: BTreeMap<u32, (String, HashSet<String>)> = questions
        .iter()
        .map(|(id, question)| {
            let relevant = topics["qrels"][id].as_object().into_iter().flatten();
            let relevant = relevant.map(|(id, _)| id.to_owned()).collect();
            (id.parse().unwrap(), (question.as_str().unwrap().to_owned(), relevant))
        })
        .collect();
    collection(name, &documents, topics.into_values())
}

fn cranfield(folder: &Path) -> Collection {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let documents: Vec<(String, String)> = between(&read("cran.all.1400.xml"), "doc")
        .map(|document| {
            let part = |tag: &str| between(document, tag).next().unwrap_or_default().trim().to_owned();
            (part("docno"), format!("{} {}", part("title"), part("text")))
        })
        .collect();
    let mut relevant: HashMap<usize, HashSet<String>> = HashMap::new();
    for line in read("cranqrel.trec.txt").lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields[3].parse::<i32>().unwrap() > 0 {
            relevant.entry(fields[0].parse().unwrap()).or_default().insert(fields[2].to_owned());
        }
    }
    let questions = read("cran.qry.xml");
    // Judgments name questions by their place.
    let topics = between(&questions, "title")
        .enumerate()
        .map(|(at, question)| (question.to_owned(), relevant.remove(&(at + 1)).unwrap_or_default()));
    collection("cranfield", &documents, topics.collect::<Vec<_>>().into_iter())
}

/// What stands between the tags of a name.
fn between<'t>(text: &'t str, tag: &str) -> impl Iterator<Item = &'t str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(&open)? + open.len();
        let end = start + rest[start..].find(&close)?;
        let found = &rest[start..end];
        rest = &rest[end..];
        Some(found)
    })
}

fn collection(
    name: &'static str,
    documents: &[(String, String)],
    topics: impl Iterator<Item = (String, HashSet<String>)>,
) -> Collection {
    let texts: Vec<Vec<String>> = documents.iter().map(|(_, text)| content_words(text)).collect();
    let counts: Vec<HashMap<&str, f64>> = texts
        .iter()
        .map(|words| {
            let mut counts = HashMap::new();
            for word in words {
                *counts.entry(word.as_str()).or_default() += 1.0;
            }
            counts
        })
        .collect();
    let mut frequency: HashMap<&str, f64> = HashMap::new();
    for word in counts.iter().flat_map(HashMap::keys) {
        *frequency.entry(word).or_default() += 1.0;
    }
    let all = texts.len() as f64;
    let length = texts.iter().map(Vec::len).sum::<usize>() as f64 / all;
    let topics = topics.map(|(question, relevant)| {
        let words = content_words(&question);
        // BM25.
        let score = |at: usize| -> f64 {
            let norm = 0.25 + 0.75 * texts[at].len() as f64 / length;
            let of = |word: &String| {
                let count = counts[at].get(word.as_str())?;
                let spread = frequency[word.as_str()];
                let inverse = ((all - spread + 0.5) / (spread + 0.5) + 1.0).ln();
                Some(inverse * count * 2.2 / (count + 1.2 * norm))
            };
            words.iter().filter_map(of).sum()
        };
        let mut ranked: Vec<(usize, f64)> = (0..texts.len()).map(|at| (at, score(at))).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let order: Vec<usize> = ranked.into_iter().map(|(at, _)| at).collect();
        let relevant = order.iter().map(|at| relevant.contains(&documents[*at].0)).collect();
        Topic { documents: order, relevant }
    });
    let topics = topics.collect();
    Collection { name, texts, topics }
}
