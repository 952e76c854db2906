//! The use cases over a store in a temporary folder and a backend in memory.

mod backend;
mod family;

use super::*;
use crate::fusion::views::Show;
use backend::{Memory, documents};
use lyra_corpus::backend::{IdType, Publication, RawFilter};
use lyra_fusion::{FacetTerms, PiMode, Recipe, RecipeDelta};
use lyra_store::{Store, StoreConfig};
use lyra_wire::fusion::{AlarmView, FusionView, ProvenanceView, RunHandle};
use serde_json::json;
use std::sync::atomic::Ordering;

struct Bench {
    fusion: Fusion,
    backend: Arc<Memory>,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new(settings: FusionSettings, backend: Memory) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("lyra.db"), StoreConfig::default()).await.unwrap();
        let backend = Arc::new(backend);
        let fusion = Fusion::open(settings, Arc::new(store), backend.clone()).unwrap();
        Self { fusion, backend, _folder: folder }
    }

    async fn plain() -> Self {
        Self::new(FusionSettings::default(), Memory::new(documents())).await
    }

    async fn lane(&self, lane: &str, text: &str) -> RunHandle {
        self.fusion.search_lane(search(lane, text), Show::default()).await.unwrap()
    }

    /// Wide, precision and semantic lanes fused.
    async fn blend(&self, recipe: Recipe) -> FusionView {
        let wide = self.lane("wide", "led OR lamp OR light").await;
        let precision = self.lane("precision", "led AND heat").await;
        let semantic = self.lane("semantic", "cooling of a light emitting diode").await;
        let runs = [wide, precision, semantic].map(|run| RunRef { run_id: run.run_id, lane: None }).to_vec();
        self.fusion.blend(BlendRequest { runs, recipe, peek: None }).await.unwrap()
    }
}

fn search(lane: &str, text: &str) -> LaneSearch {
    LaneSearch {
        lane: Some(lane.to_owned()),
        semantic: lane == "semantic",
        text: text.to_owned(),
        top_k: 800,
        ..LaneSearch::default()
    }
}

fn profile() -> Recipe {
    Recipe { target_profile: [("ipc:H01L33".to_owned(), 1.0)].into(), ..Recipe::default() }
}

#[tokio::test]
async fn the_same_search_is_served_from_the_store() {
    let bench = Bench::plain().await;
    let first = bench.lane("recall", "led AND heat").await;
    assert!(!first.cached && first.run_id.starts_with("fulltext-"));
    let again = bench.lane("recall", "led AND heat").await;
    assert_eq!((again.run_id.as_str(), again.cached), (first.run_id.as_str(), true));
    assert_eq!(bench.backend.searches.load(Ordering::Relaxed), 1);

    // Any change of its inputs creates another run.
    let mut other = vec![search("precision", "led AND heat"), search("recall", "led AND heats")];
    other.push(LaneSearch { top_k: 5, ..search("recall", "led AND heat") });
    other.push(LaneSearch { lane_name: Some("mine".to_owned()), ..search("recall", "led AND heat") });
    let filters = vec![RawFilter {
        field: "ipc".to_owned(),
        include_codes: vec!["H01L".to_owned()],
        ..RawFilter::default()
    }];
    other.push(LaneSearch { filters, ..search("recall", "led AND heat") });
    for search in other {
        let run = bench.fusion.search_lane(search.clone(), Show::default()).await.unwrap();
        assert!(!run.cached && run.run_id != first.run_id, "{search:?}");
    }
    bench.backend.version.fetch_add(1, Ordering::Relaxed);
    assert!(!bench.lane("recall", "led AND heat").await.cached, "the documents may have changed");
}

#[tokio::test]
async fn mistakes_in_a_search_are_named() {
    let bench = Bench::plain().await;
    let cases = [
        (search("wide", " "), "`query` is empty"),
        (search("wide", "led AND (heat"), "cannot be read at character"),
        (search("narrow", "led"), "unknown lane `narrow`"),
        (search("original_dense", "led"), "of the kind original_dense"),
        (LaneSearch { top_k: 0, ..search("wide", "led") }, "`top_k` is 0"),
        (LaneSearch { corpus: Some("none".to_owned()), ..search("wide", "led") }, "unknown corpus `none`"),
        (
            LaneSearch { lane: None, semantic: true, text: String::new(), ..search("wide", "") },
            "`text` is empty",
        ),
    ];
    for (search, expect) in cases {
        let error = bench.fusion.search_lane(search, Show::default()).await.unwrap_err();
        assert!(error.message.contains(expect), "{error:?}");
        assert!(error.remedy.is_some(), "{error:?}");
    }
    let mixed = ["ipc", "fi"].map(|system| RawFilter {
        field: system.to_owned(),
        include_codes: vec!["H01L".to_owned()],
        ..RawFilter::default()
    });
    let search = LaneSearch { filters: mixed.to_vec(), ..search("wide", "led") };
    let error = bench.fusion.search_lane(search, Show::default()).await.unwrap_err();
    assert!(error.message.contains("one classification system per lane"), "{error:?}");
}

#[tokio::test]
async fn a_lane_that_fails_fails_alone() {
    let bench = Bench::plain().await;
    let named = |name: &str, search: LaneSearch| NamedLane {
        lane_name: name.to_owned(),
        tool: "rrf_search_fulltext_raw".to_owned(),
        search: Ok(search),
    };
    let lanes = vec![
        named("good", search("recall", "led")),
        named("bad", search("recall", "led AND")),
        named("down", search("recall", "unreachable")),
        named("also good", search("semantic", "cooling")),
    ];
    let done = bench.fusion.multilane(lanes.clone()).await.unwrap();
    assert_eq!((done.success_count, done.error_count), (2, 2));
    let found: Vec<bool> = done.lanes.iter().map(|lane| lane.found.is_ok()).collect();
    assert_eq!(found, [true, false, false, true]);
    assert_eq!(done.lanes[2].found.as_ref().unwrap_err().code, ErrorCode::Unavailable);
    assert_eq!(done.lanes[0].found.as_ref().unwrap().lane.as_deref(), Some("good"));
    // A failure is not remembered.
    assert!(
        !bench.fusion.multilane(lanes.clone()).await.unwrap().lanes[2]
            .found
            .as_ref()
            .is_ok_and(|handle| handle.cached)
    );

    let twice = vec![lanes[0].clone(), lanes[0].clone()];
    assert!(bench.fusion.multilane(twice).await.unwrap_err().message.contains("two lanes are named `good`"));
    let off = FusionSettings { enable_multi_run: false, ..FusionSettings::default() };
    let off = Bench::new(off, Memory::new(documents())).await;
    assert!(off.fusion.multilane(lanes).await.unwrap_err().message.contains("not enabled"));
}

#[tokio::test]
async fn a_blend_adds_up_and_a_change_keeps_its_lineage() {
    let bench = Bench::plain().await;
    let fused = bench.blend(profile()).await;
    assert!(fused.run_id.starts_with("fusion-") && !fused.frontier.is_empty());
    let request =
        ProvenanceRequest { run_id: fused.run_id.clone(), sample: true, ..ProvenanceRequest::default() };
    let said = bench.fusion.provenance(&request).await.unwrap();
    assert_eq!(
        said.parents.iter().map(|p| p.lane.as_str()).collect::<Vec<_>>(),
        ["wide", "precision", "semantic"]
    );
    for document in &said.documents {
        let sum: f64 = document.shares.values().sum();
        assert!((sum - 1.0).abs() < 1e-5, "{document:?}");
    }
    let total: f64 = said.contributions.values().sum();
    assert!((total - 1.0).abs() < 1e-5 && said.contributions.contains_key("code"));
    assert!(said.code_distributions.iter().any(|system| system.system == "ipc"));
    // Sixty documents leave the last stratum empty.
    assert_eq!(said.sample.unwrap().len(), 17);

    let searches = bench.backend.searches.load(Ordering::Relaxed);
    let delta: RecipeDelta =
        serde_json::from_value(json!({"weights": {"precision": 3.0}, "rrf_k": 10})).unwrap();
    let changed = bench.fusion.mutate(&fused.run_id, delta.clone()).await.unwrap();
    assert_ne!(changed.run_id, fused.run_id);
    assert!(bench.fusion.mutate(&fused.run_id, delta.clone()).await.unwrap().cached);
    assert_eq!(bench.backend.searches.load(Ordering::Relaxed), searches, "no search");
    let again =
        bench.fusion.mutate(&changed.run_id, RecipeDelta { beta_fuse: Some(1.0), ..delta }).await.unwrap();
    let said = bench.fusion.provenance(&ProvenanceRequest { run_id: again.run_id, ..request }).await.unwrap();
    assert_eq!(said.changed_from, [changed.run_id, fused.run_id.clone()]);
    assert_eq!(said.recipe["rrf_k"], 10.0);
    assert_eq!(said.recipe["target_profile"], json!({"ipc:H01L33": 1.0}), "what was not changed stays");

    let unknown: RecipeDelta = serde_json::from_value(json!({"weights": {"recal": 1.0}})).unwrap();
    assert!(bench.fusion.mutate(&fused.run_id, unknown).await.unwrap_err().message.contains("recal"));
    assert!(
        bench
            .fusion
            .mutate(&fused.run_id, RecipeDelta::default())
            .await
            .unwrap_err()
            .message
            .contains("nothing")
    );
    let lane = bench.lane("wide", "led OR lamp OR light").await;
    assert!(
        bench
            .fusion
            .mutate(&lane.run_id, RecipeDelta { rrf_k: Some(9.0), ..RecipeDelta::default() })
            .await
            .is_err()
    );
}

#[tokio::test]
async fn judgments_add_up_and_narrow_the_estimate() {
    let bench = Bench::plain().await;
    let fused = bench.blend(profile()).await;
    let request =
        ProvenanceRequest { run_id: fused.run_id.clone(), top_k_lane: 12, ..ProvenanceRequest::default() };
    let before = bench.fusion.provenance(&request).await.unwrap();
    let open = before.estimate.as_ref().unwrap();
    assert!(
        open.judged == 0 && open.depths.is_none() && open.relevant.high - open.relevant.low > 5.0,
        "{open:?}"
    );
    let judged: Vec<Representative> = before
        .documents
        .iter()
        .enumerate()
        .map(|(place, document)| Representative {
            doc_id: document.doc_id.clone(),
            label: if place < 6 { Label::A } else { Label::C },
            reason: None,
        })
        .collect();
    let mut unknown = judged.clone();
    unknown[0].doc_id = "nowhere".to_owned();
    let error = bench.fusion.register_representatives(&fused.run_id, unknown).await.unwrap_err();
    assert!(error.message.contains("nowhere"));
    let after = bench.fusion.register_representatives(&fused.run_id, judged.clone()).await.unwrap();
    let narrowed = after.estimate.clone().unwrap();
    assert!(
        narrowed.judged == 12 && narrowed.depths.is_some() && narrowed.recall_at_middle.is_some(),
        "{narrowed:?}"
    );
    let width = |of: &lyra_wire::fusion::EstimateView| of.relevant.high - of.relevant.low;
    assert!(width(&narrowed) < width(open));
    assert_eq!(after.representatives[0].rank, Some(1));
    let order = |view: &ProvenanceView| view.documents.iter().map(|d| d.doc_id.clone()).collect::<Vec<_>>();
    assert_eq!(
        order(&bench.fusion.provenance(&request).await.unwrap()),
        order(&before),
        "no document is boosted"
    );
    // Once more, with another label for one of them.
    let changed = vec![Representative { label: Label::C, ..judged[0].clone() }];
    let said = bench.fusion.register_representatives(&fused.run_id, changed).await.unwrap();
    let label = said
        .representatives
        .iter()
        .find(|known| known.doc_id == judged[0].doc_id)
        .map(|known| known.label.as_str());
    assert_eq!((said.representatives.len(), label), (12, Some("C")));
    assert_ne!(said.estimate.unwrap().relevant, narrowed.relevant, "the new label counts");
    bench.fusion.register_representatives(&fused.run_id, judged[..1].to_vec()).await.unwrap();
    // What is proposed next was not judged, and nothing is once the interval is narrow enough.
    let ask = |recall_width| ProvenanceRequest { sample: true, recall_width, ..request.clone() };
    let next = bench.fusion.provenance(&ask(None)).await.unwrap().sample.unwrap();
    assert!(
        !next.is_empty() && next.iter().all(|next| judged.iter().all(|judged| judged.doc_id != next.doc_id))
    );
    let enough = bench.fusion.provenance(&ask(Some(1.0))).await.unwrap();
    assert!(enough.is_enough == Some(true) && enough.sample.unwrap().is_empty());
    assert!(bench.fusion.provenance(&ask(Some(0.0))).await.unwrap_err().message.contains("recall_width"));
    // Two runs on the same judgments.
    let lane = bench.lane("wide", "led OR lamp OR light").await;
    let compared = bench.fusion.compare(&fused.run_id, &lane.run_id, 12).await.unwrap().paired.unwrap();
    assert_eq!((compared.judged, compared.precision.this.mean), (12, 0.5));
    let difference = compared.precision.difference;
    assert!(difference.low <= difference.mean && difference.mean <= difference.high, "{compared:?}");
    let delta = RecipeDelta { rrf_k: Some(20.0), ..RecipeDelta::default() };
    let changed = bench.fusion.mutate(&fused.run_id, delta).await.unwrap();
    let said =
        bench.fusion.provenance(&ProvenanceRequest { run_id: changed.run_id, ..request }).await.unwrap();
    assert_eq!(said.representatives.len(), 12);
    assert_eq!(said.estimate.unwrap().judged, 12);
    // The same lanes fused again are another run, without judgments.
    let again = bench.blend(profile()).await;
    assert!(!again.cached && again.run_id != fused.run_id, "{again:?}");
    assert_eq!(bench.blend(profile()).await.run_id, again.run_id);
    let said = bench
        .fusion
        .provenance(&ProvenanceRequest { run_id: again.run_id, ..ProvenanceRequest::default() })
        .await
        .unwrap();
    assert!(said.representatives.is_empty());
    assert_eq!(said.estimate.unwrap().judged, 0);
}

#[tokio::test]
async fn peeking_keeps_to_its_budget_and_shows_what_fits() {
    let bench = Bench::plain().await;
    let run = bench.lane("wide", "led OR lamp OR light").await;
    for budget in (512..6_000).step_by(97) {
        let mut shown = 0;
        let mut offset = Some(0);
        while let Some(at) = offset {
            let request = PeekRequest {
                run_id: run.run_id.clone(),
                offset: at,
                limit: 7,
                fields: ["title", "abst", "claim", "desc"].map(str::to_owned).to_vec(),
                budget_bytes: budget,
                ..PeekRequest::default()
            };
            let view = bench.fusion.peek(request).await.unwrap();
            let mut whole = serde_json::to_value(&view).unwrap();
            whole["ok"] = json!(true);
            assert!(whole.to_string().len() <= budget, "{} > {budget}", whole.to_string().len());
            assert_eq!(whole.to_string().len(), view.used_bytes);
            assert!(!view.snippets.is_empty(), "budget {budget}");
            assert_eq!(view.snippets[0].rank, at + 1);
            assert!(!view.snippets[0].fields.is_empty(), "budget {budget}: {view:?}");
            shown += view.snippets.len();
            offset = view.next_offset;
        }
        assert_eq!(shown, run.meta.count_returned);
    }
    // A text that is too long gives way before a short one does.
    let request = PeekRequest {
        run_id: run.run_id.clone(),
        limit: 1,
        fields: ["title", "desc"].map(str::to_owned).to_vec(),
        per_field_chars: [("desc".to_owned(), 100_000)].into(),
        budget_bytes: 700,
        ..PeekRequest::default()
    };
    let view = bench.fusion.peek(request).await.unwrap();
    let title =
        bench.backend.documents.iter().find(|d| d.doc_id == view.snippets[0].doc_id).unwrap().title.clone();
    assert_eq!(view.snippets[0].fields["title"], title.as_str());
    assert!(view.used_bytes > 690, "{view:?}");
    let beyond = PeekRequest { run_id: run.run_id, offset: 999, ..PeekRequest::default() };
    assert!(bench.fusion.peek(beyond).await.unwrap_err().message.contains("`offset` is 999"));
}

#[tokio::test]
async fn answers_stay_small_whatever_is_asked_for() {
    use lyra_corpus::backend::Codes;
    use lyra_domain::classification::System;
    let many = (0..120).map(|i| {
        let mut codes = Codes::default();
        for (nth, system) in [System::Ipc, System::Cpc, System::Fi].into_iter().cycle().take(30).enumerate() {
            codes.add(system, &format!("H01L{}/{:06}", i + 1, 100_000 + nth)).unwrap();
        }
        let mut document = documents().swap_remove(i % 60);
        document.doc_id = format!("d{i:03}");
        document.title = "光源を備える照明装置。".repeat(60);
        Publication { codes, ..document }
    });
    let bench = Bench::new(FusionSettings::default(), Memory::new(many.collect())).await;
    let show = Show { codes: true, code_freqs: true, scores: true, code_freq_top_k: 200 };
    let handle = bench.fusion.search_lane(search("wide", "led OR lamp"), show).await.unwrap();
    let size = |value: serde_json::Value| value.to_string().len();
    assert!(handle.shortened && size(json!(handle)) <= 55_000);
    assert!(!handle.items.unwrap().is_empty() && !handle.code_freqs.unwrap()[0].codes.is_empty());
    let few = Show { code_freq_top_k: 5, codes: false, ..show };
    assert!(!bench.fusion.search_lane(search("wide", "led OR lamp"), few).await.unwrap().shortened);
    let found = bench.fusion.search(search("wide", "led OR lamp"), IdType::DocId).await.unwrap();
    assert!(found.results.len() == 120 && size(json!(found)) <= 56_000, "{}", size(json!(found)));
    assert!(found.results.iter().all(|found| !found.title.is_empty()));
    let peek = PeekRequest {
        limit: 100,
        fields: vec!["desc".to_owned()],
        per_field_chars: [("desc".to_owned(), 5_000)].into(),
        budget_bytes: 55_000,
        ..PeekRequest::default()
    };
    let runs = vec![RunRef { run_id: handle.run_id, lane: None }];
    let request = BlendRequest { runs, recipe: Recipe::default(), peek: Some(peek) };
    assert!(size(json!(bench.fusion.blend(request).await.unwrap())) <= 56_000);
}

#[tokio::test]
async fn an_id_that_does_not_fit_is_said_and_not_left_out() {
    let mut documents = documents();
    documents[0].doc_id = "9".repeat(600);
    let bench = Bench::new(FusionSettings::default(), Memory::new(documents)).await;
    let run = bench.lane("wide", "number AND 0").await;
    let request = PeekRequest { run_id: run.run_id, budget_bytes: 600, ..PeekRequest::default() };
    let error = bench.fusion.peek(request.clone()).await.unwrap_err();
    let needed: usize = error
        .remedy
        .as_ref()
        .unwrap()
        .advice()
        .unwrap()
        .split(' ')
        .find_map(|word| word.parse().ok())
        .unwrap();
    assert!((700..900).contains(&needed), "{}", error.message);
    let view = bench.fusion.peek(PeekRequest { budget_bytes: needed, ..request }).await.unwrap();
    assert_eq!(view.snippets.len(), 1);
}

#[tokio::test]
async fn snippets_mark_what_matches_and_name_what_is_missing() {
    let bench = Bench::plain().await;
    let fused = bench.blend(Recipe::default()).await;
    let ids = ["d003", "gone", "d004"].map(str::to_owned).to_vec();
    let request =
        DocumentsRequest { ids: ids.clone(), run_id: Some(fused.run_id), ..DocumentsRequest::default() };
    let read = bench.fusion.snippets(request).await.unwrap();
    assert_eq!(read.missing_ids, ["gone"]);
    assert_eq!(read.documents.len(), 2);
    assert!(
        read.documents[0].highlights.iter().any(|passage| passage.text.to_lowercase().contains("**led**"))
    );
    let chars = [("claim".to_owned(), 10)].into();
    let request = DocumentsRequest {
        ids,
        fields: vec!["claim".to_owned(), "ipc_codes".to_owned()],
        per_field_chars: chars,
        ..DocumentsRequest::default()
    };
    let read = bench.fusion.snippets(request).await.unwrap();
    let first = &read.documents[0];
    assert_eq!(first.fields["claim"].chars().count(), 10);
    assert_eq!((first.cut[0].field.as_str(), first.cut[0].shown_chars), ("claim", 10));
    assert_eq!(first.fields.len(), 2);

    let huge = DocumentsRequest {
        ids: (0..10).map(|i| format!("d{i:03}")).collect(),
        per_field_chars: [("desc".to_owned(), 1_000_000)].into(),
        ..DocumentsRequest::default()
    };
    let read = bench.fusion.publication(huge).await.unwrap();
    assert!(serde_json::to_string(&read).unwrap().len() < 60_000);
    assert_eq!(read.documents.len() + read.omitted_ids.len(), 10);
    let by_number = DocumentsRequest {
        ids: vec!["US5A".to_owned()],
        id_type: IdType::PubId,
        ..DocumentsRequest::default()
    };
    assert_eq!(bench.fusion.publication(by_number).await.unwrap().documents[0].doc_id, "d005");
}

#[tokio::test]
async fn texts_from_outside_are_kept_and_failures_are_not() {
    let outside = Memory { kind: BackendKind::Patentfield, ..Memory::new(documents()) };
    let bench = Bench::new(FusionSettings::default(), outside).await;
    let request = |id: &str| DocumentsRequest { ids: vec![id.to_owned()], ..DocumentsRequest::default() };
    bench.backend.down.store(true, Ordering::Relaxed);
    assert!(bench.fusion.snippets(request("d001")).await.is_err());
    bench.backend.down.store(false, Ordering::Relaxed);
    bench.fusion.snippets(request("d001")).await.unwrap();
    bench.backend.down.store(true, Ordering::Relaxed);
    assert_eq!(bench.fusion.snippets(request("d001")).await.unwrap().documents.len(), 1);
    assert!(bench.fusion.snippets(request("d002")).await.is_err());
    // A search without a country is limited to Japan there.
    let (asked, _) = bench.fusion.lane_run(search("wide", "led")).await.unwrap();
    assert_eq!(asked.recipe["search"]["filters"][0], json!({"field": "country", "include_values": ["JP"]}));
}

#[tokio::test]
async fn a_saved_search_says_what_is_new() {
    let bench = Bench::plain().await;
    bench.backend.import(30);
    let run = bench.lane("recall", "led").await;
    let saved = bench.fusion.save_search(" leds ", &run.run_id).await.unwrap();
    assert_eq!((saved.name.as_str(), saved.query.as_str(), saved.seen), ("leds", "led", 10));
    let taken = bench.fusion.save_search("leds", &run.run_id).await.unwrap_err();
    assert!(taken.message.contains("already") && taken.remedy.is_some());
    assert_eq!(bench.fusion.run_saved("leds").await.unwrap().new_count, 0);
    // Later, there are more documents.
    bench.backend.import(60);
    let again = bench.fusion.run_saved("leds").await.unwrap();
    assert_eq!((again.count_returned, again.new_count, again.new.len()), (20, 10, 10));
    assert!(again.new.iter().all(|new| new.doc_id.as_str() >= "d030" && !new.title.is_empty()), "{again:?}");
    assert_eq!(bench.fusion.run_saved("leds").await.unwrap().new_count, 0, "they are known now");
    let unknown = bench.fusion.run_saved("lads").await.unwrap_err();
    assert!(unknown.remedy.unwrap().advice().unwrap().contains("leds"));
    let fused = bench.blend(Recipe::default()).await;
    assert!(
        bench.fusion.save_search("blend", &fused.run_id).await.unwrap_err().message.contains("fusion run")
    );
    assert!(bench.fusion.save_search(" ", &run.run_id).await.is_err());
    bench.fusion.forget_search("leds").await.unwrap();
    assert!(bench.fusion.saved_searches().await.unwrap().is_empty());
}

#[tokio::test]
async fn facets_are_read_in_the_texts() {
    let bench = Bench::plain().await;
    let facet = |facet: &str, terms: &[&str]| FacetTerms {
        facet: facet.to_owned(),
        terms: terms.iter().map(|term| (*term).to_owned()).collect(),
    };
    let recipe =
        Recipe { facet_terms: vec![facet("A", &["led"]), facet("B", &["heat sink"])], ..Recipe::default() };
    let without = bench.blend(recipe.clone()).await;
    assert!(without.design_frontier.is_empty(), "only the proxies of the design need facets");
    let fused = bench.blend(Recipe { pi_mode: PiMode::Design, ..recipe }).await;
    assert!(!fused.design_frontier.is_empty());
    let request = ProvenanceRequest { run_id: fused.run_id, ..ProvenanceRequest::default() };
    let said = bench.fusion.provenance(&request).await.unwrap();
    assert_eq!(said.facets_read, Some(said.meta.count_returned));
}

#[tokio::test]
async fn spoiled_set_ups_raise_their_alarms() {
    let bench = Bench::plain().await;
    let alarms = |alarms: &[AlarmView]| alarms.iter().map(|alarm| alarm.alarm.clone()).collect::<Vec<_>>();
    // Use-case terms under AND.
    let demanding = bench.lane("wide", "led AND gate AND system").await;
    let named = alarms(&demanding.alarms);
    assert!(
        named.contains(&"wide_query_demands".to_owned()) && named.contains(&"wide_lane_narrow".to_owned())
    );
    let evidence = &demanding.alarms.iter().find(|a| a.alarm == "wide_query_demands").unwrap().evidence;
    assert_eq!(
        (&evidence["use_case_words"], &evidence["general_words"]),
        (&json!(["gate"]), &json!(["system"]))
    );
    let relaxed = evidence["query_with_them_optional"].as_str().unwrap();
    let relaxed = bench.lane("wide", relaxed).await;
    assert!(relaxed.meta.count_returned > demanding.meta.count_returned);
    assert!(!alarms(&relaxed.alarms).contains(&"wide_query_demands".to_owned()));
    // One dominating lane.
    let weights =
        [("wide".to_owned(), 50.0), ("precision".to_owned(), 0.1), ("semantic".to_owned(), 0.1)].into();
    let dominated = bench.blend(Recipe { weights, ..Recipe::default() }).await;
    assert!(alarms(&dominated.alarms).contains(&"lane_dominates".to_owned()), "{:?}", dominated.alarms);
    // An off-field profile.
    let off = Recipe { target_profile: [("ipc:C12N15".to_owned(), 1.0)].into(), ..Recipe::default() };
    let off = bench.blend(off).await;
    assert!(alarms(&off.alarms).contains(&"off_profile".to_owned()), "{:?}", off.alarms);
}

async fn of_run(bench: &Bench, run_id: &str) -> ProvenanceView {
    let request = ProvenanceRequest { run_id: run_id.to_owned(), ..ProvenanceRequest::default() };
    bench.fusion.provenance(&request).await.unwrap()
}

#[tokio::test]
async fn citations_of_a_run_are_those_of_its_first_documents() {
    let bench = Bench::plain().await;
    let run = bench.lane("precision", "led AND heat").await;
    let search = CitationSearch {
        citing: true,
        of: vec![run.run_id.clone()],
        first: 2,
        top_k: 10,
        ..CitationSearch::default()
    };
    let citing = bench.fusion.citations(search.clone(), Show::default()).await.unwrap();
    assert_eq!(
        (citing.lane.as_deref(), citing.corpus.as_str(), citing.kind.as_str()),
        (Some("citing"), "patents", "fulltext")
    );
    let view = of_run(&bench, &citing.run_id).await;
    let asked = view.recipe["search"]["kind"]["query"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("cites:(\"d") && asked.matches(" OR ").count() == 1, "{asked}");
    // In a query, a run stands for its first documents too.
    let within = bench.lane("precision", &format!("led AND cited_by:{} NOT gate", run.run_id)).await;
    let asked =
        of_run(&bench, &within.run_id).await.recipe["search"]["kind"]["query"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("led AND cited_by:(\"d") && asked.ends_with("\") NOT gate"), "{asked}");
    for (search, expect) in [
        (CitationSearch { of: Vec::new(), ..search.clone() }, "there are 0 documents"),
        (CitationSearch { first: 0, ..search.clone() }, "citations of the first 0 documents"),
        (CitationSearch { of: vec!["fulltext-0123456789abcdef".to_owned()], ..search }, "unknown run"),
    ] {
        let error = bench.fusion.citations(search, Show::default()).await.unwrap_err();
        assert!(error.message.contains(expect) && error.remedy.is_some(), "{error:?}");
    }
}
