//! Reads tables of an SQLite file by its format, <https://www.sqlite.org/fileformat2.html>, without running SQLite.
//!
//! The file may come from anyone. Only the pages of the tables that are asked for are read, and no SQL is run. What an
//! interrupted or running transaction left is taken into account: a rollback journal's pages count instead of those
//! that it saved, and the committed frames of a write-ahead log instead of those that they replace.

mod logs;
mod record;
mod schema;

pub(crate) use record::Value;

use record::Columns;
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};

/// Bytes at the beginning of every SQLite file.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";
/// Pages within each other, at most: SQLite itself stops at 20.
const MAX_DEPTH: usize = 20;
/// Bytes of a row that are read; the columns behind them count as absent.
const MAX_ROW: usize = 4 << 20;
/// Most pages of a file: 32 GiB of the usual size.
const MAX_PAGES: u64 = 1 << 23;

/// What is wrong with a file.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// Lengths in bytes of the parts that stand one behind the other in what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) database: u64,
    /// Its rollback journal.
    pub(crate) journal: u64,
    /// Its write-ahead log.
    pub(crate) log: u64,
}

pub(crate) struct Database<R> {
    pages: Pages<R>,
    tables: HashMap<String, schema::Table>,
}

impl<R: Read + Seek> Database<R> {
    pub(crate) fn open(file: R, lengths: Lengths) -> Result<Self> {
        let mut pages = Pages::open(file, lengths)?;
        let mut tables = HashMap::new();
        let wanted = Columns::all(5);
        pages.rows(1, &wanted, &mut |row| {
            if let [Value::Text(kind), Value::Text(name), _, Value::Whole(root), Value::Text(sql)] = row
                && kind == "table"
                && let Ok(root) = u32::try_from(*root)
                && let Some(table) = schema::Table::read(root, sql)
            {
                tables.insert(name.to_lowercase(), table);
            }
            Ok(())
        })?;
        Ok(Self { pages, tables })
    }

    pub(crate) fn has(&self, table: &str) -> bool {
        self.tables.contains_key(&table.to_lowercase())
    }

    /// Passes on these columns of all rows of a table. A column that the table does not have is absent in each row, and
    /// a table that the file does not have is empty.
    pub(crate) fn rows(
        &mut self,
        table: &str,
        columns: &[&str],
        take: &mut dyn FnMut(&[Value]) -> Result<()>,
    ) -> Result<()> {
        let Some(table) = self.tables.get(&table.to_lowercase()) else { return Ok(()) };
        let wanted = table.columns(columns);
        self.pages.rows(table.root, &wanted, take)
    }
}

/// The pages of a file as its last committed transaction left them.
struct Pages<R> {
    file: R,
    size: usize,
    /// Bytes of a page that hold content.
    usable: usize,
    count: u64,
    /// Pages that stand somewhere else than in the database itself, and where.
    moved: HashMap<u32, u64>,
    encoding: Encoding,
    /// Pages that may still be read: a sound file needs each of them once.
    left: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

fn io(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn damaged(what: &str) -> String {
    format!("the database is damaged: {what}")
}

/// A number of `N` bytes, the first the highest.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(N)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

impl<R: Read + Seek> Pages<R> {
    fn open(mut file: R, lengths: Lengths) -> Result<Self> {
        let mut head = [0; 100];
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut head));
        if read.is_err() || !head.starts_with(MAGIC) {
            return Err("this is no SQLite database".to_owned());
        }
        let size = match u16::from_be_bytes([head[16], head[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        if !size.is_power_of_two() || size < 512 {
            return Err(damaged("its pages have an impossible size"));
        }
        let usable = size - usize::from(head[20]);
        if usable < 480 {
            return Err(damaged("its pages have an impossible size"));
        }
        let mut pages = Self {
            count: lengths.database / size as u64,
            left: u64::MAX,
            moved: HashMap::new(),
            encoding: Encoding::Utf8,
            file,
            size,
            usable,
        };
        pages.roll_back(lengths)?;
        pages.take_log(lengths)?;
        if pages.count > MAX_PAGES {
            return Err(format!("the database has more than {MAX_PAGES} pages"));
        }
        let first = pages.page(1)?;
        pages.encoding = match number::<4>(&first, 56) {
            Some(2) => Encoding::Utf16Le,
            Some(3) => Encoding::Utf16Be,
            _ => Encoding::Utf8,
        };
        pages.left = pages.count.saturating_mul(2).saturating_add(100);
        Ok(pages)
    }

    /// Reads bytes at a position of the file.
    fn bytes(&mut self, at: u64, length: usize) -> Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(at)).map_err(io)?;
        let mut bytes = vec![0; length];
        self.file.read_exact(&mut bytes).map_err(|_| damaged("it ends too early"))?;
        Ok(bytes)
    }

    /// A page; the first is 1.
    fn page(&mut self, nth: u32) -> Result<Vec<u8>> {
        if nth == 0 || u64::from(nth) > self.count {
            return Err(damaged("it names a page that it does not have"));
        }
        self.left =
            self.left.checked_sub(1).ok_or_else(|| damaged("its pages name each other in circles"))?;
        let at = self.moved.get(&nth).copied();
        let at = at.unwrap_or_else(|| u64::from(nth - 1) * self.size as u64);
        self.bytes(at, self.size)
    }

    /// Passes on the wanted columns of all rows below a page, in the order of their numbers.
    fn rows(
        &mut self,
        root: u32,
        wanted: &Columns,
        take: &mut dyn FnMut(&[Value]) -> Result<()>,
    ) -> Result<()> {
        // Pages that are next, the first of them last, with their depths.
        let mut next = vec![(root, 0)];
        let mut row = Vec::new();
        while let Some((nth, depth)) = next.pop() {
            let page = self.page(nth)?;
            let start = if nth == 1 { 100 } else { 0 };
            let kind = page.get(start).copied();
            let cells = number::<2>(&page, start + 3).unwrap_or_default() as usize;
            let pointers = start + if kind == Some(5) { 12 } else { 8 };
            let cell = |at: usize| number::<2>(&page, pointers + 2 * at).map(|at| at as usize);
            let short = || damaged("a page ends in the middle of a row");
            match kind {
                Some(5) if depth < MAX_DEPTH => {
                    let last = number::<4>(&page, start + 8);
                    let children = (0..cells).map(|at| number::<4>(&page, cell(at)?)).chain([last]);
                    let children: Option<Vec<u64>> = children.collect();
                    let children = children.ok_or_else(short)?;
                    next.extend(children.into_iter().rev().map(|child| (child as u32, depth + 1)));
                }
                Some(13) => {
                    let mut used = 0;
                    for at in 0..cells {
                        let cell = page.get(cell(at).ok_or_else(short)?..).ok_or_else(short)?;
                        let (length, rest) = record::varint(cell).ok_or_else(short)?;
                        let (id, rest) = record::varint(rest).ok_or_else(short)?;
                        let payload = self.payload(length, rest)?;
                        // Rows do not share their bytes, or else a few pages hold any number of rows.
                        used += payload.len().min((self.usable - 12) * 32 / 255 - 23) + 2;
                        if used > self.size {
                            return Err(damaged("rows of a page overlap"));
                        }
                        wanted.read(id.cast_signed(), &payload, self.encoding, &mut row);
                        take(&row)?;
                    }
                }
                _ => return Err(damaged("a page of a table has another type")),
            }
        }
        Ok(())
    }

    /// The content of a row, of which the beginning stands in its page. What goes beyond the limit is cut.
    fn payload(&mut self, length: u64, page: &[u8]) -> Result<Vec<u8>> {
        let short = || damaged("a page ends in the middle of a row");
        let most = self.usable - 35;
        let Some(length) = usize::try_from(length).ok().filter(|length| *length > most) else {
            let here = page.get(..length as usize).ok_or_else(short)?;
            return Ok(here.to_vec());
        };
        let least = (self.usable - 12) * 32 / 255 - 23;
        let here = least + (length - least) % (self.usable - 4);
        let here = if here <= most { here } else { least };
        let mut payload = page.get(..here).ok_or_else(short)?.to_vec();
        let mut next = number::<4>(page, here).ok_or_else(short)? as u32;
        let wanted = length.min(MAX_ROW);
        while payload.len() < wanted {
            let page = self.page(next)?;
            next = number::<4>(&page, 0).ok_or_else(short)? as u32;
            let rest = page.get(4..self.usable).ok_or_else(short)?;
            payload.extend_from_slice(&rest[..rest.len().min(wanted - payload.len())]);
        }
        Ok(payload)
    }
}
