//! Lines by which a site speaks to its readers in the middle of a text: “subscribe to our newsletter”, “log in to
//! comment”, “Share: Facebook, Twitter”, “Views: 12”, “all rights reserved”. Told by words; the names of elements are
//! judged in `boilerplate`.

mod appeals;
mod labels;

use self::appeals::{APPEALS, NETWORKS};
use self::labels::{ADVERTISING, BUTTONS, DOES, NAMES, RIGHTS, SHARE, UNSPACED};

/// Characters of an appeal at most.
const APPEAL: usize = 240;
/// Characters that a line has at most when it says something of the page, such as its category.
const LABEL: usize = 120;
/// Characters of a word that names the page's category or the like, with its colon.
const NAME: usize = 28;
/// Words between what is asked and with what, at most.
const CLOSE: usize = 10;
/// Characters that a line in a script without spaces has at most.
const UNSPACED_LINE: usize = 24;
/// Characters of a portrait at most.
const PORTRAIT: usize = 700;

/// Whether a block of running text is such a line.
pub(super) fn is_aside(text: &str) -> bool {
    let length = text.chars().count();
    if length > APPEAL || text.starts_with(['"', '“', '„', '«', '»', '「']) {
        return false;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    is_buttons(&words)
        || is_appeal(&words)
        || (length <= LABEL && is_named(&lower))
        || RIGHTS.iter().any(|right| lower.starts_with(right))
        || (words.len() <= 6 && words.iter().any(|word| ADVERTISING.contains(word)))
        || (length <= UNSPACED_LINE && UNSPACED.iter().any(|phrase| lower.contains(phrase)))
        || is_clock(&words)
}

/// Asks the reader for something that the site offers.
fn is_appeal(words: &[&str]) -> bool {
    APPEALS.iter().any(|[asks, objects, persons]| {
        let places = |list: &'static [&str]| (0..words.len()).filter(move |at| has(list, words[*at]));
        let is_asked = |ask: usize| {
            places(objects).any(|object| object != ask && object.abs_diff(ask) <= CLOSE)
                && (ask == 0 || places(persons).any(|person| person != ask))
        };
        places(asks).any(is_asked)
    })
}

fn has(list: &[&str], word: &str) -> bool {
    list.iter().any(|entry| entry.strip_suffix('*').map_or(*entry == word, |begin| word.starts_with(begin)))
}

/// Consists of the labels of buttons.
fn is_buttons(words: &[&str]) -> bool {
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let is_button = |word: &&str| BUTTONS.contains(word) || SHARE.contains(word) || NETWORKS.contains(word);
    let strong = words.iter().filter(|word| SHARE.contains(word) || NETWORKS.contains(word)).count();
    let shares = words.iter().any(|word| SHARE.contains(word));
    (strong >= 2 || shares) && words.iter().all(|word| is_button(word) || is_number(word))
}

/// Begins with the name of what it tells of the page, and a colon.
fn is_named(lower: &str) -> bool {
    let lower = lower.trim_start_matches(['-', ' ', '|', '/']);
    let Some((name, _)) = lower.split_once([':', '：']) else { return false };
    name.chars().count() <= NAME && NAMES.contains(&name.trim())
}

/// Tells of an author: begins with the name, and goes on with what that person is or does.
pub(super) fn is_portrait(text: &str, authors: &[String]) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |author: &String| {
        let rest = text.strip_prefix(author.as_str())?;
        let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.next().map(|word| DOES.contains(&word))
    };
    text.chars().count() <= PORTRAIT && authors.iter().any(|author| begins(author) == Some(true))
}

/// A time of the day.
fn is_clock(words: &[&str]) -> bool {
    (2..=4).contains(&words.len())
        && words.iter().all(|word| {
            (word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit()))
                || matches!(*word, "am" | "pm" | "uhr" | "h")
        })
        && words.iter().any(|word| matches!(*word, "am" | "pm" | "uhr"))
}
