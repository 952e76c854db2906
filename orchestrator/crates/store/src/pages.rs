//! Works, pages and their fragments.

use crate::rows::{self, RowExt, json};
use crate::{Result, Store, StoreError, quarantine, tasks, timeline};
use lyra_domain::{
    Fragment, FragmentId, Identifier, JobId, Page, PageId, PaperMetadata, Query, SerpItemId, TaskId, Work,
    WorkId,
};
use lyra_research::ports::{Answered, NewPage, TaskFragment};
use sqlx::{Row, SqliteConnection};
use std::collections::HashSet;

/// SQL for the identity of a source: the work, else the domain, else the page.
pub(crate) const SOURCE_KEY: &str = "coalesce(nullif(pages.work_id, ''), nullif(pages.domain, ''), pages.id)";

/// Longest stored title and text of a fragment, in characters: one value above the longest of a guarded statement would
/// make every statement over its column fail.
const MAX_TITLE: usize = 2_000;
const MAX_TEXT: usize = 100_000;

impl Store {
    pub(crate) async fn write_pages(
        &self,
        query: &Query,
        pages: &[NewPage],
        cause: &JobId,
    ) -> Result<Vec<Option<PageId>>> {
        let mut ids = Vec::with_capacity(pages.len());
        let now = self.stamp();
        let mut tx = self.write().await?;
        let task = tasks::load(&mut tx, &query.task_id).await?;
        // Counted in the same transaction: concurrent searches share one budget.
        let mut left = i64::from(task.config.budget.max_pages) - pages_of(&mut tx, &query.task_id).await?;
        for new in pages {
            let known = known_page(&mut tx, &new.page, new.work.as_ref()).await?;
            let free = match &known {
                Some(known) => is_of_task(&mut tx, &query.task_id, &known.id).await?,
                None => false,
            };
            if !free && left <= 0 {
                ids.push(None);
                continue;
            }
            left -= i64::from(!free);
            let work = match &new.work {
                Some(work) => Some(put_work(&mut tx, work).await?),
                None => None,
            };
            let page = put_page(&mut tx, new, known, work.as_ref(), cause, &now).await?;
            for fragment in &new.fragments {
                put_fragment(&mut tx, &page, fragment).await?;
            }
            for passage in &new.quarantined {
                let id = fragment_id(&page, &passage.fragment);
                let hash = text_hash(&passage.fragment.text_content);
                quarantine::put(&mut tx, &page, (&id, &hash), passage, cause, &now).await?;
            }
            quarantine::block_domain(&mut tx, new, cause, &now).await?;
            sqlx::query(
                "INSERT INTO task_pages (task_id, page_id, reason, depth, source_page_id) VALUES (?, ?, ?, ?, ?)
                 ON CONFLICT DO NOTHING",
            )
            .bind(query.task_id.as_str())
            .bind(page.as_str())
            .bind(new.reason.as_str())
            .bind(i64::from(new.via.is_some()))
            .bind(new.via.as_ref().map(PageId::as_str))
            .execute(&mut *tx)
            .await?;
            for (source, rank) in &new.found_by {
                sqlx::query(
                    "INSERT INTO serp_items (id, query_id, source, rank, url, title, doi, page_id)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                )
                .bind(SerpItemId::derive(&[query.id.as_str(), source, &new.page.url]).as_str())
                .bind(query.id.as_str())
                .bind(source)
                .bind(rank.cast_signed() as i64)
                .bind(&new.page.url)
                .bind(beginning(&new.page.title, MAX_TITLE))
                .bind(&new.page.paper_metadata.doi)
                .bind(page.as_str())
                .execute(&mut *tx)
                .await?;
            }
            ids.push(Some(page));
        }
        tasks::touch(&mut tx, &query.task_id, &now).await?;
        timeline::note_retractions(&mut tx, cause, &now).await?;
        tx.commit().await?;
        Ok(ids)
    }

    pub(crate) async fn read_task_pages(&self, task: &TaskId) -> Result<HashSet<PageId>> {
        let found = sqlx::query("SELECT page_id FROM task_pages WHERE task_id = ? ORDER BY seq")
            .bind(task.as_str())
            .fetch_all(self.reader())
            .await?;
        found.iter().map(|row| row.parsed("page_id")).collect()
    }

    /// In an order that depends only on the contents, so that a crash does not change it.
    pub(crate) async fn read_task_fragments(&self, task: &TaskId) -> Result<Vec<TaskFragment>> {
        let sql = format!(
            "SELECT fragments.*, pages.title, pages.language, pages.domain, pages.domain_category,
                 coalesce(pages.final_url, pages.url) AS page_url, {SOURCE_KEY} AS source_key
             FROM task_pages
             JOIN pages ON pages.id = task_pages.page_id
             JOIN fragments ON fragments.page_id = pages.id
             WHERE task_pages.task_id = ? AND fragments.text_content <> ''
             ORDER BY pages.id, fragments.position, fragments.id"
        );
        let found =
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(task.as_str()).fetch_all(self.reader()).await?;
        found
            .iter()
            .map(|row| {
                Ok(TaskFragment {
                    fragment: rows::fragment(row)?,
                    title: row.value("title")?,
                    language: row.value("language")?,
                    domain: row.value("domain")?,
                    url: row.value("page_url")?,
                    domain_category: row.value("domain_category")?,
                    source_key: row.value("source_key")?,
                })
            })
            .collect()
    }
}

/// Stores a work, or fills the missing fields of an existing one.
async fn put_work(connection: &mut SqliteConnection, work: &Work) -> Result<WorkId> {
    let id = work.id();
    let named = |kind: fn(&Identifier) -> Option<String>| work.ids.iter().find_map(kind);
    sqlx::query(
        "INSERT INTO works
             (id, title, year, published_date, venue, doi, pmid, pmcid, arxiv_id, s2_id, openalex_id, authors,
              citation_count, reference_count, reference_ids, is_retracted, oa_url, source_api)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
         ON CONFLICT (id) DO UPDATE SET
             title = CASE title WHEN '' THEN excluded.title ELSE title END,
             year = coalesce(year, excluded.year),
             published_date = coalesce(published_date, excluded.published_date),
             venue = coalesce(venue, excluded.venue),
             doi = coalesce(doi, excluded.doi),
             pmid = coalesce(pmid, excluded.pmid),
             pmcid = coalesce(pmcid, excluded.pmcid),
             arxiv_id = coalesce(arxiv_id, excluded.arxiv_id),
             s2_id = coalesce(s2_id, excluded.s2_id),
             openalex_id = coalesce(openalex_id, excluded.openalex_id),
             authors = CASE authors WHEN '[]' THEN excluded.authors ELSE authors END,
             citation_count = coalesce(citation_count, excluded.citation_count),
             reference_count = coalesce(reference_count, excluded.reference_count),
             reference_ids = CASE reference_ids WHEN '[]' THEN excluded.reference_ids ELSE reference_ids END,
             -- A retraction comes after publication and stays; the newest word on it counts.
             is_retracted = coalesce(excluded.is_retracted, is_retracted),
             oa_url = coalesce(oa_url, excluded.oa_url)",
    )
    .bind(id.as_str())
    .bind(beginning(&work.title, MAX_TITLE))
    .bind(work.year)
    .bind(&work.published_date)
    .bind(&work.venue)
    .bind(work.doi.as_ref().map(|doi| doi.as_str().to_owned()))
    .bind(named(|id| if let Identifier::Pmid(id) = id { Some(id.clone()) } else { None }))
    .bind(named(|id| if let Identifier::Pmcid(id) = id { Some(id.clone()) } else { None }))
    .bind(named(|id| if let Identifier::Arxiv(id) = id { Some(id.to_string()) } else { None }))
    .bind(named(|id| if let Identifier::SemanticScholar(id) = id { Some(id.clone()) } else { None }))
    .bind(named(|id| if let Identifier::OpenAlex(id) = id { Some(id.clone()) } else { None }))
    .bind(json(&work.authors)?)
    .bind(work.citation_count)
    .bind(
        work.reference_count
            .map(i64::from)
            .or((!work.references.is_empty()).then_some(work.references.len().cast_signed() as i64)),
    )
    .bind(json(&work.references)?)
    .bind(work.is_retracted)
    .bind(&work.oa_url)
    .bind(&work.source_api)
    .execute(connection)
    .await?;
    Ok(id)
}

/// How many pages the task has.
async fn pages_of(connection: &mut SqliteConnection, task: &TaskId) -> Result<i64> {
    let count = sqlx::query_scalar("SELECT count(*) FROM task_pages WHERE task_id = ?");
    Ok(count.bind(task.as_str()).fetch_one(connection).await?)
}

async fn is_of_task(connection: &mut SqliteConnection, task: &TaskId, page: &PageId) -> Result<bool> {
    let found = "SELECT EXISTS (SELECT 1 FROM task_pages WHERE task_id = ? AND page_id = ?)";
    Ok(sqlx::query_scalar(found).bind(task.as_str()).bind(page.as_str()).fetch_one(connection).await?)
}

/// A page that is stored already.
struct KnownPage {
    id: PageId,
    metadata: PaperMetadata,
}

/// The stored page that this one is: by its id, its URL or its work's DOI.
async fn known_page(
    connection: &mut SqliteConnection,
    page: &Page,
    work: Option<&Work>,
) -> Result<Option<KnownPage>> {
    // A page may name a work without its record; then only an existing one can be referenced.
    let work_id = work.map(Work::id).or_else(|| page.work_id.clone());
    let known = sqlx::query(
        "SELECT id, paper_metadata FROM pages
         WHERE id = ?1 OR url = ?2 OR (work_id = ?3 AND ?3 LIKE 'doi:%')
         ORDER BY id = ?1 DESC, url = ?2 DESC, seq LIMIT 1",
    )
    .bind(page.id.as_str())
    .bind(&page.url)
    .bind(work_id.as_ref().map(WorkId::as_str))
    .fetch_optional(&mut *connection)
    .await?;
    let known = known
        .map(|row| Ok(KnownPage { id: row.parsed("id")?, metadata: row.json_or_default("paper_metadata")? }));
    known.transpose()
}

/// Stores a page, or fills the missing fields of an existing one; returns its id.
async fn put_page(
    connection: &mut SqliteConnection,
    new: &NewPage,
    known: Option<KnownPage>,
    work: Option<&WorkId>,
    cause: &JobId,
    now: &str,
) -> Result<PageId> {
    let page = &new.page;
    let work_id = work.or(page.work_id.as_ref()).map(|id| id.as_str().to_owned());
    let answer = new.answer.as_ref();
    let Some(known) = known else {
        sqlx::query(
            "INSERT INTO pages (id, url, domain, domain_category, title, work_id, language, fetch_method, fetched_at,
                 paper_metadata, cause_id, final_url, http_status, content_hash)
             VALUES (?, ?, ?, ?, ?, (SELECT id FROM works WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(page.id.as_str())
        .bind(&page.url)
        .bind(&page.domain)
        .bind(&page.domain_category)
        .bind(beginning(&page.title, MAX_TITLE))
        .bind(&work_id)
        .bind(&page.language)
        .bind(page.fetch_method.as_str())
        .bind(now)
        .bind(json(&page.paper_metadata)?)
        .bind(cause.as_str())
        .bind(answer.map(|answer| &answer.final_url))
        .bind(answer.map(|answer| answer.http_status))
        .bind(answer.map(|answer| &answer.content_hash))
        .execute(connection)
        .await?;
        return Ok(page.id.clone());
    };
    let KnownPage { id, metadata } = known;
    let metadata = fill_metadata(metadata, &page.paper_metadata);
    sqlx::query(
        "UPDATE pages SET title = CASE title WHEN '' THEN ?2 ELSE title END,
             work_id = coalesce(work_id, (SELECT id FROM works WHERE id = ?3)),
             language = coalesce(language, ?4), paper_metadata = ?5,
             fetch_method = iif(error IS NULL, fetch_method, ?6), fetched_at = iif(error IS NULL, fetched_at, ?7),
             error = NULL
         WHERE id = ?1",
    )
    .bind(id.as_str())
    .bind(beginning(&page.title, MAX_TITLE))
    .bind(&work_id)
    .bind(&page.language)
    .bind(json(&metadata)?)
    .bind(page.fetch_method.as_str())
    .bind(now)
    .execute(&mut *connection)
    .await?;
    if let Some(answer) = answer {
        note_fetch(connection, &id, new, answer).await?;
    }
    Ok(id)
}

/// Stores a page that is only known from a citation, without content. A known page stays unchanged.
pub(crate) async fn put_cited(
    connection: &mut SqliteConnection,
    page: &Page,
    work: Option<&Work>,
    cause: &JobId,
    now: &str,
) -> Result<PageId> {
    let known = known_page(connection, page, work).await?;
    let work = match work {
        Some(work) => Some(put_work(connection, work).await?),
        None => None,
    };
    if let Some(known) = known {
        return Ok(known.id);
    }
    sqlx::query(
        "INSERT INTO pages (id, url, domain, domain_category, title, work_id, language, fetch_method, fetched_at,
             paper_metadata, cause_id, error)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'not fetched: known from what cites it')",
    )
    .bind(page.id.as_str())
    .bind(&page.url)
    .bind(&page.domain)
    .bind(&page.domain_category)
    .bind(beginning(&page.title, MAX_TITLE))
    .bind(work.as_ref().map(WorkId::as_str))
    .bind(&page.language)
    .bind(page.fetch_method.as_str())
    .bind(now)
    .bind(json(&page.paper_metadata)?)
    .bind(cause.as_str())
    .execute(connection)
    .await?;
    Ok(page.id.clone())
}

/// A page known only from an API or another page has now been fetched.
async fn note_fetch(
    connection: &mut SqliteConnection,
    id: &PageId,
    new: &NewPage,
    answer: &Answered,
) -> Result<()> {
    sqlx::query(
        "UPDATE pages SET final_url = ?2, http_status = ?3, content_hash = ?4, domain = ?5, domain_category = ?6,
             fetch_method = ?7
         WHERE id = ?1 AND final_url IS NULL AND fetch_method IN ('academic_api', ?7)",
    )
    .bind(id.as_str())
    .bind(&answer.final_url)
    .bind(answer.http_status)
    .bind(&answer.content_hash)
    .bind(&new.page.domain)
    .bind(&new.page.domain_category)
    .bind(new.page.fetch_method.as_str())
    .execute(connection)
    .await?;
    Ok(())
}

/// The existing metadata, with gaps filled from the new one.
fn fill_metadata(known: PaperMetadata, new: &PaperMetadata) -> PaperMetadata {
    let mut imprint = known.imprint;
    imprint.complete_from(&new.imprint);
    PaperMetadata {
        year: known.year.or(new.year),
        venue: known.venue.or_else(|| new.venue.clone()),
        imprint,
        doi: known.doi.or_else(|| new.doi.clone()),
        authors: if known.authors.is_empty() { new.authors.clone() } else { known.authors },
        citation_count: known.citation_count.or(new.citation_count),
        corpus: known.corpus.or_else(|| new.corpus.clone()),
        doc_id: known.doc_id.or_else(|| new.doc_id.clone()),
    }
}

/// Stores a fragment; the same text on the same page is one fragment.
async fn put_fragment(connection: &mut SqliteConnection, page: &PageId, fragment: &Fragment) -> Result<()> {
    let (id, hash) = (fragment_id(page, fragment), text_hash(&fragment.text_content));
    if quarantine::holds(connection, page, &hash).await? {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO fragments (id, page_id, fragment_type, position, text_content, heading_context, char_start,
             char_end, text_hash)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    )
    .bind(id.as_str())
    .bind(page.as_str())
    .bind(fragment.fragment_type.as_str())
    .bind(fragment.position)
    .bind(beginning(&fragment.text_content, MAX_TEXT))
    .bind(fragment.heading_context.as_deref().map(|heading| beginning(heading, MAX_TITLE)))
    .bind(fragment.char_start)
    .bind(fragment.char_end)
    .bind(hash)
    .execute(connection)
    .await?;
    Ok(())
}

/// At most so many characters of a text, from its beginning.
fn beginning(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// Its id derives from the page and the text; under a page with another id it gets another id as well.
fn fragment_id(page: &PageId, fragment: &Fragment) -> FragmentId {
    if *page == fragment.page_id {
        fragment.id.clone()
    } else {
        FragmentId::derive(&[page.as_str(), &fragment.text_content])
    }
}

/// Hash of a text, the same in every version: the last part of an id derived from it.
fn text_hash(text: &str) -> String {
    FragmentId::derive(&[text]).as_str().trim_start_matches(FragmentId::PREFIX).to_owned()
}

/// Fails unless all of these ids exist in the table.
pub(crate) async fn require<'a>(
    connection: &mut SqliteConnection,
    kind: &str,
    sql: &'static str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let ids: HashSet<&str> = ids.collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let missing = sqlx::query(sql).bind(json(&ids)?).fetch_optional(connection).await?;
    match missing {
        Some(row) => Err(StoreError::not_found(kind, row.try_get::<String, _>(0)?)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
