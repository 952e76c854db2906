//! The evidence of a task in time.

use crate::json::thousandths;
use crate::schema;
use lyra_domain::{Change, Moment, Occurrence, Relation};
use schemars::JsonSchema;
use serde::Serialize;

/// The evidence of a task, or of one of its claims, in time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskTimeline {
    /// Id of the task.
    pub task_id: String,
    /// Id of the claim; unknown when all adopted claims are meant.
    pub claim_id: Option<String>,
    /// Works by year of publication, in order; those of unknown year last.
    pub years: Vec<TimelineYear>,
    /// Retracted works among them, by title.
    pub retracted: Vec<TimelineRetraction>,
    /// How the confidence of the claim moved, in order. Empty without a claim.
    pub history: Vec<TimelineMoment>,
}

/// Works of one year. A work counts once for each claim, by the passage that counts in the confidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimelineYear {
    /// Year of publication.
    pub year: Option<i32>,
    /// Works that support a claim.
    pub supporting: u64,
    /// Works that refute one.
    pub refuting: u64,
    /// Works that do neither.
    pub neutral: u64,
    /// Those of retracted works among all of these.
    pub retracted: u64,
}

/// A retracted work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimelineRetraction {
    /// Key of the work.
    pub work_key: String,
    /// Its title.
    pub title: String,
    /// Year of publication.
    pub year: Option<i32>,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// The first of its pages.
    pub page_id: String,
    /// Claims that it supports.
    pub supporting: u64,
    /// Claims that it refutes.
    pub refuting: u64,
    /// Claims on which it takes no side.
    pub neutral: u64,
    /// When the retraction was noted for one of these claims, RFC 3339; not when the work was retracted.
    pub noted_at: Option<String>,
}

/// The numbers of a claim after something happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimelineMoment {
    /// When, RFC 3339.
    pub at: String,
    /// What: `judged`, `edge_corrected`, `edge_reviewed`, `edge_restored`, `claim_rejected`, `claim_restored`, or
    /// `source_retracted`.
    pub event: String,
    /// The judgment, where one was stored or changed.
    pub edge_id: Option<String>,
    /// Its relation from then on, where one was stored or corrected.
    #[schemars(schema_with = "schema::optional_judged")]
    pub relation: Option<Relation>,
    /// Key of the retracted work.
    pub work_key: Option<String>,
    /// Mean of the posterior from then on, 0 to 1.
    pub confidence: f64,
    /// Standard deviation of the posterior.
    pub uncertainty: f64,
}

impl From<&Moment> for TimelineMoment {
    fn from(moment: &Moment) -> Self {
        let (event, edge, relation, work) = match &moment.what {
            Occurrence::Judged(edge, relation) => ("judged", Some(edge), Some(*relation), None),
            Occurrence::Changed(change) => match change {
                Change::Corrected(edge, relation) => ("edge_corrected", Some(edge), Some(*relation), None),
                Change::Reviewed(edge) => ("edge_reviewed", Some(edge), None, None),
                Change::Undone(edge) => ("edge_restored", Some(edge), None, None),
                Change::Rejected => ("claim_rejected", None, None, None),
                Change::Restored => ("claim_restored", None, None, None),
                Change::Retracted(work) => ("source_retracted", None, None, Some(work)),
            },
        };
        Self {
            at: moment.at.clone(),
            event: event.to_owned(),
            edge_id: edge.map(ToString::to_string),
            relation,
            work_key: work.cloned(),
            confidence: thousandths(moment.posterior.confidence()),
            uncertainty: thousandths(moment.posterior.uncertainty()),
        }
    }
}
