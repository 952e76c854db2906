//! Rows as a workbook with one sheet. Texts are written as texts, so that none becomes a formula.

use super::table::{Cell, Table};
use crate::{AppError, ErrorCode};
use rust_xlsxwriter::{Format, Workbook, XlsxError};

/// Most characters of a cell.
const LONGEST: usize = 32_000;
/// Widths of the first columns, in characters: rank, document, title.
const WIDTHS: [f64; 3] = [6.0, 20.0, 60.0];

pub(super) fn written(table: &Table) -> Result<Vec<u8>, AppError> {
    let failed = |error: XlsxError| {
        AppError::new(ErrorCode::Internal, format!("the workbook cannot be written: {error}"))
    };
    workbook(table).map_err(failed)
}

fn workbook(table: &Table) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    let bold = Format::new().set_bold();
    let sheet = workbook.add_worksheet().set_name("Run")?;
    for (column, name) in (0..).zip(&table.columns) {
        sheet.write_string_with_format(0, column, name, &bold)?;
    }
    for (row, cells) in (1..).zip(&table.rows) {
        for (column, cell) in (0..).zip(cells) {
            match cell {
                Cell::Empty => {}
                Cell::Text(text) => {
                    sheet.write_string(row, column, lyra_fusion::cut(text, LONGEST).0)?;
                }
                Cell::Number(number) => {
                    sheet.write_number(row, column, *number)?;
                }
            }
        }
    }
    for (column, width) in (0..).zip(WIDTHS) {
        sheet.set_column_width(column, width)?;
    }
    sheet.set_freeze_panes(1, 0)?;
    workbook.save_to_buffer()
}
