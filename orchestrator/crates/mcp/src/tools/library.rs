//! What is stored, found and read: `search` and `fetch`, as clients for deep research call them.
//!
//! Their arguments and the fields `results`, `id`, `title`, `url`, `text`, and `metadata` are those of OpenAI's
//! connectors.

use super::{Call, Effect, Failure, Tool};
use crate::links;
use crate::reply::{CONTENT_NOTICE, MAX_BYTES};
use lyra_usecases::{AppError, LibraryEntry, LibraryItem, Shelf};
use lyra_wire::ItemFacts;
use lyra_wire::json::size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest title, in characters.
const TITLE_CHARS: usize = 200;
/// Bytes of one result for everything but the text.
const FRAME_BYTES: usize = 2_000;

/// Searches the store and the corpora.
pub(super) struct Search;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchInput {
    /// What to search for, in words, 1 to 2000 characters.
    #[schemars(length(min = 1, max = 2000))]
    query: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchOutput {
    /// Claims and documents, best first, at most 20.
    results: Vec<Found>,
    /// What could not be searched. Only when there is any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Fields of this result that hold text copied from documents.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    /// What `fetch` takes: `claim_…`, `page_…`, or `corpus:NAME/DOCUMENT`.
    id: String,
    /// The claim, or the title of the document.
    title: String,
    /// A DOI or address to cite; a `lyra://` resource without one.
    url: String,
}

impl From<LibraryEntry> for Found {
    fn from(LibraryEntry { id, title, url }: LibraryEntry) -> Self {
        Self { id, title: lyra_fusion::cut(&title, TITLE_CHARS).0.to_owned(), url }
    }
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search what is stored";
    const DESCRIPTION: &'static str = "Finds stored claims and documents, by words and by meaning. Searches nothing \
        outside; `answer` does. Follow with fetch.";
    const EFFECT: Effect = Effect::Reads;
    type Input = SearchInput;
    type Output = SearchOutput;

    async fn call(call: &Call, input: SearchInput) -> Result<SearchOutput, Failure> {
        let Shelf { entries, notes } = call.app.search_library(&input.query).await?;
        Ok(SearchOutput {
            results: entries.into_iter().map(Found::from).collect(),
            notes,
            untrusted_fields: vec!["results[].title"],
            content_notice: CONTENT_NOTICE,
        })
    }
}

/// Reads one stored item.
pub(super) struct Fetch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FetchInput {
    /// An id that `search` returned, 1 to 700 characters.
    #[schemars(length(min = 1, max = 700))]
    id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FetchOutput {
    /// The requested id.
    id: String,
    /// The claim, or the title of the document.
    title: String,
    /// The text of a document; a claim with the passages for and against it. Cut where it is too long for a result;
    /// then `metadata.omitted_characters` says by how much.
    text: String,
    /// A DOI or address to cite; a `lyra://` resource without one.
    url: String,
    /// Its page in the workbench, for a person. Only while a server runs on the data folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    workbench: Option<String>,
    /// What to cite, and facts. Only what is known.
    metadata: ItemFacts,
    /// Fields of this result that hold text copied from documents.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

impl From<LibraryItem> for FetchOutput {
    fn from(LibraryItem { entry, text, metadata }: LibraryItem) -> Self {
        let mut output = Self {
            id: entry.id,
            title: lyra_fusion::cut(&entry.title, TITLE_CHARS).0.to_owned(),
            text: String::new(),
            url: entry.url,
            workbench: None,
            metadata,
            untrusted_fields: vec!["title", "text", "metadata"],
            content_notice: CONTENT_NOTICE,
        };
        let room = (MAX_BYTES - FRAME_BYTES).saturating_sub(size(&output));
        let (shown, omitted) = fitting(&text, room);
        if omitted > 0 {
            output.metadata.omitted_characters = Some(omitted);
        }
        shown.clone_into(&mut output.text);
        output
    }
}

/// The longest beginning whose JSON takes at most `room` bytes, and the characters after it.
fn fitting(text: &str, room: usize) -> (&str, usize) {
    if size(text) <= room {
        return (text, 0);
    }
    let (mut low, mut high) = (0, text.chars().count());
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if size(lyra_fusion::cut(text, middle).0) <= room { low = middle } else { high = middle }
    }
    lyra_fusion::cut(text, low)
}

impl Tool for Fetch {
    const NAME: &'static str = "fetch";
    const TITLE: &'static str = "Fetch a stored item";
    const DESCRIPTION: &'static str = "Returns a claim that search found with the passages for and against it, or the \
        text of a document, with its URL and citation.";
    const EFFECT: Effect = Effect::Reads;
    type Input = FetchInput;
    type Output = FetchOutput;

    async fn call(call: &Call, input: FetchInput) -> Result<FetchOutput, Failure> {
        let item: Result<LibraryItem, AppError> = call.app.library_item(&input.id).await;
        let output = FetchOutput::from(item?);
        // Clients for deep research expect a single block of content, so the address is a field.
        let workbench = links::page_of_item(&output.id, call.app.data_dir()).await;
        Ok(FetchOutput { workbench, ..output })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_any_length_fits_a_result() {
        for text in ["short".to_owned(), "\u{1}\"日本".repeat(40_000), String::new()] {
            let entry = LibraryEntry {
                id: "page_1".to_owned(),
                title: "t".repeat(1_000),
                url: "https://a.example/".to_owned(),
            };
            let output =
                FetchOutput::from(LibraryItem { entry, text: text.clone(), metadata: ItemFacts::default() });
            assert!(size(&output) <= MAX_BYTES && text.starts_with(&output.text));
            let omitted = output.metadata.omitted_characters.unwrap_or(0);
            assert_eq!(output.text.chars().count() + omitted, text.chars().count());
        }
    }
}
