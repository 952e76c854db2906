//! The addresses of the servers of a data folder, for links to them.

use super::App;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpStream;
use uuid::Uuid;

/// The file with the addresses, in the data folder: for each server a line with its address and one with a mark that tells
/// it from an earlier one at the same address; the newest server last.
const FILE: &str = "server.address";
/// How long a server may take to accept a connection.
const ANSWER: Duration = Duration::from_millis(200);

/// A noted address. Dropping it removes the note; those of other servers stay.
#[derive(Debug)]
pub struct ServerNote {
    path: PathBuf,
    mark: String,
}

impl App {
    /// Notes the address of the server of this data folder, `http://IP:PORT`, for as long as the result lives.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub fn note_server(&self, address: &str) -> io::Result<ServerNote> {
        note(self.data_dir(), address)
    }
}

fn note(folder: &Path, address: &str) -> io::Result<ServerNote> {
    let (path, mark) = (folder.join(FILE), Uuid::now_v7().to_string());
    let mut notes = notes(&path);
    // A server that ended without removing its note no longer listens; nor does one whose address this one has.
    notes.retain(|(other, _)| other != address && listens(other));
    notes.push((address.to_owned(), mark.clone()));
    put(&path, &notes)?;
    Ok(ServerNote { path, mark })
}

/// The noted addresses with their marks.
fn notes(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks_exact(2).map(|note| (note[0].to_owned(), note[1].to_owned())).collect()
}

/// Replaces the notes; without any, the file is removed.
fn put(path: &Path, notes: &[(String, String)]) -> io::Result<()> {
    if notes.is_empty() {
        return std::fs::remove_file(path);
    }
    let text: String = notes.iter().flat_map(|(address, mark)| [address, "\n", mark, "\n"]).collect();
    let new = path.with_file_name(format!("{FILE}.{}", Uuid::now_v7()));
    let written = write(&new, &text).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// The socket of a noted address.
fn socket(address: &str) -> Option<SocketAddr> {
    address.strip_prefix("http://")?.parse().ok()
}

fn listens(address: &str) -> bool {
    socket(address).is_some_and(|socket| std::net::TcpStream::connect_timeout(&socket, ANSWER).is_ok())
}

/// Writes a new file that its owner alone may read.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

impl Drop for ServerNote {
    fn drop(&mut self) {
        let all = notes(&self.path);
        let others: Vec<_> = all.iter().filter(|(_, mark)| *mark != self.mark).cloned().collect();
        if others.len() < all.len() {
            // A note that stays is harmless: nothing listens there.
            let _ = put(&self.path, &others);
        }
    }
}

/// The address of the newest server of a data folder that listens, `http://IP:PORT`; `None` if no server listens.
pub async fn served_at(data_dir: &Path) -> Option<String> {
    for (address, _) in notes(&data_dir.join(FILE)).into_iter().rev() {
        let Some(socket) = socket(&address) else { continue };
        let connected = tokio::time::timeout(ANSWER, TcpStream::connect(socket)).await;
        if matches!(connected, Ok(Ok(_))) {
            return Some(address);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_is_known_while_its_server_listens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        assert_eq!(served_at(folder.path()).await, None);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let noted = note(folder.path(), &address).unwrap();
        assert_eq!(served_at(folder.path()).await, Some(address.clone()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        // A second server at the same address takes over, and the first leaves that note.
        let second = note(folder.path(), &address).unwrap();
        drop(noted);
        assert_eq!(served_at(folder.path()).await, Some(address));
        drop(listener);
        assert_eq!(served_at(folder.path()).await, None);
        drop(second);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn two_servers_are_noted_until_each_stops() {
        let folder = tempfile::tempdir().unwrap();
        let listen = async || tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listeners = [listen().await, listen().await];
        let [first, second] = listeners.each_ref().map(|one| format!("http://{}", one.local_addr().unwrap()));
        // One that was killed left its note.
        let text = "http://127.0.0.1:1\nmark\n";
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let one = note(folder.path(), &first).unwrap();
        let two = note(folder.path(), &second).unwrap();
        assert_eq!(notes(&folder.path().join(FILE)).len(), 2);
        assert_eq!(served_at(folder.path()).await, Some(second));
        drop(two);
        assert_eq!(served_at(folder.path()).await, Some(first));
        drop(one);
        assert!(!folder.path().join(FILE).exists());
    }

    #[tokio::test]
    async fn a_note_that_is_no_address_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "\n", "http://", "http://example.org:80\nx\n", "https://127.0.0.1:1\nx\n", "\u{0}"] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(served_at(folder.path()).await, None, "{text:?}");
        }
        assert!(note(&folder.path().join("missing"), "http://127.0.0.1:1").is_err());
    }
}
