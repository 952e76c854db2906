//! Alarms: measurements of a run that deserve a second look. An alarm states what was measured; the reader draws the
//! conclusion.

use crate::metrics::{Classes, StructureMetrics, TOP, agreements};
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
/// Share of codes of use cases in the target profile.
const CONTAMINATED: f64 = 0.3;
/// Least agreement (Jaccard index of the first 50) of a lane with the one closest to it. On four judged collections, 96 % of the
/// blends below it had a lane of another query.
const FOREIGN: f64 = 0.06;
/// CCW.
const SCATTERED: f64 = 0.3;
/// Fewer documents are read, not measured.
const FEWEST: usize = 30;
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
    /// Codes of use cases weigh much in the target profile.
    ProfileContaminated,
    /// A wide query demands general words or use-case words.
    WideQueryDemands,
    /// A lane's first documents are not those of any other lane.
    LanesDisagree,
    /// The first documents are of many classes.
    ClassesScattered,
    /// The first documents lack the profile's codes.
    OffProfile,
    /// A lane searched a corpus while an import into it had not finished.
    PartlyImported,
    /// A semantic lane searched a corpus that is not embedded completely.
    PartlyEmbedded,
    /// The query has words that are operators in other systems.
    AmbiguousQuery,
    /// One that is no longer raised, in measurements that were stored before.
    #[serde(other)]
    Retired,
}

fn alarm(alarm: AlarmKind, message: String, evidence: Value) -> Alarm {
    let evidence = if let Value::Object(evidence) = evidence { evidence } else { Map::new() };
    Alarm { alarm, message, evidence }
}

/// For a lane: whether an import into its corpus had not finished.
pub fn partly_imported(lane: &str, unfinished: bool) -> Option<Alarm> {
    unfinished.then(|| {
        let message = format!(
            "lane `{lane}` may lack documents, because an import into its corpus had not finished; search again after it finishes"
        );
        alarm(AlarmKind::PartlyImported, message, json!({ "lane": lane }))
    })
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

/// For a full-text lane: what its query has that other systems read as operators.
pub fn ambiguous_query(lane: &str, notes: &[String]) -> Option<Alarm> {
    (!notes.is_empty()).then(|| {
        let message = format!("in the query of lane `{lane}`, {}", notes.join("; "));
        alarm(AlarmKind::AmbiguousQuery, message, json!({ "lane": lane, "notes": notes }))
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
    profile: Option<&TargetProfile>,
    context: &[Code],
) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    alarms.extend(profile.and_then(|profile| contamination(profile, context)));
    if pool.len() >= FEWEST {
        alarms.extend(dominance(pool, blend));
        alarms.extend(foreign(pool));
        alarms.extend(scattered(pool, blend, metrics));
        alarms.extend(profile.and_then(|profile| off_profile(pool, blend, profile)));
    }
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

/// A lane that shares next to nothing with every other one.
fn foreign(pool: &Pool<'_>) -> Option<Alarm> {
    let names = pool.names();
    let pairs = agreements(pool);
    let closest = |lane: usize| {
        let own = pairs.iter().filter(|(a, b, _)| *a == lane || *b == lane);
        own.map(|(.., agreement)| *agreement).reduce(f64::max)
    };
    let apart: Vec<(&str, f64)> = names
        .iter()
        .enumerate()
        .filter_map(|(lane, name)| Some((*name, closest(lane).filter(|agreement| *agreement < FOREIGN)?)))
        .collect();
    let (name, agreement) = apart.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a })?;
    let pairs: Vec<Value> = pairs
        .iter()
        .map(
            |&(a, b, agreement)| json!({ "lanes": [names[a], names[b]], "jaccard": round_figure(agreement) }),
        )
        .collect();
    let lanes: Vec<&str> = apart.iter().map(|(name, _)| *name).collect();
    Some(alarm(
        AlarmKind::LanesDisagree,
        format!(
            "the lane `{name}` shares {:.0} % of the first {TOP} with the lane closest to it, less than {:.0} %",
            agreement * 100.0,
            FOREIGN * 100.0
        ),
        json!({ "value": round_figure(agreement), "threshold": FOREIGN, "lanes": lanes, "pairs": pairs }),
    ))
}

fn scattered(pool: &Pool<'_>, blend: &Blend, metrics: &StructureMetrics) -> Option<Alarm> {
    let ccw = metrics.ccw.filter(|ccw| *ccw < SCATTERED)?;
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
    Some(alarm(
        AlarmKind::ClassesScattered,
        format!(
            "CCW is {ccw:.2}, below {SCATTERED}: {documents} documents are of {} subclasses",
            counts.len()
        ),
        json!({
            "value": round_figure(ccw), "threshold": SCATTERED, "system": classes.map(|classes| classes.system),
            "documents": documents, "subclasses": counts.len(), "most_frequent": first,
        }),
    ))
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
