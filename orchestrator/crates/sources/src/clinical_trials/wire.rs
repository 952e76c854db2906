//! The API's JSON. Everything may be absent.

use super::text;
use crate::Paper;
use crate::paper::filled;
use crate::records::Records;
use crate::registry::CLINICAL_TRIALS;
use lyra_domain::{Identifier, Work};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    pub(super) total_count: Option<u64>,
    pub(super) next_page_token: Option<String>,
    pub(super) studies: Option<Records<Study>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Study {
    pub(super) protocol_section: Protocol,
    pub(super) results_section: Option<Results>,
    pub(super) has_results: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Protocol {
    #[serde(rename = "identificationModule")]
    pub(super) identification: Identification,
    #[serde(rename = "statusModule")]
    pub(super) status: Status,
    #[serde(rename = "sponsorCollaboratorsModule")]
    pub(super) sponsors: Sponsors,
    #[serde(rename = "descriptionModule")]
    pub(super) description: Description,
    #[serde(rename = "conditionsModule")]
    pub(super) conditions: Conditions,
    #[serde(rename = "designModule")]
    pub(super) design: Design,
    #[serde(rename = "armsInterventionsModule")]
    pub(super) interventions: Interventions,
    #[serde(rename = "outcomesModule")]
    pub(super) outcomes: Outcomes,
    #[serde(rename = "referencesModule")]
    references: References,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Identification {
    nct_id: Option<String>,
    brief_title: Option<String>,
    official_title: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status {
    #[serde(rename = "overallStatus")]
    pub(super) overall: Option<String>,
    pub(super) why_stopped: Option<String>,
    study_first_post_date_struct: Option<Date>,
    results_first_post_date_struct: Option<Date>,
}

/// `2021-10-18`, `2021-10`, or `2021`.
#[derive(Debug, Deserialize)]
struct Date {
    date: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Sponsors {
    lead_sponsor: Option<Named>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    pub(super) name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Description {
    pub(super) brief_summary: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Conditions {
    pub(super) conditions: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Design {
    pub(super) study_type: Option<String>,
    pub(super) phases: Vec<String>,
    #[serde(rename = "designInfo")]
    pub(super) info: DesignInfo,
    pub(super) enrollment_info: Enrollment,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DesignInfo {
    pub(super) allocation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Enrollment {
    pub(super) count: Option<u64>,
    /// `ACTUAL` or `ESTIMATED`.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Interventions {
    pub(super) interventions: Vec<Named>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Outcomes {
    pub(super) primary_outcomes: Vec<Outcome>,
    pub(super) secondary_outcomes: Vec<Outcome>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Outcome {
    pub(super) measure: Option<String>,
    pub(super) time_frame: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct References {
    references: Vec<Reference>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reference {
    pmid: Option<String>,
    /// `RESULT` (named by the sponsor), `DERIVED` (found by the registry), or `BACKGROUND`.
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Results {
    pub(super) outcome_measures_module: Measures,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Measures {
    pub(super) outcome_measures: Vec<Measure>,
}

/// A reported outcome. Numbers are text.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Measure {
    /// `PRIMARY`, `SECONDARY`, `OTHER_PRE_SPECIFIED`, `POST_HOC`.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) title: Option<String>,
    pub(super) time_frame: Option<String>,
    /// `MEAN`, `MEDIAN`, `COUNT_OF_PARTICIPANTS`, …
    pub(super) param_type: Option<String>,
    /// `STANDARD_DEVIATION`, `95% Confidence Interval`, …
    pub(super) dispersion_type: Option<String>,
    #[serde(rename = "unitOfMeasure")]
    pub(super) unit: Option<String>,
    pub(super) groups: Vec<Group>,
    pub(super) denoms: Vec<Denominator>,
    pub(super) classes: Vec<Class>,
    pub(super) analyses: Vec<Analysis>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Group {
    pub(super) id: Option<String>,
    pub(super) title: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Denominator {
    pub(super) counts: Vec<Measurement>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Class {
    pub(super) title: Option<String>,
    pub(super) categories: Vec<Category>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Category {
    pub(super) title: Option<String>,
    pub(super) measurements: Vec<Measurement>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Measurement {
    pub(super) group_id: Option<String>,
    pub(super) value: Option<String>,
    pub(super) spread: Option<String>,
    pub(super) lower_limit: Option<String>,
    pub(super) upper_limit: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Analysis {
    pub(super) group_ids: Vec<String>,
    pub(super) param_type: Option<String>,
    pub(super) param_value: Option<String>,
    pub(super) ci_pct_value: Option<String>,
    pub(super) ci_lower_limit: Option<String>,
    pub(super) ci_upper_limit: Option<String>,
    pub(super) p_value: Option<String>,
}

impl Study {
    /// The registration's number, `NCT` and eight digits.
    pub(super) fn number(&self) -> Option<String> {
        match Identifier::nct(self.protocol_section.identification.nct_id.as_deref()?)? {
            Identifier::Nct(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn sponsor(&self) -> Option<String> {
        let sponsor = self.protocol_section.sponsors.lead_sponsor.as_ref();
        filled(sponsor.and_then(|sponsor| sponsor.name.clone()))
    }

    /// `None` for a record without a registration number.
    pub(super) fn into_paper(self) -> Option<Paper> {
        let number = self.number()?;
        let text = text::of(&self, &number);
        let sponsor = self.sponsor();
        let Protocol { identification: named, status, references, .. } = self.protocol_section;
        let posted = status.results_first_post_date_struct.or(status.study_first_post_date_struct);
        let posted = filled(posted.and_then(|posted| posted.date));
        let title = filled(named.official_title).or_else(|| filled(named.brief_title)).unwrap_or_default();
        // Those of the results; what the sponsor cites as background says nothing of this trial.
        let of_results = |reference: &Reference| reference.kind.as_deref() != Some("BACKGROUND");
        let cited = |reference: Reference| Identifier::pmid(reference.pmid.as_deref()?);
        let references = references.references.into_iter().filter(of_results).filter_map(cited);
        let mut work = Work {
            // A publication often has the title of its trial. With the number, they stay two works, and so do two
            // registrations with one title.
            title: format!("{title} [registered trial {number}]").trim().to_owned(),
            year: posted.as_deref().and_then(|date| date.get(..4)?.parse().ok()),
            published_date: posted.filter(|date| date.len() == 10),
            venue: Some("ClinicalTrials.gov (trial registry)".to_owned()),
            authors: sponsor.into_iter().collect(),
            references: references.map(|id| id.to_string()).collect(),
            source_api: CLINICAL_TRIALS.name.to_owned(),
            ..Work::default()
        };
        let url = format!("https://clinicaltrials.gov/study/{number}");
        work.add_identifier(Identifier::Nct(number));
        Some(Paper { work, abstract_text: Some(text), language: Some("en".to_owned()), url })
    }
}
