//! Corrections of sentence boundaries that general rules get wrong in scientific text.

/// Takes byte offsets of boundaries and returns those that stand, in order, without the text's ends.
pub(super) fn mend(text: &str, cuts: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = cuts.iter().copied().filter(|cut| text.is_char_boundary(*cut)).collect();
    kept.sort_unstable();
    kept.dedup();
    kept.retain(|cut| *cut > 0 && *cut < text.len());
    kept
}
