//! Titles of abstracts that no model was trained on, as they are and turned round by rules, against their abstracts.

use crate::scifact::{Label, SciFact};
use anyhow::Result;
use lyra_domain::figures::Counts;
use lyra_research::ports::Inference;
use lyra_research::{ResearchConfig, hold_against};
use lyra_text::claim::{WORTHY, check_worthiness, counter_claim};
use std::collections::BTreeMap;

/// How often a title is supported by its own abstract, and its opposite refuted.
pub(crate) async fn titles(inference: &dyn Inference, scifact: &SciFact) -> Result<()> {
    let config = ResearchConfig::default();
    let mut counts: BTreeMap<Label, Counts> = BTreeMap::new();
    let mut titles = 0;
    for document in scifact.unseen.iter().filter_map(|doc| scifact.abstracts.get(doc)) {
        let title = document.title.trim();
        let Some(turned) =
            counter_claim(title, Some("en")).filter(|_| check_worthiness(title, Some("en")) >= WORTHY)
        else {
            continue;
        };
        titles += 1;
        let text = document.text();
        for (hypothesis, gold) in [(title, Label::Support), (turned.as_str(), Label::Refute)] {
            let verdict =
                hold_against(inference, &config, hypothesis, &[(text.as_str(), Some("en"))]).await?.remove(0);
            let said = verdict.and_then(|verdict| Label::of(verdict.judgement.relation));
            for label in Label::BOTH {
                let one =
                    Counts::one(said == Some(label), gold == label, said == Some(gold) && gold == label);
                let of = counts.entry(label).or_default();
                *of = *of + one;
            }
        }
    }
    println!(
        "\n{titles} titles and their opposites (not seen)   precision  recall   F1      (right of predicted, of gold)"
    );
    for (label, of) in counts {
        println!(
            "  {:<42} {:.3}      {:.3}    {:.3}   ({} of {}, {})",
            label.name(),
            of.precision(),
            of.recall(),
            of.f1(),
            of.right,
            of.predicted,
            of.gold
        );
    }
    Ok(())
}
