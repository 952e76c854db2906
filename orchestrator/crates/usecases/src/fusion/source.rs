//! A run as a source of evidence: what lanes found and fused can be judged against claims.

use super::Fusion;
use crate::AppError;
use async_trait::async_trait;
use lyra_corpus::backend::{IdType, Publication};
use lyra_domain::Work;
use lyra_fusion::cut;
use lyra_research::PortError;
use lyra_research::ports::{Answer, CorpusDocument, EvidenceSource, Hit, SourceKind};

/// Prefix of the names of such sources.
const PREFIX: &str = "run:";
/// Characters taken from claims or description if there is no abstract.
const TEXT: usize = 3_000;

/// Answers any query with the first documents of a run. Only searches that name it use it.
pub(crate) struct RunSource {
    name: String,
    run_id: String,
    fusion: Fusion,
}

impl RunSource {
    /// The source of that name, when it is a run's.
    pub(crate) fn of(name: &str, fusion: &Fusion) -> Option<Self> {
        let run_id = name.strip_prefix(PREFIX)?.to_owned();
        Some(Self { name: name.to_owned(), run_id, fusion: fusion.clone() })
    }

    /// The name of a run as a source.
    pub(crate) fn name_of(run_id: &str) -> String {
        format!("{PREFIX}{run_id}")
    }
}

#[async_trait]
impl EvidenceSource for RunSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Corpus
    }

    fn on_request(&self) -> bool {
        true
    }

    async fn search(
        &self,
        _query: &str,
        _language: Option<&str>,
        limit: usize,
    ) -> lyra_research::Result<Answer> {
        let failed = |error: AppError| PortError::Failed { what: self.name.clone(), why: error.to_string() };
        let run = self.fusion.run(&self.run_id).await.map_err(failed)?;
        let corpus = &run.corpus;
        let ids: Vec<String> = run.docs.ids.iter().take(limit).cloned().collect();
        let publications = self.fusion.publications(corpus, &ids, IdType::DocId).await.map_err(failed)?;
        let found = (1..).zip(&run.docs.scores).zip(publications);
        let hits =
            found.filter_map(|((rank, score), publication)| Some(hit(publication?, corpus, rank, *score)));
        Ok(hits.collect::<Vec<_>>().into())
    }
}

/// A document as the corpus would give it.
fn hit(publication: Publication, corpus: &str, rank: usize, score: f64) -> Hit {
    let texts = [&publication.abst, &publication.claim, &publication.desc];
    let text =
        texts.into_iter().find(|text| !text.trim().is_empty()).map(|text| cut(text, TEXT).0.to_owned());
    let url = match (&publication.url, &publication.doi) {
        (Some(url), _) => url.clone(),
        (None, Some(doi)) => format!("https://doi.org/{doi}"),
        (None, None) => format!("corpus:{corpus}/{}", publication.doc_id),
    };
    Hit {
        rank,
        score,
        work: Work {
            title: publication.title,
            year: publication.year,
            venue: publication.venue,
            imprint: publication.imprint,
            doi: publication.doi,
            authors: publication.authors,
            source_api: format!("corpus:{corpus}"),
            ..Work::default()
        },
        url,
        document: Some(CorpusDocument::new(corpus, &publication.doc_id)),
        language: publication.lang,
        text,
        embedding: None,
    }
}
