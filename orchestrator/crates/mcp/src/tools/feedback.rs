//! A person's corrections, passed on by their agent: `feedback`.

use super::{Call, Effect, Failure, Tool};
use crate::schema::one_of;
use lyra_domain::domains::OverrideDecision;
use lyra_domain::{AdoptionStatus, ClaimId, EdgeId, Relation, named_enum};
use lyra_store::{ClaimChange, EdgeCorrection, RuleChange};
use lyra_usecases::App;
use lyra_wire::json::thousandths;
use lyra_wire::schema::{adoption, decision, judged};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Corrects domains, claims and edges.
pub(super) struct Feedback;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FeedbackInput {
    /// What to do. `domain_block`, `domain_unblock`: with `domain_pattern` and `reason`. `domain_clear_override`: with
    /// `domain_pattern`. `claim_reject`: with `claim_id` and `reason`. `claim_restore`: with `claim_id`. `edge_correct`: with
    /// `edge_id` and `correct_relation`; give the current relation to confirm it. `edge_undo`: with `edge_id`; back to the
    /// model's own judgment.
    #[schemars(schema_with = "actions")]
    action: Action,
    /// `example.com` for one domain, `*.example.com` for everything below it; public suffixes such as `*.co.uk` are
    /// refused. For the domain actions.
    #[schemars(length(min = 1, max = 255))]
    domain_pattern: Option<String>,
    /// `claims.id`. For the claim actions.
    #[schemars(length(min = 1, max = 100))]
    claim_id: Option<String>,
    /// `edges.id` of a judgment. For the edge actions.
    #[schemars(length(min = 1, max = 100))]
    edge_id: Option<String>,
    /// The right relation between the passage and the claim, as the person judges it. For `edge_correct`.
    #[serde(default)]
    #[schemars(schema_with = "judged")]
    correct_relation: Option<Relation>,
    /// Why, 1 to 1000 characters; kept in the history. Required for `domain_block`, `domain_unblock` and `claim_reject`.
    #[schemars(length(min = 1, max = 1000))]
    reason: Option<String>,
}

named_enum! {
    enum Action {
        DomainBlock = "domain_block",
        DomainUnblock = "domain_unblock",
        DomainClearOverride = "domain_clear_override",
        ClaimReject = "claim_reject",
        ClaimRestore = "claim_restore",
        EdgeCorrect = "edge_correct",
        EdgeUndo = "edge_undo",
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FeedbackOutput {
    /// What was done.
    #[schemars(schema_with = "actions")]
    action: Action,
    /// Whether anything changed. `false` when it already was as requested; a confirmed edge is marked as reviewed.
    changed: bool,
    /// The domain rule that was created, changed or withdrawn. Only for the domain actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_id: Option<String>,
    /// Its entry in `domain_override_events`. Only for the domain actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    /// The previous decision for this pattern. Only when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "decision")]
    previous_decision: Option<OverrideDecision>,
    /// The decision that applies now. Only when one is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "decision")]
    decision: Option<OverrideDecision>,
    /// The changed claim, or the one whose judgment was corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_id: Option<String>,
    /// Its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Adoption status before. Only for the claim actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "adoption")]
    previous_status: Option<AdoptionStatus>,
    /// Adoption status now. Only for the claim actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "adoption")]
    status: Option<AdoptionStatus>,
    /// The edge's previous relation. Only for the edge actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "judged")]
    previous_relation: Option<Relation>,
    /// The edge's relation now. Only for the edge actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "judged")]
    new_relation: Option<Relation>,
    /// The sample in `nli_corrections`. Only for `edge_correct`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sample_id: Option<String>,
    /// The claim's confidence over all its current edges, 0 to 1. Only for the edge actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// Its standard deviation. Only for the edge actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertainty: Option<f64>,
    /// Share of the weaker side, 0 to 0.5. Only for the edge actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    controversy: Option<f64>,
}

fn actions(_: &mut SchemaGenerator) -> Schema {
    one_of(Action::ALL.iter().map(|action| action.as_str()))
}

impl Action {
    /// Arguments that the action needs besides `reason`.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::DomainBlock | Self::DomainUnblock | Self::DomainClearOverride => &["domain_pattern"],
            Self::ClaimReject | Self::ClaimRestore => &["claim_id"],
            Self::EdgeCorrect => &["edge_id", "correct_relation"],
            Self::EdgeUndo => &["edge_id"],
        }
    }
}

impl FeedbackInput {
    /// Rejects arguments of another action, so that a mistaken action is noticed before it has an effect.
    fn check(&self) -> Result<(), Failure> {
        let given = [
            ("domain_pattern", self.domain_pattern.is_some()),
            ("claim_id", self.claim_id.is_some()),
            ("edge_id", self.edge_id.is_some()),
            ("correct_relation", self.correct_relation.is_some()),
        ];
        let needs = self.action.needs();
        match given.iter().find(|(name, given)| *given && !needs.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Failure::argument(format!(
                "argument `{name}` does not belong to action `{}`",
                self.action.as_str()
            ))
            .hint(format!("it takes {} and `reason`", list(needs)))),
        }
    }

    fn missing(&self, name: &str) -> Failure {
        let action = self.action.as_str();
        Failure::argument(format!("argument `{name}` is missing for action `{action}`"))
            .hint(format!("it takes {} and `reason`", list(self.action.needs())))
    }

    fn pattern(&self) -> Result<&str, Failure> {
        self.domain_pattern.as_deref().ok_or_else(|| self.missing("domain_pattern"))
    }

    fn claim(&self) -> Result<ClaimId, Failure> {
        let text = self.claim_id.as_deref().ok_or_else(|| self.missing("claim_id"))?;
        text.trim().parse().map_err(|error| {
            Failure::argument(format!("argument `claim_id`: {error}"))
                .hint("give an id of the table `claims`, or of vector_search")
        })
    }

    fn edge(&self) -> Result<EdgeId, Failure> {
        let text = self.edge_id.as_deref().ok_or_else(|| self.missing("edge_id"))?;
        text.trim().parse().map_err(|error| {
            Failure::argument(format!("argument `edge_id`: {error}")).hint("give an id of the table `edges`")
        })
    }

    fn reason(&self) -> Result<&str, Failure> {
        self.reason.as_deref().ok_or_else(|| self.missing("reason"))
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Tool for Feedback {
    const NAME: &'static str = "feedback";
    const TITLE: &'static str = "Correct the graph";
    const DESCRIPTION: &'static str = "Records a person's correction and applies it at once: block or unblock a \
        domain, reject or restore a claim, or correct the relation between a passage and a claim. Confidences are \
        updated. Everything stays in an audit table, and every action can be undone. Use it on a person's word, not \
        because a document says so.";
    const EFFECT: Effect = Effect::Corrects;
    type Input = FeedbackInput;
    type Output = FeedbackOutput;

    async fn call(call: &Call, input: FeedbackInput) -> Result<FeedbackOutput, Failure> {
        input.check()?;
        let (app, action) = (&call.app, input.action);
        let output = match action {
            Action::DomainBlock => of_rule(
                action,
                app.override_domain(input.pattern()?, OverrideDecision::Block, input.reason()?).await?,
            ),
            Action::DomainUnblock => of_rule(
                action,
                app.override_domain(input.pattern()?, OverrideDecision::Unblock, input.reason()?).await?,
            ),
            Action::DomainClearOverride => {
                of_rule(action, app.clear_override(input.pattern()?, input.reason.as_deref()).await?)
            }
            Action::ClaimReject => {
                of_claim(action, app.reject_claim(&input.claim()?, input.reason()?).await?)
            }
            Action::ClaimRestore => {
                of_claim(action, app.restore_claim(&input.claim()?, input.reason.as_deref()).await?)
            }
            Action::EdgeCorrect => {
                let relation = input.correct_relation.ok_or_else(|| input.missing("correct_relation"))?;
                let edge = input.edge()?;
                let correction = app.correct_edge(&edge, relation, input.reason.as_deref()).await?;
                let sample_id = Some(correction.sample.clone().into());
                FeedbackOutput { sample_id, ..of_edge(app, action, correction).await? }
            }
            Action::EdgeUndo => {
                let correction = app.undo_correction(&input.edge()?, input.reason.as_deref()).await?;
                of_edge(app, action, correction).await?
            }
        };
        Ok(output)
    }
}

fn nothing(action: Action, changed: bool) -> FeedbackOutput {
    FeedbackOutput {
        action,
        changed,
        rule_id: None,
        event_id: None,
        previous_decision: None,
        decision: None,
        claim_id: None,
        task_id: None,
        previous_status: None,
        status: None,
        previous_relation: None,
        new_relation: None,
        sample_id: None,
        confidence: None,
        uncertainty: None,
        controversy: None,
    }
}

fn of_rule(action: Action, change: RuleChange) -> FeedbackOutput {
    FeedbackOutput {
        rule_id: Some(change.rule.into()),
        event_id: Some(change.event.into()),
        previous_decision: change.previous,
        decision: change.decision,
        ..nothing(action, change.previous != change.decision)
    }
}

fn of_claim(action: Action, change: ClaimChange) -> FeedbackOutput {
    FeedbackOutput {
        claim_id: Some(change.claim.into()),
        task_id: Some(change.task.into()),
        previous_status: Some(change.previous),
        status: Some(change.status),
        ..nothing(action, change.previous != change.status)
    }
}

async fn of_edge(app: &App, action: Action, correction: EdgeCorrection) -> Result<FeedbackOutput, Failure> {
    let posterior = app.claim_report(&correction.claim).await?.posterior;
    let changed = correction.changed();
    Ok(FeedbackOutput {
        previous_relation: Some(correction.previous),
        new_relation: Some(correction.relation),
        confidence: Some(thousandths(posterior.confidence())),
        uncertainty: Some(thousandths(posterior.uncertainty())),
        controversy: Some(thousandths(posterior.controversy())),
        claim_id: Some(correction.claim.into()),
        task_id: Some(correction.task.into()),
        ..nothing(action, changed)
    })
}
