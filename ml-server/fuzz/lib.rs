//! Shared by all targets: a router that is created once.

#[path = "../tests/common/border.rs"]
mod border;

use std::sync::LazyLock;

static BORDER: LazyLock<border::Border> = LazyLock::new(border::Border::new);

/// Sends a body to a route and checks that the answer is one that the API describes.
pub fn check(path: &str, body: &[u8]) {
    BORDER.check(path, body);
}
