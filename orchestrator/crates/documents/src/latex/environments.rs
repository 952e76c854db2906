//! `\begin{…}` and `\end{…}`: what an environment means for the text in it.

use super::input::Input;
use super::tokens::{self, Token};
use super::{Latex, Taken, commands};
use crate::draft;
use crate::paper::Kind;

/// A table that is read.
pub(super) struct Table {
    pub(super) rows: Vec<Vec<String>>,
    pub(super) row: Vec<String>,
    /// Text before the table.
    pub(super) before: String,
    /// Groups that were open where it began.
    pub(super) groups: usize,
    /// Rows before the heading that is repeated on every page.
    pub(super) repeated: Option<usize>,
}

impl Latex<'_> {
    pub(super) fn begin(&mut self) {
        let name = tokens::source(&self.input.argument());
        let name = name.trim();
        if commands::is_formula(name) {
            let ends = |token: &Token, input: &mut Input| {
                matches!(token, Token::Command(command) if &**command == "end") && input.ends(name)
            };
            let tokens = self.input.formula(&ends, false);
            self.push(" ");
            self.add_formula(&tokens);
            self.push(" ");
            return;
        }
        match name {
            "document" => {
                self.buffer.clear();
                while self.pop().is_some() {}
                self.in_body = true;
            }
            "abstract" => {
                self.flush();
                self.in_abstract = true;
            }
            "keywords" | "keyword" | "IEEEkeywords" => {
                self.flush();
                self.open(Taken::Keywords, String::new());
            }
            _ if commands::is_table(name) => {
                self.arguments(commands::environment(name));
                let (rows, row) = (Vec::new(), Vec::new());
                let before = std::mem::take(&mut self.buffer);
                self.tables.push(Table { rows, row, before, groups: self.groups.len(), repeated: None });
            }
            "frame" => {
                self.flush();
                self.input.optional();
                self.take(Taken::Heading(2));
            }
            _ => {
                if !self.takes_text() {
                    self.flush();
                }
                self.arguments(commands::environment(name));
                match name {
                    "itemize" | "enumerate" | "description" => self.lists += 1,
                    "thebibliography" => self.draft.begin_references(),
                    _ => {}
                }
                if let Some(statement) = commands::statement(name) {
                    self.push(statement);
                    let title = self.input.optional();
                    if let Some(title) = title {
                        self.input.expand([title, vec![Token::Char('.'), Token::Space]].concat());
                    }
                }
            }
        }
    }

    pub(super) fn end(&mut self) {
        let name = tokens::source(&self.input.argument());
        let name = name.trim();
        match name {
            "document" => self.ended = true,
            "abstract" => {
                self.flush();
                self.in_abstract = false;
            }
            "keywords" | "keyword" | "IEEEkeywords" => {
                if self.groups.last().is_some_and(|group| group.taken == Taken::Keywords) {
                    self.close();
                }
            }
            _ if commands::is_table(name) => self.end_table(),
            _ => {
                if !self.takes_text() {
                    self.flush();
                }
                if matches!(name, "itemize" | "enumerate" | "description") {
                    self.lists = self.lists.saturating_sub(1);
                    self.in_item = self.lists > 0;
                }
            }
        }
    }

    pub(super) fn end_cell(&mut self) {
        if let Some(table) = self.tables.last_mut() {
            table.row.push(draft::clean(&std::mem::take(&mut self.buffer)));
        }
    }

    pub(super) fn end_row(&mut self) {
        self.end_cell();
        if let Some(table) = self.tables.last_mut() {
            let row = std::mem::take(&mut table.row);
            table.rows.push(row);
        }
    }

    pub(super) fn end_table(&mut self) {
        self.end_row();
        let Some(table) = self.tables.pop() else { return };
        while self.groups.len() > table.groups {
            self.pop();
        }
        self.buffer = table.before;
        let text = draft::table(table.rows.into_iter());
        if self.tables.is_empty() && !self.takes_text() {
            self.flush();
            if self.in_body {
                self.draft.paragraph(Kind::Table, &text);
            }
        } else {
            self.push(&text.replace('\n', " "));
        }
    }
}
