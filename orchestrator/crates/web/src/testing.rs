//! Where tests find the shared data.

use std::path::PathBuf;

/// A place in the shared data, whether it is there or not.
pub(crate) fn shared(path: &str) -> PathBuf {
    std::env::var_os("LYRA_SHARED")
        .map_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared").into(), PathBuf::from)
        .join(path)
}

/// Folders of real pages with the main text expected of each; `None`, with a message, when the shared data is missing.
pub(crate) fn readability_pages() -> Option<impl Iterator<Item = PathBuf>> {
    let folder = shared("data/extraction/readability/test-pages");
    let pages = std::fs::read_dir(&folder).ok();
    if pages.is_none() {
        eprintln!("skipped: {} is not there", folder.display());
    }
    Some(pages?.map(|entry| entry.unwrap().path()))
}
