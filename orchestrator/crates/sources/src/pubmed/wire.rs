//! The E-utilities' JSON, and PubMed's records in XML. Everything may be absent or null.

use crate::Paper;
use crate::paper::{address, filled};
use crate::registry::PUBMED;
use lyra_bibliography::{Format, Record, read};
use lyra_domain::Work;
use serde::Deserialize;

/// How every list of records ends.
const END: &[u8] = b"</PubmedArticleSet>";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireFound {
    esearchresult: Option<Found>,
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Found {
    /// A number, as text.
    count: Option<String>,
    idlist: Option<Vec<String>>,
    #[serde(rename = "ERROR")]
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireLinks {
    linksets: Option<Vec<LinkSet>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LinkSet {
    linksetdbs: Option<Vec<Links>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Links {
    linkname: Option<String>,
    links: Option<Vec<String>>,
}

impl WireFound {
    /// How many match, and the PMIDs of this answer.
    ///
    /// # Errors
    /// The error that the service reports with status 200, or an answer without a result.
    pub(super) fn read(self) -> Result<(u64, Vec<String>), String> {
        let found = self.esearchresult.unwrap_or_default();
        if let Some(why) = filled(found.error).or_else(|| filled(self.error)) {
            return Err(why);
        }
        let ids = found.idlist.ok_or("its JSON has no `idlist`")?;
        let count = found.count.and_then(|count| count.parse().ok());
        Ok((count.unwrap_or(ids.len() as u64), ids.into_iter().filter(|id| is_number(id)).collect()))
    }
}

impl WireLinks {
    /// The PMIDs under this name of a link.
    pub(super) fn of(self, name: &str) -> Vec<String> {
        let lists = self.linksets.into_iter().flatten().filter_map(|set| set.linksetdbs).flatten();
        let named = lists.filter(|list| list.linkname.as_deref() == Some(name)).filter_map(|list| list.links);
        named.flatten().filter(|id| is_number(id)).collect()
    }
}

fn is_number(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// The readable records of an answer. Unreadable ones are skipped.
///
/// # Errors
/// An answer that is not a whole list, or of which no record can be read.
pub(super) fn records(body: &[u8]) -> Result<Vec<Record>, String> {
    if !body.trim_ascii_end().ends_with(END) && !body.trim_ascii_end().ends_with(b"<PubmedArticleSet/>") {
        return Err("its XML is no whole `PubmedArticleSet`".to_owned());
    }
    let (mut records, mut odd, mut why) = (Vec::new(), 0_usize, None);
    for record in read(body, Format::PubMedXml) {
        match record {
            Ok(record) => records.push(record),
            Err(rejected) => {
                odd += 1;
                why.get_or_insert(rejected.reason);
            }
        }
    }
    match why {
        Some(why) if records.is_empty() => {
            Err(format!("none of its {odd} records can be read, the first because of {why}"))
        }
        Some(why) => {
            tracing::info!(odd, read = records.len(), why, "unreadable records are skipped");
            Ok(records)
        }
        None => Ok(records),
    }
}

/// The work of a record, unless it only says that another one was retracted.
pub(super) fn study(record: Record) -> Option<Paper> {
    let is_notice = !record.retracts.is_empty() || record.title.to_lowercase().starts_with("retraction:");
    (!is_notice).then(|| paper(record))
}

pub(super) fn paper(record: Record) -> Paper {
    let landing = record.pmid.as_ref().map(|id| format!("https://pubmed.ncbi.nlm.nih.gov/{id}/"));
    let mut work = Work {
        imprint: record.imprint(),
        // PubMed marks every record that was retracted, so the absence of a mark says something.
        is_retracted: Some(record.is_retracted),
        year: record.year,
        source_api: PUBMED.name.to_owned(),
        ..Work::default()
    };
    record.identifiers().into_iter().for_each(|id| work.add_identifier(id));
    work.title = record.title;
    work.authors = record.authors;
    work.venue = record.venue;
    work.published_date = record.date.filter(|date| date.len() == "2024-05-31".len());
    Paper {
        url: address(&work, landing),
        work,
        abstract_text: filled(record.abstract_text),
        language: record.language,
    }
}
