use super::*;
use proptest::prelude::*;

#[track_caller]
fn in_text(text: &str, expect: &[&str]) {
    let found: Vec<String> = Identifier::in_text(text).iter().map(ToString::to_string).collect();
    assert_eq!(found, expect, "{text}");
}

#[track_caller]
fn in_url(url: &str, expect: &[&str]) {
    let found: Vec<String> = Identifier::in_url(url).iter().map(ToString::to_string).collect();
    assert_eq!(found, expect, "{url}");
}

#[test]
fn dois_in_running_text() {
    in_text("See doi:10.1038/nature12373.", &["doi:10.1038/nature12373"]);
    in_text("(https://doi.org/10.1016/S0140-6736(20)30183-5)", &["doi:10.1016/s0140-6736(20)30183-5"]);
    in_text("[10.1000/182]; 10.1000/183, and 10.1000/182", &["doi:10.1000/182", "doi:10.1000/183"]);
    in_text("<a href=\"https://doi.org/10.1000/182\">10.1000/182</a>", &["doi:10.1000/182"]);
    in_text("論文（doi: 10.1000/182）を参照。", &["doi:10.1000/182"]);
    in_text(
        "10.1002/1097-0258(19990101)18:1<1::AID-SIM1>3.0.CO;2-A is old",
        &["doi:10.1002/1097-0258(19990101)18:1<1::aid-sim1>3.0.co;2-a"],
    );
    in_text("version 10.15.7/beta, 110.1000/5, 3.10.1000/5 and 10.5 km", &[]);
}

#[test]
fn named_numbers_in_running_text() {
    in_text("PMID: 12345678; PMCID: PMC3531190", &["pmid:12345678", "pmcid:PMC3531190"]);
    in_text("PMID:0123 PMID 123456789 pmid", &[]);
    in_text("see PMC3531190.", &["pmcid:PMC3531190"]);
    in_text("Corpus ID: 13756489, CorpusID:470667", &["corpusid:13756489", "corpusid:470667"]);
    in_text("arXiv:1706.03762v5 [cs.CL] 6 Dec 2017", &["arxiv:1706.03762"]);
    in_text(
        "arXiv:hep-th/9901001v3 and arXiv: math.GT/0309136",
        &["arxiv:hep-th/9901001", "arxiv:math/0309136"],
    );
    in_text("10.48550/arXiv.1706.03762", &["doi:10.48550/arxiv.1706.03762", "arxiv:1706.03762"]);
    in_text("https://openalex.org/W2741809807 (OpenAlex: W2741809807)", &["openalex:W2741809807"]);
    in_text("12345678 people, W2741809807, 1706.03762", &[]);
}

#[test]
fn arxiv_numbers_have_rules() {
    let valid = [
        "0704.0001",
        "1412.9999",
        "1501.00001",
        "2101.00001v2",
        "hep-th/9901001",
        "math.GT/0309136",
        "cs/0001001v1",
    ];
    for id in valid {
        assert!(ArxivId::parse(id).is_some(), "{id}");
    }
    for id in [
        "0703.0001",
        "1412.99999",
        "1501.0001",
        "2113.00001",
        "2101.000011",
        "foo/9901001",
        "hep-th/9913001",
        "hep-th/99010",
    ] {
        assert_eq!(ArxivId::parse(id), None, "{id}");
    }
}

#[test]
fn addresses_of_pages() {
    in_url("https://pubmed.ncbi.nlm.nih.gov/23847242/", &["pmid:23847242"]);
    in_url("https://www.ncbi.nlm.nih.gov/pubmed/23847242", &["pmid:23847242"]);
    in_url("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC3531190/", &["pmcid:PMC3531190"]);
    in_url("https://pmc.ncbi.nlm.nih.gov/articles/PMC3531190/pdf/x.pdf", &["pmcid:PMC3531190"]);
    in_url("https://europepmc.org/article/MED/23847242", &["pmid:23847242"]);
    in_url("https://arxiv.org/pdf/1706.03762v5.pdf", &["arxiv:1706.03762"]);
    in_url("http://arxiv.org/abs/hep-th/9901001", &["arxiv:hep-th/9901001"]);
    in_url("https://api.openalex.org/works/W2741809807", &["openalex:W2741809807"]);
    in_url(
        "https://www.semanticscholar.org/paper/Attention/204e3073870fae3d05bcbc2f6a8e263d9b72e776",
        &["s2:204e3073870fae3d05bcbc2f6a8e263d9b72e776"],
    );
    in_url("https://api.semanticscholar.org/CorpusID:13756489", &["corpusid:13756489"]);
    in_url("https://onlinelibrary.wiley.com/doi/abs/10.1002/sim.1186", &["doi:10.1002/sim.1186"]);
    in_url(
        "https://www.tandfonline.com/doi/full/10.1080/0142159X.2018.1484897?src=recsys",
        &["doi:10.1080/0142159x.2018.1484897"],
    );
    in_url(
        "https://www.frontiersin.org/articles/10.3389/fpsyg.2013.00504/full",
        &["doi:10.3389/fpsyg.2013.00504"],
    );
    in_url(
        "https://link.springer.com/content/pdf/10.1007/s00401-018-1862-7.pdf",
        &["doi:10.1007/s00401-018-1862-7"],
    );
    in_url(
        "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0185809&type=printable",
        &["doi:10.1371/journal.pone.0185809"],
    );
    in_url(
        "https://www.biorxiv.org/content/10.1101/2020.01.01.123456v2.full",
        &["doi:10.1101/2020.01.01.123456"],
    );
    in_url("https://dx.doi.org/10.1000%2F182", &["doi:10.1000/182"]);
    in_url("https://example.org/v10.2/page", &[]);
    in_url("https://evil-ncbi.nlm.nih.gov.example.org/pubmed/123", &[]);
}

#[test]
fn registrations_of_trials_are_apart_from_works() {
    let text =
        "(ClinicalTrials.gov NCT01234567; nct01234567, XNCT01234568, NCT0123456789, NCT1); doi:10.1000/182";
    let found: Vec<String> = Identifier::registrations_in(text).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["nct:NCT01234567"]);
    in_text(text, &["doi:10.1000/182"]);
    assert_eq!(Identifier::nct(" nct00000001 "), Some(Identifier::Nct("NCT00000001".to_owned())));
    assert!(
        [" ", "NCT", "NCT0123456", "NCT0123456x", "ＮCT01234567"]
            .iter()
            .all(|id| Identifier::nct(id).is_none())
    );
}

proptest! {
    #[test]
    fn any_text_is_read_without_failing(text in "\\PC*", url in "https?://\\PC{0,40}") {
        let found = Identifier::in_text(&text);
        let all: std::collections::HashSet<_> = found.iter().collect();
        prop_assert_eq!(all.len(), found.len());
        let _ = Identifier::in_url(&url);
        let _ = (Identifier::registrations_in(&text), Identifier::nct(&text));
    }

    #[test]
    fn what_is_named_is_found(pmid in 1_u32..99_999_999, serial in 0_u32..99_999, before in "[a-z ]{0,9}") {
        let text = format!("{before} PMID: {pmid}, arXiv:2101.{serial:05} and https://doi.org/10.5555/{pmid}.");
        let found: Vec<String> = Identifier::in_text(&text).iter().map(ToString::to_string).collect();
        let expect = [format!("pmid:{pmid}"), format!("arxiv:2101.{serial:05}"), format!("doi:10.5555/{pmid}")];
        prop_assert_eq!(found, expect);
    }
}
