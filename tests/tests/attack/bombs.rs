//! Pages and files that take far more to read than to send. The quoted ones took gigabytes or minutes once.

use crate::pick;
use fastrand::Rng;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use lyra_tests::pdf;
use lyra_tests::site::Page;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Deflate of this many MiB of one byte, without holding them in memory: the encoding of one MiB, repeated.
pub(crate) fn deflated(head: &[u8], byte: u8, mebibytes: usize) -> Vec<u8> {
    let block = |bytes: &[u8]| {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        let _ = encoder.write_all(bytes);
        // Ends on a byte, and refers to nothing before.
        let _ = encoder.flush();
        encoder.get_ref().clone()
    };
    let one = block(&vec![byte; 1 << 20]);
    // An empty last block.
    [block(head), one.repeat(mebibytes), vec![0x03, 0x00]].concat()
}

/// The pages that the findings name. What costs processor time is so many times smaller.
pub(crate) fn quoted_pages(smaller: usize) -> Vec<(&'static str, Page)> {
    let html = |text: String| Page::html(text);
    let packed = |bytes: &[u8]| Page { encoding: Some("gzip"), ..Page::html(gzip(bytes)) };
    let paragraph = b"<p>A short daytime nap improves memory in adults, as forty of them showed.</p>";
    let attributes = (0..300_000 / smaller).map(|n| format!(" a{n}=x")).collect::<Vec<_>>().concat();
    vec![
        ("11,000,000 zero bytes", packed(&vec![0; 11_000_000])),
        (
            "a paragraph and 11,000,000 zero bytes",
            packed(&[paragraph.as_slice(), &vec![0; 11_000_000]].concat()),
        ),
        ("4,000,000 zero bytes", packed(&vec![0; 4_000_000])),
        ("a PDF of 1 GB of blanks", Page::pdf(flate_pdf(1_024))),
        ("a PDF of 3 GB of blanks", Page::pdf(flate_pdf(3_072))),
        ("1,000,000 div", html(format!("<p>text</p>{}", "<div>".repeat(1_000_000 / smaller)))),
        ("300,000 tables", html("<table><tr><td>".repeat(300_000 / smaller))),
        ("400,000 lists", html("<ul><li>".repeat(400_000 / smaller))),
        ("500,000 quotations", html("<blockquote>".repeat(500_000 / smaller))),
        ("2,000,000 entities", html("&amp;".repeat(2_000_000 / smaller))),
        ("300,000 attributes", html(format!("<p{attributes}>text</p>"))),
        ("60,000 open formats", html("<a><b><i><u>".repeat(60_000 / smaller))),
        ("a PDF of 300 pages with 40,000 texts each", Page::pdf(drawing_pdf(300 / smaller, 40_000))),
    ]
}

/// Regression cases.
pub(crate) fn pages_that_held() -> Vec<(&'static str, Page)> {
    let html = |text: String| Page::html(text);
    let links = (0..400_000).map(|n| format!("<a href=/{n}>x</a>")).collect::<Vec<_>>().concat();
    vec![
        ("1,000,000 span", html("<span>".repeat(1_000_000))),
        ("1,000,000 g", html(format!("<svg>{}", "<g>".repeat(1_000_000)))),
        ("one word of 11 MB", html(format!("<p>{}", "a".repeat(11_000_000)))),
        ("400,000 links", html(links)),
        ("a PDF of pages in a circle", Page::pdf(circular_pdf())),
        ("a PDF with 100,000 filters", Page::pdf(filtered_pdf(100_000))),
        ("a PDF with arrays 3,000,000 deep", Page::pdf(deep_pdf(3_000_000))),
    ]
}

/// A random page of up to some megabytes.
pub(crate) fn any_page(rng: &mut Rng) -> Page {
    const TAGS: [&str; 24] = [
        "div",
        "p",
        "span",
        "b",
        "i",
        "a href=x",
        "table",
        "tr",
        "td",
        "ul",
        "li",
        "blockquote",
        "pre",
        "svg",
        "math",
        "template",
        "select",
        "option",
        "form",
        "button",
        "h2",
        "article",
        "style",
        "ruby",
    ];
    match rng.u8(..10) {
        0 => Page::pdf(flate_pdf(rng.usize(..2_000))),
        1 => Page::pdf(drawing_pdf(rng.usize(1..60), rng.usize(1..20_000))),
        2 => Page::pdf(filtered_pdf(rng.usize(..50_000))),
        3 => Page::pdf(deep_pdf(rng.usize(..500_000))),
        4 => {
            let mut file = drawing_pdf(rng.usize(1..4), rng.usize(1..200));
            for _ in 0..rng.usize(1..60) {
                let at = rng.usize(..file.len());
                file[at] = rng.u8(..);
            }
            Page::pdf(file)
        }
        5 => {
            let bytes: Vec<u8> = vec![rng.u8(..); rng.usize(..11_000_000)];
            Page { encoding: Some("gzip"), ..Page::html(gzip(&[b"<p>text</p>".as_slice(), &bytes].concat())) }
        }
        _ => {
            let tags: Vec<&str> = (0..rng.usize(1..6)).map(|_| *pick(rng, &TAGS)).collect();
            let part: String = tags
                .iter()
                .map(|tag| match rng.u8(..4) {
                    0 => format!("<{tag}>text"),
                    1 => format!("<{tag}></{tag}>"),
                    2 => format!("<{tag} {}=y>", "x".repeat(rng.usize(1..40))),
                    _ => format!("<{tag}>"),
                })
                .collect();
            let times = rng.usize(1..3_000_000) / part.len();
            Page::html(format!("<p>A short nap improves memory.</p>{}", part.repeat(times)))
        }
    }
}

/// With pages that all draw the same content stream.
fn paged(pages: usize, stream: Vec<u8>) -> Vec<u8> {
    let kids = (0..pages).map(|n| format!("{} 0 R ", 5 + n)).collect::<Vec<_>>().concat();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Count {pages} /Kids [{kids}] >>").into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
        stream,
    ];
    let page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
                 /Resources << /Font << /F 3 0 R >> >> >>";
    objects.extend(std::iter::repeat_n(page.to_vec(), pages));
    pdf::file(&objects)
}

fn stream(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let head = format!("<< /Length {} {dictionary} >>\nstream\n", data.len());
    [head.as_bytes(), data, b"\nendstream"].concat()
}

/// With one stream of this many MiB of blanks.
fn flate_pdf(mebibytes: usize) -> Vec<u8> {
    let data = [vec![0x78, 0x01], deflated(b"BT /F 10 Tf (Sleep) Tj ET ", b' ', mebibytes)].concat();
    paged(1, stream("/Filter /FlateDecode", &data))
}

/// With this many texts on each of this many pages.
fn drawing_pdf(pages: usize, texts: usize) -> Vec<u8> {
    paged(pages, stream("", "BT /F 10 Tf 1 0 0 1 50 700 Tm (Sleep) Tj ET\n".repeat(texts).as_bytes()))
}

fn filtered_pdf(filters: usize) -> Vec<u8> {
    paged(1, stream(&format!("/Filter [{}]", "/ASCIIHexDecode ".repeat(filters)), b"00>"))
}

fn deep_pdf(depth: usize) -> Vec<u8> {
    paged(1, [b"<< /X ".as_slice(), &vec![b'['; depth], b">>"].concat())
}

fn circular_pdf() -> Vec<u8> {
    pdf::file(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 2 /Kids [2 0 R 3 0 R] /Parent 3 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 2 /Kids [2 0 R] /Parent 2 0 R /Resources << /XObject << /X 4 0 R >> >> >>"
            .to_vec(),
        stream("/Type /XObject /Subtype /Form /Resources << /XObject << /X 4 0 R >> >>", b"/X Do"),
    ])
}
