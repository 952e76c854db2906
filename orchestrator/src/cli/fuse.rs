//! `lyra fuse …` and `lyra lanes`: searching by lanes, fusing, looking behind, reading.

mod shown;

use super::{print, print_json};
use anyhow::Context;
use clap::{Args, Subcommand};
use lyra_corpus::backend::{FeatureScope, IdType, RawFilter};
use lyra_fusion::{FacetTerms, Method, PiMode, Recipe, RecipeDelta};
use lyra_usecases::fusion::{
    BlendRequest, CitationSearch, DocumentsRequest, Label, LaneSearch, PeekRequest, ProvenanceRequest,
    Representative, RunRef, Show, written_facet, written_filter, written_weight,
};
use lyra_usecases::{App, AppError};
use std::collections::BTreeMap;
use std::process::ExitCode;

pub(super) const HELP: &str = "\
A search by lanes, from the widest lane to the fused list:
  lyra fuse search \"(led OR \\\"light emitting diode\\\") AND (heat OR thermal)\"
  lyra fuse provenance RUN                                  its codes, and a profile built from them
  lyra fuse search \"led AND \\\"heat sink\\\"\" --lane precision --filter ipc=H01L33
  lyra fuse search \"cooling of a light emitting diode\" --lane semantic
  lyra fuse citing RUN                                      what cites its first documents; cited RUN: what they cite
  lyra fuse blend RUN RUN RUN --profile ipc:H01L33=1 --weight precision=1.4
  lyra fuse peek FUSED";

#[derive(Debug, Subcommand)]
pub(super) enum FuseCommand {
    /// Search a lane and store its ranked list as a run
    Search(SearchArgs),
    /// Find corpus documents that cite the documents of a run, as a lane; those that cite most of them rank first
    Citing(CitationArgs),
    /// Find corpus documents that the documents of a run cite, as a lane; those that most of them cite rank first
    Cited(CitationArgs),
    /// Fuse runs of lanes, each given as RUN, or as NAME=RUN to rename its lane
    Blend(BlendArgs),
    /// Fuse the lanes of a fused run again with some parameters changed
    Mutate(MutateArgs),
    /// Show where a run comes from and what it contains
    Provenance(ProvenanceArgs),
    /// Show the first documents of a run
    Peek(PeekArgs),
    /// Show documents with all their fields
    Show(ShowArgs),
    /// Store a person's judgments of a fused run's documents
    Judge(JudgeArgs),
    /// Compare the first documents of two runs of one corpus
    Compare(CompareArgs),
    /// Save the search of a lane's run under a name, to run it again
    Save {
        /// Name
        name: String,
        /// Run of a lane; its documents count as known
        run: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the saved searches
    Saved {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run saved searches again and show what is new
    Again {
        /// Saved searches [default: all]
        names: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a saved search
    Forget {
        /// Name
        name: String,
    },
    /// List the newest runs
    Runs {
        /// Maximum number of runs
        #[arg(long, short, default_value_t = 20, value_name = "N")]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct LanesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Query for a full-text lane, or text for a semantic lane
    query: String,
    /// Lane; `lyra lanes` lists them
    #[arg(long, default_value = "wide")]
    lane: String,
    /// Name of this lane in blends [default: the lane's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Corpus [default: the only one]
    #[arg(long)]
    corpus: Option<String>,
    /// Filter: FIELD=VALUE,VALUE, FIELD!=VALUE, or FIELD=FROM..TO for dates; fields are ipc, cpc, fi, ft, uspc,
    /// locarno, country, lang, pubyear, `pub_date`, `app_date`, assignee, inventor, tag, collection
    #[arg(long = "filter", short = 'f', value_name = "FILTER")]
    filters: Vec<String>,
    /// Maximum number of documents
    #[arg(long, default_value_t = 800, value_name = "N")]
    top_k: usize,
    /// Part of each document to compare in a semantic lane [default: the lane's own]
    #[arg(long)]
    scope: Option<FeatureScope>,
    /// Use-case word that a wide query should not require
    #[arg(long = "use-case", value_name = "WORD")]
    use_case: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CitationArgs {
    /// Run, or ids and numbers of documents
    #[arg(required = true, value_name = "RUN|DOCUMENT")]
    of: Vec<String>,
    /// Use only the first N documents of the run
    #[arg(long, default_value_t = 50, value_name = "N")]
    first: usize,
    /// Name of this lane in blends [default: citing or cited]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Corpus [default: that of the run, else the only one]
    #[arg(long)]
    corpus: Option<String>,
    /// Filter, as in `lyra fuse search`
    #[arg(long = "filter", short = 'f', value_name = "FILTER")]
    filters: Vec<String>,
    /// Maximum number of documents
    #[arg(long, default_value_t = 800, value_name = "N")]
    top_k: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl CitationArgs {
    fn search(&self, citing: bool) -> anyhow::Result<CitationSearch> {
        Ok(CitationSearch {
            citing,
            of: self.of.clone(),
            first: self.first,
            corpus: self.corpus.clone(),
            lane_name: self.name.clone(),
            filters: read_filters(&self.filters)?,
            top_k: self.top_k,
        })
    }
}

fn read_filters(written: &[String]) -> anyhow::Result<Vec<RawFilter>> {
    written.iter().map(|text| told(written_filter(text), "--filter")).collect()
}

/// Parameters of a fusion.
#[derive(Debug, Args)]
struct RecipeArgs {
    /// Weight of a lane, or of `code`
    #[arg(long = "weight", short = 'w', value_name = "LANE=WEIGHT")]
    weights: Vec<String>,
    /// Code that describes what is searched: ipc:H01L33/20=0.8
    #[arg(long = "profile", short = 'p', value_name = "SYSTEM:CODE=WEIGHT")]
    profile: Vec<String>,
    /// Element of the invention with its synonyms: A=led,"light emitting diode"
    #[arg(long = "facet", value_name = "A|B|C…=TERM,TERM")]
    facets: Vec<String>,
    /// Code of a use case: ipc:B60R
    #[arg(long = "context", value_name = "SYSTEM:CODE")]
    context: Vec<String>,
    /// Values to add up: `minmax` (scores, scaled from 0 to 1 in each lane) or `rrf` (ranks) [default: minmax]
    #[arg(long)]
    method: Option<Method>,
    /// k for `rrf`; selects `rrf` if `--method` is not given [default: 10]
    #[arg(long, value_name = "K")]
    rrf_k: Option<f64>,
    /// Also compute the design's proxies P*, R*, and Fβ*
    #[arg(long)]
    design: bool,
    /// β of Fβ: above 1 favors recall [default: 1.5]
    #[arg(long, value_name = "BETA")]
    beta: Option<f64>,
    /// Documents to take from each lane [default: all]
    #[arg(long, value_name = "N")]
    top_m: Option<usize>,
    /// List one document for each family of patents
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    one_per_family: Option<bool>,
}

#[derive(Debug, Args)]
pub(super) struct BlendArgs {
    /// Runs of lanes
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    recipe: RecipeArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct MutateArgs {
    /// Fused run
    run: String,
    #[command(flatten)]
    recipe: RecipeArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ProvenanceArgs {
    /// Run of a lane or a fusion
    run: String,
    /// Documents to list
    #[arg(long, default_value_t = 20, value_name = "N")]
    documents: usize,
    /// Codes to list per system
    #[arg(long, default_value_t = 10, value_name = "N")]
    codes: usize,
    /// Propose documents to judge: first a sample of 20, then those whose judgment is most informative
    #[arg(long)]
    sample: bool,
    /// Stop proposing documents once the 90 % interval of recall is at most this wide, such as 0.2
    #[arg(long, value_name = "WIDTH", requires = "sample")]
    until: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PeekArgs {
    /// Run of a lane or a fusion
    run: String,
    /// Documents to skip
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: usize,
    /// Maximum number of documents
    #[arg(long, short, default_value_t = 12, value_name = "N")]
    limit: usize,
    /// Fields to show [default: title, abst, claim]
    #[arg(long, value_delimiter = ',', value_name = "FIELD")]
    fields: Vec<String>,
    /// Maximum number of bytes
    #[arg(long, default_value_t = 12_288, value_name = "BYTES")]
    budget: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Numbers of documents
    #[arg(required = true)]
    ids: Vec<String>,
    /// Kind of number: `doc_id`, `app_id`, `pub_id` or `exam_id`
    #[arg(long, default_value_t = IdType::DocId, value_name = "TYPE")]
    id_type: IdType,
    /// Corpus [default: the only one]
    #[arg(long)]
    corpus: Option<String>,
    /// Fields to show [default: all]
    #[arg(long, value_delimiter = ',', value_name = "FIELD")]
    fields: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    /// Fused run
    run: String,
    /// Label and document: A (matches the core), B (on topic) or C (off topic)
    #[arg(required = true, value_name = "LABEL=DOC_ID")]
    judged: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Run of a lane or a fusion
    run: String,
    /// Run to compare it with
    other: String,
    /// Number of documents to compare from the top of each run
    #[arg(long, default_value_t = 50, value_name = "N")]
    depth: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints a result as JSON or as text.
fn show<T: serde::Serialize>(json: bool, answer: &T, shown: impl Fn(&T) -> String) -> anyhow::Result<()> {
    if json { print_json(answer) } else { print(&shown(answer)) }
}

pub(super) fn lanes(app: &App, args: &LanesArgs) -> anyhow::Result<ExitCode> {
    let lanes = app.fusion().lanes();
    show(args.json, &lanes, |lanes| shown::lanes(lanes))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn run(app: &App, command: &FuseCommand) -> anyhow::Result<ExitCode> {
    let fusion = app.fusion();
    match command {
        FuseCommand::Search(args) => {
            let search = args.search(app)?;
            let fusion = app.fusion_over(search.corpus.as_deref()).await?;
            let with_codes = Show { code_freqs: true, code_freq_top_k: 5, ..Show::default() };
            let handle = fusion.search_lane(search, with_codes).await?;
            show(args.json, &handle, shown::handle)?;
        }
        FuseCommand::Citing(args) | FuseCommand::Cited(args) => {
            let search = args.search(matches!(command, FuseCommand::Citing(_)))?;
            let fusion = app.fusion_over(search.corpus.as_deref()).await?;
            let with_codes = Show { code_freqs: true, code_freq_top_k: 5, ..Show::default() };
            let handle = fusion.citations(search, with_codes).await?;
            show(args.json, &handle, shown::handle)?;
        }
        FuseCommand::Blend(args) => {
            let runs = args
                .runs
                .iter()
                .map(|run| match run.split_once('=') {
                    Some((lane, id)) => RunRef { run_id: id.to_owned(), lane: Some(lane.to_owned()) },
                    None => RunRef { run_id: run.clone(), lane: None },
                })
                .collect();
            let recipe = Recipe::default().with(args.recipe.delta()?);
            let fused = fusion.blend(BlendRequest { runs, recipe, peek: None }).await?;
            show(args.json, &fused, shown::fused)?;
        }
        FuseCommand::Mutate(args) => {
            let fused = fusion.mutate(&args.run, args.recipe.delta()?).await?;
            show(args.json, &fused, shown::fused)?;
        }
        FuseCommand::Provenance(args) => {
            let request = ProvenanceRequest {
                run_id: args.run.clone(),
                top_k_lane: args.documents,
                top_k_code: args.codes,
                sample: args.sample,
                recall_width: args.until,
                ..ProvenanceRequest::default()
            };
            let view = fusion.provenance(&request).await?;
            show(args.json, &view, shown::provenance)?;
        }
        FuseCommand::Peek(args) => {
            let request = PeekRequest {
                run_id: args.run.clone(),
                offset: args.offset,
                limit: args.limit,
                fields: args.fields.clone(),
                per_field_chars: BTreeMap::new(),
                budget_bytes: args.budget,
            };
            let view = fusion.peek(request).await?;
            show(args.json, &view, shown::peek)?;
        }
        FuseCommand::Show(args) => {
            let request = DocumentsRequest {
                ids: args.ids.clone(),
                id_type: args.id_type,
                corpus: args.corpus.clone(),
                fields: args.fields.clone(),
                ..DocumentsRequest::default()
            };
            let found = fusion.publication(request).await?;
            show(args.json, &found, shown::documents)?;
            if !found.missing_ids.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
        }
        FuseCommand::Judge(args) => {
            let judged = args.judged.iter().map(|text| judged(text)).collect::<anyhow::Result<_>>()?;
            let view = fusion.register_representatives(&args.run, judged).await?;
            show(args.json, &view, shown::provenance)?;
        }
        FuseCommand::Compare(args) => {
            let compared = fusion.compare(&args.run, &args.other, args.depth).await?;
            show(args.json, &compared, shown::compared)?;
        }
        FuseCommand::Save { name, run, json } => {
            let saved = fusion.save_search(name, run).await?;
            show(*json, &[saved], |saved| shown::saved(saved))?;
        }
        FuseCommand::Saved { json } => {
            let saved = fusion.saved_searches().await?;
            show(*json, &saved, |saved| shown::saved(saved))?;
        }
        FuseCommand::Again { names, json } => return again(app, names, *json).await,
        FuseCommand::Forget { name } => {
            let forgotten = fusion.forget_search(name).await?;
            print(&format!("deleted the saved search {}\n", forgotten.name))?;
        }
        FuseCommand::Runs { limit, json } => {
            let runs = fusion.runs(*limit).await?;
            show(*json, &runs, |runs| shown::runs(runs))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs saved searches again, each for itself: one that fails does not keep the others from running.
async fn again(app: &App, names: &[String], json: bool) -> anyhow::Result<ExitCode> {
    let fusion = app.fusion();
    let all = fusion.saved_searches().await?.into_iter().map(|saved| saved.name);
    let names: Vec<String> = if names.is_empty() { all.collect() } else { names.to_vec() };
    let (mut runs, mut failed) = (Vec::new(), false);
    for name in &names {
        match fusion.run_saved(name).await {
            Ok(run) => runs.push(run),
            Err(error) => {
                failed = true;
                super::fail(&anyhow::Error::from(error).context(format!("saved search `{name}`")));
            }
        }
    }
    show(json, &runs, |runs| shown::news(runs))?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl SearchArgs {
    fn search(&self, app: &App) -> anyhow::Result<LaneSearch> {
        Ok(LaneSearch {
            corpus: self.corpus.clone(),
            lane: Some(self.lane.clone()),
            lane_name: self.name.clone(),
            semantic: app.fusion().is_semantic(&self.lane),
            text: self.query.clone(),
            boosts: None,
            scope: self.scope,
            filters: read_filters(&self.filters)?,
            top_k: self.top_k,
            use_case_terms: self.use_case.clone(),
        })
    }
}

impl RecipeArgs {
    fn delta(&self) -> anyhow::Result<RecipeDelta> {
        let weights = numbers(&self.weights, "--weight")?;
        let profile = numbers(&self.profile, "--profile")?;
        let facets: anyhow::Result<Vec<FacetTerms>> =
            self.facets.iter().map(|text| told(written_facet(text), "--facet")).collect();
        let facets = facets?;
        Ok(RecipeDelta {
            weights: (!weights.is_empty()).then_some(weights),
            target_profile: (!profile.is_empty()).then_some(profile),
            facet_terms: (!facets.is_empty()).then_some(facets),
            context_codes: (!self.context.is_empty()).then(|| self.context.clone()),
            method: self.method.or(self.rrf_k.map(|_| Method::Rrf)),
            rrf_k: self.rrf_k,
            pi_mode: self.design.then_some(PiMode::Design),
            beta_fuse: self.beta,
            top_m_per_lane: self.top_m,
            one_per_family: self.one_per_family,
            ..RecipeDelta::default()
        })
    }
}

fn numbers(list: &[String], option: &str) -> anyhow::Result<BTreeMap<String, f64>> {
    list.iter().map(|text| told(written_weight(text), option)).collect()
}

/// The same with its option in the error.
fn told<T>(read: Result<T, AppError>, option: &str) -> anyhow::Result<T> {
    read.map_err(anyhow::Error::from).with_context(|| option.to_owned())
}

fn judged(text: &str) -> anyhow::Result<Representative> {
    let (label, doc_id) = text.split_once('=').with_context(|| format!("{text}: write it like A=DOC_ID"))?;
    let label: Label = label.trim().parse().with_context(|| format!("{text}: the label is A, B or C"))?;
    Ok(Representative { doc_id: doc_id.trim().to_owned(), label, reason: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_their_option() {
        let error = numbers(&["precision".to_owned()], "--weight").unwrap_err();
        assert!(format!("{error:#}").starts_with("--weight: "), "{error:#}");
        assert!(judged("D=x").is_err());
    }
}
