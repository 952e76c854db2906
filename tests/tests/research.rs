//! The main job on the example corpus, through the binary.

use lyra_tests::{TestApp, pdf};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The claim behind the question.
const CLAIM: &str = "A short daytime nap improves memory in adults.";
const EVIDENCE: [&str; 19] = [
    "differs",
    "doc_id",
    "doi",
    "edge_human_corrected",
    "edge_id",
    "fragment_id",
    "is_retracted",
    "missing",
    "nli_confidence",
    "page_id",
    "relation",
    "source_domain_category",
    "source_key",
    "text",
    "title",
    "url",
    "venue",
    "work_id",
    "year",
];
const CHECK: [&str; 23] = [
    "alpha",
    "beta",
    "claim",
    "claim_adoption_status",
    "claim_id",
    "claim_type",
    "confidence",
    "controversy",
    "evidence",
    "evidence_count",
    "evidence_years",
    "extracted_by",
    "extraction_score",
    "independent_sources",
    "language",
    "neutral_count",
    "not_judged_count",
    "origin",
    "refuting_count",
    "source_verification_status",
    "supporting_count",
    "task_id",
    "uncertainty",
];

/// The numbers agree with the evidence that is listed beside them.
#[track_caller]
fn consistent(claim: &Value) {
    let evidence = claim["evidence"].as_array().expect("evidence");
    let weights = |relation: &str| -> Vec<f64> {
        let of = evidence.iter().filter(|e| e["relation"] == relation);
        of.map(|e| e["nli_confidence"].as_f64().expect("number")).collect()
    };
    for (relation, count) in
        [("supports", "supporting_count"), ("refutes", "refuting_count"), ("neutral", "neutral_count")]
    {
        assert_eq!(claim[count].as_u64().expect("number") as usize, weights(relation).len(), "{claim}");
    }
    let alpha = 1.0 + weights("supports").iter().sum::<f64>();
    let beta = 1.0 + weights("refutes").iter().sum::<f64>();
    let confidence = claim["confidence"].as_f64().expect("number");
    assert!((confidence - alpha / (alpha + beta)).abs() < 2e-3, "{claim}");
    assert!(evidence.iter().all(|e| keys(e) == EVIDENCE), "{claim}");
}

#[test]
fn a_question_ends_in_supported_and_contradicted_claims() {
    let app = TestApp::lite();
    let report = app.json(&["research", "Does a short daytime nap improve memory in adults?", "--json"]);
    assert_eq!(
        keys(&report),
        ["answer", "claims", "finished", "not_covered", "query", "task_id", "totals", "warnings"]
    );
    let claims = report["claims"].as_array().expect("claims");
    for claim in claims {
        let mut claim_keys = CHECK.to_vec();
        claim_keys.extend(["closeness", "same_as"]);
        claim_keys.sort_unstable();
        assert_eq!(keys(claim), claim_keys);
        consistent(claim);
    }
    let supported =
        |c: &&Value| c["supporting_count"].as_u64() > Some(0) && c["independent_sources"].as_u64() > Some(0);
    assert!(claims.iter().any(|c| supported(&c)), "no claim has independent support");
    assert!(claims.iter().any(|c| c["refuting_count"].as_u64() > Some(0)), "no claim is contradicted");
    assert!(report["warnings"].to_string().contains("invented"), "{}", report["warnings"]);
    let answer = &report["answer"];
    assert_eq!((&answer["kind"], &answer["claim"]), (&"claim".into(), &CLAIM.into()), "{answer}");
    assert_eq!(answer["claim_id"], claims[0]["claim_id"]);
    let judged: u64 =
        ["supporting", "refuting", "silent"].iter().filter_map(|side| answer["works"][side].as_u64()).sum();
    assert!(judged > 5, "{answer}");
    for claim in &claims[1..] {
        assert!(claim["origin"]["title"].as_str().is_some_and(|title| !title.is_empty()), "{claim}");
    }
    let both =
        |c: &&Value| c["supporting_count"].as_u64() > Some(0) && c["refuting_count"].as_u64() > Some(0);
    let contradicted = claims.iter().filter(both).count();
    assert_eq!(report["totals"]["contradicted_claims"].as_u64(), Some(contradicted as u64));

    let id = report["task_id"].as_str().expect("task id");
    let shown = app.json(&["task", "show", id, "--json"]);
    assert_eq!(shown["claims"], report["claims"]);
    let export = app.json(&["task", "export", id]);
    let exported = export["claims"].as_array().expect("claims");
    assert_eq!(exported.len(), claims.len());
    let first = exported.iter().find(|claim| claim["claim_id"] == claims[0]["claim_id"]).expect("the claim");
    assert!(keys(first).iter().all(|key| first[key] == claims[0][key]), "{first}");
    assert_eq!(app.json(&["task", "list", "--json"])[0]["task_id"], report["task_id"]);
    assert!(export["evidence_graph"]["stats"]["evidence_source"].as_u64() > Some(0));
}

/// What is cited of a PDF names its section and its page.
#[test]
fn evidence_from_an_imported_paper_names_section_and_page() {
    let app = TestApp::new();
    let folder = app.data_dir().join("papers");
    std::fs::create_dir(&folder).expect("a folder");
    let paper = |title, finding| {
        pdf::paper(&[
            &[
                (20, title),
                (10, "Abstract"),
                (10, "We asked what grows on roofs in wet towns, and what that means for sleepers."),
                (10, "1. Introduction"),
                (10, "Rain is loud on tin, and people in wet towns complain about it."),
            ],
            &[(10, "2. Results"), (10, finding), (10, "The difference was still there in the second year.")],
        ])
    };
    let quieter = "Moss on roofs reduces rain noise in the rooms below by six decibels.";
    let same = "Moss on roofs did not reduce rain noise in any room that we measured.";
    std::fs::write(folder.join("a.pdf"), paper("Moss on tin roofs", quieter)).expect("a file");
    std::fs::write(folder.join("b.pdf"), paper("No quieter under moss", same)).expect("a file");
    let folder = folder.display().to_string();
    app.json(&["corpus", "import", "roofs", &folder, "--offline", "--json"]);
    let question = "Does moss on roofs reduce rain noise?";
    let report = app.json(&["research", question, "--corpus", "roofs", "--json"]);
    let claims = report["claims"].as_array().expect("claims");
    let evidence: Vec<&Value> =
        claims.iter().flat_map(|c| c["evidence"].as_array().expect("evidence")).collect();
    let places: Vec<&str> = evidence.iter().filter_map(|passage| passage["section"].as_str()).collect();
    assert!(places.contains(&"2. Results, p. 2"), "{places:?} in {report}");
}

/// A report on one task in every format.
#[test]
fn an_answer_is_printed_for_people() {
    let app = TestApp::new();
    let question = "Does a short daytime nap improve memory in adults?";
    let report = app.json(&["research", question, "--claims", "4", "--json"]);
    let id = report["task_id"].as_str().expect("task id");
    let shown = |args: &[&str]| {
        let output = app.run(&[&["task", "show", id], args].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let text = shown(&[]);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(
        at("ANSWER") < at(CLAIM) && at(CLAIM) < at("FINDINGS") && at("FINDINGS") < at("found in"),
        "{text}"
    );
    let html = shown(&["--format", "html"]);
    assert!(
        html.starts_with("<!DOCTYPE html>") && html.contains(CLAIM) && !html.contains("<script"),
        "{html}"
    );
    assert!(shown(&["--format", "markdown"]).starts_with("# Does a short"));
    assert!(!shown(&["--limit", "1"]).contains("\n2. "));
    let topic = app.json(&["research", question, "--claims", "4", "--no-judge-question", "--json"]);
    assert_eq!(topic["answer"]["kind"], "topic", "{}", topic["answer"]);
}

#[test]
fn one_claim_is_checked_against_the_best_passages() {
    let app = TestApp::new();
    let claim = "Smartphone bans in schools raise exam scores.";
    let report = app.json(&["check", claim, "--json"]);
    assert_eq!(keys(&report), CHECK);
    assert_eq!(report["claim"], claim);
    consistent(&report);
    assert!(
        report["supporting_count"].as_u64() > Some(0) && report["refuting_count"].as_u64() > Some(0),
        "{report}"
    );
}

#[test]
fn a_japanese_question_says_what_its_nli_needs() {
    let app = TestApp::new();
    let report = app.json(&["research", "在宅勤務は生産性を下げるか", "--json"]);
    assert!(!report["claims"].as_array().expect("claims").is_empty());
    assert!(report["warnings"].to_string().contains("`standard` profile"), "{}", report["warnings"]);
}

#[test]
fn rejected_lines_are_reported_and_the_rest_is_searched() {
    let app = TestApp::new();
    let file = app.data_dir().join("docs.jsonl");
    let lines = [
        r#"{"id": "a", "title": "Tides", "abstract": "Spring tides follow the full moon.", "year": 2001}"#,
        "not json",
        r#"{"title": "No id", "abstract": "Neap tides follow the half moon."}"#,
        r#"{"doc_id": 7, "title": "Currents", "abstract": ["Tides drive currents.", "Winds do too."], "doi": "10.1000/x"}"#,
    ];
    std::fs::write(&file, lines.join("\n")).expect("written");
    let path = file.to_str().expect("path");
    let first = app.json(&["corpus", "import", "tides", path, "--json"]);
    assert_eq!((first["added"].as_u64(), first["rejected_count"].as_u64()), (Some(2), Some(2)), "{first}");
    assert_eq!(first["rejected"][0]["line"], 2);
    let second = app.json(&["corpus", "import", "tides", path, "--json"]);
    assert_eq!((second["added"].as_u64(), second["unchanged"].as_u64()), (Some(0), Some(2)), "{second}");
    for method in ["bm25", "dense", "hybrid"] {
        let hits = app.json(&["corpus", "search", "tides", "tidal currents", "--method", method, "--json"]);
        assert_eq!(hits[0]["doc_id"], "7", "{method}: {hits}");
    }
    let check = app.json(&["check", "Tides drive currents.", "--corpus", "tides", "--json"]);
    let seven = check["evidence"].as_array().expect("evidence").iter().find(|e| e["doc_id"] == "7");
    assert_eq!(seven.expect("document 7")["doi"], "10.1000/x");
    assert!(app.run(&["corpus", "remove", "tides"]).status.success());
    assert_eq!(app.json(&["corpus", "list", "--json"]), serde_json::json!([]));
}
