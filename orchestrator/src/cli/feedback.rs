//! `lyra domain …`, `lyra claim …`, `lyra edge …`: what a person corrects.

use super::{print, print_json, report, tell};
use clap::{Subcommand, ValueEnum};
use lyra_domain::domains::OverrideDecision;
use lyra_domain::{AdoptionStatus, ClaimId, EdgeId, Relation};
use lyra_store::{ClaimChange, RuleChange};
use lyra_usecases::{App, shapes};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum DomainCommand {
    /// List the active decisions
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Never fetch or use pages of a domain
    Block(Decision),
    /// Allow a domain that a list or a finding blocks
    Unblock(Decision),
    /// Withdraw a decision, so that lists and findings apply again
    Clear {
        /// The pattern of the decision
        pattern: String,
        /// Why
        #[arg(long)]
        reason: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Decision {
    /// example.com for one domain, '*.example.com' for everything below it
    pattern: String,
    /// Why; kept in the history
    #[arg(long)]
    reason: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum ClaimCommand {
    /// Print a claim with its evidence
    Show {
        /// Id of the claim
        id: ClaimId,
        /// Print one JSON object, with the ids of edges
        #[arg(long)]
        json: bool,
    },
    /// Reject a claim; its evidence stays
    Reject {
        /// Id of the claim
        id: ClaimId,
        /// Why; kept with the claim
        #[arg(long)]
        reason: String,
    },
    /// Restore a rejected claim
    Restore {
        /// Id of the claim
        id: ClaimId,
        /// Why
        #[arg(long)]
        reason: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum EdgeCommand {
    /// Set the relation between a passage and a claim; the confidence is updated at once
    Correct {
        /// Id of the judgment (`lyra claim show ID --json` lists them)
        id: EdgeId,
        /// The right relation; giving the current one confirms it
        relation: Judged,
        /// Why; kept with the sample
        #[arg(long)]
        reason: Option<String>,
    },
    /// Undo corrections and reviews; the model's own judgment applies again
    Undo {
        /// Id of the judgment
        id: EdgeId,
        /// Why; kept in the claim's timeline
        #[arg(long)]
        reason: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Judged {
    /// It entails the claim
    Supports,
    /// It contradicts the claim
    Refutes,
    /// It does neither
    Neutral,
}

pub(super) async fn domain(app: &App, command: &DomainCommand) -> anyhow::Result<ExitCode> {
    match command {
        DomainCommand::List { json } => list(app, *json).await?,
        DomainCommand::Block(Decision { pattern, reason }) => {
            let change = app.override_domain(pattern, OverrideDecision::Block, reason).await?;
            tell_of(pattern, &change);
        }
        DomainCommand::Unblock(Decision { pattern, reason }) => {
            let change = app.override_domain(pattern, OverrideDecision::Unblock, reason).await?;
            tell_of(pattern, &change);
        }
        DomainCommand::Clear { pattern, reason } => {
            let change = app.clear_override(pattern, reason.as_deref()).await?;
            tell_of(pattern, &change);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(app: &App, json: bool) -> anyhow::Result<()> {
    let rules = app.override_rules().await?;
    if json {
        let rules: Vec<_> = rules.iter().map(shapes::domain_decision).collect();
        return print_json(&rules);
    }
    if rules.is_empty() {
        return print(
            "no decision about a domain yet; to add one: lyra domain block example.com --reason \"…\"\n",
        );
    }
    for rule in rules {
        print(&format!("{:<8} {:<40} {}\n", rule.rule.decision, rule.rule.pattern.to_string(), rule.reason))?;
    }
    Ok(())
}

fn tell_of(pattern: &str, change: &RuleChange) {
    let decision = change.decision.map_or("no longer has a decision", |decision| match decision {
        OverrideDecision::Block => "is blocked",
        OverrideDecision::Unblock => "is unblocked",
    });
    let before = change.previous.map(|previous| format!(" (before: {previous})")).unwrap_or_default();
    tell(&format!("{pattern} {decision}{before}"));
}

fn tell_of_claim(change: &ClaimChange) {
    let is = match change.status {
        AdoptionStatus::Adopted => "counts again in",
        AdoptionStatus::NotAdopted => "is rejected in",
    };
    tell(&format!("{} {is} {}", change.claim, change.task));
}

pub(super) async fn claim(app: &App, command: &ClaimCommand) -> anyhow::Result<ExitCode> {
    match command {
        ClaimCommand::Show { id, json } => {
            let found = app.claim_report(id).await?;
            if *json {
                print_json(&lyra_wire::Claim::from(&found))?;
            } else {
                print(&report::claims(std::slice::from_ref(&found)))?;
                if let Some(rejected) = app.rejection(&found.claim).await? {
                    print(&format!("rejected{}\n", report::because(&rejected)))?;
                }
            }
        }
        ClaimCommand::Reject { id, reason } => {
            let change = app.reject_claim(id, reason).await?;
            tell_of_claim(&change);
        }
        ClaimCommand::Restore { id, reason } => {
            let change = app.restore_claim(id, reason.as_deref()).await?;
            tell_of_claim(&change);
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn edge(app: &App, command: &EdgeCommand) -> anyhow::Result<ExitCode> {
    let (id, correction, otherwise) = match command {
        EdgeCommand::Correct { id, relation, reason } => {
            let relation = match relation {
                Judged::Supports => Relation::Supports,
                Judged::Refutes => Relation::Refutes,
                Judged::Neutral => Relation::Neutral,
            };
            (id, app.correct_edge(id, relation, reason.as_deref()).await?, "reviewed")
        }
        EdgeCommand::Undo { id, reason } => {
            (id, app.undo_correction(id, reason.as_deref()).await?, "no longer reviewed")
        }
    };
    let posterior = app.claim_report(&correction.claim).await?.posterior;
    let what = if correction.changed() {
        format!("{} → {}", correction.previous, correction.relation)
    } else {
        format!("{otherwise}, {} as before", correction.relation)
    };
    tell(&format!(
        "{id}: {what}; confidence of {} is now {:.3} ± {:.3}",
        correction.claim,
        posterior.confidence(),
        posterior.uncertainty()
    ));
    Ok(ExitCode::SUCCESS)
}
