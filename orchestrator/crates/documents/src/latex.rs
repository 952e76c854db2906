//! LaTeX source: one file, with its own macros undone. Files that it includes are not read.

mod commands;
mod environments;
mod input;
mod tokens;

use crate::budget::Budget;
use crate::draft::{self, Draft};
use crate::encoding::decode;
use crate::fields;
use crate::math;
use crate::paper::{Kind, Paper};
use environments::Table;
use input::Input;
use std::collections::HashMap;
use tokens::Token;
use unicode_normalization::char::compose;

/// Stands between authors.
const AND: char = '\u{1}';
/// Ends a line of an author's description.
const LINE: char = '\u{2}';

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Paper {
    let source = decode(bytes);
    let all = tokens::tokens(&source);
    let named =
        |name: &str| all.iter().any(|token| matches!(token, Token::Command(known) if **known == *name));
    let mut latex = Latex {
        in_body: !source.contains("\\begin{document}"),
        chapters: u8::from(named("chapter")),
        numbers: numbers(&all),
        input: Input::new(all),
        draft: Draft::new(budget),
        buffer: String::new(),
        groups: Vec::new(),
        takers: 0,
        authors: 0,
        tables: Vec::new(),
        in_abstract: false,
        lists: 0,
        in_item: false,
        ligature: false,
        ended: false,
    };
    latex.run();
    latex.finish()
}

/// Numbers of the entries of the reference list, by their keys.
fn numbers(tokens: &[Token]) -> HashMap<String, usize> {
    let mut numbers = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(token, Token::Command(name) if &**name == "bibitem") {
            continue;
        }
        let rest = &tokens[at + 1..(at + 200).min(tokens.len())];
        let Some(open) = rest.iter().position(|token| *token == Token::Open) else { continue };
        let Some(close) = rest[open..].iter().position(|token| *token == Token::Close) else { continue };
        let next = numbers.len() + 1;
        numbers.entry(tokens::source(&rest[open + 1..open + close]).trim().to_owned()).or_insert(next);
    }
    numbers
}

struct Latex<'b> {
    input: Input,
    draft: Draft<'b>,
    /// Text of the paragraph, or of the group whose text is taken.
    buffer: String,
    groups: Vec<Group>,
    /// How many of them take their text, and how many of these for authors.
    takers: usize,
    authors: usize,
    tables: Vec<Table>,
    /// After `\begin{document}`.
    in_body: bool,
    in_abstract: bool,
    /// Open lists.
    lists: usize,
    in_item: bool,
    /// The last character may be the beginning of `--` or the like.
    ligature: bool,
    /// After `\end{document}`.
    ended: bool,
    /// 1 if the text has chapters, above its sections.
    chapters: u8,
    numbers: HashMap<String, usize>,
}

/// An open group.
struct Group {
    taken: Taken,
    /// Text before it, if its text is taken.
    before: String,
}

/// What becomes of a group's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Nothing,
    Heading(u8),
    Footnote,
    Caption,
    Title,
    Author,
    Date,
    Keywords,
    Abstract,
}

impl Latex<'_> {
    fn run(&mut self) {
        while let Some(token) = self.input.next() {
            match token {
                Token::Char(c) => self.char(c),
                Token::Space => self.push(" "),
                Token::Par if self.takes_text() => self.push(" "),
                Token::Par => self.flush(),
                Token::Open => self.open(Taken::Nothing, String::new()),
                Token::Close => self.close(),
                Token::Shift => self.formula(),
                Token::Verbatim(text) => self.push(&text),
                Token::Listing(text) => {
                    self.flush();
                    if self.in_body {
                        self.draft.paragraph(Kind::Code, &text);
                    }
                }
                Token::Parameter(_) => {}
                Token::Command(name) => self.command(&name),
            }
            self.ligature =
                matches!(self.buffer.chars().next_back(), Some('-' | '–' | '‘' | '’')) && self.ligature;
            if self.ended {
                break;
            }
        }
        if self.input.is_exhausted() {
            self.draft.budget.leave_out("text after macros that expand without end");
        }
    }

    fn finish(mut self) -> Paper {
        while !self.tables.is_empty() {
            self.end_table();
        }
        while !self.groups.is_empty() {
            self.close();
        }
        self.flush();
        self.draft.finish()
    }

    /// Whether text goes to a cell or an argument, where paragraphs do not end.
    fn takes_text(&self) -> bool {
        !self.tables.is_empty() || self.takers > 0
    }

    fn push(&mut self, text: &str) {
        if self.in_body || self.takes_text() {
            self.buffer.push_str(text);
        }
        self.ligature = false;
    }

    fn char(&mut self, c: char) {
        let last = self.buffer.chars().next_back().filter(|_| self.ligature);
        let joined = match (last, c) {
            (Some('-'), '-') => Some('–'),
            (Some('–'), '-') => Some('—'),
            (Some('‘'), '`') => Some('“'),
            (Some('’'), '\'') => Some('”'),
            _ => None,
        };
        if c == '&' {
            self.end_cell();
            return;
        }
        if joined.is_some() {
            self.buffer.pop();
        }
        let c = match (joined, c) {
            (Some(joined), _) => joined,
            (None, '`') => '‘',
            (None, '\'') => '’',
            (None, c) => c,
        };
        self.push(c.encode_utf8(&mut [0; 4]));
        self.ligature = matches!(c, '-' | '–' | '‘' | '’');
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.buffer);
        if !self.in_body {
            return;
        }
        if self.in_abstract {
            self.draft.add_abstract(&text);
        } else {
            let kind = if self.lists > 0 && self.in_item { Kind::ListItem } else { Kind::Text };
            self.draft.paragraph(kind, &text);
        }
    }

    fn open(&mut self, taken: Taken, before: String) {
        self.takers += usize::from(taken != Taken::Nothing);
        self.authors += usize::from(taken == Taken::Author);
        self.groups.push(Group { taken, before });
    }

    fn pop(&mut self) -> Option<Group> {
        let group = self.groups.pop()?;
        self.takers -= usize::from(group.taken != Taken::Nothing);
        self.authors -= usize::from(group.taken == Taken::Author);
        Some(group)
    }

    /// Takes the text of the group that follows.
    fn take(&mut self, taken: Taken) {
        self.input.skip_spaces();
        match self.input.next() {
            Some(Token::Open) => {
                let before = std::mem::take(&mut self.buffer);
                self.open(taken, before);
            }
            Some(other) => self.input.put_back(other),
            None => {}
        }
    }

    fn close(&mut self) {
        // A brace cannot close what was open before a table.
        if self.tables.last().is_some_and(|table| self.groups.len() <= table.groups) {
            return;
        }
        let Some(group) = self.pop() else { return };
        if group.taken == Taken::Nothing {
            return;
        }
        let text = std::mem::replace(&mut self.buffer, group.before);
        match group.taken {
            Taken::Heading(depth) => {
                if !self.takes_text() {
                    self.flush();
                    self.draft.heading(depth, &text);
                }
            }
            Taken::Footnote if self.in_body => self.draft.footnote(&text),
            Taken::Caption => {
                if self.in_body {
                    self.draft.paragraph(Kind::Caption, &text);
                }
            }
            Taken::Footnote | Taken::Nothing => {}
            Taken::Title => self.draft.title(&text.replace([AND, LINE], " ")),
            Taken::Author => {
                for author in text.split(AND) {
                    let name = author.split(LINE).find(|line| !line.trim().is_empty()).unwrap_or_default();
                    for name in fields::names(name.trim_matches([' ', ','])) {
                        self.draft.author(&name);
                    }
                }
            }
            Taken::Date => self.draft.date(&draft::clean(&text)),
            Taken::Keywords => self.draft.keywords(&text.replace(AND, ";")),
            Taken::Abstract => self.draft.add_abstract(&text),
        }
    }

    fn in_author(&self) -> bool {
        self.authors > 0
    }

    /// A formula in dollar signs.
    fn formula(&mut self) {
        let display = self.input.next_is(&Token::Shift);
        let tokens = self.input.formula(&|token, _| *token == Token::Shift, !display);
        if display {
            self.input.next_is(&Token::Shift);
        }
        self.add_formula(&tokens);
    }

    fn add_formula(&mut self, tokens: &[Token]) {
        // Marks at authors' names are no part of them.
        if !self.in_author() {
            let text = math::tex(&tokens::source(tokens));
            self.push(&text);
        }
    }

    fn arguments(&mut self, kinds: &str) {
        for kind in kinds.chars() {
            if kind == 'o' {
                self.input.optional();
            } else {
                self.input.argument();
            }
        }
    }

    fn command(&mut self, name: &str) {
        match name {
            "begin" => self.begin(),
            "end" => self.end(),
            "(" => {
                let tokens =
                    self.input.formula(&|token, _| matches!(token, Token::Command(c) if &**c == ")"), false);
                self.add_formula(&tokens);
            }
            "[" => {
                let tokens =
                    self.input.formula(&|token, _| matches!(token, Token::Command(c) if &**c == "]"), false);
                self.push(" ");
                self.add_formula(&tokens);
                self.push(" ");
            }
            "ensuremath" => {
                let tokens = self.input.argument();
                self.add_formula(&tokens);
            }
            "part" | "chapter" | "section" | "subsection" | "subsubsection" | "paragraph"
            | "subparagraph" => {
                let level = match name {
                    "part" | "chapter" => 1,
                    "section" => 1 + self.chapters,
                    "subsection" => 2 + self.chapters,
                    "subsubsection" => 3 + self.chapters,
                    "paragraph" => 4 + self.chapters,
                    _ => 5 + self.chapters,
                };
                self.input.star();
                self.input.optional();
                if !self.takes_text() {
                    self.flush();
                }
                self.take(Taken::Heading(level));
            }
            "frametitle" => {
                self.flush();
                self.take(Taken::Heading(2));
            }
            "title" | "Title" => {
                self.input.optional();
                self.take(Taken::Title);
            }
            "author" | "Author" if !self.in_author() => {
                self.input.optional();
                self.take(Taken::Author);
            }
            "date" => self.take(Taken::Date),
            "keywords" | "keyword" | "IEEEkeywords" => self.take(Taken::Keywords),
            "abstract" => self.take(Taken::Abstract),
            "footnote" | "endnote" | "tablefootnote" | "sidenote" => {
                self.input.optional();
                if self.in_author() { self.arguments("m") } else { self.take(Taken::Footnote) }
            }
            "thanks" => self.arguments("m"),
            "caption" | "subcaption" | "captionof" => {
                self.input.star();
                if name == "captionof" {
                    self.input.argument();
                }
                self.input.optional();
                self.take(Taken::Caption);
            }
            "item" => {
                self.flush();
                self.in_item = true;
                let label = self.input.optional();
                if let Some(label) = label.filter(|label| !label.is_empty()) {
                    self.input.expand([label, vec![Token::Char(':'), Token::Space]].concat());
                }
            }
            "bibitem" => {
                self.flush();
                self.draft.begin_references();
                self.arguments("om");
            }
            "And" | "AND" if self.in_author() => self.buffer.push(AND),
            // Between authors, and between keywords of Springer's and Elsevier's classes.
            "and" | "sep" if self.takes_text() => self.buffer.push(AND),
            "\\" | "tabularnewline" | "newline" | "linebreak" => {
                self.input.star();
                self.input.optional();
                if self.tables.last().is_some_and(|table| self.groups.len() <= table.groups) {
                    self.end_row();
                } else if self.in_author() {
                    self.buffer.push(LINE);
                } else {
                    self.push("\n");
                }
            }
            "par" if !self.takes_text() => self.flush(),
            "par" | " " | "," | ";" | ":" | "quad" | "qquad" | "enspace" | "thinspace" | "space"
            | "hfill" | "newblock" | "textvisiblespace" => self.push(" "),
            "input" | "include" | "subfile" | "bibliography" | "addbibresource" => {
                let file = tokens::source(&self.input.argument());
                self.draft.budget.leave_out(format!("`{}`, another file, which \\{name} names", file.trim()));
            }
            "cref" | "Cref" | "autoref" | "Autoref" => {
                let label = tokens::source(&self.input.argument());
                self.push(commands::referred(&label));
            }
            "vskip" | "hskip" | "kern" | "vspace*" => self.input.dimension(),
            "newcommand" | "renewcommand" | "providecommand" | "DeclareRobustCommand" => {
                self.input.define_command();
            }
            "DeclareMathOperator" => self.input.define_operator(),
            "def" | "gdef" | "edef" | "xdef" => self.input.define(),
            "let" => {
                self.input.next();
                if self.input.next_is(&Token::Char('=')) {
                    self.input.skip_spaces();
                }
                self.input.next();
            }
            "iffalse" => self.input.skip_conditional(),
            "endfirsthead" | "endhead" | "endfoot" | "endlastfoot" => {
                if let Some(table) = self.tables.last_mut() {
                    self.buffer.clear();
                    table.row.clear();
                    match table.repeated {
                        Some(rows) => table.rows.truncate(rows),
                        None => table.repeated = Some(table.rows.len()),
                    }
                }
            }
            "DOI" | "doi" => {
                let text = tokens::source(&self.input.argument());
                if !self.draft.in_references() {
                    self.draft.id(fields::typed_id("doi", &text));
                }
                self.push(&text);
            }
            "textsuperscript" | "inst" | "orcidlink" if self.in_author() => self.arguments("m"),
            _ if is_citation(name) => self.citation(),
            _ if commands::dropped(name).is_some() => {
                self.input.star();
                self.arguments(commands::dropped(name).unwrap_or_default());
            }
            _ if commands::accent(name).is_some() => self.accent(commands::accent(name).unwrap_or(' ')),
            _ if self.input.expand_macro(name) => {}
            _ => {
                if let Some(text) = math::symbol(name) {
                    self.push(text);
                } else {
                    // An unknown command: its arguments in brackets are settings, those in braces text.
                    self.input.setting();
                }
            }
        }
    }

    fn citation(&mut self) {
        self.input.star();
        while self.input.optional().is_some() {}
        let keys = tokens::source(&self.input.argument());
        let keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty());
        let names = keys.map(|key| self.numbers.get(key).map_or_else(|| key.to_owned(), usize::to_string));
        let names = names.collect::<Vec<_>>().join(", ");
        self.push(&format!("[{names}]"));
    }

    fn accent(&mut self, mark: char) {
        let argument = self.input.argument();
        let mut letters = argument.iter().filter_map(|token| match token {
            Token::Char(c) => Some(*c),
            Token::Command(name) => match &**name {
                "i" => Some('i'),
                "j" => Some('j'),
                other => math::symbol(other)?.chars().next(),
            },
            _ => None,
        });
        let text: String = match letters.next() {
            Some(letter) => {
                let composed = compose(letter, mark).map_or_else(|| vec![letter, mark], |c| vec![c]);
                composed.into_iter().chain(letters).collect()
            }
            None => String::new(),
        };
        self.push(&text);
    }
}

/// `\cite`, `\citep`, `\parencite`, `\textcite` and their like.
fn is_citation(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("cite") && !matches!(name.as_str(), "nocite" | "citestyle" | "setcitestyle")
}
