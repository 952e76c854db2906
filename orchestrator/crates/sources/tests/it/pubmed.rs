//! PubMed against small answers written after NCBI's documentation (<https://www.ncbi.nlm.nih.gov/books/NBK25499/>,
//! <https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html>), because none is recorded.

use crate::support::{Seen, StandIn, client, json, reply};
use axum::response::Response as Reply;
use lyra_domain::{Doi, Identifier, Work};
use lyra_research::ports::ScholarlySource;
use lyra_sources::{ApiConfig, ApiSource, Error, PubMed};
use secrecy::SecretString;
use serde_json::json;
use std::time::Duration;
use url::Url;

const EUTILS: &str = "/entrez/eutils";

fn config(base: &Url) -> ApiConfig {
    ApiConfig {
        base_url: base.join(EUTILS).unwrap(),
        trusted: true,
        api_key: None,
        mailto: None,
        min_interval: Some(Duration::ZERO),
        cache_ttl: Duration::ZERO,
    }
}

fn pubmed(base: &Url) -> PubMed {
    PubMed::new(client(None), &config(base))
}

/// A record; `more` stands after the article, `kind` is its type.
fn record(pmid: u32, kind: &str, more: &str) -> String {
    format!(
        r#"<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>
<Article PubModel="Print"><Journal><ISSN IssnType="Print">1234-5678</ISSN><JournalIssue CitedMedium="Print">
<Volume>7</Volume><PubDate><Year>2020</Year><Month>May</Month><Day>01</Day></PubDate></JournalIssue>
<Title>Sleep notes</Title><ISOAbbreviation>Sleep N</ISOAbbreviation></Journal>
<ArticleTitle>Naps &amp; <i>memory</i> {pmid}.</ArticleTitle>
<Abstract><AbstractText Label="BACKGROUND">Naps are short.</AbstractText>
<AbstractText Label="RESULTS">Recall rose (p &lt; 0.05).</AbstractText></Abstract>
<AuthorList CompleteYN="Y"><Author><LastName>Sato</LastName><ForeName>Aiko</ForeName><Initials>A</Initials></Author>
<Author><CollectiveName>Sleep Study Group</CollectiveName></Author></AuthorList><Language>eng</Language>
<PublicationTypeList><PublicationType UI="D016428">{kind}</PublicationType></PublicationTypeList></Article>
<MeshHeadingList><MeshHeading><DescriptorName UI="D012890">Sleep</DescriptorName></MeshHeading></MeshHeadingList>
{more}</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId>
<ArticleId IdType="doi">10.1000/{pmid}</ArticleId><ArticleId IdType="pmc">PMC{pmid}</ArticleId></ArticleIdList>
</PubmedData></PubmedArticle>"#
    )
}

fn set(records: &[String]) -> Reply {
    let body = format!(
        "<?xml version=\"1.0\" ?>\n\
         <!DOCTYPE PubmedArticleSet PUBLIC \"-//NLM//DTD PubMedArticle, 1st January 2024//EN\" \
         \"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd\">\n<PubmedArticleSet>\n{}\n</PubmedArticleSet>\n",
        records.concat()
    );
    reply(200, &[("content-type", "text/xml; charset=UTF-8")], body)
}

fn found(ids: &[&str]) -> Reply {
    let result = json!({"count": ids.len().to_string(), "retmax": "20", "retstart": "0", "idlist": ids,
        "translationset": [], "querytranslation": ""});
    json(200, &json!({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result}).to_string())
}

fn parameter(seen: &Seen, name: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(seen.query.as_bytes());
    pairs.find(|(found, _)| found == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[tokio::test]
async fn searches_keep_their_order_and_read_records_whole() {
    let server = StandIn::start(|seen, _| match seen.path.strip_prefix(EUTILS).unwrap() {
        "/esearch.fcgi" => found(&["9", "8", "7"]),
        "/efetch.fcgi" => {
            let refused = "<CommentsCorrectionsList><CommentsCorrections RefType=\"RetractionIn\">\
                <RefSource>Sleep N. 2021</RefSource><PMID>70</PMID></CommentsCorrections></CommentsCorrectionsList>";
            let notice = refused.replace("RetractionIn", "RetractionOf");
            set(&[
                record(7, "Retraction of Publication", &notice),
                record(8, "Retracted Publication", refused),
                record(9, "Journal Article", ""),
            ])
        }
        _ => reply(404, &[], ""),
    })
    .await;
    let papers = pubmed(&server.url).papers("Do naps improve memory?", 10).await.unwrap();
    let seen = server.seen();
    assert_eq!(parameter(&seen[0], "term"), "naps AND improve AND memory");
    assert_eq!(
        (parameter(&seen[0], "sort"), parameter(&seen[0], "retmax")),
        ("relevance".into(), "10".into())
    );
    assert_eq!((parameter(&seen[1], "id"), parameter(&seen[1], "retmode")), ("9,8,7".into(), "xml".into()));
    assert_eq!((parameter(&seen[1], "tool"), parameter(&seen[1], "email")), ("lyra".into(), String::new()));

    // The notice 7 is no study.
    let told: Vec<Option<bool>> = papers.iter().map(|paper| paper.work.is_retracted).collect();
    assert_eq!(told, [Some(false), Some(true)]);
    let paper = &papers[0];
    let text = "BACKGROUND: Naps are short.\nRESULTS: Recall rose (p < 0.05).";
    assert_eq!((paper.abstract_text.as_deref(), paper.language.as_deref()), (Some(text), Some("en")));
    assert_eq!(paper.url, "https://doi.org/10.1000/9");
    let work = &paper.work;
    assert_eq!((work.title.as_str(), work.venue.as_deref()), ("Naps & memory 9", Some("Sleep notes")));
    assert_eq!((work.year, work.published_date.as_deref()), (Some(2020), Some("2020-05-01")));
    assert_eq!((work.authors.len(), work.ids.len()), (2, 2), "PMID and PMCID besides the DOI");
}

#[tokio::test]
async fn lookups_use_what_pubmed_calls_the_identifiers() {
    let server = StandIn::start(|seen, _| match seen.path.strip_prefix(EUTILS).unwrap() {
        "/esearch.fcgi" => found(&["9"]),
        _ => set(&[record(9, "Journal Article", "")]),
    })
    .await;
    let api = pubmed(&server.url);
    let ids = [
        Identifier::Doi(Doi::parse("10.1000/a").unwrap()),
        Identifier::pmcid("PMC77").unwrap(),
        Identifier::pmid("5").unwrap(),
        Identifier::openalex("W1").unwrap(),
    ];
    assert_eq!(api.lookup(&ids).await.unwrap().len(), 1);
    assert_eq!(parameter(&server.seen()[0], "term"), "\"10.1000/a\"[doi] OR PMC77[pmcid]");
    assert_eq!(parameter(&server.seen()[1], "id"), "5,9");
    assert!(api.lookup(&[Identifier::openalex("W1").unwrap()]).await.unwrap().is_empty());
    assert_eq!(server.seen().len(), 2, "nothing is asked about an identifier that it does not know");
}

#[tokio::test]
async fn citations_are_links_between_records() {
    let server = StandIn::start(|seen, _| match seen.path.strip_prefix(EUTILS).unwrap() {
        "/elink.fcgi" => {
            let name = parameter(seen, "linkname");
            let sets = json!([{"dbfrom": "pubmed", "ids": ["5"], "linksetdbs": [
                {"dbto": "pubmed", "linkname": "pubmed_pubmed", "links": ["1", "2"]},
                {"dbto": "pubmed", "linkname": name, "links": ["9", "8"]}]}]);
            json(200, &json!({"header": {"type": "elink"}, "linksets": sets}).to_string())
        }
        _ => set(&[record(9, "Journal Article", "")]),
    })
    .await;
    let api = pubmed(&server.url);
    let work = Work { ids: vec![Identifier::pmid("5").unwrap()], ..Work::default() };
    assert_eq!(api.citations(&work, 1).await.unwrap().len(), 1);
    assert_eq!(parameter(&server.seen()[0], "linkname"), "pubmed_pubmed_citedin");
    assert_eq!(parameter(&server.seen()[1], "id"), "9");
    assert_eq!(api.references(&work, 9).await.unwrap().len(), 1);
    assert_eq!(parameter(&server.seen()[2], "linkname"), "pubmed_pubmed_refs");
    assert!(api.citations(&Work::default(), 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn keys_and_mail_go_along_and_errors_are_told() {
    let server = StandIn::start(|_, n| match n {
        0 => json(200, r#"{"esearchresult": {"ERROR": "Search Backend failed"}}"#),
        1 => json(400, r#"{"error": "API key invalid", "api-key": "KEY"}"#),
        _ => json(
            429,
            r#"{"error": "API rate limit exceeded", "api-key": "KEY", "count": "11", "limit": "10"}"#,
        ),
    })
    .await;
    let config = ApiConfig {
        api_key: Some(SecretString::from("KEY")),
        mailto: Some("me@example.org".to_owned()),
        ..config(&server.url)
    };
    let api = PubMed::new(client(None), &config);
    let error = api.papers("naps", 5).await.unwrap_err();
    assert!(matches!(&error, Error::Unexpected { why, .. } if why == "Search Backend failed"), "{error}");
    let query = server.seen()[0].query.clone();
    assert!(query.ends_with("&tool=lyra&email=me%40example.org&api_key=KEY"), "{query}");
    let error = api.papers("naps", 5).await.unwrap_err();
    assert_eq!(error.to_string(), "pubmed refused the request (400): API key invalid");
    let error = api.papers("naps", 5).await.unwrap_err();
    assert!(matches!(error, Error::CoolingDown { .. }), "{error}");
    assert_eq!(server.seen().len(), 2 + 5, "with a key, five refusals are borne");
}

#[tokio::test]
async fn the_probe_counts() {
    let server =
        StandIn::start(|_, _| json(200, r#"{"esearchresult": {"count": "4321", "idlist": []}}"#)).await;
    assert_eq!(pubmed(&server.url).probe().await.unwrap().matches, 4_321);
}
