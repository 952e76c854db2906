//! What an element is by the words of its class, id and role: words in common use, no site's own.

use super::boilerplate::WRAPPER;
use dom_query::NodeRef;

/// Bytes of an attribute that are read.
const MAX_ATTRIBUTE: usize = 400;

/// Words of an `id` that is read: those of sections repeat their headings.
const MAX_ID_WORDS: usize = 3;

/// The words of an element's `class` and `id`, in lower case, name by name: `newsletterSignup wide` is
/// `[[newsletter, signup], [wide]]`.
#[derive(Debug, Default)]
pub(super) struct Labels(Vec<Vec<String>>);

impl Labels {
    pub(super) fn of(node: &NodeRef<'_>) -> Self {
        let mut names = Vec::new();
        let [class, id] = WRAPPER;
        for attribute in [class.0, class.1, id.0, id.1] {
            let most = if attribute == id.0 || attribute == id.1 { MAX_ID_WORDS } else { usize::MAX };
            let Some(value) = node.attr(attribute) else { continue };
            let value = &value[..value.floor_char_boundary(MAX_ATTRIBUTE)];
            names.extend(
                value
                    .split_whitespace()
                    .filter(|name| !is_style(name))
                    .map(words)
                    .filter(|name| name.len() <= most && !is_term(name)),
            );
        }
        Self(names)
    }

    /// One of the names has one of the words, and none that turns it around: `no-sidebar`, `has-ads`.
    pub(super) fn any(&self, words: &[&str]) -> bool {
        self.0.iter().any(|name| {
            name.iter().enumerate().any(|(at, word)| {
                words.contains(&word.as_str())
                    && !name[..at].last().is_some_and(|before| NEGATIONS.contains(&before.as_str()))
            })
        })
    }

    /// One of the names has a word of each list.
    pub(super) fn both(&self, first: &[&str], second: &[&str]) -> bool {
        self.0.iter().any(|name| {
            let has = |words: &[&str]| name.iter().position(|word| words.contains(&word.as_str()));
            matches!((has(first), has(second)), (Some(a), Some(b)) if a != b)
        })
    }

    /// One of the names is this word and nothing else.
    pub(super) fn exactly(&self, words: &[&str]) -> bool {
        self.0.iter().any(|name| name.len() == 1 && words.contains(&name[0].as_str()))
    }
}

/// Blogs name an entry's own categories and tags so: `tag-cookies`.
fn is_term(name: &[String]) -> bool {
    name.len() > 1 && matches!(name[0].as_str(), "category" | "tag" | "term" | "tax")
}

const NEGATIONS: &[&str] = &["no", "not", "has", "have", "with", "without", "hide", "is", "non"];

/// Names of utility style sheets say how something looks, not what it is: `md:hidden`, `mt-[2px]`.
fn is_style(name: &str) -> bool {
    name.contains([':', '[', '/', '(', '%'])
}

/// `relatedPosts_list-2` is `related posts list`.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in name.chars() {
        let begins = !c.is_alphabetic() || (c.is_uppercase() && lower_before);
        if begins && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
