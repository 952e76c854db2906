//! One file from the hub into the cache: resumed after a break, checked before it counts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use reqwest::StatusCode;
use reqwest::header::CONTENT_RANGE;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::cache::Cache;
use super::progress::Progress;
use super::remote::{RETRIES, Remote, RemoteFile, Trouble, pause};

/// Returns the path of a file of `commit`, fetched unless the cache has it.
pub(super) async fn file(
    remote: &Remote,
    cache: &Cache,
    commit: &str,
    file: &RemoteFile,
) -> Result<PathBuf, Trouble> {
    let path = cache.snapshot(commit).join(&file.name);
    if path.is_file() {
        return Ok(path);
    }
    let blob = cache.blob(&file.hash);
    let _lock = cache.lock(&file.hash).await?;
    if !blob.is_file() {
        if let Some(folder) = blob.parent() {
            fs::create_dir_all(folder)?;
        }
        let part = blob.with_extension("incomplete");
        fetch(remote, commit, file, &part).await?;
        fs::rename(&part, &blob)?;
    }
    Ok(cache.link(commit, &file.name, &file.hash)?)
}

/// Fills `part` until it matches what the hub announced. After an interruption the partial file stays for the next
/// attempt or the next start.
async fn fetch(remote: &Remote, commit: &str, file: &RemoteFile, part: &Path) -> Result<(), Trouble> {
    let mut progress = Progress::new(&file.name, file.size);
    let (mut failures, mut restarted) = (0, false);
    loop {
        let before = length(part);
        match append(remote, commit, file, part, &mut progress).await {
            Ok(()) => {}
            Err(Trouble::Passing(reason)) => {
                let now = length(part);
                failures = if now > before { 1 } else { failures + 1 };
                let state = format!("{} broke off at {now} of {} bytes ({reason})", file.name, file.size);
                if failures > RETRIES {
                    return Err(Trouble::Passing(format!("{state}; a new start goes on from there")));
                }
                tracing::warn!("{state}, trying again");
                pause(failures).await;
                continue;
            }
            Err(trouble) => return Err(trouble),
        }
        let Err(reason) = check(part, file) else { break };
        fs::remove_file(part)?;
        // The beginning may be from a damaged earlier run.
        if before == 0 || restarted {
            return Err(Trouble::Final(format!(
                "{} does not match what the hub announced: {reason}",
                file.name
            )));
        }
        tracing::warn!(file = file.name, reason, "the resumed file is damaged, downloading it again");
        restarted = true;
    }
    progress.finish();
    Ok(())
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Asks for what `part` lacks and writes it. A file that is longer than it should be is left for [`check`].
async fn append(
    remote: &Remote,
    commit: &str,
    file: &RemoteFile,
    part: &Path,
    progress: &mut Progress,
) -> Result<(), Trouble> {
    let mut have = length(part);
    if have >= file.size && have > 0 {
        return Ok(());
    }
    let mut response = remote.open(commit, &file.name, have).await?;
    let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok()).unwrap_or("");
    let resumes =
        response.status() == StatusCode::PARTIAL_CONTENT && range.starts_with(&format!("bytes {have}-"));
    let mut out = if resumes {
        OpenOptions::new().append(true).open(part)?
    } else {
        have = 0;
        File::create(part)?
    };
    if !response.status().is_success() {
        return Err(Trouble::Passing(format!("status {}", response.status())));
    }
    progress.set(have);
    while let Some(chunk) = response.chunk().await? {
        out.write_all(&chunk)?;
        have += chunk.len() as u64;
        progress.set(have);
        if have > file.size {
            return Ok(());
        }
    }
    if have < file.size {
        return Err(Trouble::Passing("the connection ended early".to_owned()));
    }
    Ok(())
}

/// Compares length and hash with those announced by the hub.
fn check(part: &Path, file: &RemoteFile) -> Result<(), String> {
    let length = length(part);
    if length != file.size {
        return Err(format!("{length} bytes came instead of {}", file.size));
    }
    let found = if file.hash.len() == 64 {
        hash::<Sha256>(part, "")
    } else {
        hash::<Sha1>(part, &format!("blob {length}\0"))
    };
    match found {
        Ok(found) if found == file.hash => Ok(()),
        Ok(found) => Err(format!("its hash is {found} instead of {}", file.hash)),
        Err(error) => Err(format!("it cannot be read back: {error}")),
    }
}

/// Hexadecimal hash of `prefix` and the file's content.
fn hash<D: Digest>(path: &Path, prefix: &str) -> io::Result<String> {
    let mut digest = D::new();
    digest.update(prefix);
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
    }
    let digits = digest.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect())
}
