//! The parameters of a blend: the form for them, and what was filled in.

use super::{Fields, HERE, codes};
use crate::words::Words;
use lyra_usecases::AppError;
use lyra_usecases::fusion::{written_facet, written_weight};
use lyra_wire::fusion::{CodeInput, FacetInput, ProposedView, ProvenanceView, RecipeInput, WeightInput};
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of the boost by codes among weights.
const CODE: &str = "code";
/// Methods of fusion, the usual one first, with their labels.
const METHODS: [(&str, &str); 2] = [("minmax", "fusion.by_scores"), ("rrf", "fusion.by_ranks")];
/// What begins the name of a lane's weight.
const WEIGHT: &str = "w.";

/// The fields, as a person filled them in.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Filled {
    /// By lane, and under `code` that of the target profile.
    weights: BTreeMap<String, String>,
    method: String,
    rrf_k: String,
    beta: String,
    top_m: String,
    profile: String,
    context: String,
    facets: String,
    one_per_family: bool,
}

impl Filled {
    pub(super) fn of(fields: &Fields) -> Self {
        let mut filled = Self::default();
        for (name, value) in fields {
            let value = value.clone();
            match name.as_str() {
                "method" => filled.method = value,
                "rrf_k" => filled.rrf_k = value,
                "beta" => filled.beta = value,
                "top_m" => filled.top_m = value,
                "profile" => filled.profile = value,
                "context" => filled.context = value,
                "facets" => filled.facets = value,
                "one_per_family" => filled.one_per_family = true,
                name => {
                    if let Some(lane) = name.strip_prefix(WEIGHT) {
                        filled.weights.insert(lane.to_owned(), value);
                    }
                }
            }
        }
        filled
    }

    /// The parameters of a blend, as its recipe has them.
    pub(super) fn of_run(view: &ProvenanceView) -> Self {
        let recipe = &view.recipe;
        let number = |name: &str| recipe.get(name).filter(|value| value.is_number()).map(Value::to_string);
        let pairs = |name: &str| -> Vec<(String, String)> {
            let map = recipe.get(name).and_then(Value::as_object);
            map.into_iter().flatten().map(|(name, value)| (name.clone(), plain(value))).collect()
        };
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let facets = recipe.get("facet_terms").and_then(Value::as_array).into_iter().flatten();
        let facets = facets.map(|facet| {
            format!("{}={}", facet["facet"].as_str().unwrap_or_default(), texts(&facet["terms"]).join(","))
        });
        let profile = pairs("target_profile").into_iter().map(|(code, weight)| format!("{code}={weight}"));
        Self {
            weights: pairs("weights").into_iter().collect(),
            method: recipe.get("method").and_then(Value::as_str).unwrap_or_default().to_owned(),
            rrf_k: number("rrf_k").unwrap_or_default(),
            beta: number("beta_fuse").unwrap_or_default(),
            top_m: number("top_m_per_lane").unwrap_or_default(),
            profile: profile.collect::<Vec<_>>().join("\n"),
            context: recipe.get("context_codes").map(texts).unwrap_or_default().join("\n"),
            facets: facets.collect::<Vec<_>>().join("\n"),
            one_per_family: recipe.get("one_per_family").and_then(Value::as_bool).unwrap_or_default(),
        }
    }

    /// Whether one of the parameters that are folded away is given.
    fn has_more(&self) -> bool {
        !self.facets.is_empty() || !self.context.is_empty() || self.one_per_family
    }

    /// The parameters that these stand for.
    ///
    /// # Errors
    /// A field with an invalid number, or a line that cannot be read.
    pub(super) fn input(&self) -> Result<RecipeInput, AppError> {
        let mut weights = Vec::new();
        for (lane, weight) in &self.weights {
            if let Some(weight) = read::<f64>(lane, weight)? {
                weights.push(WeightInput { lane: lane.clone(), weight });
            }
        }
        let profile: Result<Vec<CodeInput>, AppError> = lines(&self.profile)
            .map(|line| written_weight(line).map(|(code, weight)| CodeInput { code, weight }))
            .collect();
        let facets: Result<Vec<FacetInput>, AppError> = lines(&self.facets)
            .map(|line| written_facet(line).map(|f| FacetInput { facet: f.facet, terms: f.terms }))
            .collect();
        Ok(RecipeInput {
            weights: Some(weights),
            method: Some(self.method.trim().to_owned()).filter(|method| !method.is_empty()),
            rrf_k: read("rrf_k", &self.rrf_k)?,
            beta_fuse: read("beta", &self.beta)?,
            top_m_per_lane: read("top_m", &self.top_m)?,
            target_profile: Some(profile?),
            facet_terms: Some(facets?),
            context_codes: Some(lines(&self.context).map(str::to_owned).collect()),
            one_per_family: Some(self.one_per_family),
            ..RecipeInput::default()
        })
    }
}

/// A number as people write it: 1 and not 1.0.
fn plain(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string())
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn read<N: std::str::FromStr>(name: &str, text: &str) -> Result<Option<N>, AppError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = |_| AppError::invalid(format!("`{name}` is `{text}`"), "give a number such as 1.4");
    text.parse().map(Some).map_err(wrong)
}

/// The form that blends runs: name of the lane and id of the run.
pub(super) fn blend_form(
    words: Words,
    runs: &[(String, String)],
    filled: &Filled,
    proposed: &[ProposedView],
) -> Markup {
    let lanes: Vec<&str> = runs.iter().map(|(lane, _)| lane.as_str()).collect();
    html! {
        form.card.stack method="get" action={ (HERE) "/blend" } {
            @for (lane, run) in runs { input type="hidden" name="run" value={ (lane) "=" (run) }; }
            (fields(words, &lanes, filled, proposed))
            p { button.button.main name="go" value="1" { (words.t("fusion.blend_these")) } }
        }
    }
}

/// The form that changes a blend into a new one.
pub(super) fn change_form(words: Words, view: &ProvenanceView, filled: &Filled) -> Markup {
    let lanes: Vec<&str> = view.parents.iter().map(|parent| parent.lane.as_str()).collect();
    html! {
        form.card.stack #change-form method="get" action={ (super::address(&view.run_id)) "/change" } {
            (fields(words, &lanes, filled, &view.proposed_profile))
            p { button.button.main name="go" value="1" { (words.t("fusion.change_run")) } }
        }
    }
}

fn fields(words: Words, lanes: &[&str], filled: &Filled, proposed: &[ProposedView]) -> Markup {
    let weight = |name: &str, label: &str, usual: &str| {
        let given = filled.weights.get(name).map_or("", String::as_str);
        html! {
            label.field.amount {
                (label)
                input type="number" name={ (WEIGHT) (name) } min="0" max="1000" step="any" value=(given) placeholder=(usual);
            }
        }
    };
    html! {
        fieldset.stack.tight {
            legend { (words.t("fusion.weights")) }
            div.row {
                @for lane in lanes { (weight(lane, lane, "1")) }
                (weight(CODE, words.t("fusion.code_weight"), "0.5"))
            }
        }
        label.field {
            (words.t("fusion.profile"))
            textarea.code name="profile" rows="3" maxlength="8000" spellcheck="false" placeholder="ipc:H01L33=1" { (filled.profile) }
        }
        (codes::proposal(words, proposed))
        details.stack.tight #more-parameters open[filled.has_more()] {
            summary { (words.t("fusion.more_parameters")) }
            div.stack.tight {
                label.field {
                    (words.t("fusion.facets"))
                    textarea.code name="facets" rows="2" maxlength="8000" spellcheck="false"
                        placeholder="A=led,light emitting diode" { (filled.facets) }
                }
                label.field {
                    (words.t("fusion.context"))
                    textarea.code name="context" rows="2" maxlength="8000" spellcheck="false" placeholder="ipc:B60R" { (filled.context) }
                }
                div.row {
                    label.field {
                        (words.t("fusion.method"))
                        select name="method" {
                            @for (method, label) in METHODS {
                                option value=(method) selected[filled.method == method] { (words.t(label)) }
                            }
                        }
                    }
                    @for (name, label, value, usual, least) in [
                        ("rrf_k", "fusion.rrf_k", &filled.rrf_k, "10", "1"),
                        ("beta", "fusion.beta", &filled.beta, "1.5", "0.01"),
                        ("top_m", "fusion.top_m", &filled.top_m, "", "1"),
                    ] {
                        label.field.amount {
                            (words.t(label))
                            input type="number" name=(name) min=(least) step="any" value=(value) placeholder=(usual);
                        }
                    }
                }
                label.check {
                    input type="checkbox" name="one_per_family" value="1" checked[filled.one_per_family];
                    " " (words.t("fusion.one_per_family"))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_parameters() {
        let fields: Fields = [
            ("w.wide", "1.4"),
            ("w.code", ""),
            ("method", "minmax"),
            ("rrf_k", "20"),
            ("profile", "ipc:H01L33=1\r\n\r\n cpc:F21V=0.5 "),
            ("facets", "A=led,lamp"),
            ("one_per_family", "1"),
            ("go", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        let input = Filled::of(&fields).input().expect("parameters");
        let weights: Vec<(String, f64)> =
            input.weights.expect("weights").into_iter().map(|weight| (weight.lane, weight.weight)).collect();
        assert_eq!(weights, [("wide".to_owned(), 1.4)]);
        let profile = input.target_profile.expect("a profile");
        assert_eq!((profile.len(), profile[1].code.as_str(), input.rrf_k), (2, "cpc:F21V", Some(20.0)));
        assert_eq!(input.method.as_deref(), Some("minmax"), "a k alone would choose ranks");
        assert_eq!(input.one_per_family, Some(true));
        assert_eq!(Filled::default().input().expect("defaults").one_per_family, Some(false), "as unchecked");
        let wrong = Filled { beta: "much".to_owned(), ..Filled::default() };
        assert!(wrong.input().expect_err("no number").message.contains("`beta` is `much`"));
    }
}
