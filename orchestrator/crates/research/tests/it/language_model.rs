//! The pipeline with a language model.

mod bench;

use bench::{Bench, PAGE, TRIALS, Tea, down, states, value};
use lyra_domain::Relation;
use lyra_research::Result;
use lyra_research::ports::{LlmUse, Prompt, Purpose};
use lyra_store::TaskProgress;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn warned(status: &TaskProgress, words: &str) -> bool {
    status.warnings.iter().any(|warning| warning.contains(words))
}

const CORPUS: Tea = Tea { scholarly: false, web: false };

#[tokio::test]
async fn claims_are_what_the_model_states_and_the_passage_says() {
    let bench = Bench::new(CORPUS, Some(Box::new(states))).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    let claims = bench.claims(&task).await;
    assert_eq!(claims.len(), TRIALS);
    for (text, confidence) in &claims {
        assert!(text.starts_with("Green tea ") && text.contains("in trial "), "{text}");
        assert_eq!(*confidence, Some(0.25));
    }
    assert!(warned(&done, "6 statements of the language model were left out"), "{:?}", done.warnings);
    let used = done.llm.unwrap();
    assert_eq!(LlmUse { seconds: 0.0, ..used }, LlmUse { questions: 6, calls: 6, ..LlmUse::default() });
    let output = bench.output("judge").await;
    assert_eq!((&output["llm"]["ungrounded"], &output["llm"]["calls"]), (&json!(6), &json!(6)));
    // Its numbers are no evidence: two of the others agree with each claim, three do not.
    for report in bench.store.claim_reports(&task).await.unwrap() {
        assert_eq!((report.supporting_count, report.refuting_count), (2, 3));
        assert!((report.posterior.confidence() - 2.8 / (2.8 + 3.7)).abs() < 1e-9);
    }
}

#[tokio::test]
async fn a_resumed_job_asks_only_what_it_has_not_asked_and_gives_the_same() {
    let undisturbed = Bench::new(CORPUS, Some(Box::new(states))).await;
    let task = undisturbed.task().await;
    undisturbed.finish(&task).await;
    let expect = undisturbed.claims(&task).await;

    let bench = Bench::with(CORPUS, Some(Box::new(states)), 0.3, 4, |_| false).await;
    let task = bench.task().await;
    let going_down = CancellationToken::new();
    let stopping = async {
        // Until its answers are kept, a question that was asked counts for nothing.
        while bench.kept().await < 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        going_down.cancel();
    };
    let working =
        async { while !going_down.is_cancelled() && bench.worker.step(&going_down).await.unwrap() {} };
    tokio::join!(stopping, working);
    assert!(bench.claims(&task).await.is_empty());

    bench.model.as_ref().unwrap().answers.store(usize::MAX, Ordering::SeqCst);
    let done = bench.finish(&task).await;
    assert_eq!(bench.claims(&task).await, expect);
    assert_eq!(bench.asked(Purpose::ExtractClaims).len(), TRIALS, "no passage is asked about twice");
    assert_eq!(done.llm.unwrap().questions, 6);

    // A later search of the same task finds the same passages, and nothing is asked again.
    bench.search(&task, "tea and attention of students").await;
    bench.finish(&task).await;
    assert_eq!(bench.asked(Purpose::ExtractClaims).len(), TRIALS);
    assert_eq!(bench.claims(&task).await, expect);
}

#[tokio::test]
async fn rules_take_over_from_a_model_that_fails_and_a_later_job_asks_it_again() {
    let rules = Bench::new(CORPUS, None).await;
    let by_rules = rules.task().await;
    let without = rules.finish(&by_rules).await;
    assert!(without.llm.is_none() && rules.output("judge").await.get("llm").is_none());

    let awake = Arc::new(AtomicUsize::new(0));
    let wakes = Arc::clone(&awake);
    let script =
        move |prompt: &Prompt| if wakes.load(Ordering::SeqCst) == 0 { down(prompt) } else { states(prompt) };
    let bench = Bench::new(CORPUS, Some(Box::new(script))).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    assert_eq!(bench.claims(&task).await, rules.claims(&by_rules).await);
    assert_eq!(bench.asked(Purpose::ExtractClaims).len(), 3, "after three failures in a row it is skipped");
    let words = "gave no usable answer to 6 of 6 questions (extract_claims): rules extracted claims instead; the first reason: \
                 the language model is not available: it is asleep";
    assert!(warned(&done, words), "{:?}", done.warnings);
    let used = done.llm.unwrap();
    assert_eq!((used.calls, used.failures, used.fallbacks), (3, 3, 6));

    awake.store(1, Ordering::SeqCst);
    bench.search(&task, "tea and attention of students").await;
    let healed = bench.finish(&task).await;
    assert_eq!((bench.asked(Purpose::ExtractClaims).len(), healed.llm.unwrap().fallbacks), (9, 0));
}

#[tokio::test]
async fn once_its_time_is_spent_rules_take_over_and_it_is_said() {
    let bench = Bench::with(CORPUS, Some(Box::new(states)), 0.0, usize::MAX, |_| false).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    assert!(bench.asked(Purpose::ExtractClaims).is_empty());
    assert!(warned(&done, "its share of the time budget is used up"), "{:?}", done.warnings);
    assert_eq!((done.llm.unwrap().calls, done.llm.unwrap().fallbacks), (0, 6));
    assert!(!bench.claims(&task).await.is_empty());

    // A model that never comes back is left when the share ends: 1200 s · 0.0005 = 0.6 s.
    let stuck = Bench::with(CORPUS, Some(Box::new(states)), 0.0005, 0, |_| false).await;
    let task = stuck.task().await;
    let done = stuck.finish(&task).await;
    assert!(warned(&done, "its share of the time budget is used up"), "{:?}", done.warnings);
    assert_eq!((done.llm.unwrap().calls, done.llm.unwrap().fallbacks), (1, 6));
    assert!(!stuck.claims(&task).await.is_empty());
}

#[tokio::test]
async fn text_that_addresses_an_ai_is_never_sent() {
    let hostile = |text: &str| text.contains("trial 3");
    let bench = Bench::with(CORPUS, Some(Box::new(states)), 0.3, usize::MAX, hostile).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    let asked = bench.asked(Purpose::ExtractClaims);
    assert_eq!(asked.len(), TRIALS - 1);
    assert!(asked.iter().all(|prompt| !value(prompt, "text").contains("trial 3")));
    assert!(warned(&done, "the text addresses the AI that reads it"), "{:?}", done.warnings);
}

/// Titles of the works that became pages through citations, and the counts of the filter.
async fn cited(
    script: impl Fn(&Prompt) -> Result<Value> + Send + Sync + 'static,
) -> (Vec<String>, Value, Bench) {
    let bench = Bench::new(Tea { scholarly: true, web: false }, Some(Box::new(script))).await;
    let task = bench.task().await;
    bench.finish(&task).await;
    let sql = "SELECT title FROM task_pages JOIN pages ON pages.id = page_id WHERE reason = 'citation' ORDER BY title";
    let titles = bench
        .rows(sql)
        .await
        .iter()
        .map(|row| row["title"].as_str().unwrap_or_default().to_owned())
        .collect();
    (titles, bench.output("search").await["citations"].clone(), bench)
}

#[tokio::test]
async fn the_second_stage_of_citations_follows_the_models_word() {
    // Of four works with the same words, stage 1 keeps those cited most: 4, 3, 2. Stage 2 keeps two of them.
    let useful = |prompt: &Prompt| match prompt.purpose {
        Purpose::Relevance => Ok(json!({"score": if value(prompt, "title").contains('2') { 10 } else { 2 }})),
        _ => states(prompt),
    };
    let (titles, counts, bench) = cited(useful).await;
    assert_eq!(titles, ["Citing 2", "Citing 4"]);
    assert_eq!(
        (&counts["after_stage1"], &counts["after_stage2"], &counts["llm_calls"]),
        (&json!(3), &json!(2), &json!(3))
    );
    assert_eq!(bench.asked(Purpose::Relevance).len(), 3, "stage 1 decides who is asked about");

    // Without its word the order of stage 1 stays.
    let silent =
        |prompt: &Prompt| if prompt.purpose == Purpose::Relevance { down(prompt) } else { states(prompt) };
    let (titles, counts, _) = cited(silent).await;
    assert_eq!(
        (titles, &counts["llm_calls"]),
        (vec!["Citing 3".to_owned(), "Citing 4".to_owned()], &json!(3))
    );
}

#[tokio::test]
async fn links_that_the_model_calls_citations_become_edges() {
    let script = |prompt: &Prompt| match prompt.purpose {
        Purpose::Citation => {
            Ok(json!({"cited": if value(prompt, "link").contains("shop") { "NO" } else { "YES" }}))
        }
        _ => states(prompt),
    };
    let bench = Bench::new(Tea { scholarly: false, web: true }, Some(Box::new(script))).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    assert_eq!(bench.asked(Purpose::Citation).len(), 3, "a page has a limit");
    let sql = "SELECT source.url AS source, target.url AS target, target.domain_category AS category, citation_source, \
               citation_context, target.error, works.doi FROM edges JOIN pages AS source ON source.id = source_id \
               JOIN pages AS target ON target.id = target_id LEFT JOIN works ON works.id = target.work_id \
               WHERE relation = 'cites' ORDER BY target.url";
    let error = "not fetched: known from what cites it";
    let expect = [("https://doi.org/10.1000/study", "a study", json!("10.1000/study")), ("https://report.example/tea", "a report", Value::Null)]
        .map(|(target, words, doi)| {
            json!({"source": PAGE, "target": target, "category": "unverified", "citation_source": "extraction",
                   "citation_context": format!("Green tea improved attention, as {words} says."), "error": error, "doi": doi})
        });
    assert_eq!(bench.rows(sql).await, expect);
    assert_eq!(
        (done.pages, done.edges_of(Relation::Cites)),
        (TRIALS as u64 + 1, 2),
        "cited pages use no budget"
    );
    let counts = &bench.output("search").await["llm"]["web_citations"];
    assert_eq!(*counts, json!({"pages": 1, "links": 3, "cited": 2}));

    // Without a model nothing is recorded.
    let bench = Bench::new(Tea { scholarly: false, web: true }, None).await;
    let task = bench.task().await;
    assert_eq!(bench.finish(&task).await.edges_of(Relation::Cites), 0);
}
