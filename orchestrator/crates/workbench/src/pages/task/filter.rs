//! Which claims of a task are listed, and in which order.

use crate::words::Words;
use lyra_domain::{StudyDesign, TaskId};
use lyra_store::{ClaimFilter, ClaimSort, Side};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// What the address asks for; an empty field asks for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    text: String,
    side: String,
    year_from: String,
    year_to: String,
    source: String,
    study: String,
    confidence_from: String,
    confidence_to: String,
    sort: String,
    pub(crate) cursor: Option<String>,
}

/// Values of `side`, and their texts.
const SIDES: [(&str, Side, &str); 4] = [
    ("contested", Side::Contested, "common.contested"),
    ("supported", Side::Supported, "task.supported"),
    ("refuted", Side::Refuted, "task.refuted"),
    ("open", Side::Open, "task.open"),
];

/// Study designs that titles name, and their texts.
const DESIGNS: [(StudyDesign, &str); 9] = [
    (StudyDesign::MetaAnalysis, "task.meta_analysis"),
    (StudyDesign::SystematicReview, "task.systematic_review"),
    (StudyDesign::RandomizedTrial, "task.randomized_trial"),
    (StudyDesign::Trial, "task.trial"),
    (StudyDesign::Cohort, "task.cohort"),
    (StudyDesign::CaseControl, "task.case_control"),
    (StudyDesign::CrossSectional, "task.cross_sectional"),
    (StudyDesign::CaseReport, "task.case_report"),
    (StudyDesign::Protocol, "task.protocol"),
];

/// Values of `sort`, and their texts.
const SORTS: [(&str, ClaimSort, &str); 5] = [
    ("contested", ClaimSort::Contested, "task.by_contested"),
    ("confidence", ClaimSort::Confidence, "task.by_confidence"),
    ("uncertainty", ClaimSort::Uncertainty, "task.by_uncertainty"),
    ("evidence", ClaimSort::Evidence, "task.by_evidence"),
    ("newest", ClaimSort::Newest, "task.by_newest"),
];

impl Wanted {
    /// What cannot be read as a number narrows nothing.
    pub(crate) fn filter(&self) -> ClaimFilter {
        let text = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        ClaimFilter {
            side: side_of(&self.side),
            years: (self.year_from.trim().parse().ok(), self.year_to.trim().parse().ok()),
            source: text(&self.source),
            design: self.study.parse().ok(),
            text: text(&self.text),
            confidence: (self.confidence_from.trim().parse().ok(), self.confidence_to.trim().parse().ok()),
        }
    }

    pub(crate) fn sort(&self) -> ClaimSort {
        sort_of(&self.sort)
    }

    pub(crate) fn narrows(&self) -> bool {
        let fields = self.fields();
        fields.iter().any(|(name, value)| *name != "sort" && !value.trim().is_empty())
    }

    /// The next page of the same list.
    pub(crate) fn with_cursor(&self, task: &TaskId, cursor: &str) -> String {
        let fields =
            self.fields().into_iter().chain([("cursor", cursor)]).filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = fields
            .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
            .collect();
        format!("/tasks/{task}?{}", query.join("&"))
    }

    fn fields(&self) -> [(&'static str, &str); 9] {
        [
            ("text", &self.text),
            ("side", &self.side),
            ("year_from", &self.year_from),
            ("year_to", &self.year_to),
            ("source", &self.source),
            ("study", &self.study),
            ("confidence_from", &self.confidence_from),
            ("confidence_to", &self.confidence_to),
            ("sort", &self.sort),
        ]
    }
}

/// The side that a word of the address means.
pub(crate) fn side_of(word: &str) -> Option<Side> {
    SIDES.iter().find(|(known, ..)| *known == word).map(|(_, side, _)| *side)
}

/// The order that a word of the address means; contested claims first for any other word.
pub(crate) fn sort_of(word: &str) -> ClaimSort {
    SORTS.iter().find(|(known, ..)| *known == word).map_or(ClaimSort::Contested, |(_, sort, _)| *sort)
}

/// The choice of a side.
pub(crate) fn side_field(words: Words, chosen: &str) -> Markup {
    html! {
        label.field {
            (words.t("task.side"))
            select name="side" {
                option value="" { (words.t("task.any_side")) }
                @for (word, _, text) in SIDES { option value=(word) selected[chosen == word] { (words.t(text)) } }
            }
        }
    }
}

/// The choice of an order.
pub(crate) fn sort_field(words: Words, chosen: &str) -> Markup {
    html! {
        label.field {
            (words.t("task.sort"))
            select name="sort" {
                @for (word, _, text) in SORTS { option value=(word) selected[chosen == word] { (words.t(text)) } }
            }
        }
    }
}

/// The form, whose fields narrow the list as they change.
pub(crate) fn form(words: Words, wanted: &Wanted) -> Markup {
    let number = |name: &str, text: &'static str, value: &str, step: &str, max: &str| {
        html! {
            label.field {
                (words.t(text))
                input type="number" name=(name) value=(value) step=(step) max=(max) min="0";
            }
        }
    };
    html! {
        form.stack method="get" data-narrows aria-label=(words.t("task.filter")) {
            label.field {
                (words.t("task.find"))
                input type="search" name="text" value=(wanted.text) maxlength="200";
            }
            (side_field(words, &wanted.side))
            (sort_field(words, &wanted.sort))
            details #more-filters open[wanted.narrows()] {
                summary.small { (words.t("task.more_filters")) }
                div.stack {
                    div.row {
                        (number("year_from", "task.year_from", &wanted.year_from, "1", "9999"))
                        (number("year_to", "task.year_to", &wanted.year_to, "1", "9999"))
                    }
                    div.row {
                        (number("confidence_from", "task.confidence_from", &wanted.confidence_from, "0.05", "1"))
                        (number("confidence_to", "task.confidence_to", &wanted.confidence_to, "0.05", "1"))
                    }
                    label.field { (words.t("task.source")) input name="source" value=(wanted.source); }
                    label.field {
                        (words.t("task.study"))
                        select name="study" aria-describedby="study-note" {
                            option value="" { (words.t("task.any_study")) }
                            @for (design, text) in DESIGNS {
                                option value=(design) selected[wanted.study == design.as_str()] { (words.t(text)) }
                            }
                        }
                    }
                    p.small.quiet #study-note { (words.t("task.study_note")) }
                }
            }
            noscript { button.button { (words.t("task.apply")) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_s_next_page_keeps_what_it_shows() {
        let wanted = Wanted { text: "a & b".to_owned(), sort: "newest".to_owned(), ..Wanted::default() };
        let address = wanted.with_cursor(&"task_1".parse().expect("an id"), "c=1");
        assert_eq!(address, "/tasks/task_1?text=a%20%26%20b&sort=newest&cursor=c%3D1");
        assert!(wanted.narrows() && !Wanted { text: String::new(), ..wanted }.narrows());
    }

    #[test]
    fn what_is_no_number_narrows_nothing() {
        let wanted = Wanted { year_from: "later".to_owned(), side: "odd".to_owned(), ..Wanted::default() };
        let filter = wanted.filter();
        assert_eq!((filter.years.0, filter.side), (None, None));
    }
}
