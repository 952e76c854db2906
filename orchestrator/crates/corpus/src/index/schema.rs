//! The schema of the full-text index.

use super::{Row, Rows};
use crate::Document;
use crate::analyzer::{BIGRAMS, MIXED, WORDS, WRITTEN};
use crate::backend::{FeatureScope, IdType};
use crate::labels;
use lyra_domain::classification::{Code, System};
use lyra_text::query;
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

/// A text of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneField {
    /// By stems, CJK characters, and pairs of these.
    pub(crate) terms: Field,
    /// By words as written, at the same positions.
    pub(crate) written: Field,
}

/// Fields of the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// Document id: one term, and a column to order by.
    pub(crate) id: Field,
    /// Title by words, for evidence.
    pub(crate) title: Field,
    /// Title and text by words, for evidence.
    pub(crate) text: Field,
    /// Title and text by pairs of CJK characters, for evidence.
    pub(crate) cjk: Field,
    /// Title, abstract, claims and description, for lanes.
    lanes: [LaneField; 4],
    /// Applicants, in every script.
    pub(crate) assignee: Field,
    /// Inventors and authors, in every script.
    pub(crate) inventor: Field,
    /// Codes with all that contains them, per system.
    paths: [Field; SYSTEMS],
    /// Codes as the document has them, per system: columns alone.
    codes: [Field; SYSTEMS],
    /// Keys of what it cites, and keys under which others cite it.
    pub(crate) cites: Field,
    pub(crate) cited_as: Field,
    /// What it has in common with its family: a column alone.
    family: Field,
    /// Numbers of application, publication and grant.
    numbers: [Field; 3],
    /// Country, upper case.
    pub(crate) country: Field,
    /// Language, lower case.
    pub(crate) lang: Field,
    /// Dates as yyyymmdd.
    pub(crate) app_date: Field,
    pub(crate) pub_date: Field,
    /// Year of publication.
    pub(crate) year: Field,
    /// Tags, and collections with all that contain them, in the form of `labels`.
    pub(crate) tag: Field,
    pub(crate) collection: Field,
    /// Tags and collections as the document has them: columns alone.
    labels: [Field; 2],
    /// The person's notes and marks by words, and by pairs of CJK characters.
    pub(crate) notes: Field,
    pub(crate) notes_cjk: Field,
    /// The document as JSON.
    pub(crate) document: Field,
    /// Checksum of that JSON: an import skips what has not changed.
    hash: Field,
    /// Row in the embeddings file and its checksum, per scope.
    rows: [(Field, Field); 5],
}

/// Longest key of a citation or a family, in bytes: the index takes no term beyond 64 KiB.
const MAX_KEY: usize = 4_096;

/// Classification systems.
const SYSTEMS: usize = System::ALL.len();

/// The column of families.
pub(crate) const FAMILIES: &str = "family";

/// Columns of codes, by system.
pub(crate) const CODES: [(System, &str); SYSTEMS] = [
    (System::Ipc, "ipc_codes"),
    (System::Cpc, "cpc_codes"),
    (System::Fi, "fi_codes"),
    (System::Ft, "ft_codes"),
    (System::Uspc, "uspc_codes"),
    (System::Locarno, "locarno_codes"),
];

/// Columns of tags and of collections.
pub(crate) const TAGS: &str = "tags";
pub(crate) const COLLECTIONS: &str = "collections";

/// Columns of embedding rows and their checksums, by scope; the first two are format 1's.
pub(crate) const ROWS: [(FeatureScope, &str, &str); 5] = [
    (FeatureScope::Wide, "row", "row_sum"),
    (FeatureScope::TitleAbstClaims, "row_title_abst_claims", "row_title_abst_claims_sum"),
    (FeatureScope::ClaimsOnly, "row_claims_only", "row_claims_only_sum"),
    (FeatureScope::TopClaim, "row_top_claim", "row_top_claim_sum"),
    (FeatureScope::BackgroundJp, "row_background_jp", "row_background_jp_sum"),
];

pub(super) fn schema() -> (Schema, Fields) {
    let by = |tokenizer: &str, record| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record),
        )
    };
    let mut schema = Schema::builder();
    let words = || by(WORDS, IndexRecordOption::WithFreqs);
    let mixed = || by(MIXED, IndexRecordOption::WithFreqsAndPositions);
    let written = || {
        let record = IndexRecordOption::WithFreqsAndPositions;
        let indexing = TextFieldIndexing::default().set_tokenizer(WRITTEN).set_fieldnorms(false);
        TextOptions::default().set_indexing_options(indexing.set_index_option(record))
    };
    let exact = || {
        let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_fieldnorms(false);
        TextOptions::default().set_indexing_options(indexing.set_index_option(IndexRecordOption::Basic))
    };
    let number = || NumericOptions::default().set_fast();
    let fields = Fields {
        id: schema.add_text_field("id", STRING | FAST),
        title: schema.add_text_field("title", words()),
        text: schema.add_text_field("text", words()),
        cjk: schema.add_text_field("cjk", by(BIGRAMS, IndexRecordOption::WithFreqs)),
        lanes: ["title", "abst", "claim", "desc"].map(|name| LaneField {
            terms: schema.add_text_field(&format!("lane_{name}"), mixed()),
            written: schema.add_text_field(&format!("written_{name}"), written()),
        }),
        assignee: schema.add_text_field("assignee", mixed()),
        inventor: schema.add_text_field("inventor", mixed()),
        paths: System::ALL.map(|system| schema.add_text_field(system.name(), exact())),
        codes: CODES.map(|(_, name)| schema.add_text_field(name, FAST)),
        cites: schema.add_text_field("cites", exact()),
        cited_as: schema.add_text_field("cited_as", exact()),
        family: schema.add_text_field(FAMILIES, FAST),
        numbers: ["app_id", "pub_id", "exam_id"].map(|name| schema.add_text_field(name, exact())),
        country: schema.add_text_field("country", exact()),
        lang: schema.add_text_field("lang", exact()),
        app_date: schema.add_i64_field("app_date", number()),
        pub_date: schema.add_i64_field("pub_date", number()),
        year: schema.add_i64_field("year", number()),
        tag: schema.add_text_field("tag", exact()),
        collection: schema.add_text_field("collection", exact()),
        labels: [TAGS, COLLECTIONS].map(|name| schema.add_text_field(name, FAST)),
        notes: schema.add_text_field("notes", words()),
        notes_cjk: schema.add_text_field("notes_cjk", by(BIGRAMS, IndexRecordOption::WithFreqs)),
        document: schema.add_text_field("document", STORED),
        hash: schema.add_u64_field("hash", FAST),
        rows: ROWS.map(|(_, row, sum)| (schema.add_u64_field(row, FAST), schema.add_u64_field(sum, FAST))),
    };
    (schema.build(), fields)
}

impl Fields {
    /// The field of a lane's text, `None` for fields that hold none.
    pub(crate) fn lane(&self, field: query::Field) -> Option<LaneField> {
        let [title, abst, claim, desc] = self.lanes;
        match field {
            query::Field::Title => Some(title),
            query::Field::Abst => Some(abst),
            query::Field::Claim => Some(claim),
            query::Field::Desc => Some(desc),
            _ => None,
        }
    }

    /// The field of a system's codes with all that contains them.
    pub(crate) fn path(&self, system: System) -> Field {
        let [ipc, cpc, fi, ft, uspc, locarno] = self.paths;
        match system {
            System::Ipc => ipc,
            System::Cpc => cpc,
            System::Fi => fi,
            System::Ft => ft,
            System::Uspc => uspc,
            System::Locarno => locarno,
        }
    }

    /// The field of a number.
    pub(crate) fn number(&self, id_type: IdType) -> Field {
        let [app, publication, exam] = self.numbers;
        match id_type {
            IdType::DocId => self.id,
            IdType::AppId => app,
            IdType::PubId => publication,
            IdType::ExamId => exam,
        }
    }

    /// What the index holds of a document.
    pub(super) fn entry(&self, document: &Document, json: &str, hash: u64, rows: &Rows) -> TantivyDocument {
        let mut entry = TantivyDocument::new();
        entry.add_text(self.id, &document.doc_id);
        entry.add_text(self.title, &document.title);
        for part in [&document.title, &document.text] {
            entry.add_text(self.text, part);
            entry.add_text(self.cjk, part);
        }
        let texts = [&document.title, &document.text, &document.claim, &document.desc];
        for (field, text) in self.lanes.into_iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
            entry.add_text(field.terms, text);
            entry.add_text(field.written, text);
        }
        for name in document.applicants.iter().chain(&document.cross_en_applicants) {
            entry.add_text(self.assignee, name);
        }
        for name in &document.authors {
            entry.add_text(self.inventor, name);
        }
        let keys = [(self.cites, document.citing_keys()), (self.cited_as, document.cited_keys())];
        for (field, keys) in keys {
            keys.iter().filter(|key| key.len() <= MAX_KEY).for_each(|key| entry.add_text(field, key));
        }
        for key in document.family_keys().iter().filter(|key| key.len() <= MAX_KEY) {
            entry.add_text(self.family, key);
        }
        for (nth, system) in System::ALL.into_iter().enumerate() {
            let codes = document.codes.of(system);
            let parsed: Vec<Code> = codes.iter().filter_map(|code| Code::parse(system, code).ok()).collect();
            let mut path: Vec<&str> = parsed.iter().flat_map(Code::path).collect();
            path.sort_unstable();
            path.dedup();
            for prefix in path {
                entry.add_text(self.paths[nth], prefix);
            }
            for code in codes {
                entry.add_text(self.codes[nth], code);
            }
        }
        let numbers = [&document.app_id, &document.pub_id, &document.exam_id];
        for (field, number) in self.numbers.into_iter().zip(numbers) {
            if let Some(number) = number {
                entry.add_text(field, number);
            }
        }
        for (field, value) in [(self.country, &document.country), (self.lang, &document.language)] {
            if let Some(value) = value {
                entry.add_text(field, value);
            }
        }
        for (field, date) in [(self.app_date, document.app_date), (self.pub_date, document.pub_date)] {
            if let Some(date) = date {
                entry.add_i64(field, day_number(date));
            }
        }
        if let Some(year) = document.year {
            entry.add_i64(self.year, i64::from(year));
        }
        for tag in &document.tags {
            entry.add_text(self.tag, labels::tag(tag));
        }
        for path in labels::with_ancestors(&document.collections) {
            entry.add_text(self.collection, path);
        }
        for (field, names) in self.labels.into_iter().zip([&document.tags, &document.collections]) {
            for name in names.iter().filter(|name| !name.trim().is_empty()) {
                entry.add_text(field, labels::short(name));
            }
        }
        for note in document.own_words() {
            entry.add_text(self.notes, note);
            entry.add_text(self.notes_cjk, note);
        }
        entry.add_text(self.document, json);
        entry.add_u64(self.hash, hash);
        for (scope, Row { row, sum }) in rows {
            if let Some(nth) = ROWS.iter().position(|(of, ..)| of == scope) {
                entry.add_u64(self.rows[nth].0, *row);
                entry.add_u64(self.rows[nth].1, *sum);
            }
        }
        entry
    }
}

/// A date as the number yyyymmdd.
pub(crate) fn day_number(date: jiff::civil::Date) -> i64 {
    i64::from(date.year()) * 10_000 + i64::from(date.month()) * 100 + i64::from(date.day())
}
