//! A cluster, and the questions that it is asked. An answer that lacks a part of the index is an error, never less.

use super::fault::{explain, meaning, reason};
use super::mapping::Analyzer;
use crate::backend::{BackendKind, FeatureScope};
use crate::remote::http::{Access, Auth, Client};
use crate::{CorpusError, Result};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// Major versions that Lyra was tested with.
const MAJORS: [u64; 2] = [2, 3];
/// The part of a node's time for a request that it may spend on it itself, so that it can say that it was too slow.
const OWN_SHARE: f64 = 0.9;
/// Documents per request of documents by id.
const BATCH: usize = 200;

/// Where the cluster is, and what is searched there.
#[derive(Debug, Clone)]
pub struct OpenSearchConfig {
    /// Addresses of one or several nodes, such as `https://search.example.org:9200`.
    pub urls: Vec<String>,
    /// User, with `password`.
    pub user: Option<String>,
    /// The user's password, or alone the key of `Authorization: ApiKey …`.
    pub password: Option<SecretString>,
    /// Certificates of authorities to trust besides the system's, as PEM.
    pub ca_file: Option<PathBuf>,
    /// Index of each corpus that others maintain.
    pub indices: BTreeMap<String, String>,
    /// Every other index that is not hidden is a corpus as well, by its own name.
    pub every_index: bool,
    /// Vector field of each feature scope in these indices.
    pub vectors: BTreeMap<FeatureScope, String>,
    /// What the names of indices begin with that Lyra maintains.
    pub prefix: String,
    /// How the texts of new indices are cut into words.
    pub analyzer: Analyzer,
    /// Primary shards of new indices.
    pub shards: u32,
    /// Limit of one request.
    pub timeout: Duration,
}

impl OpenSearchConfig {
    /// A cluster without access control, with nothing on it but what Lyra maintains.
    pub fn at(urls: Vec<String>) -> Self {
        Self {
            urls,
            user: None,
            password: None,
            ca_file: None,
            indices: BTreeMap::new(),
            every_index: false,
            vectors: BTreeMap::new(),
            prefix: "lyra-".to_owned(),
            analyzer: Analyzer::Mixed,
            shards: 1,
            timeout: Duration::from_secs(30),
        }
    }
}

/// What a cluster says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub(crate) version: String,
    /// Identifies the cluster.
    pub(crate) uuid: String,
}

/// A cluster. Cheap to clone.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>);

struct Inner {
    client: Client,
    greeting: OnceCell<Greeting>,
    config: OpenSearchConfig,
    /// Indices whose mapping was looked at, and with what was compared.
    checked: Mutex<HashSet<String>>,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cluster").field(&self.0.config.urls).finish()
    }
}

impl Cluster {
    /// Does not connect yet.
    ///
    /// # Errors
    /// [`CorpusError::Search`] for settings that cannot be used.
    pub fn new(config: OpenSearchConfig) -> Result<Self> {
        let wrong = |why: &str, expected: &str| CorpusError::Search {
            why: format!("opensearch: {why}"),
            expected: expected.to_owned(),
        };
        let auth = match (config.user.clone(), config.password.clone()) {
            (Some(user), Some(password)) => Auth::Basic { user, password },
            (None, Some(key)) => Auth::Scheme { scheme: "ApiKey", key },
            (Some(_), None) => return Err(wrong("there is a user and no password", "give both, or neither")),
            (None, None) => Auth::None,
        };
        let named = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
        if !config.prefix.starts_with(|c: char| c.is_ascii_lowercase()) || !config.prefix.chars().all(named) {
            let why = format!("`{}` cannot begin the name of an index", config.prefix);
            return Err(wrong(&why, "use a lower-case letter, then lower-case letters, digits, and `-`"));
        }
        let client = Client::new(Access {
            kind: BackendKind::OpenSearch,
            urls: &config.urls,
            auth,
            ca_file: config.ca_file.as_deref(),
            timeout: config.timeout,
            explain,
        })?;
        Ok(Self(Arc::new(Inner { client, greeting: OnceCell::new(), config, checked: Mutex::default() })))
    }

    pub(crate) fn config(&self) -> &OpenSearchConfig {
        &self.0.config
    }

    /// Runs a check, unless it succeeded before in this process.
    pub(super) async fn once(&self, what: String, check: impl Future<Output = Result<()>>) -> Result<()> {
        let checked = || self.0.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if !checked().contains(&what) {
            Box::pin(check).await?;
            checked().insert(what);
        }
        Ok(())
    }

    pub(super) fn client(&self) -> &Client {
        &self.0.client
    }

    pub(crate) fn error(&self, why: impl Into<String>, passing: bool) -> CorpusError {
        self.0.client.error(why.into(), passing)
    }

    /// Asks the cluster once what it is.
    ///
    /// # Errors
    /// It does not answer, or is of a version that Lyra does not speak with.
    pub(crate) async fn greeting(&self, stop: &CancellationToken) -> Result<&Greeting> {
        self.0
            .greeting
            .get_or_try_init(|| async {
                let answer = self.0.client.ask(&Method::GET, &[], &[], None, stop).await?.unwrap_or_default();
                let version = answer["version"]["number"].as_str().unwrap_or_default().to_owned();
                let major = version.split('.').next().and_then(|major| major.parse::<u64>().ok());
                let is_known = major.is_some_and(|major| MAJORS.contains(&major));
                if answer["version"]["distribution"] != "opensearch" || !is_known {
                    let what = match answer["version"]["distribution"].as_str() {
                        Some(name) => format!("{name} {version}"),
                        None if version.is_empty() => "no search server that Lyra knows".to_owned(),
                        None => format!("Elasticsearch {version}"),
                    };
                    let why = format!("the server is {what}: Lyra needs OpenSearch 2.x or 3.x");
                    return Err(self.error(why, false));
                }
                let uuid = answer["cluster_uuid"].as_str().unwrap_or_default().to_owned();
                Ok(Greeting { version, uuid })
            })
            .await
    }

    /// Asks, after the cluster was greeted. `None` when there is nothing of that name.
    pub(crate) async fn ask(
        &self,
        method: &Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
        stop: &CancellationToken,
    ) -> Result<Option<Value>> {
        self.greeting(stop).await?;
        self.0.client.ask(method, path, query, body, stop).await
    }

    /// The same of something that must be there.
    pub(crate) async fn get(
        &self,
        method: &Method,
        path: &[&str],
        body: Option<&Value>,
        stop: &CancellationToken,
    ) -> Result<Value> {
        let answer = self.ask(method, path, &[], body, stop).await?;
        answer.ok_or_else(|| CorpusError::NotFound {
            name: path.first().copied().unwrap_or_default().to_owned(),
        })
    }

    /// Searches an index, or what a point in time names. The whole index was searched, or it is an error.
    pub(crate) async fn search(
        &self,
        index: Option<&str>,
        body: &Value,
        stop: &CancellationToken,
    ) -> Result<Value> {
        let own = self.0.config.timeout.mul_f64(OWN_SHARE).as_millis().max(1);
        let mut body = body.clone();
        body["timeout"] = json!(format!("{own}ms"));
        let mut query = vec![("allow_partial_search_results", "false")];
        if index.is_some() && self.0.config.shards > 1 {
            // Term statistics of all shards.
            query.push(("search_type", "dfs_query_then_fetch"));
        }
        let path: Vec<&str> = index.into_iter().chain(["_search"]).collect();
        let answer = self.ask(&Method::POST, &path, &query, Some(&body), stop).await?;
        let answer = answer.ok_or_else(|| missing(index))?;
        if answer["timed_out"] == true {
            return Err(self.error(
                format!("the search took longer than {own} ms and saw a part of the index only"),
                true,
            ));
        }
        self.whole(&answer)?;
        Ok(answer)
    }

    /// How many documents match.
    pub(crate) async fn count(&self, index: &str, query: &Value, stop: &CancellationToken) -> Result<u64> {
        let body = json!({"query": query});
        let answer = self.ask(&Method::POST, &[index, "_count"], &[], Some(&body), stop).await?;
        let answer = answer.ok_or_else(|| missing(Some(index)))?;
        self.whole(&answer)?;
        answer["count"].as_u64().ok_or_else(|| self.error("the count is missing in the answer", false))
    }

    /// Documents by id: those that are there, with `_source` cut to these fields.
    pub(crate) async fn by_id(
        &self,
        index: &str,
        ids: &[String],
        fields: Option<&[&str]>,
        stop: &CancellationToken,
    ) -> Result<HashMap<String, Value>> {
        let mut found = HashMap::new();
        for ids in ids.chunks(BATCH) {
            let mut documents: Vec<Value> = ids.iter().map(|id| json!({"_id": id})).collect();
            if let Some(fields) = fields {
                for document in &mut documents {
                    document["_source"] = json!(fields);
                }
            }
            let body = json!({"docs": documents});
            let answer = self.ask(&Method::POST, &[index, "_mget"], &[], Some(&body), stop).await?;
            let mut answer = answer.ok_or_else(|| missing(Some(index)))?;
            for document in answer["docs"].as_array_mut().into_iter().flatten() {
                // A shard that does not answer does not mean that the document is absent.
                if document.get("error").is_some() {
                    let error = &document["error"];
                    if error["type"] == "index_not_found_exception" {
                        return Err(missing(Some(index)));
                    }
                    let (why, passing) = meaning(error).unwrap_or_else(|| (reason(error), true));
                    return Err(self.error(why, passing));
                }
                if document["found"] == true
                    && let Some(id) = document["_id"].as_str().map(str::to_owned)
                {
                    found.insert(id, document["_source"].take());
                }
            }
        }
        Ok(found)
    }

    /// That no shard failed.
    pub(crate) fn whole(&self, answer: &Value) -> Result<()> {
        let shards = &answer["_shards"];
        let failed = shards["failed"].as_u64().unwrap_or(0);
        if failed == 0 {
            return Ok(());
        }
        let error = &shards["failures"][0]["reason"];
        let (why, passing) = meaning(error).unwrap_or_else(|| (reason(error), true));
        let total = shards["total"].as_u64().unwrap_or(0);
        Err(self.error(
            format!("{failed} of {total} shards did not answer, so the result would be partial: {why}"),
            passing,
        ))
    }
}

fn missing(index: Option<&str>) -> CorpusError {
    CorpusError::NotFound { name: index.unwrap_or("point in time").to_owned() }
}
