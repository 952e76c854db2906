//! A backup as one file: tar, with or without gzip.

use super::failed;
use super::manifest::{self, DATABASE, Manifest, PRIVATE, damaged, digest, is_inside};
use crate::app::AppError;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

/// Largest manifest that is read.
const MAX_MANIFEST: u64 = 64 << 20;

/// Whether a path is to be one file, by its name.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    [".tar", ".tar.gz", ".tgz"].iter().any(|ending| name.ends_with(ending))
}

/// Writes a folder with its manifest into one new file that only its owner may read; the manifest comes first.
pub(super) fn pack(folder: &Path, file: &Path) -> Result<(), AppError> {
    let manifest = Manifest::read(folder)?;
    let write = || {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let out = BufWriter::new(options.open(file)?);
        // By the name that it will have: `.NAME.tar.gz.new-…`.
        let out = if file.to_string_lossy().to_ascii_lowercase().contains("gz.new-") {
            let out = add_all(GzEncoder::new(out, flate2::Compression::fast()), folder, &manifest)?;
            out.finish()?
        } else {
            add_all(out, folder, &manifest)?
        };
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    };
    write().map_err(failed(file))
}

fn add_all<W: Write>(out: W, folder: &Path, manifest: &Manifest) -> std::io::Result<W> {
    let mut tar = tar::Builder::new(out);
    tar.mode(tar::HeaderMode::Deterministic);
    for path in std::iter::once(manifest::FILE).chain(manifest.files.iter().map(|file| file.path.as_str())) {
        tar.append_path_with_name(folder.join(path), path)?;
    }
    tar.into_inner()
}

fn open(file: &Path) -> Result<tar::Archive<Box<dyn Read>>, AppError> {
    let mut start = Vec::new();
    File::open(file).and_then(|from| from.take(2).read_to_end(&mut start)).map_err(failed(file))?;
    let from = BufReader::new(File::open(file).map_err(failed(file))?);
    // Gzip says so in its first two bytes, whatever the file is called.
    let from: Box<dyn Read> =
        if start == [0x1f, 0x8b] { Box::new(MultiGzDecoder::new(from)) } else { Box::new(from) };
    Ok(tar::Archive::new(from))
}

/// Reads a file to its end and holds every part against the manifest.
pub(super) fn verify(file: &Path) -> Result<(), AppError> {
    read(file, |_, entry| digest(entry))
}

/// Writes what is in a file to a folder, and holds it against the manifest. Nothing outside the folder is touched.
pub(super) fn unpack(file: &Path, folder: &Path) -> Result<(), AppError> {
    read(file, |path, entry| write(&folder.join(path), entry))
}

/// The same, and writes only the manifests and the database files.
pub(super) fn unpack_described(file: &Path, folder: &Path) -> Result<(), AppError> {
    read(file, |path, entry| {
        let of_corpus = path.starts_with("corpora/") && path.ends_with("/corpus.json");
        if of_corpus || [DATABASE, PRIVATE, manifest::FILE].contains(&path) {
            write(&folder.join(path), entry)
        } else {
            digest(entry)
        }
    })
}

/// Writes a new file and reads it again for its size and SHA-256.
fn write(to: &Path, entry: &mut dyn Read) -> std::io::Result<(u64, String)> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut options = File::options();
    options.write(true).create_new(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(to)?;
    std::io::copy(entry, &mut out)?;
    out.sync_all()?;
    digest(File::open(to)?)
}

/// Gives every entry to `take`, which says its size and SHA-256. The manifest comes first, and nothing that it does not name, nor
/// more than it says, is read.
fn read(
    file: &Path,
    mut take: impl FnMut(&str, &mut dyn Read) -> std::io::Result<(u64, String)>,
) -> Result<(), AppError> {
    let broken = |error: std::io::Error| damaged(&format!("{}: {error}", file.display()));
    let mut archive = open(file)?;
    let mut entries = archive.entries().map_err(broken)?;
    let mut next = || -> Result<_, AppError> {
        let Some(entry) = entries.next() else { return Ok(None) };
        let entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.to_string_lossy().into_owned();
        if !entry.header().entry_type().is_file() || !is_inside(Path::new(&path)) {
            return Err(damaged(&format!("{}: `{path}` is no file of a backup", file.display())));
        }
        Ok(Some((path, entry)))
    };
    let Some((_, first)) = next()?.filter(|(path, _)| path == manifest::FILE) else {
        return Err(damaged(&format!("{}: {} does not come first", file.display(), manifest::FILE)));
    };
    let mut text = Vec::new();
    first.take(MAX_MANIFEST).read_to_end(&mut text).map_err(broken)?;
    let manifest = Manifest::parse(&text).map_err(|why| damaged(&format!("{}: {why}", file.display())))?;
    take(manifest::FILE, &mut text.as_slice()).map_err(failed(file))?;
    let mut left: BTreeSet<&str> = manifest.files.iter().map(|entry| entry.path.as_str()).collect();
    while let Some((path, entry)) = next()? {
        let wanted = manifest.entry(&path).filter(|_| left.remove(path.as_str()));
        let Some(wanted) = wanted else {
            return Err(damaged(&format!("{}: `{path}` is not in its list of files", file.display())));
        };
        // One byte more than there may be shows that there is more.
        let taken = take(&path, &mut entry.take(wanted.bytes.saturating_add(1))).map_err(broken)?;
        wanted.same(&taken, &file.join(&path))?;
    }
    match left.first() {
        Some(missing) => Err(damaged(&format!("{} is missing", file.join(missing).display()))),
        None => Ok(()),
    }
}
