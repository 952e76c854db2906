//! Claims of a task as findings: equal ones are one, the closest to the question come first.

use super::cosine;
use lyra_domain::{ClaimId, ClaimReport, Origin};
use lyra_text::Assertion;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// Claims at least this close (cosine) that assert the same are one finding.
const SAME: f32 = 0.85;
/// Findings at least this close (cosine) are about the same.
const ALIKE: f32 = 0.6;

/// One finding: a claim, and equivalent claims of other passages.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The equivalent claim with the most evidence.
    pub report: ClaimReport,
    /// The others.
    pub same: Vec<ClaimReport>,
    /// Cosine of the claim with the question, when both have vectors.
    pub closeness: Option<f32>,
}

impl Finding {
    /// Some passage supports or refutes it.
    pub fn has_evidence(&self) -> bool {
        self.report.has_evidence()
    }

    /// The passages that it was found in, one per work.
    pub fn origins(&self) -> Vec<&Origin> {
        let mut seen = BTreeSet::new();
        let all = std::iter::once(&self.report).chain(&self.same).filter_map(|report| report.origin.as_ref());
        all.filter(|origin| seen.insert(&origin.source_key)).collect()
    }
}

/// Findings that are about the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// The claim that is closest to the question.
    pub claim: ClaimId,
    /// Its text.
    pub text: String,
    /// How many findings.
    pub findings: usize,
    /// Works that they were found in.
    pub works: usize,
    /// Oldest and newest year of these works.
    pub years: lyra_domain::EvidenceYears,
}

/// Groups claims into findings. Each joins the first equivalent finding, in order of closeness to the question.
pub(super) fn merged(
    reports: Vec<ClaimReport>,
    vectors: &HashMap<ClaimId, Vec<f32>>,
    question: Option<&[f32]>,
) -> Vec<Finding> {
    let vector = |report: &ClaimReport| vectors.get(&report.claim.id).map(Vec::as_slice);
    let mut findings: Vec<Finding> = reports
        .into_iter()
        .map(|report| Finding { closeness: cosine(vector(&report), question), report, same: Vec::new() })
        .collect();
    // Stable: without vectors the order is that of the store.
    findings.sort_by(|a, b| b.closeness.unwrap_or(-1.0).total_cmp(&a.closeness.unwrap_or(-1.0)));

    let mut kept: Vec<(Finding, Assertion)> = Vec::new();
    for finding in findings {
        let asserted = Assertion::of(&finding.report.claim.claim_text);
        let equal = kept.iter_mut().find(|(known, said)| {
            let close = cosine(vector(&known.report), vector(&finding.report)).is_some_and(|c| c >= SAME);
            close && said.agrees(&asserted)
        });
        match equal {
            Some((known, _)) => known.same.push(finding.report),
            None => kept.push((finding, asserted)),
        }
    }
    kept.into_iter()
        .map(|(mut finding, _)| {
            let sided = |report: &ClaimReport| report.supporting_count + report.refuting_count;
            // The claim with the most evidence represents the equivalent ones.
            if let Some(at) = (0..finding.same.len()).max_by_key(|&i| (sided(&finding.same[i]), Reverse(i)))
                && sided(&finding.same[at]) > sided(&finding.report)
            {
                std::mem::swap(&mut finding.report, &mut finding.same[at]);
            }
            finding
        })
        .collect()
}

/// Groups findings: each joins the first group with a similar leading claim. Largest first, then by closeness to
/// the question.
pub(super) fn clusters(findings: &[Finding], vectors: &HashMap<ClaimId, Vec<f32>>) -> Vec<Cluster> {
    let vector = |finding: &Finding| vectors.get(&finding.report.claim.id).map(Vec::as_slice);
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for finding in findings {
        let close = |group: &&mut Vec<&Finding>| {
            group.first().and_then(|first| cosine(vector(first), vector(finding))).is_some_and(|c| c >= ALIKE)
        };
        match groups.iter_mut().find(close) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    groups
        .iter()
        .filter_map(|group| {
            let first = group.first()?;
            let origins: Vec<&Origin> = group.iter().flat_map(|finding| finding.origins()).collect();
            let works: BTreeSet<&str> = origins.iter().map(|origin| origin.source_key.as_str()).collect();
            Some(Cluster {
                claim: first.report.claim.id.clone(),
                text: first.report.claim.claim_text.clone(),
                findings: group.len(),
                works: works.len(),
                years: lyra_domain::EvidenceYears::of(origins.iter().map(|origin| origin.citation.year)),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::{Citation, Claim, FragmentId, PageId, TaskId};

    fn report(text: &str, work: &str) -> ClaimReport {
        let task: TaskId = "task_1".parse().unwrap();
        let fragment = FragmentId::derive(&[work, text]);
        let origin = Origin {
            text: text.to_owned(),
            citation: Citation {
                title: work.to_owned(),
                authors: Vec::new(),
                year: Some(2001),
                venue: None,
                doi: None,
                url: None,
                doc_id: None,
                section: None,
                is_retracted: None,
            },
            page_id: PageId::derive(&[work]),
            fragment_id: fragment.clone(),
            source_key: work.to_owned(),
        };
        ClaimReport::new(Claim::new(&task, text, Some(fragment), None), Vec::new(), Some(origin))
    }

    /// Unit vectors by their angle in degrees.
    fn vectors(reports: &[ClaimReport], angles: &[f32]) -> HashMap<ClaimId, Vec<f32>> {
        let at = |angle: &f32| vec![angle.to_radians().cos(), angle.to_radians().sin()];
        reports.iter().zip(angles).map(|(report, angle)| (report.claim.id.clone(), at(angle))).collect()
    }

    #[test]
    fn the_closest_come_first_and_equal_ones_are_one() {
        let reports = vec![
            report("Court recordings help.", "a"),
            report("Naps improve memory.", "b"),
            report("Memory improves with naps.", "c"),
            report("Naps do not improve memory.", "d"),
        ];
        let vectors = vectors(&reports, &[80.0, 1.0, 5.0, 6.0]);
        let found = merged(reports.clone(), &vectors, Some(&[1.0, 0.0]));
        let texts: Vec<&str> = found.iter().map(|f| f.report.claim.claim_text.as_str()).collect();
        assert_eq!(texts, ["Naps improve memory.", "Naps do not improve memory.", "Court recordings help."]);
        assert_eq!(found[0].origins().len(), 2);
        let clusters = clusters(&found, &vectors);
        let sizes: Vec<(usize, usize)> = clusters.iter().map(|c| (c.findings, c.works)).collect();
        assert_eq!(sizes, [(2, 3), (1, 1)]);

        // Without vectors nothing is merged or reordered.
        let found = merged(reports.clone(), &HashMap::new(), None);
        assert_eq!(found.iter().map(|f| &f.report).collect::<Vec<_>>(), reports.iter().collect::<Vec<_>>());
    }
}
