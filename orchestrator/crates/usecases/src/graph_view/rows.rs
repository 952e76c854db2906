//! The rows of a task's graph as nodes and relations, and what each node says.

use lyra_domain::{BetaConfidence, Probability, Relation};
use lyra_graph::{Bond, Item, Kind, PartNode, Tie, Whole};
use lyra_store::{GraphEdge, GraphPassage, GraphRows, GraphWork, Side};
use lyra_wire::GraphNode;
use lyra_wire::json::thousandths;
use std::collections::HashMap;

/// Longest label, in characters.
const LABEL: usize = 140;

/// A task's graph with what its nodes say.
pub(super) struct Drawn {
    pub(super) whole: Whole,
    /// Of each item.
    said: Vec<Said>,
}

/// What a node says besides its relations.
struct Said {
    label: String,
    path: String,
    about: About,
}

enum About {
    Claim { side: Side, confidence: f64 },
    Passage { title: Option<String> },
    Work { citation: Option<String>, year: Option<i32>, is_retracted: bool },
}

impl Drawn {
    /// The graph of these rows.
    pub(super) fn new(rows: GraphRows) -> Self {
        let GraphRows { claims, passages, works, edges } = rows;
        let mut places: HashMap<String, usize> = HashMap::new();
        let ids = claims.iter().map(|(id, _)| id);
        let ids =
            ids.chain(works.iter().map(|work| &work.id)).chain(passages.iter().map(|passage| &passage.id));
        for (at, id) in ids.enumerate() {
            places.insert(id.clone(), at);
        }
        let judged = Judged::new(&claims, &works, &passages, &edges, &places);
        let mut drawn = Self { whole: Whole::default(), said: Vec::new() };
        for (at, (id, text)) in claims.into_iter().enumerate() {
            let about = About::Claim { side: judged.side(at), confidence: judged.posterior(at).confidence() };
            drawn.add(id, Kind::Claim, &text, None, "/claims/", about);
        }
        for work in works {
            let citation = citation(&work);
            let title = if work.title.is_empty() { &work.domain } else { &work.title };
            let mut searched = vec![title.as_str(), &work.domain];
            searched.extend(
                [&work.venue, &work.doi, &work.first_author].into_iter().flatten().map(String::as_str),
            );
            let year = work.year.map(|year| year.to_string());
            searched.extend(year.as_deref());
            let (searched, title) = (searched.join("\n"), title.clone());
            let about =
                About::Work { citation, year: work.year, is_retracted: work.is_retracted == Some(true) };
            drawn.add(work.id, Kind::Work, &searched, None, "/pages/", about);
            if let Some(said) = drawn.said.last_mut() {
                said.label = label(&title);
            }
        }
        for GraphPassage { id, page, text } in passages {
            let path = format!("/pages/{page}?fragment=");
            let work = places.get(&page).copied();
            let title = work.map(|work| drawn.said[work].label.clone());
            drawn.add(id, Kind::Passage, &text, work, &path, About::Passage { title });
        }
        let bond = |edge: &GraphEdge| {
            Some(Bond {
                from: *places.get(&edge.source)?,
                to: *places.get(&edge.target)?,
                tie: match edge.relation {
                    Relation::Supports => Tie::Supports,
                    Relation::Refutes => Tie::Refutes,
                    Relation::Neutral => Tie::Neutral,
                    Relation::Origin => Tie::Origin,
                    Relation::Cites => Tie::Cites,
                },
                confidence: edge.confidence.map(Probability::get),
            })
        };
        drawn.whole.bonds = edges.iter().filter_map(bond).collect();
        drawn
    }

    fn add(&mut self, id: String, kind: Kind, text: &str, work: Option<usize>, path: &str, about: About) {
        self.said.push(Said { label: label(text), path: format!("{path}{id}"), about });
        let text = lyra_text::normalise(text).to_lowercase();
        self.whole.items.push(Item { id, kind, text, work });
    }

    /// A node of a part, at the origin and in no cluster.
    pub(super) fn node(&self, node: &PartNode) -> GraphNode {
        let item = &self.whole.items[node.item];
        let Said { label, path, about } = &self.said[node.item];
        let mut shown = GraphNode {
            node_id: item.id.clone(),
            kind: item.kind.as_str(),
            label: label.clone(),
            x: 0.0,
            y: 0.0,
            weight: thousandths(node.weight),
            relation_count: node.relations,
            hidden_count: node.hidden,
            cluster: None,
            path: path.clone(),
            matched: node.matched,
            side: None,
            confidence: None,
            citation: None,
            year: None,
            is_retracted: false,
        };
        match about {
            About::Claim { side, confidence } => {
                (shown.side, shown.confidence) = (Some(side.as_str()), Some(thousandths(*confidence)));
            }
            About::Passage { title } => shown.citation.clone_from(title),
            About::Work { citation, year, is_retracted } => {
                (shown.citation, shown.year, shown.is_retracted) = (citation.clone(), *year, *is_retracted);
            }
        }
        shown
    }
}

/// The judgments of claims, which stand before all other items.
struct Judged(Vec<Vec<(usize, Relation, Probability)>>);

impl Judged {
    fn new(
        claims: &[(String, String)],
        works: &[GraphWork],
        passages: &[GraphPassage],
        edges: &[GraphEdge],
        places: &HashMap<String, usize>,
    ) -> Self {
        // Pages of one work count once, as does a page without a work.
        let mut keys: HashMap<&str, usize> = HashMap::new();
        let of_page: HashMap<&str, usize> = works
            .iter()
            .map(|work| {
                let next = keys.len();
                (work.id.as_str(), *keys.entry(work.work.as_deref().unwrap_or(&work.id)).or_insert(next))
            })
            .collect();
        let of_passage: HashMap<&str, usize> = passages
            .iter()
            .filter_map(|passage| Some((passage.id.as_str(), *of_page.get(passage.page.as_str())?)))
            .collect();
        let mut judged = vec![Vec::new(); claims.len()];
        for edge in edges {
            let claim = places.get(&edge.target).and_then(|&claim| judged.get_mut(claim));
            if let (Some(claim), Some(&work)) = (claim, of_passage.get(edge.source.as_str())) {
                claim.push((work, edge.relation, edge.confidence.unwrap_or(Probability::ZERO)));
            }
        }
        Self(judged)
    }

    fn posterior(&self, claim: usize) -> BetaConfidence {
        BetaConfidence::of_works(self.0[claim].iter().copied())
    }

    fn side(&self, claim: usize) -> Side {
        let has = |relation| self.0[claim].iter().any(|(_, judged, _)| *judged == relation);
        match (has(Relation::Supports), has(Relation::Refutes)) {
            (true, true) => Side::Contested,
            (true, false) => Side::Supported,
            (false, true) => Side::Refuted,
            (false, false) => Side::Open,
        }
    }
}

/// First author and venue.
fn citation(work: &GraphWork) -> Option<String> {
    let others = if work.authors > 1 { " et al." } else { "" };
    let author = work.first_author.as_ref().map(|name| format!("{name}{others}"));
    let parts: Vec<String> = [author, work.venue.clone()].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| label(&parts.join(", ")))
}

/// The beginning of a text on one line, without characters that turn the direction of what stands around it.
fn label(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let text: String = lyra_text::normalise(text).chars().filter(|&c| !turns(c)).collect();
    if text.chars().nth(LABEL).is_none() {
        return text;
    }
    let start: String = text.chars().take(LABEL - 1).collect();
    format!("{}…", start.trim_end())
}
