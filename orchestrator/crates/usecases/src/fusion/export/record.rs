//! A document of a run as a record, with its place in the run as a note.

use crate::fusion::Representative;
use lyra_bibliography::Record;
use lyra_corpus::backend::Publication;
use lyra_wire::fusion::DocumentShare;

pub(super) fn of(
    run_id: &str,
    share: &DocumentShare,
    publication: &Publication,
    judged: Option<&Representative>,
) -> Record {
    let mut record = publication.record();
    if record.title.is_empty() {
        record.title.clone_from(&share.doc_id);
    }
    record.key.clone_from(&share.doc_id);
    let lanes: Vec<String> = share.ranks.iter().map(|(lane, rank)| format!("{lane} {rank}")).collect();
    let lanes = if lanes.is_empty() { String::new() } else { format!(" ({})", lanes.join(", ")) };
    record.notes.push(format!("Lyra {run_id}: rank {}{lanes}", share.rank));
    if let Some(judged) = judged {
        let reason = judged.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        record.notes.push(format!("Lyra label {}{reason}", judged.label));
    }
    record
}
