//! Labels of abstracts and rationale sentences: with the right abstracts given, and end to end.

use crate::scifact::{Abstract, Claim, Label, SciFact};
use crate::score::{Counts, add_rationale, sentences_of};
use crate::{Args, CORPUS};
use anyhow::{Context, Result};
use lyra::app::{App, NewTask, idle};
use lyra_domain::{ClaimReport, TaskConfig};
use lyra_research::ports::Inference;
use lyra_research::{ResearchConfig, Verdict, hold_against};
use lyra_text::claim::{WORTHY, check_worthiness, counter_claim};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What became of the abstracts with a label.
#[derive(Debug, Default)]
struct Fates {
    right: usize,
    wrong_side: usize,
    /// Called neutral although a window held a whole rationale.
    neutral: usize,
    /// Called neutral, and no window that was asked held a whole rationale.
    not_asked: usize,
    /// Not among the passages that were judged.
    not_judged: usize,
}

/// Figures of one setting.
#[derive(Debug, Default)]
struct Table {
    labels: BTreeMap<Label, Counts>,
    rationale: Counts,
    fates: BTreeMap<Label, Fates>,
}

impl Table {
    /// Adds what was said of one abstract: its label, the one predicted, and the sentences chosen.
    fn add(&mut self, gold: Option<Label>, predicted: Option<Label>) {
        if let Some(gold) = gold {
            self.labels.entry(gold).or_default().gold += 1;
        }
        if let Some(predicted) = predicted {
            let counts = self.labels.entry(predicted).or_default();
            counts.predicted += 1;
            counts.right += usize::from(gold == Some(predicted));
        }
    }

    fn all(&self) -> Counts {
        self.labels.values().fold(Counts::default(), |all, one| Counts {
            right: all.right + one.right,
            predicted: all.predicted + one.predicted,
            gold: all.gold + one.gold,
        })
    }

    fn print(&self, title: &str) {
        println!("\n{title:<44} precision  recall   F1      (right of predicted, of gold)");
        let line = |name: &str, counts: Counts| {
            println!(
                "  {name:<42} {}   ({} of {}, {})",
                counts.row(),
                counts.right,
                counts.predicted,
                counts.gold
            );
        };
        line("abstract label", self.all());
        for label in Label::BOTH {
            line(&format!("  {}", label.name()), self.labels.get(&label).copied().unwrap_or_default());
        }
        if self.rationale.gold > 0 {
            line("rationale sentences", self.rationale);
        }
        for (label, fates) in &self.fates {
            println!(
                "  {} abstracts: {} right, {} on the wrong side, {} neutral, {} neutral as no window asked held a rationale, \
                 {} not judged",
                label.name(),
                fates.right,
                fates.wrong_side,
                fates.neutral,
                fates.not_asked,
                fates.not_judged
            );
        }
    }
}

/// With the abstracts given that annotators labelled, and what is said of abstracts that they found silent, and of others.
pub(crate) async fn oracle(inference: &dyn Inference, scifact: &SciFact, args: &Args) -> Result<()> {
    let config = ResearchConfig::default();
    let start = Instant::now();
    let mut table = Table::default();
    let (mut silent, mut unrelated) = ((0, 0), (0, 0));
    let strangers: Vec<&Abstract> = {
        let mut all: Vec<_> = scifact.abstracts.iter().collect();
        all.sort_by_key(|(id, _)| *id);
        all.into_iter().map(|(_, one)| one).collect()
    };
    for (n, claim) in scifact.sample(args.claims).into_iter().enumerate() {
        let gold: Vec<&String> = claim.evidence.keys().collect();
        let quiet: Vec<String> = claim.silent().collect();
        let stranger = strangers[(n * 997) % strangers.len()];
        let mut texts: Vec<String> = Vec::new();
        for doc in gold.iter().copied().chain(&quiet) {
            texts.push(scifact.abstracts.get(doc).context("a cited abstract is not in the corpus")?.text());
        }
        texts.push(stranger.text());
        let verdicts = held(inference, &config, &claim.claim, &texts).await?;
        for (doc, verdict) in gold.iter().zip(&verdicts) {
            add_gold(&mut table, claim, doc, verdict.as_ref(), &scifact.abstracts[*doc].sentences);
        }
        let sided = |verdict: &Option<Verdict>| {
            verdict.as_ref().and_then(|verdict| Label::of(verdict.judgement.relation)).is_some()
        };
        let (quiet_ones, strange) = verdicts[gold.len()..].split_at(quiet.len());
        silent.0 += quiet_ones.iter().filter(|verdict| sided(verdict)).count();
        silent.1 += quiet_ones.len();
        unrelated.0 += strange.iter().filter(|verdict| sided(verdict)).count();
        unrelated.1 += strange.len();
    }
    table.print("right abstracts given (seen in training)");
    let share = |(some, all): (usize, usize)| format!("{:.3} of {all}", some as f64 / all.max(1) as f64);
    println!(
        "  taken for evidence: cited abstracts without evidence {}, unrelated abstracts {}",
        share(silent),
        share(unrelated)
    );
    println!("  {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn add_gold(table: &mut Table, claim: &Claim, doc: &str, verdict: Option<&Verdict>, sentences: &[String]) {
    let Some(gold) = claim.label(doc) else { return };
    let rationales = claim.rationales(doc);
    let predicted = verdict.and_then(|verdict| Label::of(verdict.judgement.relation));
    table.add(Some(gold), predicted);
    let chosen = match verdict {
        Some(verdict) if predicted.is_some() => sentences_of(&verdict.premise, sentences),
        _ => BTreeSet::new(),
    };
    add_rationale(&mut table.rationale, &chosen, &rationales);
    let asked = |window: &String| {
        let held = sentences_of(window, sentences);
        rationales.iter().any(|rationale| rationale.iter().all(|s| held.contains(s)))
    };
    let fates = table.fates.entry(gold).or_default();
    match predicted {
        Some(side) if side == gold => fates.right += 1,
        Some(_) => fates.wrong_side += 1,
        None if verdict.is_some_and(|verdict| verdict.asked.iter().any(asked)) => fates.neutral += 1,
        None => fates.not_asked += 1,
    }
}

/// Titles of abstracts that no model was trained on, as they are and turned round by rules, against their abstracts: the
/// only figures here of which nothing was seen in training.
pub(crate) async fn unseen(inference: &dyn Inference, scifact: &SciFact) -> Result<()> {
    let config = ResearchConfig::default();
    let mut table = Table::default();
    let mut titles = 0;
    for doc in &scifact.unseen {
        let Some(document) = scifact.abstracts.get(doc) else { continue };
        let title = document.title.trim();
        let Some(turned) =
            counter_claim(title, Some("en")).filter(|_| check_worthiness(title, Some("en")) >= WORTHY)
        else {
            continue;
        };
        titles += 1;
        for (hypothesis, gold) in [(title, Label::Support), (turned.as_str(), Label::Refute)] {
            let verdict = held(inference, &config, hypothesis, &[document.text()]).await?.remove(0);
            table.add(Some(gold), verdict.and_then(|verdict| Label::of(verdict.judgement.relation)));
        }
    }
    table.print(&format!("{titles} titles and their opposites (not seen)"));
    Ok(())
}

async fn held(
    inference: &dyn Inference,
    config: &ResearchConfig,
    claim: &str,
    texts: &[String],
) -> Result<Vec<Option<Verdict>>> {
    let passages: Vec<(&str, Option<&str>)> = texts.iter().map(|text| (text.as_str(), Some("en"))).collect();
    Ok(hold_against(inference, config, claim, &passages).await?)
}

/// Claims checked as a user would check them.
pub(crate) async fn end_to_end(app: &App, scifact: &SciFact, args: &Args) -> Result<()> {
    let cancel = CancellationToken::new();
    let workers = app.start_workers(None, &cancel);
    let start = Instant::now();
    let mut table = Table::default();
    let (mut sided, mut agreeing, mut undecided) = (0, 0, 0);
    let sample = scifact.sample(args.claims);
    for claim in &sample {
        let report = check(app, &claim.claim).await?;
        let mut judged: BTreeMap<&str, (Option<Label>, &str)> = BTreeMap::new();
        for evidence in &report.evidence {
            if let Some(doc) = &evidence.doc_id {
                judged.insert(doc, (Label::of(evidence.relation), &evidence.text));
            }
        }
        for (doc, (predicted, premise)) in &judged {
            table.add(claim.label(doc), *predicted);
            let sentences =
                scifact.abstracts.get(*doc).map(|one| one.sentences.as_slice()).unwrap_or_default();
            let chosen = predicted.map(|_| sentences_of(premise, sentences)).unwrap_or_default();
            add_rationale(&mut table.rationale, &chosen, &claim.rationales(doc));
        }
        for doc in claim.evidence.keys() {
            let Some(gold) = claim.label(doc) else { continue };
            if !judged.contains_key(doc.as_str()) {
                table.add(Some(gold), None);
                add_rationale(&mut table.rationale, &BTreeSet::new(), &claim.rationales(doc));
            }
            let fates = table.fates.entry(gold).or_default();
            match judged.get(doc.as_str()) {
                None => fates.not_judged += 1,
                Some((None, _)) => fates.neutral += 1,
                Some((Some(side), _)) if *side == gold => fates.right += 1,
                Some(_) => fates.wrong_side += 1,
            }
        }
        if let Some(gold) = claim.evidence.keys().find_map(|doc| claim.label(doc)) {
            sided += 1;
            let confidence = report.posterior.confidence();
            let even = (confidence - 0.5).abs() < 1e-9;
            undecided += usize::from(even);
            let agrees = !even && (confidence > 0.5) == (gold == Label::Support);
            agreeing += usize::from(agrees);
            if args.failures && !agrees {
                describe(claim, gold, &report);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    cancel.cancel();
    workers.wait().await;
    table.print(&format!("end to end, {} claims (labels seen in training)", sample.len()));
    println!(
        "  confidence agrees with the label for {agreeing} of {sided} claims, {undecided} undecided; {:.2} s per claim",
        seconds / sample.len().max(1) as f64
    );
    Ok(())
}

async fn check(app: &App, claim: &str) -> Result<ClaimReport> {
    let config = TaskConfig { corpora: vec![CORPUS.to_owned()], ..TaskConfig::default() };
    let task =
        app.create_task(NewTask { query: claim.to_owned(), config, claims: vec![claim.to_owned()] }).await?;
    while !idle(&app.task_status(&task.id, Duration::from_secs(30)).await?) {}
    app.claim_reports(&task.id).await?.into_iter().next().context("the claim was not stored")
}

fn describe(claim: &Claim, label: Label, report: &ClaimReport) {
    println!("\n{} {} {} → {:.3}", label.name(), claim.id, claim.claim, report.posterior.confidence());
    for evidence in &report.evidence {
        let cited = evidence.doc_id.as_ref().is_some_and(|id| claim.evidence.contains_key(id));
        println!(
            "   {}{} {:.2} {}",
            if cited { "*" } else { " " },
            evidence.relation,
            evidence.nli_confidence.get(),
            evidence.text.chars().take(160).collect::<String>(),
        );
    }
}
