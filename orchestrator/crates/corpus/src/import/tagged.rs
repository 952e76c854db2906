//! USPTO's formats of lines with a tag: the green book (grants of 1976 to 2001) and BRS (the search system's text).

use super::patent::{CodeList, distinct, first_last, identify, number};
use super::records::Block;
use crate::Document;
use crate::document::Priority;
use crate::document::json::{OddCodes, civil};
use lyra_domain::classification::System;
use lyra_text::normalise;

/// The line before each document of a BRS file.
pub(super) const BRS_BOUNDARY: &str = "*** BRS DOCUMENT BOUNDARY ***";

/// Whether a line begins the next grant.
pub(super) fn starts_greenbook(line: &[u8], _: &Block) -> bool {
    line.trim_ascii_end() == b"PATN"
}

/// Whether a line begins the next document.
pub(super) fn starts_brs(line: &[u8], _: &Block) -> bool {
    line.trim_ascii() == BRS_BOUNDARY.as_bytes()
}

/// A line with its continuations. Sections of the green book are tags without text.
struct Field {
    tag: String,
    text: String,
}

/// Both formats: a tag in capitals and digits at the start of a line, continuations indented.
fn fields(bytes: &[u8]) -> Vec<Field> {
    // Old files are ASCII with a byte of a code page now and then.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => encoding_rs::WINDOWS_1252.decode(bytes).0.into_owned(),
    };
    let mut fields: Vec<Field> = Vec::new();
    for line in text.lines() {
        let (tag, rest) = line.split_once(' ').unwrap_or((line, ""));
        let is_tag =
            (3..=4).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        if is_tag {
            fields.push(Field { tag: tag.to_owned(), text: rest.trim_end().to_owned() });
        } else if line.starts_with(' ')
            && let Some(last) = fields.last_mut()
        {
            last.text.push(' ');
            last.text.push_str(line.trim());
        }
    }
    fields
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What both formats give line by line.
#[derive(Default)]
struct Parts {
    abstract_: Vec<String>,
    description: Vec<String>,
    claims: Vec<String>,
    inventors: Vec<String>,
    assignees: Vec<String>,
    cited: Vec<String>,
    codes: CodeList,
    priorities: Vec<Priority>,
}

impl Parts {
    /// The date of the priority whose number came before it.
    fn dated(&mut self, date: Option<jiff::civil::Date>) {
        match self.priorities.last_mut().filter(|last| last.date.is_none()) {
            Some(last) => last.date = date,
            None => self.priorities.push(Priority { number: None, date }),
        }
    }

    /// The document with all of it.
    fn finish(self, document: Document) -> Result<(Document, OddCodes), String> {
        let document = Document {
            language: Some("en".to_owned()),
            authors: distinct(self.inventors),
            applicants: distinct(self.assignees),
            references: distinct(self.cited),
            text: self.abstract_.join("\n"),
            desc: self.description.join("\n"),
            claim: self.claims.join("\n"),
            codes: self.codes.codes,
            priorities: self.priorities,
            ..document
        };
        Ok((document.finish()?, self.codes.odd))
    }
}

/// A grant of the green book.
pub(super) fn greenbook(bytes: &[u8]) -> Result<(Document, OddCodes), String> {
    let (mut document, mut parts) = (Document::default(), Parts::default());
    let (mut series, mut kind) = (String::new(), "A");
    let (mut wku, mut apn) = (String::new(), String::new());
    let (mut section, mut in_claim) = (String::new(), false);
    for Field { tag, text } in fields(bytes) {
        if text.is_empty() && tag.len() == 4 {
            section = tag;
            continue;
        }
        let value = collapsed(&text);
        match (section.as_str(), tag.as_str()) {
            ("PATN", "WKU") => wku = value,
            ("PATN", "SRC") => series = value,
            ("PATN", "APN") => apn = value,
            ("PATN", "APT") => {
                kind = match value.as_str() {
                    "4" => "S",
                    "6" => "P",
                    "2" => "E",
                    _ => "A",
                };
            }
            ("PATN", "APD") => document.app_date = civil(&value),
            ("PATN", "ISD") => document.pub_date = civil(&value),
            ("PATN", "TTL") => document.title = normalise(&value),
            ("INVT", "NAM") => parts.inventors.push(first_last(&value)),
            ("ASSG", "NAM") => parts.assignees.push(value),
            // The columns of the code count: blanks are kept.
            ("CLAS", "ICL") if kind == "S" => parts.codes.add(System::Locarno, &text),
            ("CLAS", "ICL") => parts.codes.add(System::Ipc, &text),
            ("CLAS", "OCL" | "XCL") => parts.codes.add(System::Uspc, &text),
            ("PRIR", "APN") => parts.priorities.push(Priority { number: Some(value), date: None }),
            ("PRIR", "APD") => parts.dated(civil(&value)),
            ("UREF", "PNO") => parts.cited.push(number("US", &value, None)),
            ("FREF", "PNO") => parts.cited.push(value),
            ("ABST", _) => parts.abstract_.push(value),
            ("CLMS" | "DCLM", "NUM") => in_claim = false,
            ("CLMS" | "DCLM", "STM") => {}
            ("CLMS" | "DCLM", _) => {
                match parts.claims.last_mut().filter(|_| in_claim) {
                    Some(claim) => {
                        claim.push(' ');
                        claim.push_str(&value);
                    }
                    None => parts.claims.push(value),
                }
                in_claim = true;
            }
            ("BSUM" | "DRWD" | "DETD" | "PARN" | "GOVT", _) => parts.description.push(value),
            _ => {}
        }
    }
    // The last character is a check digit, of numbers and of applications.
    let Some(doc_number) = wku.get(..8) else { return Err("no patent number (WKU)".to_owned()) };
    identify(&mut document, "US", doc_number, kind);
    document.app_id = apn.get(..6).map(|apn| number("US", &format!("{series:0>2}{apn}"), None));
    parts.finish(document)
}

/// A document of a BRS file. What stands before the first boundary is a line of its index.
pub(super) fn brs(bytes: &[u8]) -> Result<(Document, OddCodes), String> {
    let Some(start) = bytes.windows(BRS_BOUNDARY.len()).position(|window| window == BRS_BOUNDARY.as_bytes())
    else {
        return Err("no document boundary before these lines".to_owned());
    };
    let (mut document, mut parts) = (Document::default(), Parts::default());
    for Field { tag, text } in fields(&bytes[start + BRS_BOUNDARY.len()..]) {
        let value = collapsed(&text);
        match tag.as_str() {
            "DID" => {
                if let [office, doc_number, kind] = value.split(' ').collect::<Vec<_>>()[..] {
                    identify(&mut document, office, doc_number, kind);
                }
            }
            "GISD" | "PPGD" => document.pub_date = civil(&value),
            "AFD" => document.app_date = civil(&value),
            "APNR" => document.app_id = Some(number("US", &value, None)),
            "PDID" => document.pub_id = Some(value.replace(' ', "-")),
            "TTL" => document.title = normalise(&value),
            "IPCP" | "IPCS" => parts.codes.add(System::Ipc, &value),
            "CPOI" | "CPOA" => parts.codes.add(System::Cpc, &value),
            "PRAN" => parts.priorities.push(Priority { number: Some(value), date: None }),
            "PRAD" => parts.dated(civil(&value)),
            "INNM" => parts.inventors.push(first_last(&value)),
            "AANM" | "ASNM" => parts.assignees.push(value),
            "URGP" | "FRGP" => {
                if let [office, doc_number, kind, ..] = value.split(' ').collect::<Vec<_>>()[..] {
                    parts.cited.push(number(
                        office,
                        &doc_number.replace('/', ""),
                        Some(kind).filter(|kind| kind.len() <= 2),
                    ));
                }
            }
            "ABPR" => parts.abstract_.push(value),
            "BSTX" | "DETX" | "DRTX" | "GOTX" | "PATX" => parts.description.push(value),
            "CLPR" => parts.claims.push(value),
            // Lines of one claim that are set apart.
            "CLPV" => match parts.claims.last_mut() {
                Some(claim) => *claim = format!("{claim} {value}"),
                None => parts.claims.push(value),
            },
            _ => {}
        }
    }
    // A grant's `PDID` names its application's publication; a publication's own is its `DID`.
    parts.finish(document)
}
