use crate::tests::{one, outcome, records};
use crate::{Format, Kind};
use lyra_domain::Identifier;

#[test]
fn endnote() {
    let style = |text: &str| format!("<style face=\"normal\" font=\"default\" size=\"100%\">{text}</style>");
    let record = one(
        &format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" ?><xml><records><record><database name=\"My.enl\" path=\"x\">My.enl</database>\
             <rec-number>7</rec-number><foreign-keys><key app=\"EN\" db-id=\"x\" timestamp=\"1\">7</key></foreign-keys>\
             <ref-type name=\"Journal Article\">17</ref-type><contributors><authors><author>{}</author><author>{}</author></authors>\
             </contributors><titles><title>{}<style face=\"italic\">E. coli</style></title><secondary-title>{}</secondary-title>\
             </titles><periodical><full-title>{}</full-title></periodical><pages>{}</pages><volume>12</volume><number>3</number>\
             <keywords><keyword>{}</keyword><keyword>naps</keyword></keywords><dates><year>{}</year><pub-dates><date>May 3</date>\
             </pub-dates></dates><isbn>1234-5678 (Print)&#xD;8765-4321</isbn><accession-num>31000001</accession-num>\
             <abstract>One &amp; two.</abstract><custom2>PMC6000001</custom2><research-notes>My note</research-notes>\
             <urls><related-urls><url>{}</url></related-urls><pdf-urls><url>internal-pdf://123/Lee.pdf</url></pdf-urls></urls>\
             <electronic-resource-num>10.1000/nap</electronic-resource-num><remote-database-provider>NLM</remote-database-provider>\
             <language>eng</language></record></records></xml>",
            style("Lee, Ann"),
            style("World Health Organization,"),
            style("Naps of "),
            style("J Sleep"),
            style("Journal of Sleep"),
            style("101-109"),
            style("memory"),
            style("2019"),
            style("https://example.org/nap"),
        ),
        Format::EndNoteXml,
    );
    assert_eq!((record.key.as_str(), record.kind), ("7", Kind::Article));
    assert_eq!(record.title, "Naps of E. coli");
    assert_eq!(record.authors, ["Ann Lee", "World Health Organization"]);
    assert_eq!(record.venue.as_deref(), Some("Journal of Sleep"));
    assert_eq!((record.date.as_deref(), record.pages.as_deref()), (Some("2019-05-03"), Some("101-109")));
    assert_eq!((record.pmid.as_deref(), record.pmcid.as_deref()), (Some("31000001"), Some("PMC6000001")));
    assert_eq!(record.issn, ["1234-5678", "8765-4321"]);
    assert_eq!(record.abstract_text.as_deref(), Some("One & two."));
    assert_eq!(
        (&record.tags[..], &record.notes[..]),
        (&["memory".to_owned(), "naps".to_owned()][..], &["My note".to_owned()][..])
    );
    assert_eq!(record.url.as_deref(), Some("https://example.org/nap"));
    assert_eq!(record.files[0].path, "internal-pdf://123/Lee.pdf");
    assert_eq!(record.doi.unwrap().as_str(), "10.1000/nap");
}

#[test]
fn pubmed() {
    let found = records(
        r#"<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" "x.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">31000001</PMID>
<Article PubModel="Print"><Journal><ISSN IssnType="Electronic">1234-5678</ISSN><JournalIssue CitedMedium="Internet"><Volume>12</Volume>
<Issue>3</Issue><PubDate><Year>2019</Year><Month>May</Month></PubDate></JournalIssue><Title>Journal of sleep</Title></Journal>
<ArticleTitle>Naps and <i>memory</i> in CO<sub>2</sub>.</ArticleTitle><Pagination><MedlinePgn>101-9</MedlinePgn></Pagination>
<ELocationID EIdType="doi" ValidYN="Y">10.1000/nap</ELocationID>
<Abstract><AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Naps.</AbstractText><AbstractText Label="RESULTS">p &lt; 0.05.</AbstractText></Abstract>
<AuthorList CompleteYN="Y"><Author><LastName>Lee</LastName><ForeName>Ann B</ForeName><Initials>AB</Initials></Author>
<Author><LastName>King</LastName><ForeName>Martin</ForeName><Suffix>Jr</Suffix></Author><Author><CollectiveName>Nap Group</CollectiveName></Author></AuthorList>
<Language>eng</Language><PublicationTypeList><PublicationType UI="D1">Journal Article</PublicationType></PublicationTypeList>
<ArticleDate DateType="Electronic"><Year>2019</Year><Month>05</Month><Day>03</Day></ArticleDate></Article>
<MedlineJournalInfo><MedlineTA>J Sleep</MedlineTA><ISSNLinking>8765-4321</ISSNLinking></MedlineJournalInfo>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J Sleep. 2021</RefSource><PMID Version="1">33000001</PMID></CommentsCorrections>
<CommentsCorrections RefType="UpdateOf"><RefSource>medRxiv. 2019. doi: 10.1101/2019.01.01.123</RefSource><PMID>30000001</PMID></CommentsCorrections></CommentsCorrectionsList>
<MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Memory</DescriptorName><QualifierName>physiology</QualifierName></MeshHeading></MeshHeadingList>
<KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">naps</Keyword></KeywordList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">31000001</ArticleId><ArticleId IdType="pmc">PMC6000001</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1000/other</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>21000001</PMID><Book><Publisher><PublisherName>NCBI</PublisherName></Publisher>
<BookTitle book="x">Syndromes</BookTitle><PubDate><Year>2009</Year></PubDate><AuthorList Type="editors"><Author><LastName>Ek</LastName><ForeName>Bo</ForeName></Author></AuthorList></Book>
<ArticleTitle>One Syndrome</ArticleTitle><AuthorList Type="authors"><Author><LastName>Doe</LastName><Initials>J</Initials></Author></AuthorList></BookDocument></PubmedBookArticle>
</PubmedArticleSet>"#,
        Format::PubMedXml,
    );
    let [article, chapter] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((article.line, article.title.as_str()), (4, "Naps and memory in CO2"));
    assert_eq!(article.authors, ["Ann B Lee", "Martin King Jr", "Nap Group"]);
    assert_eq!((article.date.as_deref(), article.pages.as_deref()), (Some("2019-05-03"), Some("101-109")));
    assert_eq!(article.abstract_text.as_deref(), Some("BACKGROUND: Naps.\nRESULTS: p < 0.05."));
    assert_eq!(article.doi.as_ref().unwrap().as_str(), "10.1000/nap");
    assert_eq!(article.pmcid.as_deref(), Some("PMC6000001"));
    assert_eq!(article.tags, ["Memory", "naps"]);
    assert_eq!(article.issn, ["1234-5678", "8765-4321"]);
    assert!(article.is_retracted);
    assert!(article.versions.contains(&Identifier::Pmid("30000001".to_owned())));
    assert_eq!(
        (chapter.kind, chapter.title.as_str(), chapter.venue.as_deref()),
        (Kind::Chapter, "One Syndrome", Some("Syndromes"))
    );
    assert_eq!(
        (chapter.authors[0].as_str(), chapter.editors[0].as_str(), chapter.year),
        ("J Doe", "Bo Ek", Some(2009))
    );
}

#[test]
fn mods() {
    let record = one(
        r#"<?xml version="1.0"?><mods:modsCollection xmlns:mods="http://www.loc.gov/mods/v3"><mods:mods ID="lee2019">
<mods:titleInfo type="abbreviated"><mods:title>Naps</mods:title></mods:titleInfo>
<mods:titleInfo><mods:nonSort>The </mods:nonSort><mods:title>Naps</mods:title><mods:subTitle>a trial</mods:subTitle></mods:titleInfo>
<mods:name type="personal"><mods:namePart type="family">Lee</mods:namePart><mods:namePart type="given">Ann</mods:namePart>
<mods:role><mods:roleTerm type="code" authority="marcrelator">aut</mods:roleTerm></mods:role></mods:name>
<mods:name type="personal"><mods:namePart>Doe, Jane</mods:namePart><mods:role><mods:roleTerm>editor</mods:roleTerm></mods:role></mods:name>
<mods:genre authority="local">journalArticle</mods:genre><mods:abstract>A.</mods:abstract><mods:language><mods:languageTerm>eng</mods:languageTerm></mods:language>
<mods:subject><mods:topic>memory</mods:topic></mods:subject><mods:identifier type="doi">10.1000/nap</mods:identifier>
<mods:location><mods:url>https://example.org/nap</mods:url></mods:location><mods:note>My note</mods:note>
<mods:relatedItem type="host"><mods:titleInfo><mods:title>Journal of Sleep</mods:title></mods:titleInfo>
<mods:originInfo><mods:dateIssued encoding="w3cdtf">2019-05-03</mods:dateIssued><mods:publisher>North</mods:publisher></mods:originInfo>
<mods:identifier type="issn">1234-5678</mods:identifier><mods:part><mods:detail type="volume"><mods:number>12</mods:number></mods:detail>
<mods:detail type="issue"><mods:number>3</mods:number></mods:detail><mods:extent unit="pages"><mods:start>101</mods:start><mods:end>109</mods:end></mods:extent></mods:part>
</mods:relatedItem><mods:relatedItem type="otherVersion"><mods:identifier type="doi">10.1101/1</mods:identifier></mods:relatedItem>
</mods:mods></mods:modsCollection>"#,
        Format::Mods,
    );
    assert_eq!(
        (record.key.as_str(), record.kind, record.title.as_str()),
        ("lee2019", Kind::Article, "The Naps: a trial")
    );
    assert_eq!((record.authors[0].as_str(), record.editors[0].as_str()), ("Ann Lee", "Jane Doe"));
    assert_eq!(
        (record.venue.as_deref(), record.publisher.as_deref()),
        (Some("Journal of Sleep"), Some("North"))
    );
    assert_eq!((record.date.as_deref(), record.pages.as_deref()), (Some("2019-05-03"), Some("101-109")));
    assert_eq!([record.volume, record.issue].map(Option::unwrap), ["12", "3"]);
    assert_eq!((&record.issn[..], record.notes.len()), (&["1234-5678".to_owned()][..], 1));
    assert_eq!(record.versions.len(), 1);
}

#[test]
fn zotero_rdf() {
    let found = records(
        r##"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="http://www.zotero.org/namespaces/export#"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:bib="http://purl.org/net/biblio#" xmlns:foaf="http://xmlns.com/foaf/0.1/"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:link="http://purl.org/rss/1.0/modules/link/" xmlns:prism="x">
 <bib:Article rdf:about="https://example.org/nap"><z:itemType>journalArticle</z:itemType>
  <dcterms:isPartOf rdf:resource="urn:issn:1234-5678"/>
  <bib:authors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Lee</foaf:surname><foaf:givenName>Ann</foaf:givenName></foaf:Person></rdf:li></rdf:Seq></bib:authors>
  <dcterms:isReferencedBy rdf:resource="#item_3"/><link:link rdf:resource="#item_5"/>
  <dc:subject>memory</dc:subject><dc:subject><z:AutomaticTag><rdf:value>naps</rdf:value></z:AutomaticTag></dc:subject>
  <dc:title>Naps &amp; memory</dc:title><dcterms:abstract>A.</dcterms:abstract><dc:date>2019-05-03</dc:date>
  <dc:description>PMID: 31000001</dc:description><bib:pages>101-109</bib:pages></bib:Article>
 <bib:Journal rdf:about="urn:issn:1234-5678"><prism:volume>12</prism:volume><prism:number>3</prism:number><dc:title>Journal of Sleep</dc:title>
  <dc:identifier>DOI 10.1000/nap</dc:identifier><dc:identifier>ISSN 1234-5678</dc:identifier></bib:Journal>
 <bib:Memo rdf:about="#item_3"><rdf:value>&lt;p&gt;My note&lt;/p&gt;</rdf:value></bib:Memo>
 <z:Attachment rdf:about="#item_5"><z:itemType>attachment</z:itemType><rdf:resource rdf:resource="files/5/Lee.pdf"/>
  <dc:title>Full Text</dc:title><link:type>application/pdf</link:type></z:Attachment>
 <bib:BookSection rdf:about="#item_9"><z:itemType>bookSection</z:itemType>
  <dcterms:isPartOf><bib:Book><dc:title>Whole</dc:title><dc:identifier>ISBN 978-3-16-148410-0</dc:identifier></bib:Book></dcterms:isPartOf>
  <dc:publisher><foaf:Organization><foaf:name>North</foaf:name></foaf:Organization></dc:publisher><dc:title>Chapter</dc:title></bib:BookSection>
 <rdf:Description rdf:about="#item_11"><z:itemType>preprint</z:itemType><dc:title>Early</dc:title></rdf:Description>
 <z:Collection rdf:about="#collection_2"><dc:title>Thesis</dc:title><dcterms:hasPart rdf:resource="https://example.org/nap"/></z:Collection>
</rdf:RDF>"##,
        Format::ZoteroRdf,
    );
    let [article, chapter, preprint] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((article.line, article.title.as_str(), article.kind), (4, "Naps & memory", Kind::Article));
    assert_eq!(
        (article.authors[0].as_str(), article.venue.as_deref()),
        ("Ann Lee", Some("Journal of Sleep"))
    );
    assert_eq!(article.doi.as_ref().unwrap().as_str(), "10.1000/nap");
    assert_eq!(
        (article.volume.as_deref(), article.issue.as_deref(), article.pmid.as_deref()),
        (Some("12"), Some("3"), Some("31000001"))
    );
    assert_eq!(
        (&article.tags[..], &article.notes[..]),
        (&["memory".to_owned(), "naps".to_owned()][..], &["My note".to_owned()][..])
    );
    assert_eq!(article.collections, ["Thesis"]);
    assert_eq!(
        (article.files[0].path.as_str(), article.files[0].media_type.as_deref()),
        ("files/5/Lee.pdf", Some("application/pdf"))
    );
    assert_eq!(article.url.as_deref(), Some("https://example.org/nap"));
    assert_eq!((chapter.venue.as_deref(), chapter.publisher.as_deref()), (Some("Whole"), Some("North")));
    assert_eq!(chapter.isbn, ["9783161484100"]);
    assert_eq!(preprint.kind, Kind::Preprint);
}

#[test]
fn a_broken_record_costs_itself() {
    let good = |title: &str| format!("<record><titles><title>{title}</title></titles></record>\n");
    let text = format!(
        "<xml><records>\n{}<record><titles><title>Broken</titles></record>\n{}<record><titles>\n{}{}",
        good("A"),
        good("B & C"),
        good("D"),
        "<record><titles><title>cut"
    );
    let (titles, rejected) = outcome(&text, Format::EndNoteXml);
    assert_eq!(titles, ["A", "B & C", "D"]);
    let lines: Vec<u64> = rejected.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [3, 5, 7], "{rejected:?}");
    let deep = format!("<record>{}</record>{}", "<a>".repeat(200), good("After"));
    let (titles, rejected) = outcome(&deep, Format::EndNoteXml);
    assert_eq!((titles.len(), rejected[0].1.as_str()), (1, "elements nest deeper than 100"));
}
