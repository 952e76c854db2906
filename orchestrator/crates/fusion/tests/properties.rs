//! Properties of every fusion, for any lanes and recipe.

mod prior;

use lyra_fusion::estimate::{Posterior, proposed, stratified};
use lyra_fusion::{
    AlarmKind, Assessment, Blend, FacetSignals, FacetTerms, Lane, Method, PiMode, PiWeights, Pool,
    ProposeOptions, ProxyMethod, RankedDocs, Recipe, RecipeDelta, TargetProfile, alarm, passages, profile,
};
use lyra_text::query::{Field, Query, highlights};
use prior::PRIOR;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const NAMES: [&str; 4] = ["wide", "recall", "precision", "semantic"];
const CODES: [&str; 6] =
    ["ipc:H01L33/20", "ipc:H01L33/00", "ipc:G06F3/01", "ipc:A61K9/00", "ipc:G06F17/30", "ipc:B60R25/10"];

/// Two to four lanes over 40 documents, each a shuffled part of them.
fn lanes() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let lane = Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle();
    prop::collection::vec((lane, 1..40_usize), 2..=4)
        .prop_map(|lanes| lanes.into_iter().map(|(docs, take)| docs[..take].to_vec()).collect())
}

fn weights() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..3.0_f64, 4)
}

fn listed(lane: &[usize]) -> RankedDocs {
    RankedDocs::new(lane.iter().enumerate().map(|(place, doc)| {
        let codes = (0..=doc % 3).map(|i| CODES[(doc * 5 + i) % CODES.len()].to_owned()).collect();
        (format!("d{doc:02}"), 1.0 / (place + 1) as f64, codes)
    }))
}

/// A recipe that asks for everything.
fn recipe(weights: &[f64], profile: bool) -> Recipe {
    let weights = NAMES.iter().zip(weights).map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
    let mut recipe = Recipe { weights, pi_mode: PiMode::Design, ..Recipe::default() };
    if profile {
        recipe.target_profile = [("ipc:H01L33".to_owned(), 1.0), ("ipc:A61K".to_owned(), 0.4)].into();
    }
    recipe
}

/// A fusion's outcome by document, freed of everything borrowed.
struct Outcome {
    ranking: Vec<String>,
    scores: BTreeMap<String, f64>,
    contributions: BTreeMap<String, BTreeMap<String, f64>>,
    relevance: BTreeMap<String, f64>,
    design: lyra_fusion::Design,
    said: Assessment,
}

#[expect(clippy::unwrap_used, reason = "a sound recipe")]
fn fuse(named: &[(&str, &[usize])], recipe: &Recipe) -> Outcome {
    let docs: Vec<(&str, RankedDocs)> = named.iter().map(|(name, lane)| (*name, listed(lane))).collect();
    let lanes: Vec<Lane<'_>> =
        docs.iter().map(|(name, docs)| Lane { name, docs, limit: recipe.limit() }).collect();
    let pool = Pool::new(&lanes);
    let mut recipe = recipe.clone();
    recipe.weights.retain(|name, _| pool.names().contains(&name.as_str()) || name == "code");
    let prepared = recipe.prepare(pool.names()).unwrap();
    let blend = Blend::new(&pool, &recipe, &prepared);
    let said = blend.assess(&pool, (&recipe, &prepared), &PRIOR, &[], &[]);
    let design = said.design.clone().unwrap();
    let names: Vec<&str> = pool.names().iter().copied().chain(["code"]).collect();
    let by_id = |values: &dyn Fn(usize) -> f64| {
        (0..pool.len()).map(|doc| (pool.id(doc).to_owned(), values(doc))).collect()
    };
    Outcome {
        ranking: blend.ranking.order.iter().map(|&doc| pool.id(doc).to_owned()).collect(),
        scores: by_id(&|doc| blend.ranking.scores[doc]),
        relevance: by_id(&|doc| design.relevance[doc]),
        contributions: (0..pool.len())
            .map(|doc| {
                let parts = names
                    .iter()
                    .zip(blend.ranking.contributions(doc))
                    .map(|(n, part)| ((*n).to_owned(), *part));
                (pool.id(doc).to_owned(), parts.collect())
            })
            .collect(),
        design,
        said,
    }
}

fn named(lanes: &[Vec<usize>]) -> Vec<(&'static str, &[usize])> {
    NAMES.iter().copied().zip(lanes.iter().map(Vec::as_slice)).collect()
}

fn unit(value: f64) -> bool {
    (-1e-12..=1.0 + 1e-12).contains(&value)
}

proptest! {
    #[test]
    fn the_order_of_lanes_changes_nothing(lanes in lanes(), weights in weights(), profile in any::<bool>()) {
        let recipe = recipe(&weights, profile);
        let forth = fuse(&named(&lanes), &recipe);
        let mut turned = named(&lanes);
        turned.reverse();
        let back = fuse(&turned, &recipe);
        prop_assert_eq!(&forth.ranking, &back.ranking);
        prop_assert_eq!(&forth.scores, &back.scores);
        prop_assert_eq!(&forth.relevance, &back.relevance);
        prop_assert_eq!(forth.said.estimate, back.said.estimate);
        prop_assert_eq!(forth.design.frontier, back.design.frontier);
        prop_assert_eq!(forth.said.metrics, back.said.metrics);
    }

    #[test]
    fn contributions_add_up(lanes in lanes(), weights in weights(), profile in any::<bool>()) {
        let outcome = fuse(&named(&lanes), &recipe(&weights, profile));
        for (doc, parts) in &outcome.contributions {
            let sum: f64 = parts.values().sum();
            prop_assert!((sum - outcome.scores[doc]).abs() < 1e-12);
            prop_assert!(parts.values().all(|part| *part >= 0.0));
        }
    }

    #[test]
    fn more_weight_for_a_lane_never_lowers_its_documents(
        lanes in lanes(), weights in weights(), which in 0..2_usize, more in 0.01..5.0_f64,
    ) {
        let recipe = recipe(&weights, true);
        let before = fuse(&named(&lanes), &recipe);
        let mut heavier = recipe.clone();
        *heavier.weights.entry(NAMES[which].to_owned()).or_default() += more;
        let after = fuse(&named(&lanes), &heavier);
        let held: BTreeSet<String> = lanes[which].iter().map(|doc| format!("d{doc:02}")).collect();
        for (doc, score) in &before.scores {
            if held.contains(doc) {
                // The last document of a lane has the score 0 in it.
                prop_assert!(after.scores[doc] >= *score);
            } else {
                prop_assert_eq!(after.scores[doc], *score);
            }
        }
        // What only this lane found keeps its order among itself, and passes documents that the lane does not have.
        let place = |outcome: &Outcome, doc: &str| outcome.ranking.iter().position(|d| d == doc);
        for held_doc in &held {
            for other in before.scores.keys().filter(|doc| !held.contains(*doc)) {
                if place(&before, held_doc) < place(&before, other) {
                    prop_assert!(place(&after, held_doc) < place(&after, other));
                }
            }
        }
    }

    #[test]
    fn everything_stays_in_its_bounds(
        lanes in lanes(), weights in weights(), profile in any::<bool>(), by_ranks in any::<bool>(), beta in 0.1..5.0_f64,
    ) {
        let mut recipe = recipe(&weights, profile);
        recipe.beta_fuse = beta;
        recipe.method = if by_ranks { Method::Rrf } else { Method::MinMax };
        let first_place = if by_ranks { 1.0 / (recipe.rrf_k + 1.0) } else { 1.0 };
        let outcome = fuse(&named(&lanes), &recipe);
        let most = (weights[..lanes.len()].iter().sum::<f64>() + 0.5) * first_place;
        prop_assert!(outcome.scores.values().all(|score| *score >= 0.0 && *score <= most + 1e-12));
        // Nothing is −0, which would be displayed.
        prop_assert!(outcome.contributions.values().flat_map(BTreeMap::values).all(|part| part.is_sign_positive()));
        prop_assert!(outcome.relevance.values().all(|value| *value > 0.0 && *value < 1.0));
        for point in &outcome.design.frontier {
            prop_assert!(unit(point.p_star) && unit(point.r_star) && unit(point.f_beta_star));
            let (low, high) = (point.p_star.min(point.r_star), point.p_star.max(point.r_star));
            prop_assert!(point.f_beta_star >= low - 1e-12 && point.f_beta_star <= high + 1e-12);
        }
        let recalls: Vec<f64> = outcome.design.frontier.iter().map(|point| point.r_star).collect();
        prop_assert!(recalls.is_sorted(), "R* grows with k: {:?}", recalls);
        for point in &outcome.said.estimate.points {
            for share in [point.precision, point.recall, point.f_beta] {
                prop_assert!(unit(share.low) && unit(share.high) && share.low <= share.mean && share.mean <= share.high);
            }
        }
        let metrics = outcome.said.metrics;
        for value in [metrics.las, metrics.ccw, Some(metrics.s_shape), metrics.f_struct] {
            prop_assert!(value.is_none_or(unit));
        }
    }

    #[test]
    fn documents_that_a_person_liked_have_the_higher_proxy(lanes in lanes()) {
        // Twelve labels along the proxy's own order: the curve fitted to them rises.
        let docs: Vec<(&str, RankedDocs)> = NAMES.iter().copied().zip(lanes.iter().map(|lane| listed(lane))).collect();
        let lanes: Vec<Lane<'_>> = docs.iter().map(|(name, docs)| Lane { name, docs, limit: 100 }).collect();
        let pool = Pool::new(&lanes);
        prop_assume!(pool.len() >= 12);
        let recipe = recipe(&[1.0; 4], false);
        let recipe = Recipe { weights: BTreeMap::new(), ..recipe };
        let prepared = recipe.prepare(pool.names()).unwrap();
        let blend = Blend::new(&pool, &recipe, &prepared);
        let design = |labels: &[(usize, f64)]| {
            blend.assess(&pool, (&recipe, &prepared), &PRIOR, &[], labels).design.unwrap()
        };
        let plain = design(&[]);
        let mut order: Vec<usize> = (0..pool.len()).collect();
        order.sort_by(|a, b| plain.relevance[*b].total_cmp(&plain.relevance[*a]));
        let labels: Vec<(usize, f64)> =
            order.iter().take(6).map(|doc| (*doc, 1.0)).chain(order.iter().rev().take(6).map(|doc| (*doc, 0.0))).collect();
        let fitted = design(&labels);
        let rises = matches!(fitted.method, ProxyMethod::Platt { slope, representatives: 12, .. } if slope > 0.0);
        prop_assert!(rises, "{:?}", fitted.method);
        prop_assert!(fitted.relevance[order[0]] > fitted.relevance[order[pool.len() - 1]]);
        prop_assert!(fitted.relevance.iter().all(|value| *value > 0.0 && *value < 1.0));
        // With one label too few, nothing changes.
        let short = design(&labels[..9]);
        prop_assert_eq!(short.relevance, plain.relevance);
    }

    #[test]
    fn samples_have_known_probabilities(total in 0..2000_usize, count in 0..40_usize, seed in any::<u64>()) {
        let sample = stratified(total, count, seed);
        prop_assert!(sample.len() <= count.min(total));
        prop_assert!(total < 250 || sample.len() == count, "{} of {count}", sample.len());
        prop_assert!(sample.is_sorted_by(|a, b| a.place < b.place));
        prop_assert!(sample.iter().all(|proposal| proposal.place < total.min(250.max(count.div_ceil(2)))));
        prop_assert!(sample.iter().all(|proposal| proposal.probability > 0.0 && proposal.probability <= 1.0));
        prop_assert_eq!(sample, stratified(total, count, seed));
        // Weighted by what they stand for, the documents of the sample are as many as the strata have.
        let stand_for: f64 = stratified(total, 20, seed).iter().map(|proposal| 1.0 / proposal.probability).sum();
        prop_assert!((stand_for - total.min(250) as f64).abs() < 1e-6, "{stand_for} of {total}");
    }

    #[test]
    fn judgments_move_the_estimate_toward_them(relevant in prop::collection::vec(any::<bool>(), 60)) {
        let log_odds: Vec<f64> = (0..60).map(|place| PRIOR.intercept - PRIOR.slope * f64::from(place + 6).ln()).collect();
        let labels: Vec<(usize, f64)> =
            relevant.iter().enumerate().map(|(place, is)| (place, f64::from(u8::from(*is)))).collect();
        let share = labels[..20].iter().map(|(_, label)| label).sum::<f64>() / 20.0;
        // All judged: no uncertainty is left, and nothing is left to propose.
        let posterior = Posterior::new(&PRIOR, &log_odds, &labels);
        let known = posterior.estimate(1.5, &[20]);
        let precision = known.points[0].precision;
        prop_assert!((precision.mean - share).abs() < 1e-9 && precision.high - precision.low < 1e-9);
        prop_assert!(proposed(&posterior, 1.5, 3).is_empty());
        // Ten judged: a depth is named, and the next proposals were not judged.
        let posterior = Posterior::new(&PRIOR, &log_odds, &labels[..10]);
        let depths = posterior.estimate(1.5, &[20]).depths.unwrap();
        prop_assert!(1 <= depths.from && depths.from <= depths.middle && depths.middle <= depths.to && depths.to <= 60);
        prop_assert!(proposed(&posterior, 1.5, 3).iter().all(|place| (10..60).contains(place)));
        // Nine: none is.
        prop_assert!(Posterior::new(&PRIOR, &log_odds, &labels[..9]).estimate(1.5, &[20]).depths.is_none());
    }

    #[test]
    fn passages_are_pieces_of_the_text(
        text in "[^*]{0,60}", words in prop::collection::vec("[a-z]{2,6}|[ぁ-ん]{1,3}", 1..4), chars in 1..60_usize,
    ) {
        let text = format!("{text} {}", words.join(" and "));
        let query = Query::parse(&words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")).unwrap();
        let found = highlights(&query, Field::Desc, &text);
        prop_assert!(!found.is_empty());
        let passages = passages(&text, &found, chars, 3);
        prop_assert!(!passages.is_empty());
        for passage in passages {
            let plain = passage.trim_start_matches('…').trim_end_matches('…').replace("**", "");
            prop_assert!(text.contains(&plain), "{:?} in {:?}", plain, text);
            prop_assert!(passage.contains("**"));
        }
    }
}

#[test]
fn passages_begin_and_end_between_words() {
    let cut = |text: &str, word: &str, chars: usize| {
        let query = Query::parse(word).unwrap();
        passages(text, &highlights(&query, Field::Title, text), chars, 1)
    };
    let title = "Spindle activity during short naps predicts next-day memory";
    assert_eq!(cut(title, "naps", 80), ["Spindle activity during short **naps** predicts next-day memory"]);
    assert_eq!(cut(title, "naps", 28), ["… short **naps** predicts next-…"]);
    // Text without spaces is cut anywhere.
    assert_eq!(cut("高温の炉で薄膜を形成する方法", "薄膜", 8), ["…炉で**薄膜**を形成す…"]);
}

#[test]
fn facets_and_structure_move_the_proxy() {
    let docs = listed(&(0..30).collect::<Vec<_>>());
    let lanes = [Lane { name: "wide", docs: &docs, limit: 100 }];
    let pool = Pool::new(&lanes);
    let terms = |facet: &str, terms: &[&str]| FacetTerms {
        facet: facet.to_owned(),
        terms: terms.iter().map(|t| (*t).to_owned()).collect(),
    };
    let recipe = Recipe {
        facet_terms: vec![
            terms("A", &["face recognition", "顔認証"]),
            terms("B1", &["camera"]),
            terms("C", &["gate"]),
        ],
        pi_mode: PiMode::Design,
        ..Recipe::default()
    };
    let prepared = recipe.prepare(pool.names()).unwrap();
    let facets = prepared.facets.as_ref().unwrap();
    let text = |claim: &'static str, desc: &'static str| lyra_fusion::DocText { claim, abst: "", desc };
    let whole = facets.signals(&text("A camera for recognizing faces by face recognition.", "gates"));
    assert!((whole.coverage - (0.5 * 0.5 + 0.3 * 0.5 + 0.2 * 0.2)).abs() < 1e-12, "{whole:?}");
    assert_eq!(whole.structure, 1.0);
    let japanese = facets.signals(&text("顔認証装置", ""));
    assert!((japanese.coverage - 0.25).abs() < 1e-12 && japanese.structure == 0.0, "{japanese:?}");
    let far = format!("camera {} face recognition", "word ".repeat(40));
    assert_eq!(facets.signals(&lyra_fusion::DocText { claim: &far, abst: "", desc: "" }).structure, 0.0);

    let blend = Blend::new(&pool, &recipe, &prepared);
    let last = pool.len() - 1;
    let read = [(0, FacetSignals::default()), (last, whole)];
    let relevance = |recipe: &Recipe, read: &[(usize, FacetSignals)]| {
        blend.assess(&pool, (recipe, &prepared), &PRIOR, read, &[]).design.unwrap().relevance
    };
    let without = relevance(&recipe, &[]);
    assert!(relevance(&recipe, &read)[last] > without[last]);
    // A signal without weight has no effect.
    let muted = Recipe {
        pi_weights: PiWeights { facet: 0.0, structure: 0.0, ..PiWeights::default() },
        ..recipe.clone()
    };
    assert_eq!(relevance(&muted, &read), without);
}

#[test]
fn profiles_match_by_hierarchy_and_coverage_grows() {
    let docs = RankedDocs::new(
        [("a", "fi:H01L33/00,100@A"), ("b", "fi:H01L33/20"), ("c", "fi:G06F3/01")]
            .map(|(id, code)| (id.to_owned(), 1.0, vec![code.to_owned()])),
    );
    let lanes = [Lane { name: "wide", docs: &docs, limit: 100 }];
    let pool = Pool::new(&lanes);
    let profile =
        TargetProfile::new([("FI:H01L33/00", 1.0), ("fi:H01L 33/20", 0.5), ("fi:B60R25/10", 0.5)]).unwrap();
    assert_eq!(profile.matches(&pool), [1.0, 0.5, 0.0]);
    assert_eq!(profile.coverage(&pool, &[2, 1, 0]), [0.0, 0.25, 0.75]);
    let context = [profile::read_code("fi:B60R").unwrap()];
    assert_eq!(profile.share_of(&context), 0.25);
    for (text, expect) in [
        ("H01L", "lacks its classification system"),
        ("xyz:H01L", "lacks its"),
        ("fi:99", "is not a valid FI code"),
    ] {
        let error = TargetProfile::new([(text, 1.0)]).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

#[test]
fn a_profile_is_proposed_from_what_the_head_is_about() {
    // The head is about light-emitting diodes in displays; everything has a general code.
    let docs = RankedDocs::new((0..200).map(|i| {
        let mut codes = vec!["cpc:G06F1/16".to_owned()];
        if i < 30 || i % 10 == 0 {
            codes.push("cpc:H01L33/20".to_owned());
        }
        if i % 2 == 0 {
            codes.push("cpc:B60R25/10".to_owned());
        }
        (format!("d{i}"), 1.0, codes)
    }));
    let options = ProposeOptions { system: None, without: &[], most: 5 };
    let proposed = profile::propose(&docs, options);
    assert_eq!(proposed[0].code, "cpc:H01L33/20");
    assert_eq!(proposed[0].weight, 1.0);
    assert!(proposed.iter().all(|code| code.code != "cpc:H01L33" && code.code != "cpc:H01L"), "{proposed:?}");
    let context = [profile::read_code("cpc:B60R").unwrap()];
    let clean = profile::propose(&docs, ProposeOptions { without: &context, ..options });
    assert!(clean.iter().all(|code| !code.code.contains("B60R")) && clean.len() + 1 == proposed.len());
}

#[test]
fn alarms_come_with_what_was_measured() {
    let docs: Vec<RankedDocs> =
        [(0..40).collect::<Vec<_>>(), (100..103).collect()].iter().map(|lane| listed(lane)).collect();
    let lanes: Vec<Lane<'_>> =
        NAMES.iter().zip(&docs).map(|(name, docs)| Lane { name, docs, limit: 100 }).collect();
    let pool = Pool::new(&lanes);
    let mut recipe = recipe(&[50.0, 0.1], false);
    recipe.weights.retain(|name, _| pool.names().contains(&name.as_str()));
    recipe.target_profile = [("ipc:F16H57/04".to_owned(), 1.0), ("ipc:B60R25/10".to_owned(), 0.6)].into();
    recipe.context_codes = vec!["ipc:B60R".to_owned()];
    let prepared = recipe.prepare(pool.names()).unwrap();
    let blend = Blend::new(&pool, &recipe, &prepared);
    let metrics = blend.assess(&pool, (&recipe, &prepared), &PRIOR, &[], &[]).metrics;
    let alarms = alarm::of_blend(&pool, &blend, &metrics, prepared.profile.as_ref(), &prepared.context);
    let kinds: Vec<AlarmKind> = alarms.iter().map(|alarm| alarm.alarm).collect();
    for expect in [AlarmKind::LaneDominates, AlarmKind::ProfileContaminated, AlarmKind::LanesDisagree] {
        assert!(kinds.contains(&expect), "{expect:?} in {kinds:?}");
    }
    recipe.target_profile.remove("ipc:B60R25/10");
    let prepared = recipe.prepare(pool.names()).unwrap();
    let blend = Blend::new(&pool, &recipe, &prepared);
    let off = alarm::of_blend(&pool, &blend, &metrics, prepared.profile.as_ref(), &[]);
    assert!(off.iter().any(|alarm| alarm.alarm == AlarmKind::OffProfile), "{off:?}");
    assert!(alarms.iter().all(|alarm| !alarm.evidence.is_empty() && !alarm.message.is_empty()));
    assert!(
        alarm::wide_lane("wide", 99, 800, None).is_some()
            && alarm::wide_lane("wide", 100, 800, None).is_none()
    );
    assert!(alarm::wide_query("wide", &[], &[], None).is_none());
}

#[test]
fn class_consistency_is_of_fields() {
    let ccw = |code: fn(usize) -> String| {
        let docs = RankedDocs::new((0..50).map(|doc| (format!("d{doc:02}"), 1.0, vec![code(doc)])));
        let pool = Pool::new(&[Lane { name: "wide", docs: &docs, limit: 100 }]);
        let recipe = Recipe::default();
        let prepared = recipe.prepare(pool.names()).unwrap();
        let blend = Blend::new(&pool, &recipe, &prepared);
        let metrics = blend.assess(&pool, (&recipe, &prepared), &PRIOR, &[], &[]).metrics;
        let alarms = alarm::of_blend(&pool, &blend, &metrics, None, &[]);
        let scattered = alarms.into_iter().find(|alarm| alarm.alarm == AlarmKind::ClassesScattered);
        (metrics.ccw.unwrap(), scattered.map(|alarm| alarm.evidence))
    };
    // Every document has a different code; the field is still the same.
    let one_field: [fn(usize) -> String; 4] = [
        |doc| format!("ipc:H01L33/{:02}", doc * 2),
        |doc| format!("cpc:H01L{}/{:02}", 21 + doc % 12, doc * 2),
        |doc| format!("fi:H01L33/00,{}@A", 100 + doc),
        |doc| format!("ft:5F044AA{doc:02}"),
    ];
    for code in one_field {
        assert_eq!(ccw(code), (1.0, None), "{}", code(7));
    }
    let (value, evidence) =
        ccw(|doc| format!("ipc:H{:02}{}1/00", 1 + doc / 26, char::from(b'A' + (doc % 26) as u8)));
    assert!(value.abs() < 1e-9, "{value}");
    let evidence = evidence.unwrap();
    assert_eq!(
        (&evidence["subclasses"], &evidence["documents"], &evidence["system"]),
        (&50.into(), &50.into(), &"ipc".into())
    );
    assert_eq!(evidence["most_frequent"].as_array().unwrap().len(), 10);
    // Two fields, half and half, in between.
    let (value, _) = ccw(|doc| format!("cpc:{}1/{doc:02}", ["H01L", "G06F"][doc % 2]));
    assert!((value - (1.0 - 2_f64.ln() / 50_f64.ln())).abs() < 1e-9, "{value}");
}

type Spoil = fn(&mut Recipe);

#[test]
fn recipes_refuse_what_cannot_be_meant() {
    let lanes = ["wide", "semantic"];
    let cases: [(Spoil, &str); 7] = [
        (|r| r.rrf_k = 0.0, "`rrf_k` is 0, it should be 1 to 10000"),
        (|r| r.beta_fuse = f64::NAN, "`beta_fuse` is NaN"),
        (|r| r.weights = [("precison".to_owned(), 1.0)].into(), "the lanes are wide, semantic, code"),
        (|r| r.weights = [("wide".to_owned(), -1.0)].into(), "`weights.wide` is -1"),
        (|r| r.k_grid = vec![10, 0], "`k_grid` is empty or holds a 0"),
        (
            |r| r.facet_terms = vec![FacetTerms { facet: "X".into(), terms: vec!["a".into()] }],
            "`X` is not a facet",
        ),
        (|r| r.top_m_per_lane = Some(20_000), "`top_m_per_lane` is 20000"),
    ];
    for (spoil, expect) in cases {
        let mut recipe = Recipe::default();
        spoil(&mut recipe);
        let error = recipe.prepare(&lanes).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
    let delta: RecipeDelta = serde_json::from_str(r#"{"weights": {"wide": 2.0}, "rrf_k": 90}"#).unwrap();
    let recipe = Recipe { weights: [("semantic".to_owned(), 0.5)].into(), ..Recipe::default() }.with(delta);
    assert_eq!((recipe.weights["wide"], recipe.weights["semantic"], recipe.rrf_k), (2.0, 0.5, 90.0));
}
