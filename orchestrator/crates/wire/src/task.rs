//! A task, its searches, and the passages of its pages.

use crate::schema;
use lyra_domain::{FragmentType, Query, QueryStatus, TaskStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// A research task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Task {
    /// Id of the task.
    pub task_id: String,
    /// Its question.
    pub query: String,
    /// Its state.
    #[schemars(schema_with = "schema::task_status")]
    pub status: TaskStatus,
    /// What the task may use.
    pub config: TaskConfig,
    /// When it was created, RFC 3339, UTC.
    pub created_at: String,
    /// When its first job started, RFC 3339, UTC.
    pub started_at: Option<String>,
    /// When it was stopped or finished, RFC 3339, UTC.
    pub completed_at: Option<String>,
    /// Why it failed.
    pub task_error: Option<String>,
}

/// What a task may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskConfig {
    /// Limits of the task.
    pub budget: Budget,
    /// Language of the question, ISO 639-1; detected without it.
    pub language: Option<String>,
    /// Names of the local corpora to search; empty stands for all.
    pub corpora: Vec<String>,
    /// Names of the other sources to search.
    pub sources: Vec<String>,
    /// Domains whose pages rank first.
    pub priority_domains: Vec<String>,
    /// Most claims to extract from pages.
    pub max_claims: Option<usize>,
}

/// Limits of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Budget {
    /// Most pages to register.
    pub max_pages: u32,
    /// Most seconds of work.
    pub max_seconds: u32,
}

/// A search of a task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Search {
    /// Id of the search; `queries.id` in SQL.
    pub search_id: String,
    /// What is searched.
    pub query: String,
    /// Where it stands.
    #[schemars(schema_with = "schema::search_status")]
    pub status: QueryStatus,
    /// The user's claim for which it gathers evidence. Only for such searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_id: Option<String>,
    /// What it found. Only where details are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<SearchResults>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchResults {
    /// Hits over all sources.
    pub result_count: u32,
    /// Pages registered or fetched.
    pub pages_fetched: u32,
    /// Passages above the cut-off.
    pub useful_fragments: u32,
    /// Useful passages per page.
    pub harvest_rate: f64,
    /// What went wrong, source by source.
    pub source_errors: Vec<String>,
}

/// A passage of a page.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fragment {
    /// Id of the fragment.
    pub fragment_id: String,
    /// Its page.
    pub page_id: String,
    /// What it is.
    #[schemars(schema_with = "schema::fragment_type")]
    pub fragment_type: FragmentType,
    /// Order within the page, from 0.
    pub position: u32,
    /// The passage.
    pub text: String,
    /// Headings above it, the outermost first, joined with ` › `.
    pub heading_context: Option<String>,
    /// First character in the page.
    pub char_start: u32,
    /// One past the last character.
    pub char_end: u32,
}

impl From<&lyra_domain::Task> for Task {
    fn from(task: &lyra_domain::Task) -> Self {
        Self {
            task_id: task.id.to_string(),
            query: task.query.clone(),
            status: task.status,
            config: (&task.config).into(),
            created_at: task.created_at.to_string(),
            started_at: task.started_at.map(|at| at.to_string()),
            completed_at: task.completed_at.map(|at| at.to_string()),
            task_error: task.error.clone(),
        }
    }
}

impl From<&lyra_domain::TaskConfig> for TaskConfig {
    fn from(config: &lyra_domain::TaskConfig) -> Self {
        Self {
            budget: config.budget.into(),
            language: config.language.clone(),
            corpora: config.corpora.clone(),
            sources: config.sources.clone(),
            priority_domains: config.priority_domains.clone(),
            max_claims: config.max_claims,
        }
    }
}

impl From<lyra_domain::Budget> for Budget {
    fn from(lyra_domain::Budget { max_pages, max_seconds }: lyra_domain::Budget) -> Self {
        Self { max_pages, max_seconds }
    }
}

impl From<&Query> for Search {
    fn from(query: &Query) -> Self {
        Self {
            search_id: query.id.to_string(),
            query: query.query_text.clone(),
            status: query.status,
            claim_id: query.claim_id.as_ref().map(ToString::to_string),
            found: Some(SearchResults {
                result_count: query.result_count,
                pages_fetched: query.pages_fetched,
                useful_fragments: query.useful_fragments,
                harvest_rate: query.harvest_rate,
                source_errors: query.source_errors.clone(),
            }),
        }
    }
}

impl From<&lyra_domain::Fragment> for Fragment {
    fn from(fragment: &lyra_domain::Fragment) -> Self {
        Self {
            fragment_id: fragment.id.to_string(),
            page_id: fragment.page_id.to_string(),
            fragment_type: fragment.fragment_type,
            position: fragment.position,
            text: fragment.text_content.clone(),
            heading_context: fragment.heading_context.clone(),
            char_start: fragment.char_start,
            char_end: fragment.char_end,
        }
    }
}
