//! What callers give, as the use cases take it: shapes of the edges, and the short notation that people write.

use crate::AppError;
use lyra_corpus::backend::{FieldBoosts, RawFilter, RawRange};
use lyra_domain::classification::System;
use lyra_fusion::{FacetTerms, FacetWeights, PiWeights, Recipe, RecipeDelta};
use lyra_wire::fusion::{BoostsInput, FacetInput, FilterInput, RecipeInput, WeightInput};

/// Filters as the backends take them.
pub fn filters(given: Vec<FilterInput>) -> Vec<RawFilter> {
    given
        .into_iter()
        .map(|filter| RawFilter {
            field: filter.field,
            include_values: filter.include_values.into_iter().map(Into::into).collect(),
            exclude_values: filter.exclude_values.into_iter().map(Into::into).collect(),
            include_codes: filter.include_codes,
            exclude_codes: filter.exclude_codes,
            include_range: filter
                .include_range
                .map(|range| RawRange { from: range.from.map(Into::into), to: range.to.map(Into::into) }),
        })
        .collect()
}

/// Weights of a full-text lane's fields.
pub fn boosts(BoostsInput { title, abst, claim, desc }: BoostsInput) -> FieldBoosts {
    FieldBoosts { title, abst, claim, desc }
}

/// What a caller changes of a recipe. Omitted parts of small objects keep the values of `from`.
pub fn delta(given: RecipeInput, from: &Recipe) -> RecipeDelta {
    let weights =
        |list: Vec<WeightInput>| list.into_iter().map(|weight| (weight.lane, weight.weight)).collect();
    RecipeDelta {
        weights: given.weights.map(weights),
        lane_weights: given.lane_weights.map(weights),
        pi_weights: given.pi_weights.map(|new| PiWeights {
            code: new.code.unwrap_or(from.pi_weights.code),
            facet: new.facet.unwrap_or(from.pi_weights.facet),
            lane: new.lane.unwrap_or(from.pi_weights.lane),
            structure: new.structure.unwrap_or(from.pi_weights.structure),
        }),
        facet_terms: given.facet_terms.map(|facets| {
            facets.into_iter().map(|FacetInput { facet, terms }| FacetTerms { facet, terms }).collect()
        }),
        facet_weights: given.facet_weights.map(|new| FacetWeights {
            a: new.a.unwrap_or(from.facet_weights.a),
            b: new.b.unwrap_or(from.facet_weights.b),
            c: new.c.unwrap_or(from.facet_weights.c),
        }),
        rrf_k: given.rrf_k,
        beta_fuse: given.beta_fuse,
        target_profile: given
            .target_profile
            .map(|codes| codes.into_iter().map(|code| (code.code, code.weight)).collect()),
        context_codes: given.context_codes,
        one_per_family: given.one_per_family,
        top_m_per_lane: given.top_m_per_lane,
        k_grid: given.k_grid,
    }
}

/// The recipe that a caller gives.
pub fn recipe(given: RecipeInput) -> Recipe {
    let usual = Recipe::default();
    usual.clone().with(delta(given, &usual))
}

/// A filter as people write it: `FIELD=VALUE,VALUE`, `FIELD!=VALUE`, or `FIELD=FROM..TO`.
///
/// # Errors
/// No `=` in it.
pub fn written_filter(text: &str) -> Result<RawFilter, AppError> {
    let Some((field, values)) = text.split_once('=') else {
        return Err(AppError::invalid(
            format!("the filter `{text}` has no `=`"),
            "write FIELD=VALUE,VALUE, FIELD!=VALUE, or FIELD=FROM..TO, such as ipc=H01L33",
        ));
    };
    let (field, is_excluded) = field.strip_suffix('!').map_or((field, false), |field| (field, true));
    let mut filter = RawFilter { field: field.trim().to_owned(), ..RawFilter::default() };
    if let Some((from, to)) = values.split_once("..") {
        let end = |text: &str| (!text.trim().is_empty()).then(|| text.trim().into());
        filter.include_range = Some(RawRange { from: end(from), to: end(to) });
        return Ok(filter);
    }
    let values = values.split(',').map(|value| value.trim().to_owned());
    match (filter.field.parse::<System>().is_ok(), is_excluded) {
        (true, false) => filter.include_codes = values.collect(),
        (true, true) => filter.exclude_codes = values.collect(),
        (false, false) => filter.include_values = values.map(Into::into).collect(),
        (false, true) => filter.exclude_values = values.map(Into::into).collect(),
    }
    Ok(filter)
}

/// A weight as people write it: `NAME=NUMBER`, such as `ipc:H01L33/20=0.8` or `precision=1.4`.
///
/// # Errors
/// No `=` in it, or no number behind it.
pub fn written_weight(text: &str) -> Result<(String, f64), AppError> {
    let read = text
        .rsplit_once('=')
        .and_then(|(name, number)| Some((name.trim().to_owned(), number.trim().parse().ok()?)));
    read.ok_or_else(|| {
        AppError::invalid(
            format!("`{text}` is not a name with a weight"),
            "write NAME=NUMBER, such as ipc:H01L33/20=0.8",
        )
    })
}

/// A facet as people write it: its name, and its terms behind `=`, separated by commas.
///
/// # Errors
/// No `=` in it.
pub fn written_facet(text: &str) -> Result<FacetTerms, AppError> {
    let Some((facet, terms)) = text.split_once('=') else {
        return Err(AppError::invalid(
            format!("the facet `{text}` has no `=`"),
            "write A=term,term, such as A=led,light emitting diode",
        ));
    };
    let terms = terms.split(',').map(|term| term.trim().trim_matches('"').to_owned()).collect();
    Ok(FacetTerms { facet: facet.trim().to_owned(), terms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read() {
        assert_eq!(written_filter("ipc=H01L33, F21V").unwrap().include_codes, ["H01L33", "F21V"]);
        assert_eq!(written_filter("country!=US").unwrap().exclude_values, ["US"]);
        let dates = written_filter("pub_date=2020-01-01..").unwrap().include_range.unwrap();
        assert_eq!((dates.from, dates.to), (Some("2020-01-01".into()), None));
        assert!(written_filter("ipc").unwrap_err().remedy.is_some());
        assert_eq!(written_weight("ipc:H01L33/20 = 0.8").unwrap(), ("ipc:H01L33/20".to_owned(), 0.8));
        assert!(written_weight("precision").is_err() && written_weight("precision=much").is_err());
        let facet = written_facet("A = led, \"light emitting diode\"").unwrap();
        assert_eq!((facet.facet.as_str(), facet.terms[1].as_str()), ("A", "light emitting diode"));
        assert!(written_facet("led").is_err());
    }
}
