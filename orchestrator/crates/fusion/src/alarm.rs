//! Alarms: measurements of a run that deserve a second look. An alarm states what was measured; the reader draws the
//! conclusion.

use crate::frontier::FrontierPoint;
use crate::metrics::{Classes, PEAK, StructureMetrics, TOP, agreements};
use crate::profile::TargetProfile;
use crate::rrf::CODE;
use crate::{Blend, Pool};
use lyra_domain::classification::Code;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A wide lane that returns less than this share of the requested documents is narrow.
const WIDE_SHARE: f64 = 0.125;
/// Share of one lane in the contributions.
const DOMINANT: f64 = 0.8;
/// Gain of Fβ* over the grid.
const FLAT: f64 = 0.05;
/// Share of codes of use cases in the target profile.
const CONTAMINATED: f64 = 0.3;
/// LAS and CCW.
const APART: f64 = 0.3;
/// `S_shape`, and the fewest documents for which it is meaningful.
const PEAKED: f64 = 0.5;
const PEAKED_OF: usize = 10;
/// Documents at the top, and the share of them without a code of the profile.
const OFF_PROFILE: (usize, f64) = (20, 0.5);
/// Classes that are named.
const SHOWN: usize = 10;
/// Documents at the top whose contributions are counted.
const SHARES_OF: usize = 50;

/// One observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// Which.
    pub alarm: AlarmKind,
    /// The measurement as a sentence.
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
    /// One lane contributes most of the scores.
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
    /// A semantic lane searched a corpus that is not embedded completely.
    PartlyEmbedded,
}

fn alarm(alarm: AlarmKind, message: String, evidence: Value) -> Alarm {
    let evidence = if let Value::Object(evidence) = evidence { evidence } else { Map::new() };
    Alarm { alarm, message, evidence }
}

/// For a lane that compares embeddings: documents of the corpus that have none yet.
pub fn partly_embedded(lane: &str, unembedded: u64) -> Option<Alarm> {
    (unembedded > 0).then(|| {
        let message = format!(
            "lane `{lane}` could not find {unembedded} documents whose embeddings are still to be made; search again later"
        );
        alarm(AlarmKind::PartlyEmbedded, message, json!({ "lane": lane, "unembedded": unembedded }))
    })
}

/// For a wide lane: returned and requested documents.
pub fn wide_lane(lane: &str, returned: usize, top_k: usize, corpus: Option<u64>) -> Option<Alarm> {
    ((returned as f64) < WIDE_SHARE * top_k as f64).then(|| {
        alarm(
            AlarmKind::WideLaneNarrow,
            format!("the wide lane `{lane}` returned {returned} of {top_k} requested documents"),
            json!({ "lane": lane, "count_returned": returned, "top_k": top_k, "matched": corpus }),
        )
    })
}

/// For a wide query: required words that are generic or name a use case.
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
    let message = format!("the query of the wide lane `{lane}` requires {}", parts.join(" and "));
    Some(alarm(AlarmKind::WideQueryDemands, message, evidence))
}

/// For a blend and its measurements.
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
    alarms.extend(structure(pool, blend, metrics));
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
            names.zip(&shares).map(|(name, share)| (name.to_owned(), json!(round_figure(*share)))).collect();
        alarm(
            AlarmKind::LaneDominates,
            format!(
                "the lane `{lane}` makes up {:.0} % of the scores of the first {SHARES_OF}",
                share * 100.0
            ),
            json!({ "lane": lane, "share": round_figure(*share), "contributions": all }),
        )
    })
}

fn flatness(frontier: &[FrontierPoint]) -> Option<Alarm> {
    let (first, last) = (frontier.first()?, frontier.last()?);
    let best = crate::frontier::best(frontier)?;
    let gain = best.f_beta_star - first.f_beta_star;
    // A slightly larger depth gains nothing.
    (last.k >= 2 * first.k && gain < FLAT).then(|| {
        alarm(
            AlarmKind::FrontierFlat,
            format!(
                "reading {} documents instead of {} gains {gain:.3} of Fβ* at most, which is best at {}",
                last.k, first.k, best.k
            ),
            json!({ "gain": round_figure(gain), "threshold": FLAT, "first": first, "best": best, "last": last }),
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
            json!({ "share": round_figure(share), "context_codes": codes, "profile_without_them": rest }),
        )
    })
}

fn structure(pool: &Pool<'_>, blend: &Blend, metrics: &StructureMetrics) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    if let Some(las) = metrics.las.filter(|las| *las < APART) {
        let pairs: Vec<Value> = agreements(pool)
            .into_iter()
            .map(|(a, b, agreement)| json!({ "lanes": [a, b], "jaccard": round_figure(agreement) }))
            .collect();
        alarms.push(alarm(
            AlarmKind::LanesDisagree,
            format!("LAS is {las:.2}, below {APART}: the lanes share few of their first {TOP}"),
            json!({ "value": round_figure(las), "threshold": APART, "pairs": pairs }),
        ));
    }
    if let Some(ccw) = metrics.ccw.filter(|ccw| *ccw < APART) {
        let classes = Classes::of(pool, &blend.ranking.order);
        let mut counts: Vec<(String, usize)> =
            classes.iter().flat_map(|classes| classes.counts.clone()).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let documents: usize = counts.iter().map(|(_, count)| count).sum();
        let first: Vec<Value> = counts
            .iter()
            .take(SHOWN)
            .map(|(class, count)| json!({ "class": class, "documents": count }))
            .collect();
        alarms.push(alarm(
            AlarmKind::ClassesScattered,
            format!(
                "CCW is {ccw:.2}, below {APART}: {documents} documents are of {} subclasses",
                counts.len()
            ),
            json!({
                "value": round_figure(ccw), "threshold": APART, "system": classes.map(|classes| classes.system),
                "documents": documents, "subclasses": counts.len(), "most_frequent": first,
            }),
        ));
    }
    // With few documents, the first are always most of them.
    if metrics.s_shape > PEAKED && blend.ranking.order.len() >= PEAKED_OF {
        let first: Vec<Value> = blend
            .ranking
            .order
            .iter()
            .take(PEAK)
            .map(|&doc| json!({ "doc_id": pool.id(doc), "score": blend.ranking.scores[doc] }))
            .collect();
        alarms.push(alarm(
            AlarmKind::ScorePeaked,
            format!("the first {PEAK} hold {:.0} % of the score of the first {TOP}", metrics.s_shape * 100.0),
            json!({ "value": round_figure(metrics.s_shape), "threshold": PEAKED, "first": first }),
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
            json!({ "share": round_figure(share), "profile": codes, "examples": examples }),
        )
    })
}

fn round_figure(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
