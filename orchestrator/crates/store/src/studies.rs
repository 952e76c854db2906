//! What is stored about works that may rest on the same study.

use crate::rows::{RowExt, json};
use crate::{Result, Store};
use lyra_domain::{ArxivId, Doi, Identifier, WorkFacts};
use sqlx::sqlite::SqliteRow;
use std::collections::HashMap;

/// Pages of the works whose keys are in the JSON array `?1`, each with its key.
const PAGES: &str = "
    WITH keyed AS (
        SELECT wanted.value AS work_key, pages.id, pages.seq FROM json_each(?1) AS wanted
        CROSS JOIN pages ON pages.work_id = wanted.value
        UNION
        SELECT wanted.value, pages.id, pages.seq FROM json_each(?1) AS wanted
        CROSS JOIN pages ON pages.id = wanted.value
    )";

impl Store {
    /// What is stored about the works with these keys, in their order. A key without a work or page has no facts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn work_facts(&self, keys: &[String]) -> Result<Vec<WorkFacts>> {
        let wanted = json(&keys)?;
        let mut tx = self.reader().begin().await?;
        let mut facts: HashMap<String, WorkFacts> = HashMap::new();
        let mut references: HashMap<String, Vec<String>> = HashMap::new();
        let works = sqlx::query("SELECT * FROM works WHERE id IN (SELECT value FROM json_each(?))");
        for row in works.bind(&wanted).fetch_all(&mut *tx).await? {
            let work = record(&row)?;
            references.insert(work.key.clone(), row.json_or_default("reference_ids")?);
            facts.insert(work.key.clone(), work);
        }
        // Without full-text search for it, because a registration may be in any of few passages.
        let sql = format!(
            "{PAGES} SELECT work_key, text_content FROM keyed CROSS JOIN fragments ON fragments.page_id = keyed.id
             WHERE text_content LIKE '%NCT%' ORDER BY keyed.seq, fragments.seq"
        );
        let texts = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(&wanted).fetch_all(&mut *tx).await?;
        for row in &texts {
            let key: String = row.value("work_key")?;
            let found = Identifier::registrations_in(row.value("text_content")?);
            let known = &mut facts.entry(key).or_default().registrations;
            let new: Vec<Identifier> = found.into_iter().filter(|id| !known.contains(id)).collect();
            known.extend(new);
        }
        let sql = format!(
            "{PAGES} SELECT DISTINCT citing.work_key AS citing, cited.work_key AS cited FROM keyed AS citing
             CROSS JOIN edges ON edges.source_id = citing.id AND edges.relation = 'cites'
             CROSS JOIN keyed AS cited ON cited.id = edges.target_id
             ORDER BY citing.work_key, cited.work_key"
        );
        let citations: Vec<(String, String)> =
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(&wanted).fetch_all(&mut *tx).await?;
        for (citing, cited) in citations {
            facts.entry(citing).or_default().cites.push(cited);
        }
        let owners: HashMap<Identifier, String> = facts
            .iter()
            .flat_map(|(key, work)| work.identifiers.iter().map(|id| (id.clone(), key.clone())))
            .collect();
        for (citing, references) in references {
            let cited = references.iter().filter_map(|text| owners.get(&reference(text)?).cloned());
            facts.entry(citing).or_default().cites.extend(cited);
        }
        let of = |key: &String| WorkFacts { key: key.clone(), ..facts.remove(key).unwrap_or_default() };
        Ok(keys.iter().map(of).collect())
    }
}

/// A reference as a source reports it: a DOI, or an id of that source.
fn reference(text: &str) -> Option<Identifier> {
    let doi = Doi::parse(text).map(Identifier::Doi);
    doi.or_else(|| Identifier::openalex(text)).or_else(|| Identifier::semantic_scholar(text))
}

/// A work by its record, without what its passages say.
fn record(row: &SqliteRow) -> Result<WorkFacts> {
    let key: String = row.value("id")?;
    let column =
        |name: &str| -> Result<String> { Ok(row.value::<Option<String>>(name)?.unwrap_or_default()) };
    let doi = Doi::parse(&column("doi")?).map(Identifier::Doi);
    let identifiers = [
        doi,
        Identifier::pmid(&column("pmid")?),
        Identifier::pmcid(&column("pmcid")?),
        ArxivId::parse(&column("arxiv_id")?).map(Identifier::Arxiv),
        Identifier::semantic_scholar(&column("s2_id")?),
        Identifier::openalex(&column("openalex_id")?),
    ];
    Ok(WorkFacts {
        title: row.value("title")?,
        year: row.value("year")?,
        authors: row.json_or_default("authors")?,
        identifiers: identifiers.into_iter().flatten().collect(),
        registrations: Vec::new(),
        cites: Vec::new(),
        key,
    })
}

#[cfg(test)]
mod tests;
