//! Recorded responses of both APIs, served by request.

use crate::support::{Seen, StandIn, json, reply};
use lyra_sources::{OpenAlex, Paper};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use url::Url;

/// A folder of the shared data; `None`, with the reason printed, when it is not there.
#[expect(clippy::print_stdout, reason = "says why it skips")]
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("LYRA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"), PathBuf::from);
    let folder = shared.join(folder);
    if !folder.join("index.jsonl").is_file() {
        println!("skipped: {} is not there (set LYRA_SHARED to the shared folder)", folder.display());
        return None;
    }
    Some(folder)
}

/// Answers by path and by the parameters that decide which one it is.
pub(crate) struct Recordings;

impl Recordings {
    /// A server of the recorded answers; `None`, with the reason printed, when they are not there.
    pub(crate) async fn serve() -> Option<StandIn> {
        let folder = shared("data/academic_http")?;
        let index = std::fs::read_to_string(folder.join("index.jsonl")).unwrap();
        let mut answers: BTreeMap<String, (u16, String, PathBuf)> = BTreeMap::new();
        let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |about| about.len());
        for line in index.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            let url: Url = entry["url"].as_str().unwrap().parse().unwrap();
            let key = key(url.path(), url.query().unwrap_or_default());
            let status = u16::try_from(entry["status"].as_u64().unwrap()).unwrap();
            let kind = entry["headers"]["content-type"].as_str().unwrap_or_default().to_owned();
            let body = folder.join(entry["body"].as_str().unwrap());
            // The same question was recorded as refused and as answered, and with pages of one and of 200.
            if answers.get(&key).is_none_or(|(known, _, path)| *known != 200 || size(path) < size(&body)) {
                answers.insert(key, (status, kind, body));
            }
        }
        Some(
            StandIn::start(move |seen: &Seen, _| match answers.get(&key(&seen.path, &seen.query)) {
                Some((status, kind, body)) => {
                    reply(*status, &[("content-type", kind)], std::fs::read(body).unwrap())
                }
                None => json(404, r#"{"error":"not recorded"}"#),
            })
            .await,
        )
    }
}

fn key(path: &str, query: &str) -> String {
    let decides = [
        "query",
        "offset",
        "token",
        "filter",
        "cursor",
        "search",
        "sort",
        "venue",
        "year",
        "publicationTypes",
        "publicationDateOrYear",
        "openAccessPdf",
        "minCitationCount",
    ];
    let mut kept: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| decides.contains(&name.as_ref()))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    // These are the same query with and without paging.
    kept.retain(|(name, value)| {
        !matches!((name.as_str(), value.as_str()), ("offset", "0") | ("cursor", "*"))
    });
    if path.ends_with("/bulk") {
        kept.retain(|(name, _)| name != "offset");
    }
    kept.sort();
    format!("{} {kept:?}", path.replace("DOI:", "").replace("CorpusId", "CorpusID"))
}

/// The recorded list of OpenAlex, requested as recorded.
pub(crate) trait ListRecorded {
    async fn list_recorded(&self) -> Vec<Paper>;
}

impl ListRecorded for OpenAlex {
    async fn list_recorded(&self) -> Vec<Paper> {
        let filter = "title_and_abstract.search:biodiversity AND finance,to_publication_date:2010-01-01";
        self.filtered(filter, 200).await.unwrap()
    }
}
