//! Pages of works without an abstract in any API: the open-access full text, else the landing page.

use super::{FetchedPage, PageKind, Pages};
use crate::Result;
use async_trait::async_trait;
use lyra_domain::Fragment;
use lyra_research::ports::{PageFetcher, SourcePage};
use lyra_web::danger::{Finding, Place, Severity};
use lyra_web::extract::Extracted;

/// A page with fewer characters is not a full text: it shows the abstract at most.
const FULL_TEXT: usize = 5_000;

impl Pages {
    /// Fetches the page of a work. A landing page leads to the PDF of its citation metadata, once; if that is
    /// unavailable, the abstract in the metadata replaces a text that lacks it.
    ///
    /// # Errors
    /// As [`Pages::fetch`].
    pub async fn fetch_work(&self, address: &str) -> Result<FetchedPage> {
        let landing = self.fetch_any(address).await?;
        let whole = landing.extracted.text.chars().count() >= FULL_TEXT;
        // What speaks to an AI where a work should be is not followed further.
        let hostile = landing.findings.iter().any(|finding| finding.severity == Severity::High);
        if whole || hostile || landing.kind != PageKind::Html {
            return landing.with_text();
        }
        let pdf = landing.extracted.pdf_url.as_ref().map(ToString::to_string);
        let elsewhere = |pdf: &String| *pdf != landing.url && *pdf != landing.final_url;
        if let Some(pdf) = pdf.filter(elsewhere) {
            match self.fetch(&pdf).await {
                Ok(found) => return Ok(named_by(found, &landing)),
                // The landing page is available, and better than nothing.
                Err(error) => tracing::debug!(url = pdf, %error, "full text is unavailable"),
            }
        }
        self.with_abstract(landing).with_text()
    }

    /// Uses the abstract of the citation metadata as text, unless the text contains it: otherwise the extraction missed
    /// the main content.
    fn with_abstract(&self, page: FetchedPage) -> FetchedPage {
        let Some(said) = &page.extracted.abstract_text else { return page };
        if words(&page.extracted.text).contains(&words(said)) {
            return page;
        }
        let Extracted { text, blocks, language, .. } = Extracted::from_plain_text(said);
        let mut findings: Vec<Finding> = page.findings.iter().map(not_in_text).collect();
        findings.extend(self.rules.patterns().in_text(&text));
        let fragments = vec![Fragment::of_abstract(&page.id, &text)];
        let language = language.or(page.extracted.language);
        let extracted = Extracted { text, blocks, language, links: Vec::new(), ..page.extracted };
        let quarantined = lyra_web::fragment::touched(&extracted, &fragments, &findings);
        FetchedPage { extracted, fragments, findings, quarantined, ..page }
    }
}

/// The full text under the name that the landing page gives it.
fn named_by(mut text: FetchedPage, landing: &FetchedPage) -> FetchedPage {
    if !landing.extracted.title.is_empty() {
        text.extracted.title.clone_from(&landing.extracted.title);
    }
    if text.extracted.doi.is_none() {
        text.extracted.doi.clone_from(&landing.extracted.doi);
    }
    text
}

/// The finding, as outside of the stored text.
fn not_in_text(finding: &Finding) -> Finding {
    let place = match &finding.place {
        Place::Text { .. } => Place::Hidden { how: "landing page".to_owned() },
        hidden @ Place::Hidden { .. } => hidden.clone(),
    };
    Finding { place, ..finding.clone() }
}

/// Its words, however they are set.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[async_trait]
impl PageFetcher for Pages {
    async fn fetch(&self, url: &str) -> lyra_research::Result<SourcePage> {
        Ok(self.fetch_work(url).await?.into_source_page())
    }
}
