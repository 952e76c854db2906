//! What of a document each semantic scope embeds.

use crate::Document;
use crate::backend::FeatureScope;
use lyra_text::{normalise, passage};

/// Characters of a part that are embedded at most: embedders read some hundred words, the rest would be cut there.
const MOST: usize = 4_000;

impl Document {
    /// The text of a scope, `None` when the document has nothing of the kind.
    pub(crate) fn text_of(&self, scope: FeatureScope) -> Option<String> {
        let joined = |parts: &[&str]| {
            let parts: Vec<&str> =
                parts.iter().filter(|part| !part.is_empty()).map(|part| head(part)).collect();
            parts.join(" ")
        };
        let text = match scope {
            FeatureScope::Wide if self.claim.is_empty() && self.desc.is_empty() => {
                passage(&self.title, &self.text)
            }
            FeatureScope::Wide => passage(&self.title, &joined(&[&self.text, &self.claim, &self.desc])),
            FeatureScope::TitleAbstClaims if self.claim.is_empty() => passage(&self.title, &self.text),
            FeatureScope::TitleAbstClaims => passage(&self.title, &joined(&[&self.text, &self.claim])),
            FeatureScope::ClaimsOnly => normalise(head(&self.claim)),
            FeatureScope::TopClaim => normalise(head(self.claim.lines().next().unwrap_or_default())),
            FeatureScope::BackgroundJp => normalise(head(&background(&self.desc))),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

fn head(text: &str) -> &str {
    text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end])
}

/// The paragraphs under the headings of a Japanese description that tell background, problem and effect.
fn background(desc: &str) -> String {
    let mut inside = false;
    let mut found = Vec::new();
    for line in desc.lines() {
        if let Some(heading) = heading(line) {
            inside = HEADINGS.iter().any(|of| heading.contains(of));
        } else if inside {
            found.push(line);
        }
    }
    found.join("\n")
}

/// Parts of the headings 【背景技術】, 【従来の技術】, 【発明が解決しようとする課題】, 【発明の目的】, 【発明の効果】.
const HEADINGS: [&str; 5] = ["背景技術", "従来", "課題", "目的", "効果"];

/// The name in a line that is a heading in black brackets, and no paragraph number such as 【0001】. That the problem
/// is solved (【課題を解決するための手段】) is the invention itself.
fn heading(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix('【')?.split_once('】')?.0;
    let number = name.chars().all(char::is_numeric);
    (!number).then_some(if name.contains("解決するための") { "手段" } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_a_patent_and_of_a_paper() {
        let patent = Document {
            title: "刈刃装置".to_owned(),
            text: "要約。".to_owned(),
            claim: "刃を備える装置。\n請求項１の装置。".to_owned(),
            desc: "【技術分野】\n【０００１】\n刈刃。\n【背景技術】\n従来の刃は重い。\n【発明が解決しようとする課題】\n軽くする。\n【課題を解決するための手段】\n薄くする。\n【発明の効果】\n軽い。".to_owned(),
            ..Document::default()
        };
        let text = |scope| patent.text_of(scope).unwrap();
        assert_eq!(text(FeatureScope::TopClaim), "刃を備える装置。");
        assert_eq!(text(FeatureScope::ClaimsOnly), "刃を備える装置。 請求項1の装置。");
        assert_eq!(text(FeatureScope::BackgroundJp), "従来の刃は重い。 軽くする。 軽い。");
        assert!(text(FeatureScope::Wide).starts_with("刈刃装置。要約。 刃を備える装置。"));
        assert!(text(FeatureScope::TitleAbstClaims).ends_with("請求項1の装置。"));
        let paper =
            Document { title: "Naps".to_owned(), text: "They help.".to_owned(), ..Document::default() };
        let texts: Vec<_> = FeatureScope::ALL.into_iter().map(|scope| paper.text_of(scope)).collect();
        let both = Some("Naps. They help.".to_owned());
        assert_eq!(texts, [both.clone(), both, None, None, None]);
    }
}
