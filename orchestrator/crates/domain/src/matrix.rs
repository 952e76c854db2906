//! Claims and the works that carry them.

use crate::{ClaimReport, Evidence, Relation};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A work and what it does to the claims of a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatrixWork<'r> {
    /// A passage of the work, which says where it can be read.
    pub passage: &'r Evidence,
    /// Claims that it supports.
    pub supporting: usize,
    /// Claims that it refutes.
    pub refuting: usize,
    /// Claims on which it takes no side.
    pub neutral: usize,
}

impl MatrixWork<'_> {
    /// Key of the work.
    pub fn key(&self) -> &str {
        self.passage.work_key()
    }
}

/// Claims by works. A cell is the passage that counts of the work about the claim ([`ClaimReport::by_work`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<'r> {
    /// Columns: those that take a side on the most claims first, then those judged against the most, then the oldest.
    pub works: Vec<MatrixWork<'r>>,
    /// A row per claim, a cell per work; `None` where no passage of the work was judged against the claim.
    pub rows: Vec<(&'r ClaimReport, Vec<Option<&'r Evidence>>)>,
    /// Works that were judged against one of the claims, shown or not.
    pub all_works: usize,
}

impl<'r> Matrix<'r> {
    /// The matrix of these claims, of at most `most` works after `skip` others. `sided` leaves out works that take a
    /// side on none of them.
    pub fn new(reports: &'r [ClaimReport], skip: usize, most: usize, sided: bool) -> Self {
        let cells: Vec<HashMap<&str, &Evidence>> =
            reports.iter().map(|report| report.by_work().into_iter().collect()).collect();
        let mut works: HashMap<&str, MatrixWork<'r>> = HashMap::new();
        for passage in cells.iter().flat_map(HashMap::values) {
            let empty = MatrixWork { passage, supporting: 0, refuting: 0, neutral: 0 };
            let work = works.entry(passage.work_key()).or_insert(empty);
            match passage.relation {
                Relation::Supports => work.supporting += 1,
                Relation::Refutes => work.refuting += 1,
                _ => work.neutral += 1,
            }
            // Which passage stands for the work depends on nothing but its id.
            if passage.edge_id < work.passage.edge_id {
                work.passage = passage;
            }
        }
        let takes_sides = |work: &MatrixWork<'_>| work.supporting + work.refuting;
        let mut works: Vec<MatrixWork<'r>> =
            works.into_values().filter(|work| !sided || takes_sides(work) > 0).collect();
        works.sort_by_key(|work| {
            let year = work.passage.year.unwrap_or(i32::MAX);
            (Reverse(takes_sides(work)), Reverse(work.neutral), year, work.passage.work_key())
        });
        let all_works = works.len();
        let works: Vec<_> = works.into_iter().skip(skip).take(most).collect();
        let row = |cells: &HashMap<&str, &'r Evidence>| {
            works.iter().map(|work| cells.get(work.key()).copied()).collect()
        };
        let rows = reports.iter().zip(&cells).map(|(report, cells)| (report, row(cells))).collect();
        Self { works, rows, all_works }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::tests::passage;
    use crate::{Claim, TaskId};

    fn report(text: &str, evidence: Vec<Evidence>) -> ClaimReport {
        let task: TaskId = "task_1".parse().unwrap();
        ClaimReport::new(Claim::new(&task, text, None, None), evidence, None)
    }

    fn shown(matrix: &Matrix<'_>) -> Vec<String> {
        let side = |cell: Option<&Evidence>| cell.map_or(".", |e| &e.relation.as_str()[..1]).to_owned();
        matrix.rows.iter().map(|(_, cells)| cells.iter().copied().map(side).collect()).collect()
    }

    #[test]
    fn cells_are_what_counts_and_the_most_used_works_come_first() {
        let reports = [
            report(
                "Naps help.",
                vec![
                    passage(1, "a", Relation::Supports, 0.9),
                    passage(2, "a", Relation::Refutes, 0.6),
                    passage(3, "b", Relation::Supports, 0.8),
                    passage(4, "b", Relation::Refutes, 0.8),
                    passage(5, "c", Relation::Neutral, 0.7),
                ],
            ),
            report(
                "Naps harm.",
                vec![passage(6, "b", Relation::Supports, 0.7), passage(7, "d", Relation::Neutral, 0.9)],
            ),
            report("No one knows.", Vec::new()),
        ];
        let all = Matrix::new(&reports, 0, 10, false);
        assert_eq!(all.works.iter().map(MatrixWork::key).collect::<Vec<_>>(), ["b", "a", "c", "d"]);
        assert_eq!(shown(&all), ["rsn.", "s..n", "...."]);
        assert_eq!((all.works[0].supporting, all.works[0].refuting, all.works[0].neutral), (1, 1, 0));
        let part = Matrix::new(&reports, 1, 1, true);
        assert_eq!((part.all_works, shown(&part)), (2, vec!["s".to_owned(), ".".to_owned(), ".".to_owned()]));
        for (report, cells) in &all.rows {
            let sides = report.works();
            let count = |relation| cells.iter().flatten().filter(|cell| cell.relation == relation).count();
            assert_eq!(
                (count(Relation::Supports), count(Relation::Refutes)),
                (sides.supporting, sides.refuting)
            );
        }
    }
}
