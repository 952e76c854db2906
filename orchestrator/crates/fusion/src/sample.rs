//! A small sample of documents to review, spread over scores, lanes and meaning.

/// A document that could be reviewed, with its scores.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// Which lanes have it.
    pub lanes: Vec<bool>,
    /// Its embedding, when there is one, of length 1.
    pub vector: Option<&'a [f32]>,
}

/// Chooses `count` of the candidates, which come in ranked order: the first, then repeatedly the one farthest from all
/// chosen so far (Gonzalez 1985), the distance being the mean of those in rank, in lanes (Jaccard) and, where both have
/// embeddings, in meaning (cosine). The chosen indices are in ranked order; the second list has the closest chosen one
/// for each candidate.
pub fn sample(candidates: &[Candidate<'_>], count: usize) -> (Vec<usize>, Vec<usize>) {
    let total = candidates.len();
    if total == 0 || count == 0 {
        return (Vec::new(), Vec::new());
    }
    let distance = |a: usize, b: usize| {
        let ranks = a.abs_diff(b) as f64 / total as f64;
        let lanes = lanes_apart(&candidates[a].lanes, &candidates[b].lanes);
        match (candidates[a].vector, candidates[b].vector) {
            (Some(x), Some(y)) => {
                let cosine = f64::from(lyra_domain::vector::dot(x, y));
                (ranks + lanes + (1.0 - cosine).clamp(0.0, 2.0) / 2.0) / 3.0
            }
            _ => f64::midpoint(ranks, lanes),
        }
    };
    let mut chosen = vec![0];
    let mut nearest: Vec<(f64, usize)> = (0..total).map(|place| (distance(0, place), 0)).collect();
    while chosen.len() < count.min(total) {
        let farthest = (0..total)
            .filter(|place| !chosen.contains(place))
            .reduce(|best, place| if nearest[place].0 > nearest[best].0 { place } else { best });
        let Some(next) = farthest else { break };
        chosen.push(next);
        for (place, near) in nearest.iter_mut().enumerate() {
            let apart = distance(next, place);
            if apart < near.0 || place == next {
                *near = (apart, next);
            }
        }
    }
    chosen.sort_unstable();
    (chosen, nearest.into_iter().map(|(_, of)| of).collect())
}

fn lanes_apart(a: &[bool], b: &[bool]) -> f64 {
    let both = a.iter().zip(b).filter(|(a, b)| **a && **b).count();
    let any = a.iter().zip(b).filter(|(a, b)| **a || **b).count();
    if any > 0 { 1.0 - both as f64 / any as f64 } else { 0.0 }
}
