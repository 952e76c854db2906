use super::*;
use proptest::prelude::*;

fn item(id: &str, kind: Kind, work: Option<usize>) -> Item {
    Item { id: id.to_owned(), kind, text: format!("text of {id}"), work }
}

/// Two works with a passage each, a claim that the first supports twice and the second refutes, and a claim without
/// evidence. The second work cites the first, and a third that cites nothing and has no passage is cited by none.
fn whole() -> Whole {
    let bond = |from, to, tie, confidence| Bond { from, to, tie, confidence };
    Whole {
        items: vec![
            item("w0", Kind::Work, None),
            item("w1", Kind::Work, None),
            item("p0", Kind::Passage, Some(0)),
            item("p1", Kind::Passage, Some(1)),
            item("c0", Kind::Claim, None),
            item("c1", Kind::Claim, None),
            item("w2", Kind::Work, None),
            item("p2", Kind::Passage, Some(0)),
        ],
        bonds: vec![
            bond(2, 4, Tie::Supports, Some(0.7)),
            bond(7, 4, Tie::Supports, Some(0.9)),
            bond(3, 4, Tie::Refutes, Some(0.8)),
            bond(1, 0, Tie::Cites, None),
            bond(3, 5, Tie::Neutral, Some(0.6)),
            bond(99, 5, Tie::Supports, None),
        ],
    }
}

fn wanted(kinds: &[Kind]) -> Wanted {
    Wanted {
        kinds: kinds.iter().copied().collect(),
        ties: Tie::ALL.iter().copied().filter(|tie| *tie != Tie::Neutral).collect(),
        words: Vec::new(),
        around: BTreeSet::new(),
        steps: 1,
        expand: BTreeSet::new(),
        limit: 100,
    }
}

fn ids<'w>(whole: &'w Whole, part: &Part) -> Vec<&'w str> {
    let mut ids: Vec<&str> = part.nodes.iter().map(|node| whole.items[node.item].id.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn works_stand_for_passages_that_are_not_shown() {
    let whole = whole();
    let part = whole.part(&wanted(&[Kind::Claim, Kind::Work]));
    assert_eq!(ids(&whole, &part), ["c0", "c1", "w0", "w1"]);
    let place = |id: &str| part.nodes.iter().position(|node| whole.items[node.item].id == id);
    let edge = |from, tie| {
        let found = part.edges.iter().find(|edge| Some(edge.from) == place(from) && edge.tie == tie);
        found.map(|edge| (edge.count, edge.confidence))
    };
    assert_eq!(edge("w0", Tie::Supports), Some((2, Some(0.9))));
    assert_eq!(edge("w1", Tie::Refutes), Some((1, Some(0.8))));
    assert_eq!(edge("w1", Tie::Cites), Some((1, None)));
    assert_eq!(part.edges.len(), 3);
}

#[test]
fn passages_are_connected_with_their_works() {
    let whole = whole();
    let part = whole.part(&wanted(Kind::ALL));
    assert_eq!(ids(&whole, &part), ["c0", "c1", "p0", "p1", "p2", "w0", "w1"]);
    assert_eq!(part.edges.iter().filter(|edge| edge.tie == Tie::PartOf).count(), 3);
    let alone = whole.part(&wanted(&[Kind::Claim]));
    assert_eq!((ids(&whole, &alone), alone.edges.len()), (vec!["c0", "c1"], 0));
}

#[test]
fn a_text_keeps_what_contains_it_and_its_neighbors() {
    let whole = whole();
    let part = whole.part(&Wanted {
        words: vec!["text".to_owned(), "w1".to_owned()],
        ..wanted(&[Kind::Claim, Kind::Work])
    });
    assert_eq!(ids(&whole, &part), ["c0", "w0", "w1"]);
    assert_eq!(part.nodes.iter().filter(|node| node.matched).count(), 1);
}

#[test]
fn neighborhoods_grow_by_steps_and_by_expansion() {
    let whole = whole();
    let near = |around: &str, steps, expand: &[&str]| {
        let part = whole.part(&Wanted {
            around: [around.to_owned()].into(),
            steps,
            expand: expand.iter().map(|id| (*id).to_owned()).collect(),
            ..wanted(Kind::ALL)
        });
        ids(&whole, &part).join(" ")
    };
    assert_eq!(near("p0", 1, &[]), "c0 p0 w0");
    assert_eq!(near("p0", 2, &[]), "c0 p0 p1 p2 w0 w1");
    assert_eq!(near("p0", 1, &["w0"]), "c0 p0 p2 w0 w1");
    assert_eq!(near("unknown", 3, &[]), "");
}

#[test]
fn a_limit_keeps_the_heaviest_connected_and_counts_the_rest() {
    let whole = whole();
    let part = whole.part(&Wanted { limit: 2, ..wanted(&[Kind::Claim, Kind::Work]) });
    assert_eq!((ids(&whole, &part), part.fitting), (vec!["c0", "w0"], 4));
    assert_eq!(part.nodes[0].hidden + part.nodes[1].hidden, 2);
    let expanded = whole.part(&Wanted {
        limit: 2,
        expand: ["c1".to_owned()].into(),
        ..wanted(&[Kind::Claim, Kind::Work])
    });
    assert!(ids(&whole, &expanded).contains(&"c1"));
}

proptest! {
    #[test]
    fn parts_are_whole((bonds, limit, steps, around) in (
        prop::collection::vec((0_usize..30, 0_usize..30, 0_usize..5), 0..80), 0_usize..40, 0_usize..4,
        prop::collection::btree_set((0_usize..35).prop_map(|at| format!("i{at}")), 0..3),
    )) {
        let items = (0..30).map(|at| {
            let kind = Kind::ALL[at % 3];
            let work = (kind == Kind::Passage).then_some((at + 1) % 30);
            Item { id: format!("i{at}"), kind, text: String::new(), work }
        });
        let bonds = bonds.into_iter().map(|(from, to, tie)| Bond { from, to, tie: Tie::ALL[tie], confidence: None });
        let whole = Whole { items: items.collect(), bonds: bonds.collect() };
        let part = whole.part(&Wanted { around, steps, limit, ..wanted(Kind::ALL) });
        prop_assert!(part.nodes.len() <= limit && part.nodes.len() <= part.fitting);
        prop_assert!(part.nodes.len() == limit.min(part.fitting));
        let mut seen = BTreeSet::new();
        for edge in &part.edges {
            prop_assert!(edge.from < part.nodes.len() && edge.to < part.nodes.len() && edge.from != edge.to);
            prop_assert!(seen.insert((edge.from, edge.to, edge.tie)));
        }
        for (at, node) in part.nodes.iter().enumerate() {
            let shown = part.edges.iter().filter(|edge| edge.from == at || edge.to == at).count();
            prop_assert_eq!(shown + node.hidden, node.relations);
            prop_assert!((0.0..=1.0).contains(&node.weight));
        }
    }
}
