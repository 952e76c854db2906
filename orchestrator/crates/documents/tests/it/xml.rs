//! JATS and TEI.

use crate::{outline, paper, try_paper};
use lyra_documents::{Format, Limits, ReadError};

pub(crate) const JATS: &str = r#"<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "JATS.dtd">
<article xmlns:xlink="x" xmlns:mml="m" article-type="research-article" xml:lang="en"><front>
<journal-meta><journal-title-group><journal-title>Sleep Medicine</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="doi">10.1000/JATS.1</article-id>
<article-id pub-id-type="pmid">123456</article-id>
<article-id pub-id-type="pmc">PMC7654321</article-id>
<title-group><article-title>Naps <italic>and</italic> memory</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Lovelace</surname><given-names>Ada</given-names>
</name><xref ref-type="aff">1</xref></contrib>
<contrib contrib-type="author"><collab>The Nap Group<contrib-group><contrib><name><surname>X</surname></name>
</contrib></contrib-group></collab></contrib>
<contrib contrib-type="editor"><name><surname>Nobody</surname><given-names>N</given-names></name></contrib>
</contrib-group>
<pub-date pub-type="collection"><year>2022</year></pub-date><pub-date pub-type="epub"><day>7</day><month>3</month>
<year>2021</year></pub-date>
<abstract abstract-type="graphical"><p>Picture.</p></abstract>
<abstract><sec><title>Methods</title><p>A trial.</p></sec><sec><title>Results.</title><p>It worked.</p>
<p>Mostly.</p></sec></abstract>
<kwd-group><kwd>nap</kwd><kwd>memory, declarative</kwd></kwd-group></article-meta></front>
<body><sec><label>1</label><title>Introduction</title>
<p>Text<xref ref-type="fn" rid="f1">*</xref> with &lt; and CO<sub>2</sub> [<xref ref-type="bibr" rid="r1">1</xref>].
<fig id="g1"><label>Figure 1.</label><caption><title>Flow.</title><p>Who took part.</p></caption>
</fig> It goes on.</p>
<sec><title>Detail</title><list><list-item><p>One</p></list-item><list-item><p>Two <list><list-item><p>Inner</p>
</list-item></list></p></list-item></list>
<table-wrap><label>Table 1</label><caption><p>Counts</p></caption><table><thead><tr><th>a</th><th>b</th></tr>
</thead><tbody><tr><td>1</td><td/></tr></tbody></table>
<table-wrap-foot><p>a: mean</p></table-wrap-foot></table-wrap>
<disp-formula><alternatives><mml:math><mml:mi>y</mml:mi></mml:math>
<tex-math>\documentclass{a}\begin{document}$$x \leq \frac{1}{2}$$\end{document}</tex-math></alternatives>
</disp-formula></sec></sec></body>
<back><ack><p>We thank.</p></ack><fn-group><fn id="f1"><p>A star.</p></fn><fn id="f2"><label>b</label>
<p>Never cited.</p></fn></fn-group>
<ref-list><title>References</title><ref id="r1"><label>1</label><element-citation><person-group><name>
<surname>Smith</surname><given-names>J</given-names></name></person-group>
<article-title>Sleep</article-title><source>Nature</source><year>2019</year><volume>3</volume><fpage>1</fpage>
<lpage>9</lpage><pub-id pub-id-type="pmid">987654</pub-id></element-citation></ref>
<ref><mixed-citation>Doe, J. <article-title>Dreams</article-title>. 2018. <ext-link xlink:href="https://doi.org/10.1000/dreams">link</ext-link></mixed-citation></ref></ref-list></back>
<sub-article><body><p>Review.</p></body></sub-article></article>"#;

#[test]
fn jats_gives_metadata_sections_and_references() {
    let paper = paper(JATS.as_bytes(), Format::Jats);
    assert_eq!(paper.title.as_deref(), Some("Naps and memory"));
    assert_eq!(paper.authors, ["Ada Lovelace", "The Nap Group"]);
    assert_eq!((paper.year, paper.date.as_deref()), (Some(2021), Some("2021-03-07")));
    assert_eq!(paper.venue.as_deref(), Some("Sleep Medicine"));
    let ids: Vec<String> = paper.ids.iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["doi:10.1000/jats.1", "pmid:123456", "pmcid:PMC7654321"]);
    assert_eq!(paper.abstract_text.as_deref(), Some("Methods: A trial.\nResults: It worked.\nMostly."));
    assert_eq!(paper.keywords, ["nap", "memory declarative"]);
    assert_eq!(
        outline(&paper),
        [
            "# 1 Introduction",
            "text: Text with < and CO2 [1].",
            "caption: Figure 1. Flow. Who took part.",
            "text: It goes on.",
            "note: A star.",
            "## Detail",
            "item: One",
            "item: Two",
            "item: Inner",
            "caption: Table 1. Counts",
            "table: a | b\n1 |",
            "note: a: mean",
            "text: x ≤ 1/2",
            "# Acknowledgments",
            "text: We thank.",
            "note: Never cited.",
        ]
    );
    let [first, second] = paper.references.as_slice() else { panic!("{:?}", paper.references) };
    assert_eq!(first.text, "J Smith. (2019). Sleep. Nature. 3:1-9");
    assert_eq!((first.title.as_deref(), first.year), (Some("Sleep"), Some(2019)));
    assert_eq!(first.ids[0].to_string(), "pmid:987654");
    assert_eq!(second.text, "Doe, J. Dreams. 2018. link");
    assert_eq!(second.ids[0].to_string(), "doi:10.1000/dreams");
    assert_eq!(paper.left_out, ["1 sub-articles, such as reviews and answers"]);
}

pub(crate) const TEI: &str = r#"<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader xml:lang="en">
<fileDesc><titleStmt><title level="a" type="main">Naps and memory</title></titleStmt>
<sourceDesc><biblStruct><analytic><author><persName><forename type="first">Ada</forename>
<forename type="middle">K</forename><surname>Lovelace</surname></persName><affiliation>Engines</affiliation></author>
<idno type="DOI">10.1000/tei.1</idno></analytic><monogr><title level="j">Sleep</title><imprint>
<date type="published" when="2021-03-07"/></imprint></monogr><idno type="arXiv">arXiv:2101.00001v2 [cs.CL]</idno>
</biblStruct></sourceDesc></fileDesc>
<profileDesc><textClass><keywords><term>nap</term><term>memory</term></keywords></textClass><abstract><div>
<p>Naps <s>help.</s></p></div></abstract></profileDesc></teiHeader>
<text><body><div><head n="1">Introduction</head>
<p coords="3,10,10,5,5">As said <ref type="bibr" target="b0">[1]</ref>.<note place="foot" n="1">Foot.</note></p>
<formula xml:id="f0">x = 1<label>(1)</label></formula></div><div><head n="1.1">Detail</head><p>More.</p></div>
<figure><head>Figure 1.</head><label>1</label><figDesc>Flow of people.</figDesc></figure>
<figure type="table"><head>Table 1.</head><figDesc>Counts.</figDesc><table><row><cell>a</cell><cell>1</cell></row>
</table></figure></body>
<back><div type="acknowledgement"><div><p>Thanks.</p></div></div><div type="references"><listBibl><biblStruct>
<analytic><title level="a" type="main">Dreams</title><author><persName><forename>J</forename><surname>Doe</surname>
</persName></author><idno type="PMID">555</idno></analytic>
<monogr><title level="j">Nature</title><imprint><date type="published" when="2018">2018</date></imprint></monogr>
<note type="raw_reference">Doe J. Dreams. Nature 2018.</note></biblStruct></listBibl></div></back></text></TEI>"#;

#[test]
fn tei_gives_metadata_sections_and_references() {
    let paper = paper(TEI.as_bytes(), Format::Tei);
    assert_eq!(paper.title.as_deref(), Some("Naps and memory"));
    assert_eq!(paper.authors, ["Ada K Lovelace"]);
    assert_eq!(paper.date.as_deref(), Some("2021-03-07"));
    assert_eq!(paper.venue.as_deref(), Some("Sleep"));
    assert_eq!(paper.language.as_deref(), Some("en"));
    let ids: Vec<String> = paper.ids.iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["doi:10.1000/tei.1", "arxiv:2101.00001"]);
    assert_eq!(paper.abstract_text.as_deref(), Some("Naps help."));
    assert_eq!(paper.keywords, ["nap", "memory"]);
    assert_eq!(
        outline(&paper),
        [
            "# 1 Introduction",
            "text: As said [1].",
            "text: x = 1(1)",
            "note: Foot.",
            "## 1.1 Detail",
            "text: More.",
            "caption: Figure 1. Flow of people.",
            "caption: Table 1. Counts.",
            "table: a | 1",
            "# Acknowledgments",
            "text: Thanks.",
        ]
    );
    assert_eq!(paper.sections[0].paragraphs[0].page, Some(3));
    let [cited] = paper.references.as_slice() else { panic!("{:?}", paper.references) };
    assert_eq!((cited.text.as_str(), cited.year), ("Doe J. Dreams. Nature 2018.", Some(2018)));
    assert_eq!(cited.ids[0].to_string(), "pmid:555");
}

#[test]
fn other_encodings_are_read() {
    let text =
        "<?xml version=\"1.0\" encoding=\"ENC\"?><TEI><text><body><p>Schläfrigkeit am Mittag</p></body>
</text></TEI>";
    let latin = encoding(&text.replace("ENC", "iso-8859-1"), |c| vec![c as u8]);
    let wide = encoding(&text.replace("ENC", "utf-16"), |c| (c as u16).to_le_bytes().to_vec());
    for bytes in [latin, wide] {
        assert_eq!(outline(&paper(&bytes, Format::Tei)), ["text: Schläfrigkeit am Mittag"]);
    }
}

fn encoding(text: &str, encode: impl Fn(char) -> Vec<u8>) -> Vec<u8> {
    text.chars().flat_map(encode).collect()
}

#[test]
fn other_xml_says_what_it_is() {
    let error = |format, text: &str| try_paper(text.as_bytes(), format, &Limits::default()).unwrap_err();
    assert!(matches!(error(Format::Jats, "<book/>"), ReadError::OtherFormat(why) if why.contains("`book`")));
    assert!(matches!(error(Format::Tei, "<html/>"), ReadError::OtherFormat(why) if why.contains("`html`")));
    assert!(matches!(error(Format::Jats, "<article><body>"), ReadError::Damaged(_)));
    assert!(matches!(error(Format::Jats, "<article><p></article>"), ReadError::Damaged(_)));
    assert_eq!(error(Format::Jats, "<article/>"), ReadError::NoText);
}
