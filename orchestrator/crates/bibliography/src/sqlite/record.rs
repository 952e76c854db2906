//! A row of a table.

use super::Encoding;

/// A value in a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing, or something that is not read: bytes, and what a row that was cut ends before.
    Absent,
    Whole(i64),
    Real(f64),
    Text(String),
}

impl Value {
    pub(crate) fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// Its text; numbers are written out.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Whole(number) => Some(number.to_string()),
            Self::Real(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.clone()),
        }
    }
}

/// Which columns of a row are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Place in the row of each column that is asked for; `None` if the table does not have it.
    pub(super) places: Vec<Option<usize>>,
    /// The column that is the row's number, for which the row itself has nothing.
    pub(super) number: Option<usize>,
}

impl Columns {
    pub(super) fn all(count: usize) -> Self {
        Self { places: (0..count).map(Some).collect(), number: None }
    }

    /// Reads a row with this number into `row`. What is damaged is absent.
    pub(super) fn read(&self, id: i64, payload: &[u8], encoding: Encoding, row: &mut Vec<Value>) {
        row.clear();
        row.resize(self.places.len(), Value::Absent);
        let Some((head, types)) = varint(payload) else { return };
        let Some(head) = usize::try_from(head).ok().filter(|head| *head <= payload.len()) else { return };
        let mut types = &types[..types.len().min(head.saturating_sub(payload.len() - types.len()))];
        let (mut nth, mut at) = (0, head);
        while let Some((kind, rest)) = varint(types) {
            types = rest;
            let length = length(kind);
            if let Some(column) = self.places.iter().position(|place| *place == Some(nth)) {
                let end = at.saturating_add(length);
                row[column] = match payload.get(at..end) {
                    Some(_) if kind == 0 && self.number == Some(nth) => Value::Whole(id),
                    Some(bytes) => value(kind, bytes, encoding),
                    None => Value::Absent,
                };
            }
            at = at.saturating_add(length);
            nth += 1;
        }
    }
}

/// Bytes of a value of a serial type.
fn length(kind: u64) -> usize {
    match kind {
        0 | 8..=11 => 0,
        1..=4 => kind as usize,
        5 => 6,
        6 | 7 => 8,
        _ => usize::try_from((kind - 12) / 2).unwrap_or(usize::MAX),
    }
}

fn value(kind: u64, bytes: &[u8], encoding: Encoding) -> Value {
    let whole = || {
        let sign = bytes.first().map_or(0, |first| if *first >= 0x80 { -1 } else { 0 });
        bytes.iter().fold(sign, |number: i64, byte| number << 8 | i64::from(*byte))
    };
    match kind {
        1..=6 => Value::Whole(whole()),
        7 => Value::Real(f64::from_bits(whole().cast_unsigned())),
        8 => Value::Whole(0),
        9 => Value::Whole(1),
        13.. if kind % 2 == 1 => Value::Text(match encoding {
            Encoding::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Encoding::Utf16Le => encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0.into_owned(),
            Encoding::Utf16Be => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0.into_owned(),
        }),
        _ => Value::Absent,
    }
}

/// A number of one to nine bytes, and what follows it.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (nth, byte) in bytes.iter().take(9).enumerate() {
        if nth == 8 {
            return Some((number << 8 | u64::from(*byte), &bytes[9..]));
        }
        number = number << 7 | u64::from(byte & 0x7F);
        if *byte < 0x80 {
            return Some((number, &bytes[nth + 1..]));
        }
    }
    None
}
