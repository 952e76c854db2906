//! An article in JATS as pieces of text.

use crate::http::Response;
use lyra_documents::{Content, Format, Limits, Paper, Section, read as read_document};
use lyra_domain::{FetchMethod, Fragment, FragmentId, FragmentType, PageId, hex};
use lyra_research::ports::{Answered, SourcePage};
use sha2::{Digest, Sha256};

/// The service's site, where readers find the same text.
const SITE: &str = "europepmc.org";
/// Limits on one article: the answer itself is limited to 32 MiB.
const TEXT_BYTES: usize = 4 << 20;
const ELEMENTS: usize = 1_000_000;

/// The article's abstract and its paragraphs, each with the headings above it.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn read(response: &Response) -> Result<SourcePage, String> {
    let limits = Limits { text_bytes: TEXT_BYTES, elements: ELEMENTS, ..Limits::default() };
    let content = read_document(&response.body, Format::Jats, &limits).map_err(|error| error.to_string())?;
    let Content::Paper(paper) = content else { return Err("it is no article".to_owned()) };
    let address = response.url.to_string();
    let language = paper.language.as_deref().and_then(|tag| tag.get(..2)).map(str::to_ascii_lowercase);
    Ok(SourcePage {
        domain: SITE.to_owned(),
        domain_category: "unverified".to_owned(),
        method: FetchMethod::AcademicApi,
        title: paper.title.clone().unwrap_or_default(),
        fragments: fragments(&PageId::derive(&["url", &address]), &paper),
        answer: Answered {
            http_status: response.status.as_u16(),
            content_hash: hex(&Sha256::digest(&response.body)),
            final_url: address,
        },
        language,
        links: Vec::new(),
        quarantined: Vec::new(),
        left_out: Some(paper.left_out.join("; ")).filter(|missing| !missing.is_empty()),
        hostile: None,
    })
}

fn fragments(page: &PageId, paper: &Paper) -> Vec<Fragment> {
    let mut fragments: Vec<Fragment> = Vec::new();
    let mut start = 0_u32;
    let mut add = |kind: FragmentType, heading: Option<String>, text: &str| {
        let end = start + text.chars().count() as u32;
        fragments.push(Fragment {
            id: FragmentId::derive(&[page.as_str(), text]),
            page_id: page.clone(),
            fragment_type: kind,
            position: fragments.len() as u32,
            text_content: text.to_owned(),
            heading_context: heading,
            char_start: start,
            char_end: end,
        });
        // A blank line between.
        start = end + 2;
    };
    if let Some(text) = &paper.abstract_text {
        add(FragmentType::Abstract, None, text);
    }
    let mut above: Vec<&Section> = Vec::new();
    for section in &paper.sections {
        above.retain(|outer| outer.depth < section.depth);
        above.push(section);
        let headings: Vec<&str> = above.iter().filter_map(|section| section.heading.as_deref()).collect();
        let headings = Some(headings.join(" › ")).filter(|headings| !headings.is_empty());
        for paragraph in section.paragraphs.iter().filter(|paragraph| !paragraph.text.trim().is_empty()) {
            add(FragmentType::Paragraph, headings.clone(), &paragraph.text);
        }
    }
    fragments
}
