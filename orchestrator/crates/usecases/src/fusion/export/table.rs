//! A run as rows, for both formats of spreadsheets.

use crate::fusion::Representative;
use lyra_corpus::backend::Publication;
use lyra_domain::classification::System;
use lyra_fusion::CODE;
use lyra_wire::fusion::DocumentShare;

/// Columns after those of the lanes.
const DETAILS: [&str; 30] = [
    "label",
    "reason",
    "year",
    "pub_date",
    "country",
    "language",
    "authors",
    "applicants",
    "venue",
    "doi",
    "url",
    "ipc",
    "cpc",
    "fi",
    "ft",
    "pub_id",
    "uspc",
    "locarno",
    "app_date",
    "priority_date",
    "priorities",
    "family_id",
    "references",
    "legal_status",
    "volume",
    "pages",
    "type",
    "publisher",
    "isbn",
    "abstract",
];

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Empty,
    Text(String),
    Number(f64),
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        text.filter(|text| !text.is_empty()).map_or(Self::Empty, Self::Text)
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Some(text.clone()).into()
    }
}

/// Names of the lanes that a run fuses; none for a lane's run.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) lanes: Vec<String>,
}

/// Rows under named columns.
#[derive(Debug)]
pub(super) struct Table {
    names: Names,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new(names: Names) -> Self {
        let fixed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut columns = fixed(&["rank", "doc_id", "title", "score"]);
        columns.extend(names.lanes.iter().map(|lane| format!("rank in {lane}")));
        if !names.lanes.is_empty() {
            let shares = names.lanes.iter().map(String::as_str).chain([CODE]);
            columns.extend(shares.map(|lane| format!("share of {lane}")));
        }
        columns.extend(fixed(&DETAILS));
        Self { names, columns, rows: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        share: &DocumentShare,
        publication: &Publication,
        judged: Option<&Representative>,
    ) {
        let whole = |number: usize| Cell::Number(number as f64);
        let mut row = vec![
            whole(share.rank),
            (&share.doc_id).into(),
            (&publication.title).into(),
            Cell::Number(share.score),
        ];
        let lanes = &self.names.lanes;
        row.extend(lanes.iter().map(|lane| share.ranks.get(lane).copied().map_or(Cell::Empty, whole)));
        if !lanes.is_empty() {
            let names = lanes.iter().map(String::as_str).chain([CODE]);
            row.extend(names.map(|name| Cell::Number(share.shares.get(name).copied().unwrap_or(0.0))));
        }
        let codes = |system| Some(publication.codes.of(system).join("; ")).into();
        row.extend([
            judged.map(|judged| judged.label.to_string()).into(),
            judged.and_then(|judged| judged.reason.clone()).into(),
            publication.year.map_or(Cell::Empty, |year| Cell::Number(f64::from(year))),
            publication.pub_date.map(|date| date.to_string()).into(),
            publication.country.clone().into(),
            publication.lang.clone().into(),
            Some(publication.authors.join("; ")).into(),
            Some(publication.applicants.join("; ")).into(),
            publication.venue.clone().into(),
            publication.doi.as_ref().map(ToString::to_string).into(),
            publication.url.clone().into(),
            codes(System::Ipc),
            codes(System::Cpc),
            codes(System::Fi),
            codes(System::Ft),
            publication.pub_id.clone().into(),
            codes(System::Uspc),
            codes(System::Locarno),
            publication.app_date.map(|date| date.to_string()).into(),
            publication.priority_date.map(|date| date.to_string()).into(),
            Some(publication.priorities_shown()).into(),
            publication.family_id.clone().into(),
            Some(publication.references.join("; ")).into(),
            publication.legal_status.clone().into(),
            publication.volume.clone().into(),
            publication.pages.clone().into(),
            publication.imprint.kind.map(|kind| kind.to_string()).into(),
            publication.imprint.publisher.clone().into(),
            Some(publication.imprint.isbn.join("; ")).into(),
            (&publication.abst).into(),
        ]);
        self.rows.push(row);
    }
}
