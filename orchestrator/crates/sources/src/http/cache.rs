//! Responses cached on disk: one file each, written atomically.
//!
//! A file is one line of JSON (format version, address, status, headers, times, hash of the body) and the body. Damaged
//! files count as absent. A full or read-only disk only stops writing, with one warning.

use super::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use lyra_domain::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use url::Url;

/// Version of the file format; files of another version count as absent.
const FORMAT: u32 = 1;
/// The size is not known yet.
const UNKNOWN: u64 = u64::MAX;

/// A folder of answers. Cheap to clone.
#[derive(Clone)]
pub(super) struct DiskCache {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    limit: u64,
    bytes: AtomicU64,
    broken: AtomicBool,
}

/// A cached response with its freshness.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) response: Response,
    pub(super) lifetime: Duration,
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    url: Url,
    redirects: Vec<Url>,
    status: u16,
    headers: Vec<(String, String)>,
    received_at: Timestamp,
    lifetime_seconds: u64,
    body_sha256: String,
}

impl DiskCache {
    pub(super) fn new(folder: PathBuf, limit: u64) -> Self {
        let bytes = AtomicU64::new(UNKNOWN);
        Self { inner: Arc::new(Inner { folder, limit, bytes, broken: AtomicBool::new(false) }) }
    }

    /// The response cached under this key.
    pub(super) async fn get(&self, key: &str) -> Option<Entry> {
        let path = self.path(key);
        tokio::task::spawn_blocking(move || read(&path)).await.ok().flatten()
    }

    /// Keeps an answer.
    pub(super) async fn put(&self, key: &str, entry: Entry) {
        if self.inner.broken.load(Ordering::Relaxed) {
            return;
        }
        let (cache, path) = (self.clone(), self.path(key));
        let written = tokio::task::spawn_blocking(move || cache.write(&path, &entry)).await;
        if let Ok(Err(error)) = written
            && !self.inner.broken.swap(true, Ordering::Relaxed)
        {
            let folder = self.inner.folder.display();
            tracing::warn!(%folder, %error, "answers cannot be cached; every request goes to the network from now on");
        }
    }

    /// Removes the response cached under this key.
    pub(super) async fn remove(&self, key: &str) {
        // One that is not there is forgotten already.
        let _ = tokio::fs::remove_file(self.path(key)).await;
    }

    fn path(&self, key: &str) -> PathBuf {
        self.inner.folder.join(&key[..2]).join(key)
    }

    fn write(&self, path: &Path, entry: &Entry) -> std::io::Result<()> {
        let file = encode(entry)?;
        let folder = path.parent().unwrap_or(&self.inner.folder);
        std::fs::create_dir_all(folder)?;
        let before = std::fs::metadata(path).map_or(0, |known| known.len());
        // Unique per process and write, so that two writers of one key cannot mix.
        let draft = path.with_extension(format!("{}-{:x}", std::process::id(), fastrand::u64(..)));
        let written = std::fs::write(&draft, &file).and_then(|()| std::fs::rename(&draft, path));
        if written.is_err() {
            // When it cannot be removed either, it is a stray file that the next clean-up takes.
            let _ = std::fs::remove_file(&draft);
            return written;
        }
        self.grown(file.len() as u64, before);
        Ok(())
    }

    /// Tracks the size, and evicts when it is too large.
    fn grown(&self, added: u64, removed: u64) {
        let known = self.inner.bytes.load(Ordering::Relaxed);
        let total = if known == UNKNOWN {
            files(&self.inner.folder).iter().map(|(_, _, bytes)| bytes).sum()
        } else {
            known.saturating_add(added).saturating_sub(removed)
        };
        self.inner.bytes.store(total, Ordering::Relaxed);
        if total > self.inner.limit {
            let left = make_room(&self.inner.folder, self.inner.limit / 5 * 4);
            self.inner.bytes.store(left, Ordering::Relaxed);
        }
    }
}

/// A key from everything that decides the answer; secrets go in hashed like the rest.
pub(super) fn key<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

fn encode(entry: &Entry) -> std::io::Result<Vec<u8>> {
    let Entry { response, lifetime } = entry;
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        // Cookies set by the response are useless here and may be secrets.
        let keep = *name != http::header::SET_COOKIE;
        value.to_str().ok().filter(|_| keep).map(|value| (name.to_string(), value.to_owned()))
    };
    let head = Head {
        format: FORMAT,
        url: response.url.clone(),
        redirects: response.redirects.clone(),
        status: response.status.as_u16(),
        headers: response.headers.iter().filter_map(text).collect(),
        received_at: response.received_at,
        lifetime_seconds: lifetime.as_secs(),
        body_sha256: hex(&Sha256::digest(&response.body)),
    };
    let mut file = serde_json::to_vec(&head)?;
    file.push(b'\n');
    file.extend_from_slice(&response.body);
    Ok(file)
}

fn read(path: &Path) -> Option<Entry> {
    let file = Bytes::from(std::fs::read(path).ok()?);
    let end = file.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&file[..end]).ok().filter(|head: &Head| head.format == FORMAT)?;
    let body = file.slice(end + 1..);
    if hex(&Sha256::digest(&body)) != head.body_sha256 {
        return None;
    }
    let header = |(name, value): (String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    let mut headers = HeaderMap::new();
    for (name, value) in head.headers.into_iter().filter_map(header) {
        headers.append(name, value);
    }
    let response = Response {
        status: StatusCode::from_u16(head.status).ok()?,
        url: head.url,
        headers,
        body,
        received_at: head.received_at,
        from_cache: true,
        redirects: head.redirects,
    };
    Some(Entry { response, lifetime: Duration::from_secs(head.lifetime_seconds) })
}

/// Every file, with its time of writing and its size.
fn files(folder: &Path) -> Vec<(SystemTime, PathBuf, u64)> {
    let list = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    list(folder)
        .flat_map(|part| list(&part.path()).collect::<Vec<_>>())
        .filter_map(|file| {
            let about = file.metadata().ok()?;
            Some((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), file.path(), about.len()))
        })
        .collect()
}

/// Removes the oldest files until no more than `target` bytes are left; answers how many are.
fn make_room(folder: &Path, target: u64) -> u64 {
    let mut found = files(folder);
    found.sort();
    let mut total: u64 = found.iter().map(|(_, _, bytes)| bytes).sum();
    for (_, path, bytes) in found {
        if total <= target {
            break;
        }
        if std::fs::remove_file(path).is_ok() {
            total -= bytes;
        }
    }
    total
}

/// Removes responses that were stored before a given time; returns the number of files and bytes. With `dry_run` it
/// only counts.
pub fn prune_cache(folder: &Path, before: SystemTime, dry_run: bool) -> (u64, u64) {
    let old = files(folder).into_iter().filter(|(stored, ..)| *stored < before);
    old.filter(|(_, path, _)| dry_run || std::fs::remove_file(path).is_ok())
        .fold((0, 0), |(count, bytes), (_, _, size)| (count + 1, bytes + size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(body: &str) -> Entry {
        let response = Response {
            status: StatusCode::OK,
            url: "https://example.org/a".parse().unwrap(),
            headers: [(http::header::ETAG, HeaderValue::from_static("\"1\""))].into_iter().collect(),
            body: body.to_owned().into(),
            received_at: "2026-11-20T09:00:00Z".parse().unwrap(),
            from_cache: true,
            redirects: vec!["https://example.org/".parse().unwrap()],
        };
        Entry { response, lifetime: Duration::from_hours(1) }
    }

    #[tokio::test]
    async fn what_was_stored_long_ago_can_go() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(folder.path().to_owned(), 1 << 20);
        let name = key([b"GET".as_slice()]);
        cache.put(&name, entry("naps help")).await;
        #[expect(clippy::disallowed_methods, reason = "the age of a file is the machine's")]
        let later = SystemTime::now() + Duration::from_mins(1);
        assert_eq!(prune_cache(folder.path(), SystemTime::UNIX_EPOCH, false), (0, 0));
        assert_eq!(prune_cache(folder.path(), later, true).0, 1);
        assert!(cache.get(&name).await.is_some());
        assert_eq!(prune_cache(folder.path(), later, false).0, 1);
        assert_eq!(cache.get(&name).await, None);
    }

    #[tokio::test]
    async fn what_is_kept_comes_back_and_damage_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(folder.path().join("cache"), 1 << 20);
        let name = key([b"GET".as_slice(), b"https://example.org/"]);
        assert_eq!(cache.get(&name).await, None);
        cache.put(&name, entry("naps\nhelp")).await;
        assert_eq!(cache.get(&name).await, Some(entry("naps\nhelp")));
        cache.put(&name, entry("naps harm")).await;
        assert_eq!(cache.get(&name).await, Some(entry("naps harm")));
        let mut file = std::fs::read(cache.path(&name)).unwrap();
        file.truncate(file.len() - 2);
        std::fs::write(cache.path(&name), file).unwrap();
        assert_eq!(cache.get(&name).await, None);
    }

    #[tokio::test]
    async fn the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(folder.path().to_owned(), 20_000);
        let names: Vec<String> = (0..10_u8).map(|i| key([[i].as_slice()])).collect();
        for (age, name) in names.iter().enumerate() {
            cache.put(name, entry(&"x".repeat(3_000))).await;
            let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 + age as u64);
            std::fs::File::options()
                .append(true)
                .open(cache.path(name))
                .unwrap()
                .set_modified(written)
                .unwrap();
        }
        assert_eq!(cache.get(&names[0]).await, None);
        assert!(cache.get(&names[9]).await.is_some());
        let total: u64 = files(folder.path()).iter().map(|(_, _, bytes)| bytes).sum();
        assert!(total <= 20_000, "{total}");
    }

    #[tokio::test]
    async fn a_disk_that_takes_nothing_only_ends_the_keeping() {
        let folder = tempfile::tempdir().unwrap();
        // A file where the folder should be fails like a read-only disk, for every user.
        let blocked = folder.path().join("cache");
        std::fs::write(&blocked, "in the way").unwrap();
        let cache = DiskCache::new(blocked, 1 << 20);
        let name = key([b"a".as_slice()]);
        cache.put(&name, entry("a")).await;
        cache.put(&name, entry("a")).await;
        assert!(cache.inner.broken.load(Ordering::Relaxed));
        assert_eq!(cache.get(&name).await, None);
    }

    #[test]
    fn keys_separate_their_parts() {
        assert_ne!(key([b"ab".as_slice(), b"c"]), key([b"a".as_slice(), b"bc"]));
    }
}
