//! `lyra graph …`.

use super::{print, print_document, print_json, tell};
use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use lyra_domain::{ClaimId, TaskId};
use lyra_graph::Scope;
use lyra_usecases::{App, GraphAnalysis, GraphFormat};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum GraphCommand {
    /// Export a task's evidence graph, or its works, in the format of another program
    Export {
        /// Task
        #[arg(long, value_name = "ID")]
        task: TaskId,
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::NodeLink)]
        format: Format,
        /// File to write; an existing one is replaced [default: stdout]
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Analyze the citations among a task's pages: hubs, mutual citations, loops, clusters
    Analyze {
        /// Task
        #[arg(long, value_name = "ID")]
        task: TaskId,
        /// Include claims, fragments and every relation in the network, not only pages and citations
        #[arg(long)]
        everything: bool,
        /// Maximum number of entries of each list in the text
        #[arg(long, default_value_t = 10, value_name = "N")]
        top: usize,
        /// Print one JSON object, with every node
        #[arg(long)]
        json: bool,
    },
    /// Show the history of a claim: creation, corrections, verification, retractions of its works
    Timeline {
        /// Claim
        #[arg(long, value_name = "ID")]
        claim: ClaimId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Format {
    /// Node-link JSON, for networkx and D3
    NodeLink,
    /// XML for Gephi, yEd, Cytoscape, igraph
    Graphml,
    /// GEXF 1.3, Gephi's native format
    Gexf,
    /// DOT, for Graphviz
    Dot,
    /// CSV with one line per edge
    Csv,
    /// CSV with one line per node
    CsvNodes,
    /// BibTeX of the works behind the evidence and the works that they cite
    Bibtex,
    /// RIS of the same works, for reference managers such as Zotero
    Ris,
    /// CSL-JSON of the same works, for Zotero and pandoc
    Csl,
    /// Everything as one JSON document: claims with evidence, fragments, graph, citation network
    Materials,
}

impl Format {
    /// The use case's format; `None` for the materials, which are a document of their own.
    fn of_graph(self) -> Option<GraphFormat> {
        Some(match self {
            Self::NodeLink => GraphFormat::NodeLink,
            Self::Graphml => GraphFormat::GraphMl,
            Self::Gexf => GraphFormat::Gexf,
            Self::Dot => GraphFormat::Dot,
            Self::Csv => GraphFormat::Csv,
            Self::CsvNodes => GraphFormat::CsvNodes,
            Self::Bibtex => GraphFormat::Bibtex,
            Self::Ris => GraphFormat::Ris,
            Self::Csl => GraphFormat::CslJson,
            Self::Materials => return None,
        })
    }
}

pub(super) async fn run(app: &App, command: &GraphCommand) -> anyhow::Result<ExitCode> {
    match command {
        GraphCommand::Export { task, format, out } => {
            let text = match format.of_graph() {
                Some(format) => app.export_graph(task, format).await?,
                None => format!("{}\n", serde_json::to_string_pretty(&app.materials(task).await?)?),
            };
            if let Some(path) = out {
                std::fs::write(path, &text)
                    .with_context(|| format!("{} cannot be written", path.display()))?;
                tell(&format!("{}: {} bytes", path.display(), text.len()));
            } else {
                print_document(&text)?;
            }
        }
        GraphCommand::Analyze { task, everything, top, json } => {
            let scope = if *everything { Scope::Everything } else { Scope::Citations };
            let found = app.analyse_graph(task, scope).await?;
            if *json {
                print_json(&found)?;
            } else {
                print(&report(&found, *top))?;
            }
        }
        GraphCommand::Timeline { claim, json } => {
            let events = app.claim_timeline(claim).await?;
            if *json {
                print_json(&events)?;
            } else {
                for event in &events {
                    let detail =
                        if event.detail.is_null() { String::new() } else { event.detail.to_string() };
                    print(&format!("{}  {:<20} {detail}\n", event.at, event.event))?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The analysis as text.
fn report(found: &GraphAnalysis, top: usize) -> String {
    let analysis = &found.analysis;
    let mut out = String::new();
    let counts = |counts: &std::collections::BTreeMap<&str, usize>| {
        counts
            .iter()
            .filter(|(_, n)| **n > 0)
            .map(|(word, n)| format!("{n} {word}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let _ = writeln!(out, "{}", found.task_id);
    let _ = writeln!(
        out,
        "evidence graph: nodes {}; edges {}",
        counts(&found.node_counts),
        counts(&found.edge_counts)
    );
    let _ = writeln!(out, "network: {} nodes, {} edges", analysis.nodes.len(), analysis.edge_count);
    if analysis.edge_count == 0 {
        let _ = writeln!(
            out,
            "no citations; they come from the academic sources (--sources {}) and the web",
            lyra_sources::registry::academic_names()
        );
        return out;
    }
    let estimate = analysis
        .betweenness_sampled_sources
        .map_or_else(String::new, |n| format!(" (estimated from {n} sources)"));
    let _ = writeln!(out, "\ncited by  PageRank  betweenness{estimate}");
    for node in analysis.nodes.iter().take(top) {
        let _ = writeln!(
            out,
            "{:>8}  {:>8.5}  {:>11.5}  {}",
            node.cited_by_count,
            node.pagerank,
            node.betweenness,
            name(found, &node.id)
        );
    }
    let pairs = analysis.mutual_citations.iter().map(|pair| pair.to_vec());
    list(&mut out, found, "mutual citations", " ⇄ ", pairs, analysis.mutual_citations.len(), top);
    let loops = analysis.citation_loops.iter().cloned();
    list(&mut out, found, "citation loops", " → ", loops, analysis.citation_loops.len(), top);
    let more =
        if analysis.citation_loops_truncated { ", and there are more than could be listed" } else { "" };
    let _ = writeln!(out, "searched for loops of 3 to {} pages{more}", analysis.loop_length_limit);
    let clusters = analysis.clusters.iter().map(|cluster| cluster.ids.clone());
    let what = format!("clusters (modularity {:.3})", analysis.modularity);
    list(&mut out, found, &what, "; ", clusters, analysis.clusters.len(), top);
    out
}

fn list(
    out: &mut String,
    found: &GraphAnalysis,
    what: &str,
    between: &str,
    groups: impl Iterator<Item = Vec<String>>,
    count: usize,
    top: usize,
) {
    let _ = writeln!(out, "\n{what}: {count}");
    for group in groups.take(top) {
        let names: Vec<String> = group.iter().take(top).map(|id| name(found, id)).collect();
        let rest = group.len().saturating_sub(top);
        let rest = if rest > 0 { format!("{between}… {rest} more") } else { String::new() };
        let _ = writeln!(out, "  {}{rest}", names.join(between));
    }
}

/// The beginning of a title, or the id.
fn name(found: &GraphAnalysis, id: &str) -> String {
    match found.titles.get(id).filter(|title| !title.trim().is_empty()) {
        Some(title) if title.chars().count() > 60 => {
            format!("{}…", title.chars().take(60).collect::<String>().trim_end())
        }
        Some(title) => title.clone(),
        None => id.to_owned(),
    }
}
