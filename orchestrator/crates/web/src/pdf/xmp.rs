//! What the metadata stream of a PDF (XMP) says of the article.

use dom_query::Document;
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{Dict, Stream};
use lyra_domain::Doi;

/// Bytes of the metadata that are looked at.
const LOOKED_AT: usize = 1 << 20;

/// The DOI that the publisher gave as `prism:doi`, as an element or an attribute.
pub(super) fn doi(pdf: &Pdf) -> Option<Doi> {
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())?;
    let metadata = catalog.get::<Stream<'_>>(b"Metadata")?.decoded().ok()?;
    let metadata = String::from_utf8_lossy(&metadata[..metadata.len().min(LOOKED_AT)]);
    metadata
        .split("prism:doi")
        .skip(1)
        .filter_map(value)
        .find_map(|doi| Doi::parse(&Document::fragment(doi).text()))
}

/// What stands behind the name of a property: `>10.1000/x<`, or `="10.1000/x"`.
fn value(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let (value, end) = if let Some(element) = rest.strip_prefix('>') {
        (element, '<')
    } else {
        let attribute = rest.strip_prefix('=')?.trim_start();
        let quote = attribute.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        (&attribute[1..], quote)
    };
    Some(value.split(end).next()?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PDF without pages, with this as its metadata.
    fn pdf(metadata: &str) -> Pdf {
        let file = format!(
            "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R /Metadata 3 0 R >>\nendobj\n\
             2 0 obj\n<< /Type /Pages /Count 0 /Kids [] >>\nendobj\n\
             3 0 obj\n<< /Type /Metadata /Subtype /XML /Length {} >>\nstream\n{metadata}\nendstream\nendobj\n\
             trailer << /Root 1 0 R >>\n%%EOF\n",
            metadata.len()
        );
        Pdf::new(file.into_bytes()).unwrap()
    }

    #[test]
    fn elements_and_attributes() {
        for said in [
            "<rdf:Description><prism:doi>\n 10.1000/Naps.7 </prism:doi></rdf:Description>",
            "<rdf:Description xmlns:prism='http://prism' prism:doi = \"10.1000/naps.7\"/>",
            "<prism:doi></prism:doi><prism:doi>doi:10.1000/naps.7</prism:doi>",
        ] {
            assert_eq!(doi(&pdf(said)), Doi::parse("10.1000/naps.7"), "{said}");
        }
        let escaped = "<prism:doi>10.1002/(SICI)1097(19&lt;1::AID&gt;3.0.CO;2-A</prism:doi>";
        assert_eq!(doi(&pdf(escaped)), Doi::parse("10.1002/(SICI)1097(19<1::AID>3.0.CO;2-A"));
        for said in ["", "<prism:doi>", "prism:doi", "prism:doi=", "<dc:title>10.1000/naps.7</dc:title>"] {
            assert_eq!(doi(&pdf(said)), None, "{said}");
        }
    }
}
