//! What the sources read out of right answers, and how they ask.

use super::answers::{record, right, with_records};
use super::{doi, found, open, open_with};
use crate::support::{StandIn, json};
use lyra_domain::Identifier;
use lyra_research::ports::Hit;
use lyra_sources::ApiConfig;
use secrecy::SecretString;
use serde_json::json;

async fn first(name: &'static str) -> (Hit, String) {
    let server = StandIn::start(move |seen, _| json(200, &right(name, seen).to_string())).await;
    let hits = found(open(name, &server).as_ref()).await.unwrap();
    let asked = server.seen().remove(0);
    (hits.into_iter().next().unwrap(), format!("{}?{}", asked.path, asked.query))
}

#[tokio::test]
async fn a_trial_says_everywhere_that_it_is_of_a_registry() {
    let (hit, asked) = first("clinicaltrials").await;
    assert!(
        asked.starts_with("/api/studies?query.term=green+tea+attention&fields=IdentificationModule%2C"),
        "{asked}"
    );
    assert_eq!(hit.url, "https://clinicaltrials.gov/study/NCT01234561");
    let work = &hit.work;
    assert_eq!(work.title, "Green Tea and the Attention of Students [registered trial NCT01234561]");
    assert_eq!(work.identifiers().collect::<Vec<_>>(), [Identifier::nct("NCT01234561").unwrap()]);
    assert_eq!((work.year, work.published_date.as_deref()), (Some(2021), Some("2021-06-30")));
    assert_eq!(work.venue.as_deref(), Some("ClinicalTrials.gov (trial registry)"));
    assert_eq!(
        (work.authors.as_slice(), work.references.as_slice()),
        (&["Leaf University".to_owned()][..], &["pmid:222".to_owned()][..])
    );
    let text = hit.text.unwrap();
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(
        paragraphs,
        [
            "This is the record of the registered trial NCT01234561 in the registry ClinicalTrials.gov, not a \
             publication. Status: completed. Design: interventional; randomized; phase 2; phase 3; 120 participants. \
             Conditions: Attention; Fatigue. Interventions: Green tea; Hot water. Sponsor: Leaf University.",
            "Summary in the registry: Does green tea improve the attention of students?",
            "Registered primary outcome of NCT01234561: Attention score (8 weeks).",
            "Result of NCT01234561 in the registry, primary outcome \"Attention score\" (8 weeks; mean in points): \
             Green tea (n = 60) 31.2 (standard deviation 4.1); Hot water (n = 58) 29.9 (standard deviation 4.1). \
             Analysis of Green tea against Hot water in the registry: mean difference 1.3 (95% CI -0.2 to 2.8), \
             P = 0.09.",
        ]
    );
}

#[tokio::test]
async fn a_trial_without_results_says_so_and_why_it_stopped() {
    let mut trial = record("clinicaltrials", 1);
    trial["hasResults"] = json!(false);
    trial["resultsSection"] = json!(null);
    trial["protocolSection"]["statusModule"] = json!({"overallStatus": "TERMINATED", "whyStopped": "Slow accrual",
        "studyFirstPostDateStruct": {"date": "2018-12"}});
    let nameless = json!({"protocolSection": {"identificationModule": {"briefTitle": "No number"}}});
    let answer = with_records("clinicaltrials", &[nameless, trial]).to_string();
    let server = StandIn::start(move |_, _| json(200, &answer)).await;
    let hits = found(open("clinicaltrials", &server).as_ref()).await.unwrap();
    assert_eq!(
        (hits.len(), hits[0].work.year, hits[0].work.published_date.as_deref()),
        (1, Some(2018), None)
    );
    let text = hits[0].text.as_deref().unwrap();
    assert!(text.contains("Status: terminated (Slow accrual)."), "{text}");
    assert!(text.contains("Registered secondary outcome of NCT01234561: Sleep (8 weeks)."), "{text}");
    assert!(text.ends_with("The registry has no results of NCT01234561."), "{text}");
}

#[tokio::test]
async fn trials_are_looked_up_by_number_and_paged_by_token() {
    let server = StandIn::start(|seen, _| {
        let mut answer = with_records("clinicaltrials", &[record("clinicaltrials", 1)]);
        if !seen.query.contains("pageToken") {
            answer["nextPageToken"] = json!("more");
        }
        json(200, &answer.to_string())
    })
    .await;
    let source = open("clinicaltrials", &server);
    assert_eq!(found(source.as_ref()).await.unwrap().len(), 2);
    let ids =
        [Identifier::nct("nct01234561").unwrap(), Identifier::nct("NCT01234562").unwrap(), doi("10.1000/1")];
    assert_eq!(source.scholarly().unwrap().lookup(&ids).await.unwrap().len(), 2);
    let queries: Vec<String> = server.seen().into_iter().map(|seen| seen.query).collect();
    assert!(
        queries[1].ends_with("&pageToken=more")
            && queries[2].contains("filter.ids=NCT01234561%2CNCT01234562")
    );
    assert!(source.scholarly().unwrap().lookup(&[doi("10.1000/1")]).await.unwrap().is_empty());
    assert_eq!(server.seen().len(), 4, "it knows no DOIs");
}

#[tokio::test]
async fn an_article_is_marked_and_names_what_it_cites() {
    let (hit, asked) = first("wikipedia").await;
    assert!(
        asked.starts_with("/api/api.php?action=query&format=json&formatversion=2&generator=search&"),
        "{asked}"
    );
    assert_eq!((hit.work.title.as_str(), hit.url.as_str()), ("Tea 2", "https://en.wikipedia.org/wiki/Tea_2"));
    assert_eq!(hit.work.venue.as_deref(), Some("Wikipedia (encyclopedia)"));
    assert_eq!(
        (hit.work.year, hit.work.references.as_slice()),
        (Some(2024), &["doi:10.1000/7".to_owned()][..])
    );
    assert!(hit.text.unwrap().starts_with("Green tea improved") && hit.language.as_deref() == Some("en"));
}

#[tokio::test]
async fn a_list_of_meanings_is_omitted_and_an_error_with_status_200_is_one() {
    let mut meanings = record("wikipedia", 1);
    meanings["pageprops"] = json!({"disambiguation": ""});
    let answer = with_records("wikipedia", &[meanings, record("wikipedia", 2)]).to_string();
    let server = StandIn::start(move |_, before| match before {
        0 => json(200, &answer),
        _ => json(
            200,
            r#"{"error":{"code":"cirrussearch-backend-error","info":"We could not complete your search."}}"#,
        ),
    })
    .await;
    let source = open("wikipedia", &server);
    assert_eq!(found(source.as_ref()).await.unwrap().len(), 1);
    let error = found(source.as_ref()).await.unwrap_err().to_string();
    assert!(error.contains("We could not complete your search."), "{error}");
}

#[tokio::test]
async fn articles_are_paged_by_offset() {
    let server = StandIn::start(|seen, _| {
        let mut answer = with_records("wikipedia", &[record("wikipedia", 1)]);
        if seen.query.contains("gsroffset=0") {
            answer["continue"] = json!({"gsroffset": 20, "continue": "gsroffset||"});
        }
        json(200, &answer.to_string())
    })
    .await;
    let hits = open("wikipedia", &server).search("tea", Some("ja"), 40).await.unwrap().hits;
    let queries: Vec<String> = server.seen().into_iter().map(|seen| seen.query).collect();
    assert_eq!((hits.len(), queries.len()), (2, 2));
    assert!(queries[0].contains("gsrlimit=20") && queries[1].contains("gsroffset=20"), "{queries:?}");
}

#[tokio::test]
async fn a_data_set_is_named_one() {
    let (hit, asked) = first("datacite").await;
    assert!(asked.starts_with("/api/dois?query=green+tea+attention&sort=relevance&"), "{asked}");
    assert!(asked.ends_with("&mailto=me%40example.org"), "{asked}");
    let work = hit.work;
    assert_eq!((work.title.as_str(), hit.url.as_str()), ("Tea data 1", "https://doi.org/10.5281/zenodo.1"));
    assert_eq!(work.venue.as_deref(), Some("Zenodo (data set)"));
    assert_eq!(work.authors, ["Aya Sato", "Tea Board"]);
    assert_eq!(
        (work.year, work.published_date.as_deref(), work.citation_count),
        (Some(2021), Some("2021-03-04"), Some(3))
    );
    assert_eq!(hit.text.as_deref(), Some("Scores of attention."));
}

#[tokio::test]
async fn an_article_of_an_open_journal_has_its_free_text() {
    let (hit, asked) = first("doaj").await;
    assert_eq!(asked, "/api/search/articles/green%20tea%20attention?page=1&pageSize=10");
    let work = hit.work;
    assert_eq!(
        (work.title.as_str(), work.year, work.venue.as_deref()),
        ("Tea trial 1", Some(2019), Some("Tea Notes"))
    );
    assert_eq!(
        (hit.url.as_str(), work.oa_url.as_deref()),
        ("https://doi.org/10.3389/1", Some("https://leaf.example/1"))
    );
    assert_eq!((hit.text.as_deref(), hit.language.as_deref()), (Some("Tea helped."), Some("en")));
}

#[tokio::test]
async fn a_work_of_a_repository_has_its_copy() {
    let (hit, asked) = first("core").await;
    assert_eq!(asked, "/api/search/works/?q=green+tea+attention&offset=0&limit=10");
    let work = hit.work;
    assert_eq!(
        (work.title.as_str(), work.year, work.venue.as_deref()),
        ("Tea thesis 1", Some(2018), Some("A University"))
    );
    assert_eq!(work.oa_url.as_deref(), Some("https://core.ac.uk/download/1.pdf"));
    assert_eq!(work.ids, [Identifier::pmid("77").unwrap()]);
    assert_eq!(hit.text.as_deref(), Some("Tea helped."), "never the full text in place of the abstract");
}

#[tokio::test]
async fn works_are_looked_up_by_doi_in_batches() {
    for (name, batch, path, written) in [
        ("datacite", 50, "/api/dois", "query=doi%3A%28%2210.1000%2F"),
        ("doaj", 20, "/api/search/articles/doi:%2210.1000/", "page=1"),
        ("core", 25, "/api/search/works/", "q=doi%3A%2210.1000%2F"),
    ] {
        let server = StandIn::start(move |seen, _| json(200, &right(name, seen).to_string())).await;
        let source = open(name, &server);
        let ids: Vec<Identifier> = (1..=batch + 1).map(|n| doi(&format!("10.1000/{n}"))).collect();
        let ids = [ids, vec![Identifier::pmid("5").unwrap()]].concat();
        assert_eq!(source.scholarly().unwrap().lookup(&ids).await.unwrap().len(), 3, "{name}");
        let seen = server.seen();
        assert_eq!(seen.len(), 2, "{name}");
        assert!(seen[0].path.starts_with(path) && seen[0].query.contains(written), "{name}: {:?}", seen[0]);
    }
}

#[tokio::test]
async fn a_key_goes_along_as_each_api_wants_it() {
    let server = StandIn::start(|seen, _| json(200, &right("core", seen).to_string())).await;
    let with = |config| ApiConfig { api_key: Some(SecretString::from("KEY")), ..config };
    found(open_with("core", &server, with).as_ref()).await.unwrap();
    found(open("core", &server).as_ref()).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].headers["authorization"], "Bearer KEY");
    assert!(!seen[1].headers.contains_key("authorization"));
}
