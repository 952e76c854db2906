//! Parts of a page that do not belong to the main text: what surrounds it, and what stands within it for other ends. Told by
//! elements and roles, by words of classes in common use, and by the share of links.

use super::edges::ends_sentence;
use super::labels::Labels;
use super::outline::{Amount, Part, outline};
use crate::dom::{is_block_element, visible_text};
use dom_query::NodeRef;

/// Where class and id of an element are noted that the rules for main content will replace by its only child.
pub(super) const WRAPPER: [(&str, &str); 2] = [("class", "data-lyra-class"), ("id", "data-lyra-id")];
/// Where each element notes its number: its index in the outline of the page.
pub(super) const PLACE: &str = "data-lyra-at";
/// Marks a short line that stands in no paragraph.
const LOOSE: &str = "data-lyra-loose";
/// Marks a form with fields, which the rules for main content remove.
const FORM: &str = "data-lyra-form";
/// Characters that such a line has at most.
const SHORT: usize = 80;

/// Characters that a caption has at least when it tells something.
const CAPTION: usize = 120;

/// Notes what the rules for main content would lose: they turn blocks into paragraphs, and paragraphs take the place
/// of blocks.
pub(super) fn note(root: NodeRef<'_>) {
    let parts = outline(root);
    // One past the last element in the text container that is open.
    let mut container = 0;
    for (at, part) in parts.iter().enumerate() {
        part.node.set_attr(PLACE, &at.to_string());
        if part.name == "div" && part.amount.chars > 0 {
            let inner = &parts[at + 1..part.end];
            if inner.first().is_some_and(|child| child.name == "p" && child.end == part.end) && part.own == 0
            {
                for (attribute, noted) in WRAPPER {
                    if let Some(value) = part.node.attr(attribute) {
                        inner[0].node.set_attr(noted, &value);
                    }
                }
            } else if kind(part, &parts).is_some() && !has_blocks(at, &parts) {
                part.node.rename("p");
            }
        }
        if part.name == "form" && part.amount.controls > 0 {
            part.node.set_attr(FORM, "");
        }
        if at < container {
            continue;
        }
        if is_text_container(&part.name) {
            container = part.end;
        } else if is_loose(at, &parts) {
            part.node.set_attr(LOOSE, "");
            if part.name == "div" {
                part.node.rename("p");
            }
            container = part.end;
        }
    }
}

fn is_text_container(name: &str) -> bool {
    matches!(
        name,
        "p" | "li"
            | "td"
            | "th"
            | "dd"
            | "dt"
            | "blockquote"
            | "pre"
            | "code"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "figcaption"
            | "caption"
    )
}

/// A short line without the end of a sentence, in a block of its own and in no paragraph: a date, a category, a button.
fn is_loose(at: usize, parts: &[Part<'_>]) -> bool {
    let part = &parts[at];
    let inline = !is_block_element(&part.name);
    part.amount.chars > 0
        && part.amount.chars <= SHORT
        && !(inline && part.parent.is_some_and(|parent| parts[parent].own > 0))
        && !has_blocks(at, parts)
        && !ends_sentence(&visible_text(part.node))
}

/// Whether there are blocks in an element, the first of which ends the search.
fn has_blocks(at: usize, parts: &[Part<'_>]) -> bool {
    parts[at + 1..parts[at].end].iter().any(|inner| is_block_element(&inner.name) && inner.name != "br")
}

/// Removes everything below `root` that does not belong to the main text. `root` itself stays.
pub(super) fn clear(root: NodeRef<'_>) {
    clear_parts(root, true);
}

/// As [`clear`], but without regard to what the elements are called.
pub(super) fn clear_loosely(root: NodeRef<'_>) {
    clear_parts(root, false);
}

fn clear_parts(root: NodeRef<'_>, by_name: bool) {
    let parts = outline(root);
    for node in found(&parts, by_name) {
        node.remove_from_parent();
    }
}

/// The outermost elements that do not belong to the main text; `by_name` says whether the words of classes count.
fn found<'a>(parts: &[Part<'a>], by_name: bool) -> Vec<NodeRef<'a>> {
    let mut found = Vec::new();
    let Some(whole) = parts.first().map(|part| part.amount) else { return found };
    let loose: usize =
        parts.iter().filter(|part| part.node.has_attr(LOOSE)).map(|part| part.amount.chars).sum();
    let drop_loose = loose * 5 <= whole.chars;
    // Kinds of parts of which one was spared for its size, each with the end of that one: what is in it is the text.
    let mut spared = [0; KINDS.len()];
    let mut at = 1;
    while let Some(part) = parts.get(at) {
        let name = part.name.as_str();
        if matches!(name, "pre" | "code" | "math") {
            at = part.end;
            continue;
        }
        let is_much = is_much(part, &whole);
        let kind = if by_name { kind(part, parts) } else { None };
        // The choices of a field do not count as text, however many there are.
        let is_doomed = part.hidden
            || name == "select"
            || (!is_much
                && (kind.is_some_and(|kind| at >= spared[kind])
                    || is_surrounding(part, parts)
                    || (drop_loose && part.node.has_attr(LOOSE))
                    || is_menu(part)));
        if is_doomed {
            found.push(part.node);
            at = part.end;
            continue;
        }
        if let (true, Some(kind)) = (is_much, kind) {
            spared[kind] = part.end;
        }
        at += 1;
    }
    found
}

/// Elements that are beside the text whatever they are called.
fn is_surrounding(part: &Part<'_>, parts: &[Part<'_>]) -> bool {
    match part.name.as_str() {
        "nav" | "button" | "select" | "textarea" | "input" | "label" | "aside" => true,
        "footer" => !ancestors(part, parts).any(|above| above.name == "blockquote"),
        "form" if part.amount.controls > 0 => true,
        "figcaption" => is_label(part),
        _ => {
            let role = part.node.attr("role");
            part.node.has_attr(FORM) || role.is_some_and(|role| ROLES.contains(&&*role.to_ascii_lowercase()))
        }
    }
}

/// A short caption, which names a picture or its owner and tells little.
fn is_label(part: &Part<'_>) -> bool {
    part.amount.chars <= CAPTION && {
        let text = visible_text(part.node);
        !["Fig", "Tab", "Abb"].iter().any(|numbered| text.starts_with(numbered))
    }
}

fn ancestors<'p, 'a>(part: &'p Part<'a>, parts: &'p [Part<'a>]) -> impl Iterator<Item = &'p Part<'a>> {
    std::iter::successors(part.parent, |at| parts[*at].parent).map(|at| &parts[at])
}

/// So much of the text that it can hardly be something beside it.
fn is_much(part: &Part<'_>, whole: &Amount) -> bool {
    part.amount.plain() * 10 > whole.plain() * 4
}

const ROLES: &[&str] = &[
    "navigation",
    "menu",
    "menubar",
    "search",
    "banner",
    "contentinfo",
    "dialog",
    "alertdialog",
    "complementary",
];

/// A block that consists of links, as menus do. Lists are judged with the text before them.
fn is_menu(part: &Part<'_>) -> bool {
    matches!(part.name.as_str(), "div" | "section" | "dl" | "header")
        && part.amount.links >= 2
        && part.amount.items == 0
        && part.amount.is_linked(80)
}

/// What the words of its class and id say that it is, as an index of [`KINDS`].
fn kind(part: &Part<'_>, parts: &[Part<'_>]) -> Option<usize> {
    let name = part.name.as_str();
    if matches!(
        name,
        "article" | "main" | "body" | "tr" | "td" | "th" | "tbody" | "thead" | "br" | "img" | "a" | "sup"
    ) {
        return None;
    }
    let labels = Labels::of(&part.node);
    let found = KINDS.iter().position(|kind| kind(&labels))?;
    // Within a line only what is not read with it: its words may be a date that begins the sentence.
    let inline =
        !is_block_element(name) && ancestors(part, parts).take(3).any(|above| is_text_container(&above.name));
    (!inline || found < INLINE).then_some(found)
}

/// How many of the first kinds are detected within a line too.
const INLINE: usize = 2;

const KINDS: &[fn(&Labels) -> bool] = &[
    |labels| {
        labels.both(&["screen"], &["reader"]) || labels.both(&["sr"], &["only"]) || labels.any(&["noprint"])
    },
    |labels| labels.any(SHARING),
    |labels| labels.any(NAVIGATION),
    |labels| labels.any(CONSENT),
    |labels| {
        labels.exactly(&["credit", "credits", "copyright"])
            || labels
                .both(&["image", "img", "photo", "caption", "picture"], &["credit", "credits", "copyright"])
    },
    |labels| {
        labels.any(LETTERS)
            || labels.both(&["sign", "log"], &["up", "in"])
            || labels.both(&["news"], &["letter"])
    },
    |labels| {
        labels.any(RELATED)
            || labels.both(
                &["more", "next", "previous", "prev", "latest", "recent", "other"],
                &["post", "posts", "article", "articles", "stories", "news"],
            )
            || labels.both(&["read", "see"], &["more", "next", "also"])
            || labels.both(&["also", "auch"], &["read", "like"])
    },
    |labels| labels.any(COMMENTS),
    |labels| labels.any(ADVERTISING),
    |labels| labels.any(CHROME),
    |labels| {
        labels.any(AUTHORS)
            || labels.both(
                &["author", "authors"],
                &[
                    "box",
                    "bio",
                    "info",
                    "card",
                    "profile",
                    "about",
                    "description",
                    "desc",
                    "details",
                    "name",
                    "meta",
                ],
            )
    },
    |labels| {
        labels.any(META)
            || labels.exactly(LONE)
            || labels.both(
                &["post", "entry", "article", "node", "blog"],
                &["meta", "metadata", "tags", "categories", "date", "info", "author", "time"],
            )
            || labels.both(&["cat", "tag", "tags", "category"], &["links", "list", "cloud"])
            || labels.both(&["reading", "read"], &["time"])
    },
];

const NAVIGATION: &[&str] = &[
    "nav",
    "navi",
    "navbar",
    "navigation",
    "subnav",
    "submenu",
    "menu",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
    "pager",
    "paging",
    "pagenavi",
    "skiplink",
    "skip",
    "sitemap",
    "toc",
    "nextpost",
    "prevpost",
];
const CONSENT: &[&str] = &[
    "cookie",
    "cookies",
    "consent",
    "gdpr",
    "dsgvo",
    "cookiebar",
    "cookiebanner",
    "cookieconsent",
    "cookienotice",
];
const LETTERS: &[&str] = &[
    "newsletter",
    "newsletters",
    "subscribe",
    "subscription",
    "signup",
    "optin",
    "mailchimp",
    "mc4wp",
    "abonnieren",
];
const SHARING: &[&str] = &[
    "share",
    "shares",
    "sharing",
    "sharedaddy",
    "sharebar",
    "sharebuttons",
    "social",
    "socials",
    "socialmedia",
    "sociable",
    "shariff",
    "addtoany",
    "addthis",
    "likes",
];
const RELATED: &[&str] = &[
    "related",
    "relatedposts",
    "recommended",
    "recommendation",
    "recommendations",
    "recirculation",
    "similar",
    "popular",
    "trending",
    "outbrain",
    "taboola",
    "yarpp",
    "crp",
    "mostread",
    "teaser",
    "teasers",
];
const COMMENTS: &[&str] = &[
    "comments",
    "comment",
    "commentlist",
    "commentform",
    "disqus",
    "respond",
    "reply",
    "kommentare",
    "commentaires",
];
const ADVERTISING: &[&str] = &[
    "ad",
    "ads",
    "adv",
    "advert",
    "adverts",
    "advertisement",
    "advertising",
    "adsense",
    "adsbygoogle",
    "sponsor",
    "sponsored",
    "anzeige",
    "werbung",
    "promo",
    "promotion",
];
const CHROME: &[&str] = &[
    "sidebar", "footer", "banner", "modal", "popup", "popover", "overlay", "lightbox", "tooltip", "toolbar",
    "paywall", "login",
];
const AUTHORS: &[&str] = &["byline", "authorbox", "autor", "authors"];
const META: &[&str] = &[
    "postmeta",
    "entrymeta",
    "postmetadata",
    "metadata",
    "dateline",
    "timestamp",
    "pubdate",
    "postdate",
    "taglist",
    "tagcloud",
    "readingtime",
];
const LONE: &[&str] = &["author", "meta", "tags", "widget", "date", "time", "categories", "print"];
