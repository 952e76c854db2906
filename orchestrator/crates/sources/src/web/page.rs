//! A page that was fetched, and what the pipeline takes from it.

use super::fetch::shown;
use crate::{Error, Result};
use jiff::Timestamp;
use lyra_domain::domains::DomainDecision;
use lyra_domain::{FetchMethod, Fragment, PageId};
use lyra_research::ports::{Answered, Danger, Quarantined, SourcePage};
use lyra_web::danger::{Finding, Place, Severity};
use lyra_web::extract::Extracted;
use lyra_web::fragment::Touched;
use lyra_web::read::{PageKind, TITLE};
use serde::{Serialize, Serializer};
use std::collections::{HashMap, HashSet};

/// A page that was fetched and read. Its text is untrusted data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FetchedPage {
    /// Identity, from the canonical requested address.
    pub id: PageId,
    /// The canonical requested address.
    pub url: String,
    /// The address that answered.
    pub final_url: String,
    /// Status code.
    pub status: u16,
    /// How it was fetched: plain HTTP or a browser.
    pub fetch_method: FetchMethod,
    /// What it was.
    pub kind: PageKind,
    /// Encoding of its text, for HTML and plain text.
    pub encoding: Option<String>,
    /// SHA-256 of its bytes, in hexadecimal.
    pub content_hash: String,
    /// When it was received.
    pub fetched_at: Timestamp,
    /// Category of the domain that answered, and why.
    pub domain: DomainDecision,
    /// Main text and the page's metadata.
    pub extracted: Extracted,
    /// The main text in pieces.
    pub fragments: Vec<Fragment>,
    /// Text meant for the reading AI: facts, and no judgment of the page.
    pub findings: Vec<Finding>,
    /// The fragments that such text touches, of medium severity and above; written as their positions.
    #[serde(serialize_with = "positions")]
    pub quarantined: Vec<Touched>,
    /// Why the browser did not load it, if its scripts might have added text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrendered: Option<String>,
}

fn positions<S: Serializer>(quarantined: &[Touched], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(quarantined.iter().map(|touched| touched.position))
}

impl FetchedPage {
    /// # Errors
    /// A page without text.
    pub(super) fn with_text(self) -> Result<Self> {
        if self.extracted.text.trim().is_empty() {
            let why = self.unrendered.as_ref().map_or_else(
                || "it has no text".to_owned(),
                |why| format!("it has no text without JavaScript: {why}"),
            );
            let url = self.url.parse().as_ref().map_or_else(|_| self.url.clone(), shown);
            return Err(Error::Unreadable { url, why });
        }
        Ok(self)
    }

    /// Positions of the fragments that text addressing an AI touches.
    pub(super) fn quarantined_positions(&self) -> HashSet<u32> {
        self.quarantined.iter().map(|touched| touched.position).collect()
    }

    /// As the pipeline takes it: what addresses an AI apart from the rest.
    pub(super) fn into_source_page(self) -> SourcePage {
        let dangers: HashMap<u32, Danger> = self
            .quarantined
            .into_iter()
            .map(|touched| {
                let severity = touched.severity.as_str().to_owned();
                (touched.position, Danger { rule: touched.rule, severity })
            })
            .collect();
        let (mut fragments, mut quarantined) = (Vec::new(), Vec::new());
        for fragment in self.fragments {
            match dangers.get(&fragment.position) {
                Some(danger) => quarantined.push(Quarantined { fragment, danger: danger.clone() }),
                None => fragments.push(fragment),
            }
        }
        // Visible text may be an article about attacks; hidden text is meant for machines.
        let hidden = |finding: &Finding| matches!(&finding.place, Place::Hidden { how } if how != TITLE);
        let hostile =
            self.findings.into_iter().find(|finding| finding.severity == Severity::High && hidden(finding));
        SourcePage {
            domain: self.domain.domain,
            domain_category: self.domain.category.to_string(),
            method: self.fetch_method,
            answer: Answered {
                final_url: self.final_url,
                http_status: self.status,
                content_hash: self.content_hash,
            },
            title: self.extracted.title,
            language: self.extracted.language,
            fragments,
            links: Vec::new(),
            quarantined,
            left_out: self.extracted.left_out,
            hostile: hostile.map(|finding| finding.rule),
        }
    }
}
