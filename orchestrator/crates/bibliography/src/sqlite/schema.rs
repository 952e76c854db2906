//! The columns of a table, from the statement that made it.

use super::record::Columns;

/// A table with rows by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) root: u32,
    /// Names in lower case.
    columns: Vec<String>,
    /// The column that is the row's number.
    number: Option<usize>,
}

impl Table {
    /// Reads `CREATE TABLE name (…)`; `None` for a table without row numbers, and for other statements.
    pub(super) fn read(root: u32, sql: &str) -> Option<Self> {
        let words = words(sql);
        let open = words.iter().position(|word| *word == Word::Open)?;
        let (mut depth, mut at) = (0_usize, open);
        let (mut parts, mut part): (Vec<Vec<&Word>>, Vec<&Word>) = (Vec::new(), Vec::new());
        while let Some(word) = words.get(at) {
            match word {
                Word::Open => depth += 1,
                Word::Close => depth = depth.saturating_sub(1),
                Word::Comma if depth == 1 => parts.push(std::mem::take(&mut part)),
                _ if depth == 1 => part.push(word),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        parts.push(part);
        if words[at..].iter().any(|word| word.is("without")) {
            return None;
        }
        let (mut columns, mut number) = (Vec::new(), None);
        for part in parts {
            let Some(Word::Name { text, quoted }) = part.first() else { break };
            let constraint = ["constraint", "primary", "unique", "check", "foreign"];
            if !quoted && constraint.contains(&text.as_str()) {
                break;
            }
            let is_key = part.windows(2).any(|two| two[0].is("primary") && two[1].is("key"));
            if is_key && part.get(1).is_some_and(|kind| kind.is("integer")) {
                number = Some(columns.len());
            }
            columns.push(text.clone());
        }
        (!columns.is_empty()).then_some(Self { root, columns, number })
    }

    pub(super) fn columns(&self, names: &[&str]) -> Columns {
        let place = |name: &&str| self.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        Columns { places: names.iter().map(place).collect(), number: self.number }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Word {
    Open,
    Close,
    Comma,
    /// A name or a value, in lower case.
    Name {
        text: String,
        quoted: bool,
    },
}

impl Word {
    fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Name { text, quoted: false } if text == keyword)
    }
}

/// The words of a statement without its comments.
fn words(sql: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' => {
                words.push(Word::Open);
                1
            }
            ')' => {
                words.push(Word::Close);
                1
            }
            ',' => {
                words.push(Word::Comma);
                1
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '`' | '\'' | '[' => {
                let close = if first == '[' { ']' } else { first };
                let end = rest[1..].find(close).map_or(rest.len(), |end| end + 1);
                words.push(Word::Name { text: rest[1..end].to_lowercase(), quoted: true });
                (end + 1).min(rest.len())
            }
            first if first.is_alphanumeric() || first == '_' => {
                let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let end = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
                words.push(Word::Name { text: rest[..end].to_lowercase(), quoted: false });
                end
            }
            other => other.len_utf8(),
        };
        rest = &rest[length..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_of_statements() {
        let sql = "CREATE TABLE \"itemTags\" (\n  itemID INTEGER PRIMARY KEY, -- its number, and more\n  \
            [Tag ID] INT DEFAULT (1, 2),\n\
            /* , */ type NUMERIC(10, 2) NOT NULL,\n  PRIMARY KEY (itemID, tagID),\n\
            FOREIGN KEY (itemID) REFERENCES items(itemID)\n)";
        let table = Table::read(7, sql).unwrap();
        assert_eq!(
            (&table.columns[..], table.number),
            (&["itemid", "tag id", "type"].map(str::to_owned)[..], Some(0))
        );
        let columns = table.columns(&["type", "itemID", "color"]);
        assert_eq!(columns, Columns { places: vec![Some(2), Some(0), None], number: Some(0) });
        assert_eq!(Table::read(7, "CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID"), None);
        assert_eq!(Table::read(7, "CREATE TABLE t (a INT PRIMARY KEY)").unwrap().number, None);
    }

    proptest! {
        #[test]
        fn any_statement(sql in "[a-z(),'\"/*\\-\\[\\] \n]{0,60}") {
            let _ = Table::read(1, &sql);
        }
    }
}
