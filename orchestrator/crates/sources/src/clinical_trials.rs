//! ClinicalTrials.gov, API version 2 (<https://clinicaltrials.gov/data-api/api>): registered trials, and the results
//! that their sponsors reported to the registry. A record is the registry's, not a publication: its title, its venue,
//! and every passage of its text say so.

mod text;
mod wire;

use crate::api::{Api, ApiConfig, Probe};
use crate::http::{HttpClient, Request};
use crate::paper::{hits, once, plain_words};
use crate::registry::{CLINICAL_TRIALS, answer_by_row};
use crate::{ApiSource, Paper, Result};
use async_trait::async_trait;
use lyra_domain::Identifier;
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource};
use std::time::Duration;
use tokio::time::Instant;
use wire::Page;

/// The requested parts of a record. Sites, contacts, eligibility, and adverse events are left out.
const FIELDS: &str = "IdentificationModule,StatusModule,SponsorCollaboratorsModule,DescriptionModule,\
                      ConditionsModule,DesignModule,ArmsInterventionsModule,OutcomesModule,ReferencesModule,\
                      OutcomeMeasuresModule,HasResults";
/// Most records on a page; the API allows 1,000, but results are long.
const PAGE: usize = 50;
/// No limit is documented; `robots.txt` asks for one request a second.
const INTERVAL: Duration = Duration::from_secs(1);

/// The API. Cheap to clone.
#[derive(Clone)]
pub struct ClinicalTrials {
    api: Api,
}

impl ClinicalTrials {
    /// A client of the API under `config.base_url` (`https://clinicaltrials.gov/api/v2`).
    pub fn new(http: HttpClient, config: &ApiConfig) -> Self {
        Self { api: Api::new(http, CLINICAL_TRIALS.name, config, INTERVAL, 2) }
    }

    /// At most `limit` registered trials, most relevant first.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn trials(&self, query: &str, limit: usize) -> Result<Vec<Paper>> {
        let query = plain_words(query);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        self.list("query.term", &query, limit).await
    }

    /// The records of these registrations, fifty per request; other identifiers and unknown ones are omitted.
    ///
    /// # Errors
    /// Errors of the HTTP layer or the API.
    pub async fn batch(&self, ids: &[Identifier]) -> Result<Vec<Paper>> {
        let registered = |id| if let Identifier::Nct(id) = id { Some(id) } else { None };
        let ids: Vec<String> = once(ids).into_iter().filter_map(registered).collect();
        let mut found = Vec::new();
        for part in ids.chunks(PAGE) {
            found.extend(self.list("filter.ids", &part.join(","), part.len()).await?);
        }
        Ok(found)
    }

    /// At most `limit` records of a list, page by page.
    async fn list(&self, name: &str, value: &str, limit: usize) -> Result<Vec<Paper>> {
        let mut found = Vec::new();
        let mut token: Option<String> = None;
        while found.len() < limit {
            let count = (limit - found.len()).clamp(1, PAGE).to_string();
            let mut parameters = vec![(name, value), ("fields", FIELDS), ("pageSize", count.as_str())];
            parameters.extend(token.as_deref().map(|token| ("pageToken", token)));
            let page: Option<Page> = self.api.ask(Request::get(self.api.url("studies", &parameters))).await?;
            let Some(page) = page else { break };
            let before = found.len();
            found.extend(page.studies.into_iter().flatten().filter_map(wire::Study::into_paper));
            match page.next_page_token {
                Some(next) if Some(&next) != token.as_ref() && found.len() > before => token = Some(next),
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }
}

#[async_trait]
impl EvidenceSource for ClinicalTrials {
    answer_by_row!(CLINICAL_TRIALS);

    async fn search(&self, query: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok(hits(self.trials(query, limit).await?).into())
    }

    fn leads_to_works(&self) -> bool {
        true
    }
}

// The registry keeps no records of publications; the `references` of its records name them.
#[async_trait]
impl ScholarlySource for ClinicalTrials {
    /// Records name the publications of their results by PMID.
    fn own_reference(&self, entry: &str) -> Option<Identifier> {
        entry.strip_prefix("pmid:").and_then(Identifier::pmid)
    }

    async fn lookup(&self, ids: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(hits(self.batch(ids).await?))
    }
}

#[async_trait]
impl ApiSource for ClinicalTrials {
    async fn probe(&self) -> Result<Probe> {
        let api = self.api.uncached();
        let begun = Instant::now();
        let parameters = [
            ("query.term", "sleep and memory"),
            ("fields", "NCTId"),
            ("pageSize", "1"),
            ("countTotal", "true"),
        ];
        let page: Option<Page> = api.ask(Request::get(api.url("studies", &parameters))).await?;
        Ok(Probe { matches: page.and_then(|page| page.total_count).unwrap_or(0), took: begun.elapsed() })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.api.pause().await
    }
}
