//! Extracted text as Markdown, for people.

use super::{BlockKind, Extracted};

impl Extracted {
    /// The text as Markdown: headings, lists, tables and quotations marked as such.
    pub fn markdown(&self) -> String {
        let chars: Vec<char> = self.text.chars().collect();
        let mut out = String::with_capacity(self.text.len() + 64);
        for block in &self.blocks {
            let text: String = chars[block.start as usize..block.end as usize].iter().collect();
            if !out.is_empty() {
                out.push('\n');
            }
            match block.kind {
                BlockKind::Heading { level } => {
                    out.push_str(&"#".repeat(usize::from(level.clamp(1, 6))));
                    out.push(' ');
                    out.push_str(&text);
                }
                BlockKind::Paragraph | BlockKind::List | BlockKind::Caption => out.push_str(&text),
                BlockKind::Quote => out.push_str(&lines(&text, |line| format!("> {line}"))),
                BlockKind::Preformatted => {
                    out.push_str("```\n");
                    out.push_str(&text);
                    out.push_str("\n```");
                }
                BlockKind::Table => out.push_str(&table(&text)),
            }
            out.push('\n');
        }
        out
    }
}

fn lines(text: &str, form: impl Fn(&str) -> String) -> String {
    text.lines().map(form).collect::<Vec<_>>().join("\n")
}

/// The first row becomes the head, which Markdown's tables cannot do without.
fn table(text: &str) -> String {
    let cells = |line: &str| line.split(" | ").count();
    let width = text.lines().map(cells).max().unwrap_or(1);
    let mut rows: Vec<String> =
        text.lines().map(|line| format!("| {line}{} |", " |".repeat(width - cells(line)))).collect();
    rows.insert(1.min(rows.len()), format!("|{}", " --- |".repeat(width)));
    rows.join("\n")
}
