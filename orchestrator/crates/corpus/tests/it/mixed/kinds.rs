//! Papers of every other kind, and reference managers' files with their records, written as the programs write them.

use super::{Work, work, zip};
use std::fmt::Write as _;

/// The first of these works.
const FIRST: usize = 100;
type Paper = fn(&Work) -> Vec<u8>;
type List = fn(&[Work]) -> String;

const KINDS: [(&str, Paper); 5] =
    [("docx", docx), ("odt", odt), ("epub", epub), ("mhtml", mhtml), ("xml", tei)];
const LISTS: [(&str, List); 4] =
    [("list.nbib", nbib), ("list.json", csl), ("mods.xml", mods), ("endnote.xml", endnote)];

/// What all of the papers say, beside their titles.
pub(super) const SAID: &str =
    "Adults who took part slept longer than those who did not, in each of the weeks that the study went on.";

/// The works that are in these files, with the file of each.
pub(super) fn works() -> impl Iterator<Item = (Work, String)> {
    (0..KINDS.len() * LISTS.len()).map(|nth| {
        let (ending, _) = KINDS[nth % KINDS.len()];
        (work(FIRST + nth), format!("{nth}.{ending}"))
    })
}

/// Files with their content, and how many documents each adds: a paper one, its record none.
pub(super) fn files() -> Vec<super::File> {
    let papers = works().enumerate().map(|(nth, (work, name))| {
        let (_, write) = KINDS[nth % KINDS.len()];
        (format!("kinds/{name}"), write(&work), 1)
    });
    let lists = LISTS.iter().enumerate().map(|(nth, (name, write))| {
        let works: Vec<Work> =
            works().map(|(work, _)| work).skip(nth * KINDS.len()).take(KINDS.len()).collect();
        (format!("kinds/{name}"), write(&works).into_bytes(), 0)
    });
    papers.chain(lists).collect()
}

fn docx(work: &Work) -> Vec<u8> {
    let styled = |style: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let document = format!(
        "<?xml version=\"1.0\"?><w:document xmlns:w=\"w\"><w:body>{}{}{}</w:body></w:document>",
        styled("T", &work.title),
        styled("H", "Results"),
        format_args!("<w:p><w:r><w:t>{SAID}</w:t></w:r></w:p>"),
    );
    let styles = "<w:styles xmlns:w=\"w\"><w:style w:styleId=\"H\"><w:name w:val=\"heading 1\"/></w:style>\
                  <w:style w:styleId=\"T\"><w:name w:val=\"Title\"/></w:style></w:styles>";
    zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ])
}

fn odt(work: &Work) -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:text=\"t\" xmlns:style=\"s\"><office:automatic-styles>\
         <style:style style:name=\"P2\" style:parent-style-name=\"Title\"/></office:automatic-styles><office:body>\
         <office:text><text:p text:style-name=\"P2\">{}</text:p><text:h text:outline-level=\"1\">Results</text:h>\
         <text:p>{SAID}</text:p></office:text></office:body></office:document-content>",
        work.title
    );
    zip(&[("mimetype", b"application/vnd.oasis.opendocument.text"), ("content.xml", content.as_bytes())])
}

fn epub(work: &Work) -> Vec<u8> {
    let package = format!(
        "<package xmlns:dc=\"d\"><metadata><dc:title>{}</dc:title><dc:identifier>https://doi.org/{}</dc:identifier>\
         <dc:language>en</dc:language></metadata><manifest><item id=\"c\" href=\"c.xhtml\"/></manifest><spine>\
         <itemref idref=\"c\"/></spine></package>",
        work.title, work.doi
    );
    let chapter = format!("<html><body><h1>Results</h1><p>{SAID}</p></body></html>");
    let container = "<container><rootfiles><rootfile full-path=\"OPS/p.opf\"/></rootfiles></container>";
    zip(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("OPS/p.opf", package.as_bytes()),
        ("OPS/c.xhtml", chapter.as_bytes()),
    ])
}

fn mhtml(work: &Work) -> Vec<u8> {
    let page = crate::papers::PAGE
        .replace("Why we sleep at noon", &work.title)
        .replace("<head>", &format!("<head><meta name='citation_doi' content='{}'>", work.doi))
        .replace("<h2>Results</h2>", &format!("<h2>Results</h2><p>{SAID}</p>"));
    format!(
        "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/a\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/related; type=\"text/html\"; boundary=\"mark\"\r\n\r\n--mark\r\n\
         Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\
         Content-Location: https://example.org/a\r\n\r\n{page}\r\n--mark--\r\n"
    )
    .into_bytes()
}

fn tei(work: &Work) -> Vec<u8> {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc>\
         <titleStmt><title level=\"a\" type=\"main\">{}</title></titleStmt><sourceDesc><biblStruct><analytic>\
         <idno type=\"DOI\">{}</idno></analytic></biblStruct></sourceDesc></fileDesc></teiHeader><text><body><div>\
         <head>Results</head><p>{SAID}</p></div></body></text></TEI>",
        work.title, work.doi
    )
    .into_bytes()
}

/// A list with a piece for each work.
fn each(works: &[Work], write: impl Fn(&Work, &mut String) -> std::fmt::Result) -> String {
    works.iter().fold(String::new(), |mut list, work| {
        write(work, &mut list).unwrap();
        list
    })
}

fn nbib(works: &[Work]) -> String {
    each(works, |Work { doi, title, authors: [first, second], year }, list| {
        let name =
            |name: &str| name.split_once(' ').map(|(given, family)| format!("{family}, {given}")).unwrap();
        let pmid = doi.rsplit('.').next().unwrap();
        writeln!(
            list,
            "PMID- 31000{pmid}\nDP  - {year} May\nTI  - {title}\nLID - {doi} [doi]\nFAU - {}\nFAU - {}\nTA  - Sleep\nJT  - Sleep\n",
            name(first),
            name(second)
        )
    })
}

fn csl(works: &[Work]) -> String {
    let item = |Work { doi, title, authors, year }: &Work| {
        let name = |name: &String| {
            let (given, family) = name.split_once(' ').unwrap();
            serde_json::json!({"family": family, "given": given})
        };
        serde_json::json!({
            "id": doi, "type": "article-journal", "title": title, "DOI": doi, "container-title": "Sleep",
            "author": authors.iter().map(name).collect::<Vec<_>>(), "issued": {"date-parts": [[year]]},
        })
    };
    serde_json::Value::from(works.iter().map(item).collect::<Vec<_>>()).to_string()
}

fn mods(works: &[Work]) -> String {
    let records = each(works, |Work { doi, title, authors, year }, list| {
        write!(list, "<mods><titleInfo><title>{title}</title></titleInfo>")?;
        for author in authors {
            let (given, family) = author.split_once(' ').unwrap();
            write!(
                list,
                "<name type=\"personal\"><namePart type=\"family\">{family}</namePart><namePart type=\"given\">{given}\
                 </namePart><role><roleTerm type=\"code\">aut</roleTerm></role></name>"
            )?;
        }
        write!(
            list,
            "<genre authority=\"local\">journalArticle</genre><identifier type=\"doi\">{doi}</identifier>\
             <relatedItem type=\"host\"><titleInfo><title>Sleep</title></titleInfo><originInfo><dateIssued>{year}\
             </dateIssued></originInfo></relatedItem></mods>"
        )
    });
    format!(
        "<?xml version=\"1.0\"?><modsCollection xmlns=\"http://www.loc.gov/mods/v3\">{records}</modsCollection>"
    )
}

fn endnote(works: &[Work]) -> String {
    let records = each(works, |Work { doi, title, authors: [first, second], year }, list| {
        write!(
            list,
            "<record><database name=\"My.enl\">My.enl</database><ref-type name=\"Journal Article\">17</ref-type>\
             <contributors><authors><author>{first}</author><author>{second}</author></authors></contributors><titles>\
             <title><style face=\"normal\">{title}</style></title></titles><periodical><full-title>Sleep</full-title>\
             </periodical><dates><year>{year}</year></dates><electronic-resource-num>{doi}</electronic-resource-num>\
             </record>"
        )
    });
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\" ?><xml><records>{records}</records></xml>")
}
