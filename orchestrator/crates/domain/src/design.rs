//! The study design that a work's title names.
//!
//! Reporting guidelines ask for it there: CONSORT of randomized trials, PRISMA of systematic reviews, STROBE of
//! observational studies. A title that names none says nothing about the design.

use crate::named_enum;
use crate::studies::folded;

named_enum! {
    /// A study design.
    pub enum StudyDesign {
        /// Results of several studies, pooled.
        MetaAnalysis = "meta_analysis",
        /// A review with a stated search.
        SystematicReview = "systematic_review",
        /// Participants were assigned by chance.
        RandomizedTrial = "randomized_trial",
        /// A trial of which the title does not say how participants were assigned.
        Trial = "trial",
        /// People were followed over time.
        Cohort = "cohort",
        /// People with an outcome were compared with people without it.
        CaseControl = "case_control",
        /// People were asked or measured once.
        CrossSectional = "cross_sectional",
        /// One case, or a few.
        CaseReport = "case_report",
        /// A study that is planned.
        Protocol = "protocol",
    }
}

/// What names a design: words of an English title, and parts of a Japanese one. The first design that is named counts,
/// so that a meta-analysis of randomized trials is a meta-analysis.
const NAMES: [(StudyDesign, &[&str], &[&str]); 9] = [
    (
        StudyDesign::Protocol,
        &["study protocol", "trial protocol", "review protocol", "protocol for a", "protocol of a"],
        &["研究プロトコル", "試験プロトコル"],
    ),
    (
        StudyDesign::MetaAnalysis,
        &["meta analysis", "meta analyses", "meta analytic", "metaanalysis", "pooled analysis"],
        &["メタアナリシス", "メタ分析", "メタ解析"],
    ),
    (
        StudyDesign::SystematicReview,
        &["systematic review", "systematic reviews", "scoping review"],
        &["系統的レビュー", "システマティックレビュー", "システマティック・レビュー"],
    ),
    (StudyDesign::RandomizedTrial, &["randomized", "randomised", "rct"], &["無作為化", "ランダム化"]),
    (StudyDesign::CaseControl, &["case control"], &["症例対照"]),
    (
        StudyDesign::Cohort,
        &["cohort", "longitudinal study", "prospective study"],
        &["コホート", "追跡調査", "追跡研究", "縦断研究", "縦断調査"],
    ),
    (StudyDesign::CrossSectional, &["cross sectional"], &["横断研究", "横断調査", "横断的"]),
    (StudyDesign::CaseReport, &["case report", "case reports", "case series"], &["症例報告", "症例集積"]),
    (StudyDesign::Trial, &["trial"], &["比較試験", "臨床試験"]),
];

/// Words that take the meaning from "randomized", or give it another.
const NOT_BY_CHANCE: [&str; 7] = [
    "non randomized",
    "non randomised",
    "quasi randomized",
    "quasi randomised",
    "非無作為化",
    "非ランダム化",
    "メンデルランダム化",
];

impl StudyDesign {
    /// The design that a title names, in English or Japanese.
    pub fn in_title(title: &str) -> Option<Self> {
        let mut words = format!(" {} ", folded(title));
        for other in NOT_BY_CHANCE {
            words = words.replace(other, "");
        }
        let named = |english: &[&str], japanese: &[&str]| {
            english.iter().any(|name| words.contains(&format!(" {name} ")))
                || japanese.iter().any(|name| words.contains(name))
        };
        NAMES.iter().find(|(_, english, japanese)| named(english, japanese)).map(|(design, ..)| *design)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_is_named_in_a_title_or_unknown() {
        for (title, design) in [
            ("Twenty minutes after lunch: a randomized trial of napping", Some(StudyDesign::RandomizedTrial)),
            ("Phone-free mathematics: a cluster-randomised trial", Some(StudyDesign::RandomizedTrial)),
            (
                "Naps: a systematic review and meta-analysis of randomized trials",
                Some(StudyDesign::MetaAnalysis),
            ),
            ("Daytime sleep: a pooled analysis of thirty-one trials", Some(StudyDesign::MetaAnalysis)),
            ("Naps in old age: a systematic review", Some(StudyDesign::SystematicReview)),
            ("Naps at work: study protocol for a randomised controlled trial", Some(StudyDesign::Protocol)),
            ("A sedation protocol and sleep: a randomized trial", Some(StudyDesign::RandomizedTrial)),
            ("Naps: a non-randomized controlled trial", Some(StudyDesign::Trial)),
            ("Habitual napping and memory decline in a twelve-year cohort", Some(StudyDesign::Cohort)),
            ("A nested case–control study within a cohort", Some(StudyDesign::CaseControl)),
            ("Naps and mood: a cross-sectional survey", Some(StudyDesign::CrossSectional)),
            ("Narcolepsy: a case report", Some(StudyDesign::CaseReport)),
            (
                "昼休みの短い仮眠と単語の記憶：会社員を対象とした無作為化比較試験",
                Some(StudyDesign::RandomizedTrial),
            ),
            ("高齢者における習慣的な昼寝と記憶力の低下：八年間の追跡調査", Some(StudyDesign::Cohort)),
            ("仮眠の非ランダム化比較試験", Some(StudyDesign::Trial)),
            // A school examination, a method of genetics, and trials that a work is about.
            ("校内でのスマートフォン禁止と学力試験の成績：段階的導入の分析", None),
            ("Mendelian randomization of sleep and memory", None),
            ("What trials of naps leave out", None),
            ("", None),
        ] {
            assert_eq!(StudyDesign::in_title(title), design, "{title}");
        }
    }
}
