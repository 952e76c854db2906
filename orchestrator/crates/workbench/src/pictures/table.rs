//! The numbers of a picture as a table.

use super::label;
use maud::{Markup, html};

/// A table: a caption, heads of columns, and rows whose first cell is their head. Texts from outside are isolated, so
/// that their direction ends with their cell.
pub(super) fn table<const N: usize>(
    caption: &str,
    columns: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Markup {
    html! {
        table class="numbers" {
            caption { (caption) }
            thead { tr { @for column in columns { th scope="col" { (column) } } } }
            tbody {
                @for row in rows {
                    tr {
                        @for (i, cell) in row.iter().enumerate() {
                            @if i == 0 { th scope="row" { bdi { (label::full(cell)) } } }
                            @else { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}
