//! The icon of the server, in the messages themselves: clients show it without a request to anywhere.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::Icon;

const PNG: &[u8] = include_bytes!("../../../../packaging/icon.png");
const SVG: &[u8] = include_bytes!("../../../../packaging/icon.svg");

/// The icon as an image of 96 by 96 pixels, which every client can show, and as one of any size.
pub(super) fn of_server() -> Vec<Icon> {
    [(PNG, "image/png", "96x96"), (SVG, "image/svg+xml", "any")]
        .into_iter()
        .map(|(image, kind, size)| {
            Icon::new(format!("data:{kind};base64,{}", BASE64_STANDARD.encode(image)))
                .with_mime_type(kind)
                .with_sizes(vec![size.to_owned()])
        })
        .collect()
}
