//! A writer whose disk fails under it.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::{TextIndex, to_json};
use crate::Document;
use std::time::Duration;

#[test]
fn a_stopped_writer_says_what_the_disk_said() {
    let home = tempfile::tempdir().expect("a folder");
    let index = TextIndex::open(home.path(), "example").expect("an index");
    let mut writer = index.writer().expect("a writer");
    let document = Document { doc_id: "1".to_owned(), title: "Naps".to_owned(), ..Document::default() };
    // Without its folder, the thread cannot write the first segment.
    std::fs::remove_dir_all(home.path().join(super::FOLDER)).expect("the folder is there");

    let error = (0..1000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        writer.put(&document, &to_json(&document), 0, &Vec::new(), false).err()
    });

    let said = error.expect("an index without a folder takes no documents").to_string();
    assert!(said.contains("No such file"), "{said}");
}
