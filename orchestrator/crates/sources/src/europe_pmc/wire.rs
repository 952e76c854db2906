//! The API's JSON. Everything may be absent or null.

use crate::Paper;
use crate::paper::{address, filled, says_retracted};
use crate::records::Records;
use crate::registry::EUROPE_PMC;
use lyra_bibliography::{initials_first, language_code, shown_line, shown_lines};
use lyra_domain::{Doi, Identifier, Imprint, Work, WorkKind};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WirePage {
    pub(super) hit_count: Option<u64>,
    pub(super) next_cursor_mark: Option<String>,
    pub(super) result_list: Option<ResultList>,
    /// Why the query could not be answered.
    pub(super) err_msg: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResultList {
    pub(super) result: Option<Records<WireRecord>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireRecord {
    id: Option<String>,
    source: Option<String>,
    pmid: Option<String>,
    pmcid: Option<String>,
    doi: Option<String>,
    title: Option<String>,
    author_list: Option<AuthorList>,
    author_string: Option<String>,
    journal_info: Option<JournalInfo>,
    pub_year: Option<String>,
    first_publication_date: Option<String>,
    abstract_text: Option<String>,
    language: Option<String>,
    pub_type_list: Option<PubTypes>,
    full_text_url_list: Option<FullTexts>,
    cited_by_count: Option<u32>,
    comment_correction_list: Option<Corrections>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AuthorList {
    author: Option<Vec<Author>>,
}

/// The names of a person, or that of a group.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Author {
    #[serde(rename = "fullName")]
    full: Option<String>,
    #[serde(rename = "firstName")]
    first: Option<String>,
    #[serde(rename = "lastName")]
    last: Option<String>,
    #[serde(rename = "collectiveName")]
    group: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JournalInfo {
    journal: Option<Journal>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Journal {
    title: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PubTypes {
    pub_type: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FullTexts {
    full_text_url: Option<Vec<FullText>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FullText {
    /// `OA` open access, `F` free, `S` by subscription.
    availability_code: Option<String>,
    document_style: Option<String>,
    url: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Corrections {
    comment_correction: Option<Vec<Correction>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Correction {
    /// `Retraction in` on the work, `Retraction of` on its notice.
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// The list of citations or references of a work.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireLinks {
    hit_count: Option<usize>,
    citation_list: Option<CitationList>,
    reference_list: Option<ReferenceList>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CitationList {
    citation: Option<Records<WireLink>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReferenceList {
    reference: Option<Records<WireLink>>,
}

/// A work in such a list. A reference that the service has not recognized has no id.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireLink {
    id: Option<String>,
    source: Option<String>,
    doi: Option<String>,
}

impl WireLinks {
    /// How many there are in all, and those of this page.
    pub(super) fn entries(self) -> (usize, Vec<WireLink>) {
        let citations = self.citation_list.and_then(|list| list.citation);
        let entries = citations.or_else(|| self.reference_list.and_then(|list| list.reference));
        (self.hit_count.unwrap_or(0), entries.map(|entries| entries.0).unwrap_or_default())
    }
}

impl WireLink {
    /// The query that finds it.
    pub(super) fn query(&self) -> Option<String> {
        let is_word =
            |text: &&String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match (self.id.as_ref().filter(is_word), self.source.as_ref().filter(is_word)) {
            (Some(id), Some(source)) => Some(format!("(EXT_ID:{id} AND SRC:{source})")),
            _ => super::name(&Identifier::Doi(Doi::parse(self.doi.as_deref()?)?)),
        }
    }
}

impl WireRecord {
    /// Whether it only says that another work was retracted.
    pub(super) fn is_notice(&self) -> bool {
        self.is_of("retraction of publication") || self.has_correction("retraction of")
    }

    /// Its collection and its number there.
    pub(super) fn into_name(self) -> Option<(String, String)> {
        Some((filled(self.source)?, filled(self.id)?))
    }

    fn is_of(&self, kind: &str) -> bool {
        let kinds = self.pub_type_list.iter().filter_map(|list| list.pub_type.as_ref()).flatten();
        kinds.into_iter().any(|found| found.trim().eq_ignore_ascii_case(kind))
    }

    /// What its publication types say; a preprint may be a journal article there, too.
    fn kind(&self) -> Option<WorkKind> {
        let words = self.pub_type_list.iter().filter_map(|list| list.pub_type.as_ref()).flatten();
        let kinds: Vec<WorkKind> = words.filter_map(|word| WorkKind::of_catalog(word)).collect();
        let special = kinds.iter().find(|kind| **kind != WorkKind::Article);
        special.or(kinds.first()).copied()
    }

    fn has_correction(&self, kind: &str) -> bool {
        let list = self.comment_correction_list.as_ref().and_then(|list| list.comment_correction.as_ref());
        let mut kinds = list.into_iter().flatten().filter_map(|correction| correction.kind.as_deref());
        kinds.any(|found| found.trim().to_lowercase().starts_with(kind))
    }

    /// Whether it was retracted. PubMed marks its records; what the absence of a mark means elsewhere is not known.
    fn is_retracted(&self, title: &str) -> Option<bool> {
        let marked = self.is_of("retracted publication")
            || self.has_correction("retraction in")
            || says_retracted(title);
        (marked || self.source.as_deref() == Some("MED")).then_some(marked)
    }

    /// Where it is free: as a PDF if possible.
    fn free_copy(&mut self) -> Option<String> {
        let list = self.full_text_url_list.take().and_then(|list| list.full_text_url).unwrap_or_default();
        let is_free = |copy: &FullText| matches!(copy.availability_code.as_deref(), Some("OA" | "F"));
        let mut free: Vec<FullText> = list.into_iter().filter(is_free).collect();
        free.sort_by_key(|copy| copy.document_style.as_deref() != Some("pdf"));
        free.into_iter().find_map(|copy| filled(copy.url))
    }
}

/// A title as PubMed's records have it: with a period at its end.
fn without_period(title: &str) -> &str {
    title.strip_suffix('.').filter(|bare| !bare.ends_with('.')).unwrap_or(title)
}

/// "Given Family". Full names and the line of all authors are written "Sato A".
fn names(list: Option<AuthorList>, one_line: Option<String>) -> Vec<String> {
    let name = |author: Author| {
        let (first, last) = (filled(author.first), filled(author.last));
        let whole = first.zip(last).map(|(first, last)| format!("{first} {last}"));
        let full = || filled(author.full).map(|name| initials_first(&name));
        whole.or_else(full).or_else(|| filled(author.group))
    };
    let names: Vec<String> =
        list.and_then(|list| list.author).into_iter().flatten().filter_map(name).collect();
    if !names.is_empty() {
        return names;
    }
    let line = one_line.unwrap_or_default();
    let names = line.trim_end_matches('.').split(", ").filter_map(|name| filled(Some(name.to_owned())));
    names.map(|name| initials_first(&name)).collect()
}

impl From<WireRecord> for Paper {
    fn from(mut record: WireRecord) -> Self {
        let title = shown_line(&record.title.take().unwrap_or_default());
        let (is_retracted, kind) = (record.is_retracted(&title), record.kind());
        let mut work = Work {
            title: without_period(&title).to_owned(),
            year: record.pub_year.as_deref().and_then(|year| year.trim().parse().ok()),
            oa_url: record.free_copy(),
            published_date: filled(record.first_publication_date),
            venue: filled(
                record.journal_info.and_then(|info| info.journal).and_then(|journal| journal.title),
            ),
            imprint: Imprint { kind, ..Imprint::default() },
            authors: names(record.author_list, record.author_string),
            citation_count: record.cited_by_count,
            is_retracted,
            source_api: EUROPE_PMC.name.to_owned(),
            ..Work::default()
        };
        let known = [
            record.doi.and_then(|doi| Doi::parse(&doi)).map(Identifier::Doi),
            record.pmid.and_then(|id| Identifier::pmid(&id)),
            record.pmcid.and_then(|id| Identifier::pmcid(&id)),
        ];
        known.into_iter().flatten().for_each(|id| work.add_identifier(id));
        let landing = record.source.zip(record.id);
        let landing = landing.map(|(source, id)| format!("https://europepmc.org/article/{source}/{id}"));
        let text = record.abstract_text.map(|text| shown_lines(&text));
        Self {
            url: address(&work, landing),
            work,
            abstract_text: filled(text),
            language: record.language.and_then(|language| language_code(&language)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(value: serde_json::Value) -> WireRecord {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_record_of_nulls_is_a_paper_without_anything() {
        let record = record(json!({"id": "PPR1", "source": "PPR", "title": null, "authorList": null,
            "authorString": "Sato A, Lee B.", "journalInfo": {"journal": null}, "pubTypeList": {"pubType": null},
            "commentCorrectionList": {"commentCorrection": null}, "fullTextUrlList": null}));
        assert!(!record.is_notice());
        let paper = Paper::from(record);
        assert_eq!(paper.url, "https://europepmc.org/article/PPR/PPR1");
        assert_eq!(paper.work.authors, ["A Sato", "B Lee"]);
        assert_eq!((paper.work.is_retracted, paper.abstract_text), (None, None));
    }

    #[test]
    fn given_names_come_first() {
        let paper = Paper::from(record(json!({"authorList": {"author": [
            {"fullName": "Sato A", "firstName": "Aiko", "lastName": "Sato"},
            {"fullName": "van der Berg JP Jr"},
            {"fullName": "Ann Lee"},
            {"collectiveName": "Sleep Study Group UK"}]}})));
        assert_eq!(
            paper.work.authors,
            ["Aiko Sato", "JP van der Berg Jr", "Ann Lee", "Sleep Study Group UK"]
        );
        let line = json!({"authorString": "Smith JA 3rd, Kim J-H, Sleep Study Group UK."});
        assert_eq!(
            Paper::from(record(line)).work.authors,
            ["JA Smith 3rd", "J-H Kim", "Sleep Study Group UK"]
        );
    }

    #[test]
    fn retractions_and_their_notices() {
        let typed = |kind: &str| record(json!({"source": "MED", "pubTypeList": {"pubType": [kind]}}));
        let corrected = |kind: &str| {
            record(json!({"source": "MED", "commentCorrectionList": {"commentCorrection": [{"type": kind}]}}))
        };
        for (record, notice, retracted) in [
            (typed("Retracted Publication"), false, true),
            (typed("Retraction of Publication"), true, false),
            (typed("Journal Article"), false, false),
            (corrected("Retraction in"), false, true),
            (corrected("Retraction of"), true, false),
            (corrected("Erratum in"), false, false),
        ] {
            assert_eq!(
                (record.is_notice(), record.is_retracted("Naps")),
                (notice, Some(retracted)),
                "{record:?}"
            );
        }
    }
}
