//! EPUB and saved pages.

use crate::{outline, paper, try_paper, zipped};
use lyra_documents::{Content, Format, Limits, ReadError, read};

/// An EPUB with these chapters.
pub(crate) fn epub(chapters: &[&str], more: &[(&str, &[u8])]) -> Vec<u8> {
    let each = |write: fn(usize) -> String| (0..chapters.len()).map(write).collect::<Vec<_>>().concat();
    let items = each(|n| format!(r#"<item id="c{n}" href="text/c%20{n}.xhtml"/>"#));
    let spine = each(|n| format!(r#"<itemref idref="c{n}"/>"#));
    let package = format!(
        r##"<package xmlns:dc="d"><metadata><dc:title>On Sleep</dc:title><dc:creator id="a">Lovelace, Ada</dc:creator>
        <meta refines="#a" property="role">aut</meta><dc:creator id="b">Some Editor</dc:creator>
<meta refines="#b" property="role">edt</meta>
        <dc:date>2019-03-04</dc:date><dc:identifier>https://doi.org/10.1000/book</dc:identifier>
<dc:language>en</dc:language>
        <dc:publisher>Springer</dc:publisher></metadata><manifest>{items}</manifest><spine>{spine}</spine>
</package>"##
    );
    let container =
        br#"<container><rootfiles><rootfile full-path="OPS/package.opf"/></rootfiles></container>"#;
    let names: Vec<String> = (0..chapters.len()).map(|n| format!("OPS/text/c {n}.xhtml")).collect();
    let mut members: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container),
        ("OPS/package.opf", package.as_bytes()),
    ];
    members.extend(names.iter().zip(chapters).map(|(name, chapter)| (name.as_str(), chapter.as_bytes())));
    members.extend_from_slice(more);
    zipped(&members)
}

#[test]
fn epub_is_read_in_the_order_of_its_spine() {
    let chapters = [
        r#"<html xmlns:epub="e"><head><title>x</title></head><body><h1>One</h1>
<p>First&nbsp;text<a epub:type="noteref" href="n">1</a>.<br>
           Not closed <i>but</i> read.</p><span epub:type="pagebreak" title="12"/><p>Page twelve.</p>
<aside epub:type="footnote"><p>A note.</p></aside></body></html>"#,
        r"<html><body><h2>Two</h2><ul><li>a</li><li><p>b</p></li></ul><table><caption>Counts</caption><tr>
<th>k</th><td>1</td></tr></table>
           <pre>x
  y</pre><figure><img/><figcaption>A picture</figcaption></figure><script>bad()</script><nav>skip</nav></body>
</html>",
        r"<html><body><h1>Bibliography</h1><p>Smith (2020). Sleep.</p></body></html>",
    ];
    let paper = paper(&epub(&chapters, &[]), Format::Epub);
    assert_eq!(paper.title.as_deref(), Some("On Sleep"));
    assert_eq!(paper.authors, ["Ada Lovelace"]);
    assert_eq!((paper.year, paper.date.as_deref()), (Some(2019), Some("2019-03-04")));
    assert_eq!(paper.doi().map(ToString::to_string).as_deref(), Some("10.1000/book"));
    assert_eq!(
        outline(&paper),
        [
            "# One",
            "text: First text. Not closed but read.",
            "text: Page twelve.",
            "note: A note.",
            "## Two",
            "item: a",
            "item: b",
            "caption: Counts",
            "table: k | 1",
            "code: x\n  y",
            "caption: A picture",
        ]
    );
    assert_eq!(paper.sections[0].paragraphs[1].page, Some(12));
    assert_eq!(paper.references[0].text, "Smith (2020). Sleep.");
}

#[test]
fn protected_epub_says_so_and_scrambled_fonts_do_not_matter() {
    let chapter = "<html><body><p>Text.</p></body></html>";
    let list = |uri: &str| {
        format!(
            r#"<encryption><EncryptedData><CipherData><CipherReference URI="{uri}"/></CipherData></EncryptedData>
</encryption>"#
        )
    };
    let fonts = list("OPS/font.otf");
    paper(&epub(&[chapter], &[("META-INF/encryption.xml", fonts.as_bytes())]), Format::Epub);
    let text = list("OPS/text/c%200.xhtml");
    let bytes = epub(&[chapter], &[("META-INF/encryption.xml", text.as_bytes())]);
    assert_eq!(try_paper(&bytes, Format::Epub, &Limits::default()), Err(ReadError::Encrypted));
}

#[test]
fn epub_without_a_chapter_reads_the_rest() {
    let mut bytes = epub(&["<p>Here.</p>", "<p>x</p>"], &[]);
    // The second chapter is listed under a name that no member has.
    let at = bytes.windows(16).rposition(|window| window == b"OPS/text/c 1.xht").unwrap();
    bytes[at + 11] = b'9';
    let paper = paper(&bytes, Format::Epub);
    assert_eq!(outline(&paper), ["text: Here."]);
    assert!(paper.left_out[0].contains("missing"), "{:?}", paper.left_out);
}

const SAVED: &str = "\
    From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/a\r\n\
    Subject: =?utf-8?Q?Caf=C3=A9=20?=\r\n\x20=?utf-8?B?TmFwcw==?=\r\n\
    Date: Fri, 31 May 2024 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\
    \ttype=\"text/html\";\r\n\tboundary=\"--mark\"\r\n\r\n----mark\r\nContent-Type: text/css\r\n\
    Content-Location: https://example.org/b\r\n\r\nb{}\r\n----mark\r\n\
    Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\
    Content-Location: https://example.org/a\r\n\r\n<p>Caf=C3=A9 =\r\nnaps</p>\r\n----mark--\r\n\
    ";

#[test]
fn saved_pages_give_their_html() {
    assert_eq!(Format::detect("page.mhtml", SAVED.as_bytes()), Some(Format::Mhtml));
    let Content::Page(page) = read(SAVED.as_bytes(), Format::Mhtml, &Limits::default()).unwrap() else {
        panic!("not a page")
    };
    assert_eq!(String::from_utf8(page.html).unwrap().trim(), "<p>Café naps</p>");
    assert_eq!(page.url.as_deref(), Some("https://example.org/a"));
    assert_eq!(page.title.as_deref(), Some("Café Naps"));
    assert_eq!(page.saved.as_deref(), Some("2024-05-31"));
    assert_eq!(page.content_type.as_deref(), Some("text/html; charset=utf-8"));
}

#[test]
fn saved_pages_without_html_say_so() {
    let error = |text: &str| read(text.as_bytes(), Format::Mhtml, &Limits::default()).unwrap_err();
    assert!(matches!(error("no headers at all"), ReadError::OtherFormat(_)));
    assert_eq!(error("MIME-Version: 1.0\nContent-Type: text/plain\n\ntext"), ReadError::NoText);
    let bad = "MIME-Version: 1.0\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n*****";
    assert!(matches!(error(bad), ReadError::Damaged(_)));
}
