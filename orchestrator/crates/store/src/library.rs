//! Claims and pages as a reader's library: found by words, named with their citations, and read as a whole.

use crate::reports::citation;
use crate::rows::{RowExt, json};
use crate::{Result, Store, StoreError, VectorTarget};
use lyra_domain::{Citation, ClaimId, Imprint, PageId, PaperMetadata, TaskId};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row};

/// The trigram index finds nothing shorter.
const LEAST_CHARS: usize = 3;
/// The columns of a citation, from `pages` with `works`.
pub(crate) const CITED: &str =
    "pages.url, pages.paper_metadata, coalesce(nullif(pages.title, ''), works.title, '') AS title,
    coalesce(pages.year, works.year) AS year, works.venue, works.doi, works.is_retracted, works.authors";

/// A claim with the citation of the passage that it was found in.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredClaim {
    /// The claim.
    pub id: ClaimId,
    /// Its task.
    pub task: TaskId,
    /// The statement.
    pub text: String,
    /// `None` for a claim that was given, or derived from the question.
    pub origin: Option<Citation>,
}

/// A page with its citation.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPage {
    /// The page.
    pub id: PageId,
    /// Its address; `corpus:NAME/ID` for a document of a corpus without an address of its own.
    pub address: String,
    /// What to cite.
    pub citation: Citation,
    /// What the work is, and who published it.
    pub imprint: Imprint,
}

/// A page with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// The page.
    pub page: StoredPage,
    /// ISO 639-1 code, when known.
    pub language: Option<String>,
    /// When it was read, RFC 3339, UTC.
    pub fetched_at: String,
    /// Its passages in order: the heading above it, if any, and the text. Quarantined passages are absent.
    pub passages: Vec<(Option<String>, String)>,
}

impl Store {
    /// Ids of adopted claims or of fragments that contain any of these words, as they are or within longer ones; the
    /// best by BM25 first, at most `limit`. Words of fewer than three characters find nothing.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn containing(
        &self,
        target: VectorTarget,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<String>> {
        let long = words.iter().filter(|word| word.chars().count() >= LEAST_CHARS);
        let quoted: Vec<String> = long.map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
        if quoted.is_empty() {
            return Ok(Vec::new());
        }
        let sql = match target {
            VectorTarget::Claims => {
                "SELECT claims.id FROM claims_fts JOIN claims ON claims.seq = claims_fts.rowid
                 WHERE claims_fts MATCH ? AND claim_adoption_status = 'adopted'
                 ORDER BY claims_fts.rank, claims.seq LIMIT ?"
            }
            VectorTarget::Fragments => {
                "SELECT fragments.id FROM fragments_fts JOIN fragments ON fragments.seq = fragments_fts.rowid
                 WHERE fragments_fts MATCH ? AND fragments.text_content <> ''
                 ORDER BY fragments_fts.rank, fragments.seq LIMIT ?"
            }
        };
        let found = sqlx::query_scalar(sql).bind(quoted.join(" OR ")).bind(limit.cast_signed() as i64);
        Ok(found.fetch_all(self.reader()).await?)
    }

    /// Claims by id, in the order of the ids; those that do not exist are absent.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn stored_claims(&self, ids: &[String]) -> Result<Vec<StoredClaim>> {
        let sql = format!(
            "SELECT claims.id, claims.task_id, claims.claim_text, {CITED}
             FROM json_each(?) AS asked JOIN claims ON claims.id = asked.value
             LEFT JOIN fragments ON fragments.id = claims.source_fragment_id
             LEFT JOIN pages ON pages.id = fragments.page_id
             LEFT JOIN works ON works.id = pages.work_id
             ORDER BY asked.key"
        );
        let found = sqlx::query(AssertSqlSafe(sql)).bind(json(&ids)?).fetch_all(self.reader()).await?;
        let claim = |row: &SqliteRow| {
            let url: Option<&str> = row.try_get("url")?;
            Ok(StoredClaim {
                id: row.parsed("id")?,
                task: row.parsed("task_id")?,
                text: row.value("claim_text")?,
                origin: url.map(|_| citation(row)).transpose()?,
            })
        };
        found.iter().map(claim).collect()
    }

    /// The pages of fragments, in the order of the fragments, each once.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn pages_of(&self, fragments: &[String]) -> Result<Vec<StoredPage>> {
        let sql = format!(
            "SELECT pages.id, {CITED}
             FROM json_each(?) AS asked JOIN fragments ON fragments.id = asked.value
             JOIN pages ON pages.id = fragments.page_id
             LEFT JOIN works ON works.id = pages.work_id
             GROUP BY pages.id ORDER BY min(asked.key)"
        );
        let found = sqlx::query(AssertSqlSafe(sql)).bind(json(&fragments)?).fetch_all(self.reader()).await?;
        found.iter().map(page).collect()
    }

    /// A page with its text.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such page.
    pub async fn stored_document(&self, id: &PageId) -> Result<StoredDocument> {
        let mut tx = self.reader().begin().await?;
        let sql = format!(
            "SELECT pages.id, pages.language, pages.fetched_at, {CITED}
             FROM pages LEFT JOIN works ON works.id = pages.work_id WHERE pages.id = ?"
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(id.as_str())
            .fetch_optional(&mut *tx)
            .await?
            .ok_or_else(|| StoreError::not_found("document", id))?;
        let passages = sqlx::query_as(
            "SELECT nullif(heading_context, ''), text_content FROM fragments
             WHERE page_id = ? AND text_content <> '' ORDER BY position, seq",
        )
        .bind(id.as_str())
        .fetch_all(&mut *tx)
        .await?;
        Ok(StoredDocument {
            page: page(&row)?,
            language: row.value("language")?,
            fetched_at: row.value("fetched_at")?,
            passages,
        })
    }
}

pub(crate) fn page(row: &SqliteRow) -> Result<StoredPage> {
    let metadata: PaperMetadata = row.json_or_default("paper_metadata")?;
    Ok(StoredPage {
        id: row.parsed("id")?,
        address: row.value("url")?,
        citation: citation(row)?,
        imprint: metadata.imprint,
    })
}

#[cfg(test)]
mod tests {
    use crate::VectorTarget::{Claims, Fragments};
    use crate::testing::{Bench, Graph};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn claims_and_pages_are_found_by_their_words() {
        let bench = Bench::new().await;
        let graph = Graph::new(&bench).await;
        let store = &bench.store;
        let found = store.containing(Claims, &words("protocol none\" wrote"), 10).await.unwrap();
        assert_eq!(found, [graph.growing.id.to_string()]);
        assert!(store.containing(Claims, &words("is a"), 10).await.unwrap().is_empty());

        let claims = store.stored_claims(&found).await.unwrap();
        let [claim] = &claims[..] else { panic!("{claims:?}") };
        assert_eq!((&claim.id, &claim.task), (&graph.growing.id, &graph.task.id));
        let origin = claim.origin.as_ref().expect("it was found in a passage");
        assert_eq!((origin.title.as_str(), origin.doi.as_deref()), ("Title b", Some("10.1000/b")));
        let given = store.stored_claims(&[graph.alone.id.to_string(), "claim_x".to_owned()]).await.unwrap();
        assert!(given.len() == 1 && given[0].origin.is_none(), "{given:?}");

        store.reject_claim(&graph.growing.id, "off").await.unwrap();
        assert!(store.containing(Claims, &words("protocol"), 10).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_page_is_named_once_and_read_as_a_whole() {
        let bench = Bench::new().await;
        let graph = Graph::new(&bench).await;
        let store = &bench.store;
        let mut found = store.containing(Fragments, &words("mice"), 10).await.unwrap();
        assert_eq!(found, [graph.pages[0].fragments[0].id.to_string()]);
        found.extend(found.clone());
        let pages = store.pages_of(&found).await.unwrap();
        let [page] = &pages[..] else { panic!("{pages:?}") };
        assert_eq!(page.address, "https://a.example.org/paper");

        let document = store.stored_document(&page.id).await.unwrap();
        assert_eq!(document.page, *page);
        assert_eq!(document.language.as_deref(), Some("en"));
        assert_eq!(document.passages, [(None, "The treatment works in mice.".to_owned())]);
        let missing = "page_x".parse().unwrap();
        let error = store.stored_document(&missing).await.expect_err("it does not exist");
        assert!(error.to_string().contains("page_x"), "{error}");
    }
}
