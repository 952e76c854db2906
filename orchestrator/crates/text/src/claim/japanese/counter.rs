//! Japanese counter-claims by endings and words.

/// See [`crate::claim::counter_claim`].
pub(in crate::claim) fn counter(claim: &str) -> Option<String> {
    let affirmed = ENDINGS.iter().find(|(negative, _)| claim.contains(negative));
    if let Some((negative, positive)) = affirmed {
        return Some(claim.replacen(negative, positive, 1));
    }
    let mut out = String::with_capacity(claim.len());
    let (mut rest, mut changed) = (claim, false);
    while let Some(first) = rest.chars().next() {
        let pair = OPPOSITES.iter().find_map(|&(a, b)| match rest {
            rest if rest.starts_with(a) => Some((a, b)),
            rest if rest.starts_with(b) => Some((b, a)),
            _ => None,
        });
        let taken = pair.map_or(first.len_utf8(), |(word, _)| word.len());
        out.push_str(pair.map_or(&rest[..taken], |(_, opposite)| opposite));
        changed |= pair.is_some();
        rest = &rest[taken..];
    }
    changed.then_some(out)
}

/// Negative predicates and their positive forms.
const ENDINGS: &[(&str, &str)] = &[
    ("しなかった", "した"),
    ("られなかった", "られた"),
    ("れなかった", "れた"),
    ("わらなかった", "わった"),
    ("なかった", "あった"),
    ("できない", "できる"),
    ("られない", "られる"),
    ("しない", "する"),
    ("ではない", "である"),
];

const OPPOSITES: &[(&str, &str)] = &[
    ("改善", "悪化"),
    ("増加", "減少"),
    ("上昇", "低下"),
    ("向上", "劣化"),
    ("促進", "抑制"),
    ("増え", "減っ"),
    ("高い", "低い"),
    ("高く", "低く"),
    ("多い", "少ない"),
    ("多かった", "少なかった"),
    ("高かった", "低かった"),
    ("上回", "下回"),
    ("有効", "無効"),
    ("延長", "短縮"),
    ("拡大", "縮小"),
];
