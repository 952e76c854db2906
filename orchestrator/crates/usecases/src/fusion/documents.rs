//! Texts of single documents: snippets with what matches a query, and publications.

use super::Fusion;
use super::views::lane_recipe;
use crate::AppError;
use lyra_corpus::backend::{Codes, IdType, LaneKind, Publication};
use lyra_fusion::{cut, passages};
use lyra_store::{RunKind, StoredRun};
use lyra_text::query::{Field, Query, highlights};
use lyra_wire::fusion::{CutField, DocumentView, Documents, Passage};
use lyra_wire::json::size;
use std::collections::BTreeMap;

/// Bytes of one answer's documents.
const MAX_BYTES: usize = 50_000;
/// Passages of one field, and characters of each.
const PASSAGES: (usize, usize) = (3, 240);
/// Every field.
const ALL_FIELDS: [&str; 35] = [
    "title",
    "abst",
    "claim",
    "desc",
    "app_doc_id",
    "app_id",
    "pub_id",
    "exam_id",
    "app_date",
    "pub_date",
    "country",
    "lang",
    "applicants",
    "cross_en_applicants",
    "ipc_codes",
    "cpc_codes",
    "fi_codes",
    "ft_codes",
    "uspc_codes",
    "locarno_codes",
    "inventors",
    "authors",
    "priority_date",
    "priorities",
    "family_id",
    "references",
    "legal_status",
    "legal_events",
    "doi",
    "venue",
    "volume",
    "pages",
    "type",
    "publisher",
    "isbn",
];

/// Documents to read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentsRequest {
    /// Their numbers.
    pub ids: Vec<String>,
    /// Of which kind.
    pub id_type: IdType,
    /// Corpus; that of the run, else the only one, when `None`.
    pub corpus: Option<String>,
    /// Fields; the usual ones when empty.
    pub fields: Vec<String>,
    /// Most characters of a field.
    pub per_field_chars: BTreeMap<String, usize>,
    /// A run whose queries are highlighted in the texts.
    pub run_id: Option<String>,
    /// A query that is marked in the texts.
    pub query: Option<String>,
}

/// Which fields are shown, and how much of each.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    fields: Vec<(&'static str, usize)>,
}

impl Limits {
    /// Characters of title, abst, claim, desc and anything else in a peek.
    pub(super) const PEEK: [usize; 5] = [80, 320, 320, 320, 200];
    /// In snippets.
    const SNIPPETS: [usize; 5] = [200, 600, 1_000, 1_200, 400];
    /// In publications.
    const PUBLICATION: [usize; 5] = [500, 4_000, 16_000, 30_000, 2_000];

    /// # Errors
    /// An unknown field.
    pub(super) fn new(
        named: &[String],
        usual: &[&'static str],
        chars: &BTreeMap<String, usize>,
        defaults: &[usize; 5],
    ) -> Result<Self, AppError> {
        let known = |name: &str| {
            let name = match name.trim() {
                "abstract" => "abst",
                "claims" => "claim",
                "description" => "desc",
                "apm_applicants" => "applicants",
                "cites" | "citations" => "references",
                "doc_id" => "app_doc_id",
                other => other,
            };
            ALL_FIELDS.iter().copied().find(|field| *field == name).ok_or_else(|| {
                AppError::invalid(
                    format!("unknown field `{name}`"),
                    format!("the fields are {}", ALL_FIELDS.join(", ")),
                )
            })
        };
        let mut fields: Vec<&'static str> = if named.is_empty() {
            usual.to_vec()
        } else {
            named.iter().map(|name| known(name)).collect::<Result<_, _>>()?
        };
        fields.dedup();
        let mut own: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, most) in chars {
            own.insert(known(name)?, *most);
        }
        let usual = |field: &str| match field {
            "title" => defaults[0],
            "abst" => defaults[1],
            "claim" => defaults[2],
            "desc" => defaults[3],
            _ => defaults[4],
        };
        let limit = |field: &'static str| (field, own.get(field).copied().unwrap_or_else(|| usual(field)));
        Ok(Self { fields: fields.into_iter().map(limit).collect() })
    }

    /// The same with a character limit for every field: long texts are cut before titles and numbers.
    fn capped(&self, most: usize) -> Self {
        Self { fields: self.fields.iter().map(|&(field, chars)| (field, chars.min(most))).collect() }
    }

    /// Unchanged if they fit, else with the largest cap that fits; capped to nothing if none does.
    pub(super) fn fitting(&self, fits: impl Fn(&Self) -> bool) -> Self {
        if fits(self) {
            return self.clone();
        }
        let (mut low, mut high) = (0, self.fields.iter().map(|(_, chars)| *chars).max().unwrap_or(0));
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if fits(&self.capped(middle)) { low = middle } else { high = middle }
        }
        self.capped(low)
    }
}

/// The fields of a publication, and which were cut.
pub(super) fn fields_of(
    publication: &Publication,
    limits: &Limits,
) -> (BTreeMap<String, String>, Vec<CutField>) {
    let mut fields = BTreeMap::new();
    let mut shortened = Vec::new();
    for &(name, most) in &limits.fields {
        let text = text_of(publication, name);
        let (shown, left) = cut(&text, most);
        if !shown.is_empty() {
            fields.insert(name.to_owned(), shown.to_owned());
        }
        if left > 0 {
            let shown_chars = shown.chars().count();
            let total_chars = shown_chars + left;
            shortened.push(CutField { field: name.to_owned(), shown_chars, total_chars });
        }
    }
    (fields, shortened)
}

fn text_of(publication: &Publication, field: &str) -> String {
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let codes = |of: fn(&Codes) -> &Vec<String>| of(&publication.codes).join(" ");
    match field {
        "title" => publication.title.clone(),
        "abst" => publication.abst.clone(),
        "claim" => publication.claim.clone(),
        "desc" => publication.desc.clone(),
        "app_doc_id" => publication.doc_id.clone(),
        "app_id" => or_empty(&publication.app_id),
        "pub_id" => or_empty(&publication.pub_id),
        "exam_id" => or_empty(&publication.exam_id),
        "app_date" => publication.app_date.map(|date| date.to_string()).unwrap_or_default(),
        "pub_date" => publication.pub_date.map(|date| date.to_string()).unwrap_or_default(),
        "country" => or_empty(&publication.country),
        "lang" => or_empty(&publication.lang),
        "applicants" => publication.applicants.join("; "),
        "cross_en_applicants" => publication.cross_en_applicants.join("; "),
        "ipc_codes" => codes(|codes| &codes.ipc),
        "cpc_codes" => codes(|codes| &codes.cpc),
        "fi_codes" => codes(|codes| &codes.fi),
        "ft_codes" => codes(|codes| &codes.ft),
        "uspc_codes" => codes(|codes| &codes.uspc),
        "locarno_codes" => codes(|codes| &codes.locarno),
        "inventors" if publication.is_patent() => publication.authors.join("; "),
        "authors" if !publication.is_patent() => publication.authors.join("; "),
        "priority_date" => publication.priority_date.map(|date| date.to_string()).unwrap_or_default(),
        "priorities" => publication.priorities_shown(),
        "family_id" => or_empty(&publication.family_id),
        "references" => publication.references.join("; "),
        "legal_status" => or_empty(&publication.legal_status),
        "legal_events" => publication.legal_events_shown(),
        // As reference lists write it: 12(3).
        "volume" => match (&publication.volume, &publication.issue) {
            (Some(volume), Some(issue)) => format!("{volume}({issue})"),
            (None, Some(issue)) => format!("({issue})"),
            (volume, None) => or_empty(volume),
        },
        "pages" => or_empty(&publication.pages),
        "doi" => publication.doi.as_ref().map(ToString::to_string).unwrap_or_default(),
        "venue" => or_empty(&publication.venue),
        "type" => publication.imprint.kind.map(|kind| kind.to_string()).unwrap_or_default(),
        "publisher" => or_empty(&publication.imprint.publisher),
        "isbn" => publication.imprint.isbn.join("; "),
        _ => String::new(),
    }
}

impl Fusion {
    /// Beginnings of documents' fields, with the passages that match the queries of a run or one that is given.
    ///
    /// # Errors
    /// No or too many ids, an unknown field, corpus or run, a query that cannot be read.
    pub async fn snippets(&self, request: DocumentsRequest) -> Result<Documents, AppError> {
        let limits = Limits::new(
            &request.fields,
            &["title", "abst", "claim", "desc"],
            &request.per_field_chars,
            &Limits::SNIPPETS,
        )?;
        self.read(request, limits, 50).await
    }

    /// Publications, with fields truncated to their limits.
    ///
    /// # Errors
    /// As [`Fusion::snippets`].
    pub async fn publication(&self, request: DocumentsRequest) -> Result<Documents, AppError> {
        let limits =
            Limits::new(&request.fields, &ALL_FIELDS, &request.per_field_chars, &Limits::PUBLICATION)?;
        self.read(request, limits, 10).await
    }

    async fn read(
        &self,
        request: DocumentsRequest,
        limits: Limits,
        most: usize,
    ) -> Result<Documents, AppError> {
        if request.ids.is_empty() || request.ids.len() > most {
            return Err(AppError::invalid(
                format!("`ids` has {} entries", request.ids.len()),
                format!("give 1 to {most} ids"),
            ));
        }
        let run = match &request.run_id {
            Some(id) => Some(self.run(id).await?),
            None => None,
        };
        let corpus = match (&request.corpus, &run) {
            (Some(named), _) => self.corpus(Some(named)).await?,
            (None, Some(run)) => run.corpus.clone(),
            (None, None) => self.corpus(None).await?,
        };
        let mut queries = Vec::new();
        if let Some(text) = &request.query {
            queries.push(Query::parse(text).map_err(|error| {
                AppError::invalid(error.to_string(), "give a query such as `solar AND (cell OR panel)`")
            })?);
        }
        if let Some(run) = &run {
            queries.extend(self.queries_of(run).await?);
        }
        let publications = self.publications(&corpus, &request.ids, request.id_type).await?;
        let mut found = Vec::new();
        let mut missing_ids = Vec::new();
        for (id, publication) in request.ids.iter().zip(publications) {
            match publication {
                Some(publication) => found.push((id.clone(), publication)),
                None => missing_ids.push(id.clone()),
            }
        }
        let query = Query::Or(queries);
        let (documents, omitted_ids) = super::blocking(move || Ok(fitted(&found, &limits, &query))).await?;
        Ok(Documents {
            corpus,
            documents,
            missing_ids,
            omitted_ids,
            untrusted_fields: vec!["documents[].fields", "documents[].highlights[].text"],
        })
    }

    /// The queries of a run's lanes.
    pub(super) async fn queries_of(&self, run: &StoredRun) -> Result<Vec<Query>, AppError> {
        let mut queries = Vec::new();
        let lanes = if run.kind == RunKind::Fusion {
            let lanes = self.lanes_of(run).await?;
            lanes.runs().map(|(_, lane)| lane_recipe(lane)).collect::<Result<Vec<_>, _>>()?
        } else {
            vec![lane_recipe(run)?]
        };
        for lane in lanes {
            let query = match &lane.search.kind {
                LaneKind::FullText { query, .. } => Query::parse(query).ok(),
                // Of a text that was compared by meaning, its words.
                LaneKind::Semantic { text, .. } => {
                    let mut words = lyra_text::content_words(text);
                    words.sort_unstable();
                    words.dedup();
                    let quoted: Vec<String> =
                        words.iter().take(60).map(|word| format!("\"{word}\"")).collect();
                    Query::parse(&quoted.join(" OR ")).ok()
                }
            };
            queries.extend(query);
        }
        Ok(queries)
    }
}

/// Documents that fit into an answer's byte limit: with all requested characters if possible, else with the longest
/// texts truncated, else only the first ones.
fn fitted(
    found: &[(String, Publication)],
    limits: &Limits,
    query: &Query,
) -> (Vec<DocumentView>, Vec<String>) {
    let marked: Vec<Vec<Passage>> = found.iter().map(|(_, publication)| marked(publication, query)).collect();
    let all = |limits: &Limits| -> Vec<DocumentView> {
        found
            .iter()
            .zip(&marked)
            .map(|((id, publication), highlights)| {
                let (fields, cut) = fields_of(publication, limits);
                DocumentView {
                    id: id.clone(),
                    doc_id: publication.doc_id.clone(),
                    fields,
                    cut,
                    highlights: highlights.clone(),
                }
            })
            .collect()
    };
    let mut documents = all(&limits.fitting(|limits| size(&all(limits)) <= MAX_BYTES));
    let mut omitted = Vec::new();
    while size(&documents) > MAX_BYTES
        && let Some(last) = documents.pop()
    {
        omitted.insert(0, last.id);
    }
    (documents, omitted)
}

fn marked(publication: &Publication, query: &Query) -> Vec<Passage> {
    // Without a query, nothing is looked for.
    if *query == Query::Or(Vec::new()) {
        return Vec::new();
    }
    let fields = [
        (Field::Title, "title", &publication.title),
        (Field::Abst, "abst", &publication.abst),
        (Field::Claim, "claim", &publication.claim),
        (Field::Desc, "desc", &publication.desc),
    ];
    fields
        .into_iter()
        .flat_map(|(field, name, text)| {
            passages(text, &highlights(query, field, text), PASSAGES.1, PASSAGES.0)
                .into_iter()
                .map(move |text| Passage { field: name, text })
        })
        .collect()
}
