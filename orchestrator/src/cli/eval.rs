//! `lyra eval`.

mod table;

use super::progress::TaskProgressLine;
use super::{print, print_json, tell};
use clap::Args;
use lyra_domain::figures::{Label, LabeledAnswer};
use lyra_usecases::App;
use lyra_usecases::eval::{LabelledItem, LabelledSet, Measured, SEED, Stage};
use lyra_wire::json::thousandths;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What `lyra eval --help` says at its end.
pub(super) const HELP: &str = "\
A labeled file has one JSON object per line: a claim, a passage, and the relation between them.

  {\"claim\": \"Naps improve recall.\", \"label\": \"SUPPORT\", \"title\": \"Naps in adults\",
   \"sentences\": [\"We tested 40 adults.\", \"Recall was better after a nap.\"], \"rationale\": [1]}

(each object on a single line in the file)

  label       SUPPORT, REFUTE or NEI; also entailment, contradiction and neutral
  sentences   the passage, cut into sentences; or `passage` (`premise`) as one text
  rationale   optional: 0-based numbers of the deciding sentences; or sets of them, each sufficient
  kind        optional: figures are listed by kind
  id, doc     optional: names of the line and of the document that the passage is from
  group       optional: a group is right only if all its lines are [default: lines of one claim]

A claims file in SciFact's layout, or its folder, works as well; corpus.jsonl must be beside the claims.

  lyra eval examples/eval/claims.jsonl
  lyra eval claims.jsonl --json > figures.json       everything, with the judgment of every line
  lyra corpus import scifact scifact/corpus.jsonl    then evaluate 100 claims with retrieval:
  lyra eval scifact/claims_dev.jsonl --corpus scifact --limit 100

docs/quality.md explains the figures.";

/// Between two lines of progress where stderr is not a terminal.
const SAY_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// Labeled files (JSON Lines, optionally gzip-compressed), or folders in SciFact's layout
    #[arg(required = true, value_name = "SET")]
    sets: Vec<PathBuf>,
    /// Imported corpus to search for each claim (only for claims in SciFact's layout)
    #[arg(long, value_name = "NAME")]
    corpus: Option<String>,
    /// Maximum number of claims of each set, spread evenly over it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

pub(super) async fn run(app: &App, args: &EvalArgs, cancel: &CancellationToken) -> anyhow::Result<ExitCode> {
    let (paths, limit) = (args.sets.clone(), args.limit);
    // All of them are read before any is judged: a wrong line in the last one must not cost an hour.
    let sets = tokio::task::spawn_blocking(move || {
        let mut sets = Vec::new();
        for path in &paths {
            sets.extend(LabelledSet::read(path)?);
        }
        for set in &mut sets {
            if let Some(limit) = limit {
                set.limit(limit as usize);
            }
        }
        Ok::<_, lyra_usecases::AppError>(sets)
    })
    .await??;
    let mut measured_sets = Vec::new();
    for set in sets {
        let (path, items) = (set.path.display().to_string(), set.items.clone());
        let line = TaskProgressLine::new(args.quiet);
        let said = Mutex::new(None::<Instant>);
        let progress = |stage| say(&line, &said, stage);
        let measured = match Box::pin(app.measure(set, args.corpus.as_deref(), &progress, cancel)).await {
            Ok(measured) => measured,
            Err(_) if cancel.is_cancelled() => break,
            Err(error) => return Err(error.into()),
        };
        drop(line);
        if args.json {
            measured_sets.push(json_of(&path, &items, &measured)?);
        } else {
            print(&table::of(&path, items.len(), &measured))?;
        }
        if cancel.is_cancelled() {
            break;
        }
    }
    if args.json {
        print_json(&json!({ "seed": SEED, "sets": measured_sets }))?;
    }
    if cancel.is_cancelled() {
        tell("interrupted; the figures cover what was judged until then");
        return Ok(ExitCode::from(130));
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the progress of a measurement: the last step of each stage, and one every few seconds in between.
fn say(line: &TaskProgressLine, said: &Mutex<Option<Instant>>, stage: Stage) {
    let (text, is_last) = match stage {
        Stage::Models => ("loading the models".to_owned(), true),
        Stage::Judged(done, of) => (format!("judged {done} of {of} passages"), done == of),
        Stage::Searched(done, of) => (format!("searched for {done} of {of} claims"), done == of),
    };
    let mut said = said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_last || said.is_none_or(|at| at.elapsed() >= SAY_EVERY) {
        *said = Some(Instant::now());
        line.say(&text);
    }
}

fn json_of(path: &str, items: &[LabelledItem], measured: &Measured) -> anyhow::Result<Value> {
    let answers: Vec<Value> =
        items.iter().zip(&measured.answers).map(|(item, answer)| answer_json(item, answer)).collect();
    let mut value = json!({
        "set": path,
        "classifier": measured.classifier,
        "is_partial": measured.is_partial,
        "figures": serde_json::to_value(&measured.figures)?,
        "labels": Label::ALL.map(Label::name),
        "strangers_sided": measured.strangers,
        "seconds": measured.seconds,
        "end_to_end": measured.end_to_end,
    });
    round(&mut value);
    value["answers"] = answers.into();
    Ok(value)
}

fn answer_json(item: &LabelledItem, answer: &LabeledAnswer) -> Value {
    json!({
        "id": item.id,
        "claim": item.claim,
        "label": item.label,
        "said": answer.scores.is_some().then_some(answer.said),
        "scores": answer.scores.map(|s| json!({
            "supports": thousandths(s.supports),
            "refutes": thousandths(s.refutes),
            "neutral": thousandths(s.neutral),
        })),
        "confidence": thousandths(answer.confidence),
        "rationale": answer.chosen,
    })
}

/// Brings every fraction to three decimals.
fn round(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(fraction) = number.as_f64().filter(|_| number.is_f64()) {
                *value = thousandths(fraction).into();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}
