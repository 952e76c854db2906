//! Proximity over positions, exactly.

/// An occurrence: positions `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First position.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// Most groups of one proximity.
pub const MAX_GROUPS: usize = 6;

/// Places where one occurrence of every group stands near the others, one per occurrence that ends such a place, the
/// shortest of those that end there.
///
/// Occurrences of different groups do not overlap, and each begins at most `distance` positions behind the end of the
/// one before it; they come in the order of the groups when `ordered`, in any order otherwise. `groups` holds the
/// occurrences of each group, in any order; more than [`MAX_GROUPS`] groups are nowhere.
pub fn near(groups: &[Vec<Span>], distance: u32, ordered: bool) -> Vec<Span> {
    if groups.is_empty() || groups.len() > MAX_GROUPS || groups.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let mut all: Vec<(Span, usize)> = groups
        .iter()
        .enumerate()
        .flat_map(|(group, spans)| spans.iter().map(move |span| (*span, group)))
        .collect();
    all.sort_unstable();
    let widest = all.iter().map(|(span, _)| span.end.saturating_sub(span.start)).max().unwrap_or(0);
    let complete = (1_usize << groups.len()) - 1;
    // For each occurrence: by the set of groups that a chain ending here has, where the latest such chain began.
    let mut chains: Vec<[Option<u32>; 1 << MAX_GROUPS]> = Vec::with_capacity(all.len());
    let mut found: Vec<Span> = Vec::new();
    let mut nearest = 0;
    for (span, group) in &all {
        let own = 1_usize << group;
        let mut here = [None; 1 << MAX_GROUPS];
        if !ordered || *group == 0 {
            here[own] = Some(span.start);
        }
        while all.get(nearest).is_some_and(|(before, _)| {
            before.start.saturating_add(widest).saturating_add(distance) < span.start
        }) {
            nearest += 1;
        }
        for (before, chain) in all[nearest..].iter().zip(&chains[nearest..]) {
            let gap = span.start.checked_sub(before.0.end);
            if gap.is_none_or(|gap| gap > distance) || (ordered && before.1 + 1 != *group) {
                continue;
            }
            for set in (1..=complete).filter(|set| set & own == 0) {
                if let Some(start) = chain[set] {
                    here[set | own] = here[set | own].max(Some(start));
                }
            }
        }
        if let Some(start) = here[complete] {
            found.push(Span { start, end: span.end });
        }
        chains.push(here);
    }
    // Of those that end together, the shortest.
    found.sort_unstable_by_key(|span| (span.end, std::cmp::Reverse(span.start)));
    found.dedup_by_key(|span| span.end);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(start: u32, width: u32) -> Span {
        Span { start, end: start + width }
    }

    /// All choices of one occurrence per group, all orders, checked one by one.
    fn brute(groups: &[Vec<Span>], distance: u32, ordered: bool) -> Vec<Span> {
        fn choose(groups: &[Vec<Span>], chosen: &mut Vec<Span>, each: &mut impl FnMut(&[Span])) {
            let Some(group) = groups.get(chosen.len()) else { return each(chosen) };
            for span in group {
                chosen.push(*span);
                choose(groups, chosen, each);
                chosen.pop();
            }
        }
        let mut best: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
        choose(groups, &mut Vec::new(), &mut |chosen| {
            let mut line = chosen.to_vec();
            if !ordered {
                line.sort_unstable();
            }
            let fits = line
                .windows(2)
                .all(|pair| pair[1].start >= pair[0].end && pair[1].start - pair[0].end <= distance);
            if let (true, Some(first), Some(last)) = (fits, line.first(), line.last()) {
                let start = best.entry(last.end).or_insert(first.start);
                *start = (*start).max(first.start);
            }
        });
        let mut spans: Vec<Span> = best.into_iter().map(|(end, start)| Span { start, end }).collect();
        spans.sort_unstable();
        spans
    }

    #[test]
    fn by_hand() {
        let groups = [vec![span(0, 2)], vec![span(4, 2), span(20, 2)]];
        assert_eq!(near(&groups, 2, true), [Span { start: 0, end: 6 }]);
        assert_eq!(near(&groups, 1, true), []);
        let swapped = [groups[1].clone(), groups[0].clone()];
        assert_eq!(near(&swapped, 2, true), []);
        assert_eq!(near(&swapped, 2, false), [Span { start: 0, end: 6 }]);
        // The same word twice needs two occurrences.
        assert_eq!(near(&[vec![span(3, 1)], vec![span(3, 1)]], 9, false), []);
        assert_eq!(near(&[vec![span(3, 1)], vec![]], 9, false), []);
    }

    proptest! {
        #[test]
        fn as_all_choices_tried(
            groups in prop::collection::vec(prop::collection::vec((0_u32..24, 1_u32..4), 0..5), 1..5),
            distance in 0_u32..8,
            ordered: bool,
        ) {
            let groups: Vec<Vec<Span>> =
                groups.into_iter().map(|group| group.into_iter().map(|(at, width)| span(at, width)).collect()).collect();
            let mut found = near(&groups, distance, ordered);
            found.sort_unstable_by_key(|span| span.end);
            let mut expect = brute(&groups, distance, ordered);
            expect.sort_unstable_by_key(|span| span.end);
            prop_assert_eq!(found, expect);
        }
    }
}
