//! Runs in a list, and a run's documents with what each lane adds and what the queries hit.

use super::blend::representatives;
use super::{Fusion, blocking};
use crate::AppError;
use lyra_corpus::backend::{IdType, Publication};
use lyra_fusion::pieces;
use lyra_text::query::{Field, Query, highlights};
use lyra_wire::fusion::{DocumentShare, Piece, RunDocument, RunDocuments, RunHit, RunInfo};
use std::collections::HashMap;

/// Most documents of one answer.
const MOST: usize = 100;
/// Passages of one field, and characters of each.
const PASSAGES: (usize, usize) = (2, 220);
/// Codes of one document.
const CODES: usize = 20;
/// Characters of a description in which hits are looked for.
const LOOKED_AT: usize = 20_000;
/// Passages of the title, abstract and claims from which on the description is not looked at.
const ENOUGH: usize = 4;

impl Fusion {
    /// The newest runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn runs(&self, limit: u32) -> Result<Vec<RunInfo>, AppError> {
        let info = |run: lyra_store::RunSummary| RunInfo {
            run_id: run.run_id,
            kind: run.kind.to_string(),
            lane: run.lane,
            corpus: run.corpus,
            query: run.query,
            count_returned: run.count_returned,
            created_at: run.created_at.to_string(),
        };
        Ok(self.store.runs(limit).await?.into_iter().map(info).collect())
    }

    /// Documents of a run from `offset` on, with the passages that the queries of its lanes hit.
    ///
    /// # Errors
    /// No such run, an offset beyond it, a limit out of range.
    pub async fn run_documents(
        &self,
        run_id: &str,
        offset: usize,
        limit: usize,
    ) -> Result<RunDocuments, AppError> {
        if !(1..=MOST).contains(&limit) {
            return Err(AppError::invalid(format!("`limit` is {limit}"), format!("it must be 1 to {MOST}")));
        }
        let run = self.run(run_id).await?;
        let total = run.docs.ids.len();
        if offset > 0 && offset >= total {
            return Err(AppError::invalid(
                format!("`offset` is {offset} and the run has {total} documents"),
                "start with 0, and continue with next_offset while there is one",
            ));
        }
        let listed = self.listed(&run, offset, limit).await?;
        let ids: Vec<String> = listed.iter().map(|share| share.doc_id.clone()).collect();
        let publications = self.publications(&run.corpus, &ids, IdType::DocId).await?;
        let query = Query::Or(self.queries_of(&run).await?);
        let labels: HashMap<String, String> = representatives(&run)?
            .into_iter()
            .map(|judged| (judged.doc_id, judged.label.to_string()))
            .collect();
        let codes: Vec<Vec<String>> = (offset..offset + listed.len())
            .map(|place| run.docs.codes_of(place).take(CODES).map(str::to_owned).collect())
            .collect();
        let next_offset = (offset + listed.len() < total).then_some(offset + listed.len());
        let documents = blocking(move || {
            let with = listed.into_iter().zip(publications).zip(codes);
            Ok(with
                .map(|((share, publication), codes)| {
                    let label = labels.get(&share.doc_id).cloned();
                    document(share, publication, codes, label, &query)
                })
                .collect())
        })
        .await?;
        Ok(RunDocuments {
            run_id: run.id,
            corpus: run.corpus,
            total,
            documents,
            next_offset,
            untrusted_fields: vec!["documents[].title", "documents[].hits[].pieces[].text"],
        })
    }
}

fn document(
    share: DocumentShare,
    publication: Option<Publication>,
    codes: Vec<String>,
    label: Option<String>,
    query: &Query,
) -> RunDocument {
    let found = publication.is_some();
    let publication = publication.unwrap_or_default();
    RunDocument {
        rank: share.rank,
        doc_id: share.doc_id,
        score: share.score,
        ranks: share.ranks,
        shares: share.shares,
        year: publication.year,
        language: publication.lang.clone(),
        hits: hits(&publication, query),
        title: publication.title,
        codes,
        label,
        found,
    }
}

/// What a query hits: the whole title, and passages of the abstract and the claims; of the description where these have
/// few.
fn hits(publication: &Publication, query: &Query) -> Vec<RunHit> {
    let (desc, _) = lyra_fusion::cut(&publication.desc, LOOKED_AT);
    let fields = [
        (Field::Title, "title", publication.title.as_str(), (1, publication.title.chars().count() * 2)),
        (Field::Abst, "abst", publication.abst.as_str(), PASSAGES),
        (Field::Claim, "claim", publication.claim.as_str(), PASSAGES),
        (Field::Desc, "desc", desc, PASSAGES),
    ];
    let mut hits: Vec<RunHit> = Vec::new();
    for (field, name, text, (most, chars)) in fields {
        if field == Field::Desc && hits.len() >= ENOUGH {
            break;
        }
        let found = pieces(text, &highlights(query, field, text), chars, most);
        let piece = |piece: lyra_fusion::Piece| Piece { text: piece.text, hit: piece.is_term };
        hits.extend(
            found
                .into_iter()
                .map(|pieces| RunHit { field: name, pieces: pieces.into_iter().map(piece).collect() }),
        );
    }
    hits
}
