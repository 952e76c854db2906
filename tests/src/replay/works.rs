//! Works that a stand-in knows, and finding them.

use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Most works that one search answers: fewer than there are, so that citations lead to more.
const SEARCH_HITS: usize = 8;
/// Words without a topic.
const COMMON: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "by", "can", "did", "do", "does", "for", "from", "how", "in", "is",
    "it", "of", "on", "or", "that", "the", "to", "with",
];

/// The works of one API, as it would send them.
#[derive(Default)]
pub(super) struct Catalogue {
    records: Vec<Record>,
    by_name: HashMap<String, usize>,
}

/// One work.
pub(super) struct Record {
    /// As the API sends it.
    pub(super) json: Value,
    /// Its names, as the API is asked for it, in lower case.
    pub(super) names: Vec<String>,
    /// Names of what it cites.
    pub(super) cites: Vec<String>,
    /// The searchable text.
    pub(super) text: String,
}

impl Catalogue {
    /// Adds a work; an existing one stays unchanged.
    pub(super) fn add(&mut self, record: Record) {
        if record.names.is_empty() || record.names.iter().any(|name| self.by_name.contains_key(name)) {
            return;
        }
        for name in &record.names {
            self.by_name.insert(name.clone(), self.records.len());
        }
        self.records.push(record);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Record> {
        self.records.get(*self.by_name.get(&name.to_lowercase())?)
    }

    /// The works that share most words with the query, best first.
    pub(super) fn search(&self, query: &str) -> Vec<&Record> {
        let wanted = words(query);
        let mut found: Vec<(usize, &Record)> = self
            .records
            .iter()
            .map(|record| (words(&record.text).intersection(&wanted).count(), record))
            .filter(|(shared, _)| *shared * 2 > wanted.len())
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.names.cmp(&b.1.names)));
        found.into_iter().take(SEARCH_HITS).map(|(_, record)| record).collect()
    }

    /// What the work cites and the API knows.
    pub(super) fn references(&self, record: &Record) -> Vec<&Record> {
        record.cites.iter().filter_map(|name| self.get(name)).collect()
    }

    /// What cites the work.
    pub(super) fn citations(&self, record: &Record) -> Vec<&Record> {
        self.records
            .iter()
            .filter(|other| other.cites.iter().any(|cited| record.names.contains(cited)))
            .collect()
    }
}

pub(super) fn words(text: &str) -> HashSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !COMMON.contains(word))
        // Plural and singular are one.
        .map(|word| word.strip_suffix('s').unwrap_or(word).to_owned())
        .collect()
}

/// An invented passage of the example corpus, with numbers that its name gives it.
pub(super) struct Example {
    pub(super) passage: Passage,
    /// From 1, within its topic.
    pub(super) number: usize,
    /// From 1, over all topics.
    pub(super) serial: usize,
}

#[derive(Deserialize)]
pub(super) struct Passage {
    pub(super) id: String,
    pub(super) title: String,
    #[serde(rename = "abstract")]
    pub(super) text: String,
    pub(super) year: i32,
    pub(super) venue: String,
    pub(super) language: String,
    pub(super) authors: Vec<String>,
}

impl Example {
    /// A DOI of the prefix that is kept for examples.
    pub(super) fn doi(&self) -> String {
        format!("10.5555/{}", self.passage.id)
    }

    pub(super) fn citation_count(&self) -> usize {
        (self.serial * 37) % 101
    }

    /// Passages of its topic that it is made to cite: the one before it, and the third before it.
    pub(super) fn cites(&self) -> impl Iterator<Item = (String, usize)> + '_ {
        let topic = self.passage.id.rsplit_once('-').map_or("", |(topic, _)| topic);
        [1, 3]
            .into_iter()
            .filter(|back| self.number > *back)
            .map(move |back| (format!("10.5555/{topic}-{:02}", self.number - back), self.serial - back))
    }
}

/// Every passage of the example corpus.
pub(super) fn examples() -> anyhow::Result<Vec<Example>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/corpus");
    let mut found = Vec::new();
    for topic in ["nap", "remote-work", "phone-ban", "biochar"] {
        let file = folder.join(format!("{topic}.jsonl"));
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        for (i, line) in text.lines().enumerate() {
            let serial = found.len() + 1;
            found.push(Example { passage: serde_json::from_str(line)?, number: i + 1, serial });
        }
    }
    Ok(found)
}

/// Every recorded answer of the APIs; none, with the reason printed, when the shared data is not there.
pub(super) fn recorded(host: &str) -> anyhow::Result<Vec<Value>> {
    let Some(shared) = crate::shared() else { return Ok(Vec::new()) };
    let folder = shared.join("data/academic_http");
    let Ok(index) = std::fs::read_to_string(folder.join("index.jsonl")) else { return Ok(Vec::new()) };
    let mut bodies = Vec::new();
    for line in index.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let asked = entry["url"].as_str().unwrap_or_default();
        if entry["status"] == 200 && asked.contains(host) {
            let body = std::fs::read(folder.join(entry["body"].as_str().unwrap_or_default()))?;
            bodies.extend(serde_json::from_slice::<Value>(&body).ok());
        }
    }
    Ok(bodies)
}
