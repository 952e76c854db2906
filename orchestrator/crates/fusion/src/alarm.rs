//! What about a run deserves a second look, with the numbers that say so. An alarm states what was measured; what to make of
//! it is the reader's.

use crate::frontier::FrontierPoint;
use crate::metrics::StructureMetrics;
use crate::profile::TargetProfile;
use crate::rrf::CODE;
use crate::{Blend, Pool};
use lyra_domain::classification::Code;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A wide lane that fills less than this share of what it asked for is narrow.
const WIDE_SHARE: f64 = 0.125;
/// Share of one lane in the contributions.
const DOMINANT: f64 = 0.8;
/// Gain of Fβ* over the grid.
const FLAT: f64 = 0.05;
/// Share of codes of use cases in the target profile.
const CONTAMINATED: f64 = 0.3;
/// LAS and CCW.
const APART: f64 = 0.3;
/// `S_shape`.
const PEAKED: f64 = 0.5;
/// Documents at the top, and the share of them without a code of the profile.
const OFF_PROFILE: (usize, f64) = (20, 0.5);
/// Documents at the top whose contributions are counted.
const SHARES_OF: usize = 50;

/// One observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// Which.
    pub alarm: AlarmKind,
    /// What was measured, in words.
    pub message: String,
    /// The numbers and names behind it.
    pub evidence: Map<String, Value>,
}

/// The observations there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlarmKind {
    /// The wide lane found few documents.
    WideLaneNarrow,
    /// One lane makes up most of the scores.
    LaneDominates,
    /// Reading deeper changes Fβ* little.
    FrontierFlat,
    /// Codes of use cases weigh much in the target profile.
    ProfileContaminated,
    /// A wide query demands general words or use-case words.
    WideQueryDemands,
    /// The lanes' first documents differ.
    LanesDisagree,
    /// The first documents are of many classes.
    ClassesScattered,
    /// Few documents hold most of the score.
    ScorePeaked,
    /// The first documents lack the profile's codes.
    OffProfile,
}

fn alarm(alarm: AlarmKind, message: String, evidence: Value) -> Alarm {
    let evidence = if let Value::Object(evidence) = evidence { evidence } else { Map::new() };
    Alarm { alarm, message, evidence }
}

/// Of a wide lane: how many documents it returned of how many it asked for.
pub fn wide_lane(lane: &str, returned: usize, top_k: usize, corpus: Option<u64>) -> Option<Alarm> {
    ((returned as f64) < WIDE_SHARE * top_k as f64).then(|| {
        alarm(
            AlarmKind::WideLaneNarrow,
            format!("the wide lane `{lane}` returned {returned} of {top_k} documents asked for"),
            json!({ "lane": lane, "count_returned": returned, "top_k": top_k, "matched": corpus }),
        )
    })
}

/// Of a wide query: words that every document has to have and that are general, or name a use case.
pub fn wide_query(
    lane: &str,
    general: &[String],
    use_case: &[String],
    suggestion: Option<&str>,
) -> Option<Alarm> {
    if general.is_empty() && use_case.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for (kind, words) in [("general words", general), ("use-case words", use_case)] {
        if !words.is_empty() {
            parts.push(format!("{kind} ({})", words.join(", ")));
        }
    }
    let evidence = json!({
        "lane": lane, "general_words": general, "use_case_words": use_case, "query_with_them_optional": suggestion,
    });
    let message = format!("the query of the wide lane `{lane}` demands {}", parts.join(" and "));
    Some(alarm(AlarmKind::WideQueryDemands, message, evidence))
}

/// Of a blend and what was measured of it.
pub fn of_blend(
    pool: &Pool<'_>,
    blend: &Blend,
    metrics: &StructureMetrics,
    frontier: &[FrontierPoint],
    profile: Option<&TargetProfile>,
    context: &[Code],
) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    alarms.extend(dominance(pool, blend));
    alarms.extend(flatness(frontier));
    alarms.extend(profile.and_then(|profile| contamination(profile, context)));
    alarms.extend(structure(metrics));
    alarms.extend(profile.and_then(|profile| off_profile(pool, blend, profile)));
    alarms
}

fn dominance(pool: &Pool<'_>, blend: &Blend) -> Option<Alarm> {
    if pool.names().len() < 2 {
        return None;
    }
    let shares = blend.ranking.total_shares(SHARES_OF);
    let (lane, share) =
        pool.names().iter().zip(&shares).reduce(|best, other| if other.1 > best.1 { other } else { best })?;
    (*share > DOMINANT).then(|| {
        let names = pool.names().iter().copied().chain([CODE]);
        let all: Map<String, Value> =
            names.zip(&shares).map(|(name, share)| (name.to_owned(), json!(rounded(*share)))).collect();
        alarm(
            AlarmKind::LaneDominates,
            format!(
                "the lane `{lane}` makes up {:.0} % of the scores of the first {SHARES_OF}",
                share * 100.0
            ),
            json!({ "lane": lane, "share": rounded(*share), "contributions": all }),
        )
    })
}

fn flatness(frontier: &[FrontierPoint]) -> Option<Alarm> {
    let first = frontier.first()?;
    let best = crate::frontier::best(frontier)?;
    let gain = best.f_beta_star - first.f_beta_star;
    (frontier.len() > 1 && gain < FLAT).then(|| {
        alarm(
            AlarmKind::FrontierFlat,
            format!("Fβ* gains {gain:.3} from {} to {} documents", first.k, best.k),
            json!({ "gain": rounded(gain), "first": first, "best": best }),
        )
    })
}

fn contamination(profile: &TargetProfile, context: &[Code]) -> Option<Alarm> {
    let share = profile.share_of(context);
    (share > CONTAMINATED).then(|| {
        let of_context = |code: &Code| context.iter().any(|wide| wide.contains(code));
        let codes: Vec<String> = profile
            .entries()
            .iter()
            .filter(|(code, _)| of_context(code))
            .map(|(code, _)| crate::profile::key(code))
            .collect();
        let rest: Map<String, Value> = profile
            .entries()
            .iter()
            .filter(|(code, _)| !of_context(code))
            .map(|(code, weight)| (crate::profile::key(code), json!(weight)))
            .collect();
        alarm(
            AlarmKind::ProfileContaminated,
            format!("codes of use cases hold {:.0} % of the target profile", share * 100.0),
            json!({ "share": rounded(share), "context_codes": codes, "profile_without_them": rest }),
        )
    })
}

fn structure(metrics: &StructureMetrics) -> Vec<Alarm> {
    let low = |kind, name: &str, value: Option<f64>| {
        let value = value.filter(|value| *value < APART)?;
        Some(alarm(
            kind,
            format!("{name} is {value:.2}, below {APART}"),
            json!({ "value": rounded(value), "threshold": APART }),
        ))
    };
    let mut alarms: Vec<Alarm> = low(AlarmKind::LanesDisagree, "LAS", metrics.las)
        .into_iter()
        .chain(low(AlarmKind::ClassesScattered, "CCW", metrics.ccw))
        .collect();
    if metrics.s_shape > PEAKED {
        alarms.push(alarm(
            AlarmKind::ScorePeaked,
            format!("the first 3 hold {:.0} % of the score of the first 50", metrics.s_shape * 100.0),
            json!({ "value": rounded(metrics.s_shape), "threshold": PEAKED }),
        ));
    }
    alarms
}

fn off_profile(pool: &Pool<'_>, blend: &Blend, profile: &TargetProfile) -> Option<Alarm> {
    let code = blend.code.as_ref()?;
    let top = &blend.ranking.order[..blend.ranking.order.len().min(OFF_PROFILE.0)];
    let off: Vec<usize> = top.iter().copied().filter(|&doc| code[doc] <= 0.0).collect();
    let share = off.len() as f64 / top.len().max(1) as f64;
    (share > OFF_PROFILE.1).then(|| {
        let examples: Vec<Value> = off
            .iter()
            .take(5)
            .map(|&doc| {
                json!({ "doc_id": pool.id(doc), "codes": pool.code_names(doc).take(5).collect::<Vec<_>>() })
            })
            .collect();
        let codes: Vec<String> =
            profile.entries().iter().take(10).map(|(code, _)| crate::profile::key(code)).collect();
        alarm(
            AlarmKind::OffProfile,
            format!("{} of the first {} documents have no code of the target profile", off.len(), top.len()),
            json!({ "share": rounded(share), "profile": codes, "examples": examples }),
        )
    })
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
