//! Patentfield's REST API: patents of the offices it covers, searched by the vendor.
//!
//! `POST /patents/search` with `search_type` and `score_type` (`tfidf` for full text, `similarity_score` for meaning),
//! `weights`, `feature`, `conditions`, `columns` and `numbers`; answers have `n_hits` and `records`. The query language
//! is the vendor's own, which Lyra's follows.

use super::http::{Access, Auth, Client};
use super::{codes, day, lane_hits, strings};
use crate::backend::{
    BackendKind, DateField, DateRange, FeatureScope, FieldBoosts, Filter, IdType, LaneHit, LaneHits,
    LaneKind, LaneQuery, Publication, SearchBackend,
};
use crate::{CorpusError, Result};
use async_trait::async_trait;
use lyra_domain::classification::System;
use lyra_text::query::{Field, Near, Query, QueryError, Term};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The vendor's address.
const URL: &str = "https://api.patentfield.com/api/v1";
/// Publications fetched per request.
const BATCH: usize = 100;
const IDS: [&str; 4] = ["app_doc_id", "app_id", "pub_id", "exam_id"];
/// Columns with codes, by system.
const CODES: [(System, &str); 4] =
    [(System::Ipc, "ipcs"), (System::Cpc, "cpcs"), (System::Fi, "fis"), (System::Ft, "fterms")];
const TEXTS: [&str; 9] = [
    "title",
    "abstract",
    "claims",
    "description",
    "app_date",
    "pub_date",
    "country",
    "apm_applicants",
    "cross_en_applicants",
];

/// How the API is asked.
#[derive(Debug, Clone)]
pub struct PatentfieldConfig {
    /// Address, when it is not the vendor's.
    pub url: Option<String>,
    /// Key, sent as `Authorization: Token …`.
    pub api_key: SecretString,
    /// Name of the corpus in lanes.
    pub corpus: String,
    /// Most records per request: the contract says how many.
    pub page: usize,
    /// Limit of one request.
    pub timeout: Duration,
}

/// Lanes that Patentfield runs.
pub struct PatentfieldBackend {
    client: Client,
    corpus: String,
    page: usize,
}

impl PatentfieldBackend {
    /// Creates a backend without connecting.
    ///
    /// # Errors
    /// [`CorpusError::Search`] for settings that cannot be used.
    pub fn new(config: PatentfieldConfig) -> Result<Self> {
        let auth = Auth::Scheme { scheme: "Token", key: config.api_key };
        let client = Client::new(Access {
            kind: BackendKind::Patentfield,
            urls: &[config.url.unwrap_or_else(|| URL.to_owned())],
            auth,
            ca_file: None,
            timeout: config.timeout,
            explain: |_, _| None,
        })?;
        Ok(Self { client, corpus: config.corpus, page: config.page.max(1) })
    }

    fn check(&self, corpus: &str) -> Result<()> {
        if corpus == self.corpus { Ok(()) } else { Err(CorpusError::NotFound { name: corpus.to_owned() }) }
    }

    async fn post(&self, body: &Value, stop: &CancellationToken) -> Result<(Vec<Value>, Option<u64>)> {
        let answer = self.client.ask(&Method::POST, &["patents", "search"], &[], Some(body), stop).await?;
        // The vendor answers 404 to queries that it cannot read, too.
        let Some(answer) = answer else {
            let why = "the server knows no such search (404): it answers so to a query that it cannot read";
            return Err(self.client.error(why.to_owned(), false));
        };
        let records = answer["records"].as_array().cloned().unwrap_or_default();
        Ok((records, answer["n_hits"].as_u64()))
    }
}

#[async_trait]
impl SearchBackend for PatentfieldBackend {
    fn kind(&self, _: &str) -> BackendKind {
        BackendKind::Patentfield
    }

    fn claims(&self, corpus: &str) -> bool {
        corpus == self.corpus
    }

    async fn corpora(&self) -> Result<Vec<String>> {
        Ok(vec![self.corpus.clone()])
    }

    /// The day: the vendor does not say when its documents changed, and adds some every day.
    async fn snapshot(&self, corpus: &str) -> Result<String> {
        self.check(corpus)?;
        #[expect(clippy::disallowed_methods, reason = "the day is the vendor's, as its answers are")]
        let now = jiff::Timestamp::now();
        Ok(now.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
    }

    async fn search(&self, query: &LaneQuery, stop: &CancellationToken) -> Result<LaneHits> {
        let start = Instant::now();
        query.check()?;
        query.check_remote(BackendKind::Patentfield)?;
        self.check(&query.corpus)?;
        let columns: Vec<&str> = IDS.into_iter().chain(CODES.map(|(_, column)| column)).collect();
        let mut body = match &query.kind {
            LaneKind::FullText { query: text, boosts } => json!({
                "search_type": "fulltext",
                "score_type": "tfidf",
                "q": written(&Query::parse(text)?)?,
                "weights": [weights(boosts)],
            }),
            LaneKind::Semantic { text, scope } => json!({
                "search_type": "semantic",
                "score_type": "similarity_score",
                "q": text,
                "feature": feature(*scope),
            }),
        };
        body["columns"] = json!(columns);
        body["sort_keys"] = json!(["-_score"]);
        let conditions = conditions(&query.filters);
        if !conditions.is_empty() {
            body["conditions"] = json!(conditions);
        }
        let (mut hits, mut total) = (Vec::<LaneHit>::new(), None);
        while hits.len() < query.top_k {
            let limit = self.page.min(query.top_k - hits.len());
            body["limit"] = json!(limit);
            body["offset"] = json!(hits.len());
            let (records, count) = self.post(&body, stop).await?;
            total = count.or(total);
            let received = records.len();
            hits.extend(records.iter().filter_map(|record| {
                Some(LaneHit { doc_id: id(record)?, score: score(record), codes: codes(record, CODES) })
            }));
            if received < limit {
                break;
            }
        }
        Ok(lane_hits(hits, total, query.top_k, start))
    }

    async fn fetch(
        &self,
        corpus: &str,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>> {
        self.check(corpus)?;
        let kind = match id_type {
            IdType::DocId => "app_doc_id",
            other => other.name(),
        };
        let columns: Vec<&str> =
            IDS.into_iter().chain(TEXTS).chain(CODES.map(|(_, column)| column)).collect();
        let mut found: HashMap<String, Publication> = HashMap::new();
        for ids in ids.chunks(BATCH.min(self.page)) {
            let numbers: Vec<Value> = ids.iter().map(|id| json!({"n": id, "t": kind})).collect();
            let body = json!({"numbers": numbers, "columns": columns, "limit": ids.len()});
            let (records, _) = self.post(&body, stop).await?;
            for record in &records {
                if let (Some(number), Some(document)) = (record[kind].as_str(), publication(record)) {
                    found.entry(number.to_owned()).or_insert(document);
                }
            }
        }
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    /// The vendor hands none out.
    async fn embeddings(&self, corpus: &str, ids: &[String]) -> Result<Vec<Option<Vec<f32>>>> {
        self.check(corpus)?;
        Ok(vec![None; ids.len()])
    }
}

/// The name of a text in columns, weights and queries.
fn column(field: Field) -> Option<&'static str> {
    match field {
        Field::Title => Some("title"),
        Field::Abst => Some("abstract"),
        Field::Claim => Some("claims"),
        Field::Desc => Some("description"),
        _ => None,
    }
}

/// A query in the vendor's form of the language.
fn written(tree: &Query) -> Result<String> {
    let list = |parts: &[Query], operator: &str| -> Result<String> {
        let parts = parts.iter().map(written).collect::<Result<Vec<String>>>()?;
        Ok(format!("({})", parts.join(operator)))
    };
    let bound = |field: Option<Field>| match field {
        None => Ok(String::new()),
        Some(field) => column(field).map(|name| format!("{name}:")).ok_or_else(|| CorpusError::Search {
            why: format!("patentfield takes no `{}:` in a query", field.name()),
            expected: "use a filter on that field".to_owned(),
        }),
    };
    match tree {
        Query::And(parts) => {
            // "a AND NOT b" is written "a NOT b" there.
            let mut text = String::new();
            for (nth, part) in parts.iter().enumerate() {
                let between = match (nth, part) {
                    (0, _) => "",
                    (_, Query::Not(_)) => " ",
                    _ => " AND ",
                };
                text.push_str(between);
                text.push_str(&written(part)?);
            }
            Ok(format!("({text})"))
        }
        Query::Or(parts) => list(parts, " OR "),
        Query::Not(part) => Ok(format!("NOT {}", written(part)?)),
        Query::Term(Term { text, field, quoted, .. }) => {
            let field = bound(*field)?;
            Ok(if *quoted { format!("{field}\"{text}\"") } else { format!("{field}{text}") })
        }
        Query::Near(near) if near.groups.iter().flatten().any(|word| word.quoted) => {
            let expected = "words in its place: patentfield has no phrases in a proximity".to_owned();
            let found = "a phrase".to_owned();
            Err(QueryError { at: near.at.start, found, expected, instead: None }.into())
        }
        Query::Near(near) => {
            Ok(format!("{}{}", bound(near.field)?, Query::Near(Near { field: None, ..near.clone() })))
        }
    }
}

/// Whole numbers, as the vendor wants them; what weighs at all weighs 1 at least.
fn weights(boosts: &FieldBoosts) -> Value {
    let names = [
        ("title", boosts.title),
        ("abstract", boosts.abst),
        ("app_claim", boosts.claim),
        ("description", boosts.desc),
    ];
    let mut weights = json!({});
    for (name, boost) in names.into_iter().filter(|(_, boost)| *boost > 0.0) {
        weights[name] = json!((boost.round() as i64).max(1));
    }
    weights
}

fn feature(scope: FeatureScope) -> &'static str {
    match scope {
        FeatureScope::Wide => "word_weights",
        FeatureScope::TitleAbstClaims => "claims_weights",
        FeatureScope::ClaimsOnly => "all_claims_weights",
        FeatureScope::TopClaim => "top_claim_weights",
        FeatureScope::BackgroundJp => "tbpes_weights",
    }
}

fn conditions(filters: &[Filter]) -> Vec<Value> {
    let mut conditions = Vec::new();
    let mut values = |key: &str, lop: &str, values: Vec<String>| {
        if !values.is_empty() {
            conditions.push(json!({"key": key, "lop": lop, "op": "in", "q": values}));
        }
    };
    for filter in filters {
        match filter {
            Filter::Codes { system, include, exclude } => {
                values(system.name(), "and", include.iter().map(ToString::to_string).collect());
                values(system.name(), "not", exclude.iter().map(ToString::to_string).collect());
            }
            Filter::Values { field, include, exclude } => {
                values(field.name(), "and", include.clone());
                values(field.name(), "not", exclude.clone());
            }
            Filter::Dates { .. } => {}
        }
    }
    for filter in filters {
        if let Filter::Dates { field, include, exclude } = filter {
            // Several ranges are alternatives: one condition each, joined by "or" after the first.
            let first = std::iter::once("and").chain(std::iter::repeat("or"));
            conditions.extend(include.iter().zip(first).map(|(range, lop)| dates(*field, lop, *range)));
            conditions.extend(exclude.iter().map(|range| dates(*field, "not", *range)));
        }
    }
    conditions
}

fn dates(field: DateField, lop: &str, range: DateRange) -> Value {
    let from = range.from.map_or_else(|| "0001-01-01".to_owned(), |date| date.to_string());
    let to = range.to.map_or_else(|| "9999-12-31".to_owned(), |date| date.to_string());
    json!({"key": field.name(), "lop": lop, "op": "range", "q1": from, "q2": to})
}

fn id(record: &Value) -> Option<String> {
    IDS.iter().find_map(|column| record[column].as_str()).map(str::to_owned)
}

fn score(record: &Value) -> f64 {
    record["_score"].as_f64().or_else(|| record["score"].as_f64()).unwrap_or(0.0)
}

fn publication(record: &Value) -> Option<Publication> {
    let text = |column: &str| strings(&record[column]).join("\n");
    let one = |column: &str| record[column].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let pub_date = day(&record["pub_date"]);
    let title = text("title");
    let lang = lyra_text::language(&text("abstract")).or_else(|| lyra_text::language(&title));
    Some(Publication {
        doc_id: id(record)?,
        app_id: one("app_id"),
        pub_id: one("pub_id"),
        exam_id: one("exam_id"),
        title,
        abst: text("abstract"),
        claim: text("claims"),
        desc: text("description"),
        codes: codes(record, CODES),
        app_date: day(&record["app_date"]),
        pub_date,
        country: one("country"),
        lang: lang.map(str::to_owned),
        applicants: strings(&record["apm_applicants"]),
        cross_en_applicants: strings(&record["cross_en_applicants"]),
        year: pub_date.map(|date| i32::from(date.year())),
        ..Publication::default()
    })
}
