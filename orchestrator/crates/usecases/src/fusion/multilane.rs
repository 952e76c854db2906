//! Searches several lanes in parallel; failures are independent.

use super::views::Show;
use super::{Fusion, LaneSearch};
use crate::{AppError, ErrorCode, Remedy};
use futures::future::join_all;
use lyra_wire::fusion::RunHandle;
use std::time::{Duration, Instant};

/// Longest time for one lane: shorter than a call may take, so that the others' answers are not lost with it.
const LANE_LIMIT: Duration = Duration::from_secs(40);
/// Most lanes of one call.
const MAX_LANES: usize = 10;
/// Codes shown of each system of a lane.
const TOP_CODES: usize = 5;

/// A lane with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLane {
    /// Its name in the answer and in a blend.
    pub lane_name: String,
    /// The requested tool, as written.
    pub tool: String,
    /// The search; the error of reading it when it cannot be read.
    pub search: Result<LaneSearch, AppError>,
}

/// How the lanes went.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiLane {
    /// One entry per lane, in the order of the call.
    pub lanes: Vec<LaneOutcome>,
    /// Lanes that were searched.
    pub success_count: usize,
    /// Lanes that failed.
    pub error_count: usize,
    /// Milliseconds for all lanes together.
    pub took_ms_total: u64,
}

/// How one lane went.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneOutcome {
    /// Name of the lane.
    pub lane_name: String,
    /// The tool that searched it.
    pub tool: String,
    /// The run with its most frequent codes; else why it failed.
    pub found: Result<RunHandle, AppError>,
}

impl Fusion {
    /// Searches lanes concurrently.
    ///
    /// # Errors
    /// No lanes, too many, a duplicate name, or the feature is not enabled. A failed lane is not an error here.
    pub async fn multilane(&self, lanes: Vec<NamedLane>) -> Result<MultiLane, AppError> {
        if !self.settings.enable_multi_run {
            return Err(AppError::invalid(
                "a search of several lanes at once is not enabled here",
                Remedy::SearchLanesSingly,
            ));
        }
        if lanes.is_empty() || lanes.len() > MAX_LANES {
            return Err(AppError::invalid(
                format!("`lanes` has {} entries", lanes.len()),
                format!("give 1 to {MAX_LANES} lanes"),
            ));
        }
        let mut names: Vec<&str> = lanes.iter().map(|lane| lane.lane_name.as_str()).collect();
        names.sort_unstable();
        let same = |pair: &&[&str]| matches!(pair, [a, b] if a == b);
        if let Some([twice, ..]) = names.windows(2).find(same) {
            return Err(AppError::invalid(
                format!("two lanes are named `{twice}`"),
                "give each lane its own name: weights and contributions refer to it",
            ));
        }
        let started = Instant::now();
        let outcomes = join_all(lanes.into_iter().map(|lane| self.one(lane))).await;
        let success_count = outcomes.iter().filter(|lane| lane.found.is_ok()).count();
        Ok(MultiLane {
            success_count,
            error_count: outcomes.len() - success_count,
            took_ms_total: started.elapsed().as_millis() as u64,
            lanes: outcomes,
        })
    }

    async fn one(&self, NamedLane { lane_name, tool, search }: NamedLane) -> LaneOutcome {
        let show = Show { code_freqs: true, code_freq_top_k: TOP_CODES, ..Show::default() };
        let answer = async {
            let search = LaneSearch { lane_name: Some(lane_name.clone()), ..search? };
            match tokio::time::timeout(LANE_LIMIT, self.search_lane(search, show)).await {
                Ok(answer) => answer,
                Err(_) => Err(AppError::new(
                    ErrorCode::Unavailable,
                    format!("it timed out after {} s", LANE_LIMIT.as_secs()),
                )),
            }
        };
        let found = answer.await;
        LaneOutcome { lane_name, tool, found }
    }
}
