//! Two runs side by side: what they share, what moved, what only one has.

use super::blend::representatives;
use super::views::interval;
use super::{Fusion, blocking};
use crate::AppError;
use lyra_corpus::backend::IdType;
use lyra_fusion::estimate::{Pair, Paired, paired};
use lyra_store::StoredRun;
use lyra_wire::fusion::{Comparison, MovedDocument, OwnDocument, PairView, PairedView, Side};
use lyra_wire::json::millionths;
use std::collections::HashMap;
use std::sync::Arc;

/// Largest depth: titles of both lists are read.
const MOST: usize = 500;

impl Fusion {
    /// What differs between the first `depth` documents of two runs of one corpus.
    ///
    /// # Errors
    /// No such run, a run compared with itself, runs of different corpora, a depth out of range.
    pub async fn compare(&self, run_id: &str, other_id: &str, depth: usize) -> Result<Comparison, AppError> {
        if !(1..=MOST).contains(&depth) {
            return Err(AppError::invalid(format!("`depth` is {depth}"), format!("it must be 1 to {MOST}")));
        }
        let (this, other) = (self.run(run_id).await?, self.run(other_id).await?);
        if this.id == other.id {
            return Err(AppError::invalid(
                format!("`{}` is compared with itself", this.id),
                "name another run of the same corpus",
            ));
        }
        if (&this.corpus, &this.backend) != (&other.corpus, &other.backend) {
            return Err(AppError::invalid(
                format!(
                    "`{}` searched `{}` and `{}` searched `{}`",
                    this.id, this.corpus, other.id, other.corpus
                ),
                "compare runs of one corpus",
            ));
        }
        let mut comparison = compared(&this, &other, depth);
        comparison.paired = self.paired(this.clone(), other.clone(), depth).await?;
        let listed = comparison.moved.iter().map(|moved| &moved.doc_id);
        let own = comparison.only_this.iter().chain(&comparison.only_other).map(|own| &own.doc_id);
        let ids: Vec<String> = listed.chain(own).cloned().collect();
        let publications = self.publications(&this.corpus, &ids, IdType::DocId).await?;
        let titles: HashMap<String, String> =
            ids.into_iter().zip(publications).filter_map(|(id, found)| Some((id, found?.title))).collect();
        let title = |id: &str| titles.get(id).cloned().unwrap_or_default();
        for moved in &mut comparison.moved {
            moved.title = title(&moved.doc_id);
        }
        for own in comparison.only_this.iter_mut().chain(&mut comparison.only_other) {
            own.title = title(&own.doc_id);
        }
        Ok(comparison)
    }

    /// Both runs on the judgments of either, those of `this` before those of `other`.
    async fn paired(
        &self,
        this: StoredRun,
        other: StoredRun,
        depth: usize,
    ) -> Result<Option<PairedView>, AppError> {
        let prior = Arc::clone(&self.prior);
        let mut judged: HashMap<String, f64> = HashMap::new();
        for run in [&other, &this] {
            judged.extend(representatives(run)?.into_iter().map(|one| (one.doc_id, one.label.relevance())));
        }
        let paired = blocking(move || {
            Ok(paired(&prior, [&this.docs, &other.docs], depth, |id| judged.get(id).copied()))
        });
        Ok(paired.await?.map(|Paired { judged, precision, recall }| PairedView {
            judged,
            precision: pair(precision),
            recall: pair(recall),
        }))
    }
}

fn pair(Pair { this, other, difference }: Pair) -> PairView {
    PairView { this: interval(this), other: interval(other), difference: interval(difference) }
}

/// The comparison without titles.
fn compared(this: &StoredRun, other: &StoredRun, depth: usize) -> Comparison {
    let [ranks, other_ranks] = [this, other].map(|run| {
        (1..).zip(&run.docs.ids).map(|(rank, id)| (id.as_str(), rank)).collect::<HashMap<&str, usize>>()
    });
    let side = |run: &StoredRun| Side {
        run_id: run.id.clone(),
        kind: run.kind.to_string(),
        count_returned: run.meta.count_returned,
    };
    let within = |rank: Option<&usize>| rank.is_some_and(|rank| *rank <= depth);
    let mut moved = Vec::new();
    let mut only_this = Vec::new();
    for (rank, id) in (1..=depth).zip(&this.docs.ids) {
        let other_rank = other_ranks.get(id.as_str());
        match other_rank {
            Some(&other_rank) if other_rank <= depth => moved.push(MovedDocument {
                doc_id: id.clone(),
                title: String::new(),
                rank,
                other_rank,
                gained: i64::try_from(other_rank).unwrap_or(i64::MAX)
                    - i64::try_from(rank).unwrap_or(i64::MAX),
            }),
            _ => only_this.push(own(id, rank, other_rank)),
        }
    }
    let only_other: Vec<OwnDocument> = (1..=depth)
        .zip(&other.docs.ids)
        .filter(|(_, id)| !within(ranks.get(id.as_str())))
        .map(|(rank, id)| own(id, rank, ranks.get(id.as_str())))
        .collect();
    let shared = moved.len();
    let all = shared + only_this.len() + only_other.len();
    moved.sort_by_key(|moved| (std::cmp::Reverse(moved.gained.abs()), moved.rank));
    Comparison {
        depth,
        this: side(this),
        other: side(other),
        shared,
        overlap: if all == 0 { 0.0 } else { millionths(shared as f64 / all as f64) },
        paired: None,
        moved,
        only_this,
        only_other,
    }
}

fn own(id: &str, rank: usize, other_rank: Option<&usize>) -> OwnDocument {
    OwnDocument { doc_id: id.to_owned(), title: String::new(), rank, other_rank: other_rank.copied() }
}
