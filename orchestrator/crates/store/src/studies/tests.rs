use crate::testing::{Bench, Graph, cause, page};
use lyra_domain::{Identifier, LinkKind, links};
use lyra_research::ports::SearchStore;

#[tokio::test]
async fn works_are_linked_by_what_is_stored() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut trial = page("e", Some(2024), "Registered as nct01234567, the trial ran for a year.");
    let mut report = page("f", Some(2024), "The trial (NCT01234567) ended early; see also NCT00000009.");
    for (page, pmid) in [(&mut trial, "123"), (&mut report, "124")] {
        let work = page.work.as_mut().unwrap();
        work.authors = vec!["Ada Okafor".to_owned(), "B. Li".to_owned()];
        work.ids.push(Identifier::pmid(pmid).unwrap());
    }
    // It names a work by its identifier; no citation between pages is stored.
    report.work.as_mut().unwrap().references = vec!["10.1000/e".to_owned(), "W99".to_owned()];
    bench.store.register_pages(&graph.query, &[trial, report], &cause()).await.unwrap();

    let keys: Vec<String> =
        ["a", "b", "c", "e", "f"].iter().map(|key| format!("doi:10.1000/{key}")).collect();
    let facts = bench.store.work_facts(&keys).await.unwrap();
    assert_eq!(facts.iter().map(|work| &work.key).collect::<Vec<_>>(), keys.iter().collect::<Vec<_>>());
    let found: Vec<(LinkKind, String, String)> = links(&facts)
        .into_iter()
        .map(|link| (link.kind, link.value, link.works.join(" ").replace("doi:10.1000/", "")))
        .collect();
    let link = |kind, value: &str, works: &str| (kind, value.to_owned(), works.to_owned());
    assert_eq!(
        found,
        [
            link(LinkKind::Registration, "NCT01234567", "e f"),
            link(LinkKind::Authors, "Ada Okafor, B. Li (2024)", "e f"),
            link(LinkKind::Cites, "", "a b"),
            link(LinkKind::Cites, "", "b a"),
            link(LinkKind::Cites, "", "c a"),
            link(LinkKind::Cites, "", "c b"),
            link(LinkKind::Cites, "", "f e"),
        ]
    );
    let alone = bench.store.work_facts(&["nothing".to_owned(), keys[0].clone()]).await.unwrap();
    assert_eq!((alone[0].identifiers.len(), links(&alone)), (0, Vec::new()));
}
