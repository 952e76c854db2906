//! The address of the server of a data folder, for links to it.

use super::App;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpStream;
use uuid::Uuid;

/// The file with the address, in the data folder.
const FILE: &str = "server.address";
/// How long a server may take to accept a connection.
const ANSWER: Duration = Duration::from_millis(200);

/// A noted address. Dropping it removes the note, unless another server has noted its own since.
#[derive(Debug)]
pub struct ServerNote {
    path: PathBuf,
    text: String,
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
    // The second line tells this server from an earlier one at the same address.
    let mark = Uuid::now_v7();
    let (path, new) = (folder.join(FILE), folder.join(format!("{FILE}.{mark}")));
    let text = format!("{address}\n{mark}\n");
    match write(&new, &text).and_then(|()| std::fs::rename(&new, &path)) {
        Ok(()) => Ok(ServerNote { path, text }),
        Err(error) => {
            let _ = std::fs::remove_file(&new);
            Err(error)
        }
    }
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
        if std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The address of the server of a data folder, `http://IP:PORT`; `None` when none is noted, or nothing listens there.
pub async fn served_at(data_dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(data_dir.join(FILE)).ok()?;
    let address = text.lines().next()?;
    let listener: std::net::SocketAddr = address.strip_prefix("http://")?.parse().ok()?;
    let connected = tokio::time::timeout(ANSWER, TcpStream::connect(listener)).await;
    matches!(connected, Ok(Ok(_))).then(|| address.to_owned())
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

        // A second server at the same address takes over; the first leaves its note.
        let second = note(folder.path(), &address).unwrap();
        drop(noted);
        assert_eq!(served_at(folder.path()).await, Some(address));
        drop(listener);
        assert_eq!(served_at(folder.path()).await, None);
        drop(second);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_note_that_is_no_address_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "\n", "http://", "http://example.org:80\n", "https://127.0.0.1:1\n", "\u{0}"] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(served_at(folder.path()).await, None, "{text:?}");
        }
        assert!(note(&folder.path().join("missing"), "http://127.0.0.1:1").is_err());
    }
}
