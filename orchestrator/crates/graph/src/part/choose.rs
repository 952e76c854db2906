//! How a part is chosen.

use super::{Bond, Kind, Part, PartEdge, PartNode, Tie, Wanted, Whole};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// A node is heavy only if it has some relations, even where others of its kind have none.
const LEAST_MOST: usize = 4;

impl Whole {
    /// The wanted part.
    ///
    /// Works and passages without a relation that is shown are no part of it; claims are. Where more nodes fit than the
    /// limit allows, `around` and what is expanded come first. Then the heaviest node is kept and, again and again, the
    /// heaviest neighbor of those that are; where there is no neighbor left, the heaviest node of the rest.
    pub fn part(&self, wanted: &Wanted) -> Part {
        let edges = self.shown_edges(wanted);
        let near = Neighbours::new(self.items.len(), &edges);
        let kept = |at: usize| {
            let kind = self.items[at].kind;
            wanted.kinds.contains(&kind) && (kind == Kind::Claim || !near.of(at).is_empty())
        };
        let shown: Vec<bool> = (0..self.items.len()).map(kept).collect();
        let places: HashMap<&str, usize> =
            self.items.iter().enumerate().map(|(at, item)| (item.id.as_str(), at)).collect();
        let find = |id: &String| places.get(id.as_str()).copied().filter(|&at| shown[at]);
        let around: Vec<usize> = wanted.around.iter().filter_map(find).collect();
        let expand: Vec<usize> = wanted.expand.iter().filter_map(find).collect();

        let mut fits = shown.clone();
        if !wanted.around.is_empty() {
            fits = near.within(&around, wanted.steps);
        }
        let mut matched = vec![false; self.items.len()];
        if !wanted.words.is_empty() {
            for (at, matched) in matched.iter_mut().enumerate() {
                *matched = fits[at] && wanted.words.iter().all(|word| self.items[at].text.contains(word));
            }
            let beside = |at: usize| matched[at] || near.of(at).iter().any(|&other| matched[other]);
            fits = (0..fits.len()).map(|at| fits[at] && beside(at)).collect();
        }
        // First those that must not be cut.
        let mut first: Vec<usize> = around;
        for at in expand {
            first.push(at);
            first.extend_from_slice(near.of(at));
        }
        for &at in &first {
            fits[at] = true;
        }
        let weights = self.weights(&near, &fits);
        let fitting = fits.iter().filter(|fits| **fits).count();
        let chosen = if fitting > wanted.limit {
            self.grown(&near, &fits, &weights, &first, wanted.limit)
        } else {
            (0..fits.len()).filter(|&at| fits[at]).collect()
        };
        self.arranged(chosen, &edges, &near, &weights, &matched, fitting)
    }

    /// Relations between nodes of the wanted kinds, each once, by their ends.
    fn shown_edges(&self, wanted: &Wanted) -> Vec<PartEdge> {
        let mut edges = Vec::new();
        for &Bond { from, to, tie, confidence } in &self.bonds {
            let ends = (self.stands_for(from, wanted), self.stands_for(to, wanted));
            if let (Some(from), Some(to)) = ends
                && from != to
                && wanted.ties.contains(&tie)
            {
                edges.push(PartEdge { from, to, tie, count: 1, confidence });
            }
        }
        if wanted.kinds.contains(&Kind::Passage) && wanted.ties.contains(&Tie::PartOf) {
            let mut used = vec![false; self.items.len()];
            for edge in &edges {
                used[edge.from] = true;
                used[edge.to] = true;
            }
            for (from, item) in self.items.iter().enumerate() {
                if let Some(to) = item.work.and_then(|work| self.stands_for(work, wanted))
                    && used[from]
                {
                    edges.push(PartEdge { from, to, tie: Tie::PartOf, count: 1, confidence: None });
                }
            }
        }
        edges.sort_by_key(|edge| (edge.from, edge.to, edge.tie));
        edges.dedup_by(|later, kept| {
            let same = (later.from, later.to, later.tie) == (kept.from, kept.to, kept.tie);
            if same {
                kept.count += later.count;
                kept.confidence = greater(kept.confidence, later.confidence);
            }
            same
        });
        edges
    }

    /// The node that is shown for an item: itself, or the work of a passage.
    fn stands_for(&self, at: usize, wanted: &Wanted) -> Option<usize> {
        let item = self.items.get(at)?;
        let shown = if wanted.kinds.contains(&item.kind) { Some(at) } else { item.work };
        shown.filter(|&at| self.items.get(at).is_some_and(|item| wanted.kinds.contains(&item.kind)))
    }

    /// The weight of every node that fits.
    fn weights(&self, near: &Neighbours, fits: &[bool]) -> Vec<f64> {
        let mut most: HashMap<Kind, usize> = HashMap::new();
        for (at, item) in self.items.iter().enumerate().filter(|(at, _)| fits[*at]) {
            let most = most.entry(item.kind).or_default();
            *most = (*most).max(near.edges(at));
        }
        let weight = |(at, item): (usize, &super::Item)| {
            let most = most.get(&item.kind).copied().unwrap_or(0).max(LEAST_MOST);
            if fits[at] { near.edges(at) as f64 / most as f64 } else { 0.0 }
        };
        self.items.iter().enumerate().map(weight).collect()
    }

    /// The chosen nodes in their order, with the edges among them.
    fn arranged(
        &self,
        mut chosen: Vec<usize>,
        edges: &[PartEdge],
        near: &Neighbours,
        weights: &[f64],
        matched: &[bool],
        fitting: usize,
    ) -> Part {
        chosen.sort_by(|&a, &b| self.heavier(weights, a, b));
        let mut place = vec![usize::MAX; self.items.len()];
        for (at, &item) in chosen.iter().enumerate() {
            place[item] = at;
        }
        let edges: Vec<PartEdge> = edges
            .iter()
            .map(|edge| PartEdge { from: place[edge.from], to: place[edge.to], ..*edge })
            .filter(|edge| edge.from != usize::MAX && edge.to != usize::MAX)
            .collect();
        let mut within = vec![0; chosen.len()];
        for edge in &edges {
            within[edge.from] += 1;
            within[edge.to] += 1;
        }
        let node = |(at, &item): (usize, &usize)| PartNode {
            item,
            weight: weights[item],
            relations: near.edges(item),
            hidden: near.edges(item) - within[at],
            matched: matched[item],
        };
        Part { nodes: chosen.iter().enumerate().map(node).collect(), edges, fitting }
    }

    /// The heaviest nodes that fit, connected where they can be; `first` before all others.
    fn grown(
        &self,
        near: &Neighbours,
        fits: &[bool],
        weights: &[f64],
        first: &[usize],
        limit: usize,
    ) -> Vec<usize> {
        let mut order: Vec<usize> = (0..fits.len()).filter(|&at| fits[at]).collect();
        order.sort_by(|&a, &b| self.heavier(weights, a, b));
        let mut rank = vec![usize::MAX; fits.len()];
        for (number, &at) in order.iter().enumerate() {
            rank[at] = number;
        }
        let mut taken = vec![false; fits.len()];
        let mut chosen = Vec::with_capacity(limit);
        let mut open: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        let mut rest = order.iter();
        let mut first = first.iter();
        while chosen.len() < limit {
            let next = first.next().copied().or_else(|| open.pop().map(|Reverse(number)| order[number]));
            let Some(at) = next.or_else(|| rest.next().copied()) else { break };
            if std::mem::replace(&mut taken[at], true) {
                continue;
            }
            chosen.push(at);
            open.extend(
                near.of(at)
                    .iter()
                    .filter(|&&other| fits[other] && !taken[other])
                    .map(|&at| Reverse(rank[at])),
            );
        }
        chosen
    }

    /// The order of nodes: by weight, then by id.
    fn heavier(&self, weights: &[f64], a: usize, b: usize) -> Ordering {
        weights[b].total_cmp(&weights[a]).then_with(|| self.items[a].id.cmp(&self.items[b].id))
    }
}

/// The neighbors of every item, whichever way edges point.
struct Neighbours {
    starts: Vec<usize>,
    others: Vec<usize>,
}

impl Neighbours {
    fn new(items: usize, edges: &[PartEdge]) -> Self {
        let mut starts = vec![0; items + 1];
        for edge in edges {
            starts[edge.from + 1] += 1;
            starts[edge.to + 1] += 1;
        }
        for at in 0..items {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut others = vec![0; 2 * edges.len()];
        for edge in edges {
            for (here, there) in [(edge.from, edge.to), (edge.to, edge.from)] {
                others[next[here]] = there;
                next[here] += 1;
            }
        }
        Self { starts, others }
    }

    /// The other ends of an item's edges; twice where two edges lead there.
    fn of(&self, at: usize) -> &[usize] {
        &self.others[self.starts[at]..self.starts[at + 1]]
    }

    fn edges(&self, at: usize) -> usize {
        self.of(at).len()
    }

    /// Which items are at most so many steps away from these.
    fn within(&self, from: &[usize], steps: usize) -> Vec<bool> {
        let mut reached = vec![false; self.starts.len() - 1];
        let mut queue: VecDeque<(usize, usize)> = from.iter().map(|&at| (at, 0)).collect();
        for &at in from {
            reached[at] = true;
        }
        while let Some((at, away)) = queue.pop_front() {
            if away == steps {
                continue;
            }
            for &other in self.of(at) {
                if !std::mem::replace(&mut reached[other], true) {
                    queue.push_back((other, away + 1));
                }
            }
        }
        reached
    }
}

/// The greater of two numbers that may be unknown.
fn greater(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (known, None) | (None, known) => known,
    }
}
