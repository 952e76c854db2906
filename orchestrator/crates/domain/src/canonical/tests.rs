use super::*;
use crate::{ArxivId, Doi, Imprint, WorkKind};
use proptest::prelude::*;

fn work(title: &str, year: i32, author: &str) -> Work {
    Work {
        title: title.to_owned(),
        year: Some(year),
        authors: if author.is_empty() { vec![] } else { vec![author.to_owned()] },
        ..Work::default()
    }
}

fn doi(work: Work, doi: &str) -> Work {
    Work { doi: Doi::parse(doi), ..work }
}

/// As if the sources were registered in this order.
fn precedence(work: &Work) -> Precedence {
    let known = ["semantic_scholar", "openalex"].iter().position(|source| *source == work.source_api);
    known.map_or(Precedence::LAST, |place| Precedence(place as u8))
}

#[track_caller]
fn count(works: &[Work], expect: usize) -> Vec<CanonicalWork> {
    let mut index = CanonicalPaperIndex::default();
    for work in works {
        index.add(FoundBy::Api, precedence(work), work.clone());
    }
    let found = index.works();
    assert_eq!(found.len(), expect, "{found:#?}");
    found
}

const NAP: &str = "Does a short daytime nap improve memory in adults?";

#[test]
fn one_doi_is_one_work_and_two_are_two() {
    count(
        &[
            doi(work(NAP, 2020, "A. Sato"), "10.1000/A"),
            doi(work("Other words", 1999, "B"), "https://doi.org/10.1000/a"),
        ],
        1,
    );
    count(&[doi(work(NAP, 2020, "A. Sato"), "10.1000/a"), doi(work(NAP, 2020, "A. Sato"), "10.1000/b")], 2);
}

#[test]
fn titles_year_and_first_author_decide_without_a_doi() {
    let one = doi(work(NAP, 2020, "Aiko Sato"), "10.1000/a");
    count(
        &[one.clone(), work("Does a short <i>daytime</i> nap improve memory in adults", 2021, "Sato, A.")],
        1,
    );
    count(&[one.clone(), work("DOES A SHORT DAYTIME NAP IMPROVE MEMORY IN ADULTS?", 2020, "")], 1);
    count(&[one.clone(), work(NAP, 2015, "Aiko Sato")], 2);
    count(&[one.clone(), work(NAP, 2020, "Bo Lind")], 2);
    count(&[one, work("Does a long nighttime sleep improve mood in children?", 2020, "Aiko Sato")], 2);
    count(
        &[
            work("Müller’s naïve hypothesis: a test", 2020, "K. Müller"),
            work("Muller's naive hypothesis - a test", 2020, "Müller, K."),
        ],
        1,
    );
    count(
        &[
            work("A registered trial of daytime naps: part II", 2020, ""),
            work("A registered trial of daytime naps: part III", 2020, ""),
        ],
        2,
    );
    count(
        &[
            work("Global burden of disease study in 2019", 2020, ""),
            work("Global burden of disease study in 2017", 2020, ""),
        ],
        2,
    );
}

#[test]
fn titles_that_tell_little_need_author_and_year() {
    count(&[work("Introduction", 2020, ""), work("Introduction", 2020, "A. Sato")], 2);
    count(&[work("Introduction", 2020, "A. Sato"), work("Introduction", 2020, "Aiko Sato")], 1);
    count(&[Work::default(), Work::default()], 2);
}

#[test]
fn other_identifiers_lead_to_the_doi_when_it_is_one() {
    let pmid = |work: Work| Work { ids: vec![Identifier::Pmid("123".to_owned())], ..work };
    let a = pmid(doi(work(NAP, 2020, ""), "10.1000/a"));
    let b = pmid(doi(work("Another work on naps and rest", 2020, ""), "10.1000/b"));
    let bare = pmid(Work::default());
    count(&[a.clone(), bare.clone()], 1);
    count(&[a, b, bare], 3);
    let arxiv = |id: &str| Work {
        ids: ArxivId::parse(id).map(Identifier::Arxiv).into_iter().collect(),
        ..work(NAP, 2020, "")
    };
    count(&[arxiv("2101.00001"), arxiv("2101.00002")], 2);
}

#[test]
fn titles_do_not_chain() {
    // Each is 90 % similar to its neighbor, the ends are not similar.
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let title = |shift: usize| {
        let changed: String =
            letters.chars().enumerate().map(|(i, c)| if i < shift * 3 { 'z' } else { c }).collect();
        format!("one two {changed} end")
    };
    let works: Vec<Work> = (0..4).map(|i| work(&title(i), 2020, "A. Sato")).collect();
    let likeness = Likeness::of(works.iter());
    assert!(likeness.between(0, 1).is_some() && likeness.between(0, 3).is_none());
    let found = count(&works, 2);
    for merged in found {
        for &i in &merged.records {
            assert!(merged.records.iter().all(|&j| i == j || likeness.between(i, j).is_some()));
        }
    }
}

#[test]
fn metadata_of_apis_wins_and_gaps_are_filled() {
    let s2 = Work {
        citation_count: Some(7),
        source_api: "semantic_scholar".to_owned(),
        ids: vec![Identifier::CorpusId("9".to_owned())],
        ..doi(work("The title of record", 2020, "A. Sato"), "10.1000/a")
    };
    let openalex = Work {
        citation_count: Some(9),
        is_retracted: Some(true),
        oa_url: Some("https://example.org/a.pdf".to_owned()),
        source_api: "openalex".to_owned(),
        ids: vec![Identifier::OpenAlex("W1".to_owned())],
        imprint: Imprint { kind: Some(WorkKind::Report), ..Imprint::default() },
        ..doi(work("The Title of Record.", 2020, "A. Sato"), "10.1000/a")
    };
    let serp =
        Work { source_api: "duckduckgo".to_owned(), ..doi(work("Title … - PDF", 2021, ""), "10.1000/a") };
    let mut index = CanonicalPaperIndex::default();
    index.add(FoundBy::Serp, Precedence(0), serp);
    index.add(FoundBy::Api, Precedence(1), openalex);
    index.add(FoundBy::Api, Precedence(0), s2);
    let [found] = index.works().try_into().unwrap();
    assert_eq!((found.work.title.as_str(), found.work.citation_count), ("The title of record", Some(7)));
    assert_eq!(
        (found.work.is_retracted, found.work.ids.len(), found.coverage),
        (Some(true), 2, Coverage::Both)
    );
    assert_eq!(found.work.imprint.kind, Some(WorkKind::Report));
    assert_eq!(found.records, [0, 1, 2]);
}

fn any_work() -> impl Strategy<Value = Work> {
    let titles = [
        "the effect of daytime naps on adult memory",
        "the effects of daytime naps on adult memory",
        "the effects of daytime nap on adults memory",
        "effects of daytime naps on adult memory",
        "naps",
        "rest and sleep in part 2 of life",
    ];
    (
        proptest::sample::select(titles.to_vec()),
        prop::option::of(2019..2022_i32),
        prop::option::of(proptest::sample::select(vec!["A. Sato", "Sato, Aiko", "B. Lind"])),
        prop::option::of(0..3_u8),
        prop::option::of(0..3_u8),
        proptest::sample::select(vec!["semantic_scholar", "openalex", "corpus:x"]),
    )
        .prop_map(|(title, year, author, number, pmid, source)| Work {
            title: title.to_owned(),
            year,
            authors: author.map(str::to_owned).into_iter().collect(),
            doi: number.and_then(|n| Doi::parse(&format!("10.1000/{n}"))),
            ids: pmid.map(|n| Identifier::Pmid(format!("{}", n + 1))).into_iter().collect(),
            source_api: source.to_owned(),
            ..Work::default()
        })
}

/// The works as sets of records' contents.
fn partition(records: &[Work]) -> std::collections::BTreeSet<Vec<String>> {
    let mut index = CanonicalPaperIndex::default();
    for work in records {
        index.add(FoundBy::Api, precedence(work), work.clone());
    }
    index
        .works()
        .iter()
        .map(|found| {
            let mut texts: Vec<String> =
                found.records.iter().map(|&i| serde_json::to_string(&records[i]).unwrap()).collect();
            texts.sort();
            texts.dedup();
            texts
        })
        .collect()
}

proptest! {
    #[test]
    fn the_order_of_records_does_not_matter(works in prop::collection::vec(any_work(), 0..10).prop_flat_map(|works| {
        (Just(works.clone()), Just(works).prop_shuffle())
    })) {
        prop_assert_eq!(partition(&works.0), partition(&works.1));
    }

    #[test]
    fn naming_works_again_makes_no_new_ones(works in prop::collection::vec(any_work(), 0..8)) {
        let twice: Vec<Work> = works.iter().chain(&works).cloned().collect();
        prop_assert_eq!(partition(&works), partition(&twice));
    }

    #[test]
    fn every_record_is_in_one_work_and_every_doi_is_one_work(works in prop::collection::vec(any_work(), 0..10)) {
        let mut index = CanonicalPaperIndex::default();
        for work in &works {
            index.add(FoundBy::Api, precedence(work), work.clone());
        }
        let found = index.works();
        let mut records: Vec<usize> = found.iter().flat_map(|work| work.records.clone()).collect();
        records.sort_unstable();
        prop_assert_eq!(records, (0..works.len()).collect::<Vec<_>>());
        let likeness = Likeness::of(works.iter());
        let mut dois = std::collections::HashSet::new();
        for work in &found {
            let own: std::collections::HashSet<_> = work.records.iter().filter_map(|&i| works[i].doi.clone()).collect();
            prop_assert!(own.len() <= 1);
            prop_assert!(own.into_iter().all(|doi| dois.insert(doi)));
            // Without any identifier, only titles alike pair by pair hold a work together.
            let plain: Vec<usize> = work.records.iter().copied().filter(|&i| works[i].identifiers().next().is_none()).collect();
            for &i in &plain {
                prop_assert!(plain.iter().all(|&j| i == j || likeness.between(i, j).is_some()));
            }
        }
    }
}
