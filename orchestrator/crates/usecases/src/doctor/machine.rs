//! The machine: disk, space, port.

use super::Finding;
use crate::config::ServerConfig;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Free space below which the database soon cannot grow, and below which to warn.
const TOO_LITTLE: u64 = 64 << 20;
const LITTLE: u64 = 1 << 30;
/// How long to wait for the process on our port to identify itself.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn disk(data_dir: &Path) -> Finding {
    let probe = data_dir.join(".write-test");
    let written = std::fs::create_dir_all(data_dir)
        .and_then(|()| std::fs::write(&probe, vec![0_u8; 1 << 20]))
        .and_then(|()| std::fs::remove_file(&probe));
    match written {
        Ok(()) => Finding::ok("disk", format!("{} is writable", data_dir.display())),
        Err(error) => Finding::broken(
            "disk",
            format!("{} is not writable: {error}", data_dir.display()),
            "free some space, fix the permissions, or set `data_dir` to another folder",
        ),
    }
}

/// Whether anyone but their owner may read the data folder and its databases.
pub(super) fn privacy(data_dir: &Path) -> Finding {
    const PART: &str = "privacy";
    let places = ["", "lyra.db", "private.db"].map(|name| data_dir.join(name));
    let open: Vec<String> =
        places.iter().filter(|place| is_open(place)).map(|place| place.display().to_string()).collect();
    if open.is_empty() {
        return Finding::ok(PART, "only the owner can access the data folder");
    }
    Finding::note(
        PART,
        format!("other users on this machine can read {}", open.join(", ")),
        "chmod 700 the folder and 600 the files, as their owner, or set `data_dir` to a folder of your own",
    )
}

#[cfg(unix)]
fn is_open(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(place).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open(_place: &Path) -> bool {
    false
}

pub(super) fn space(free: Option<u64>) -> Finding {
    const CURE: &str =
        "free some space: old tasks, corpora that are no longer used, or a smaller sources.cache_mb";
    match free {
        None => Finding::ok("space", "unknown on this system"),
        Some(free) if free < TOO_LITTLE => {
            Finding::broken("space", format!("{} MB are free", free >> 20), CURE)
        }
        Some(free) if free < LITTLE => {
            Finding::note("space", format!("only {} MB are free", free >> 20), CURE)
        }
        Some(free) => Finding::ok("space", format!("{} GB are free", free >> 30)),
    }
}

pub(super) async fn port(server: &ServerConfig) -> Finding {
    let address = SocketAddr::new(server.host, server.port);
    match TcpListener::bind(address).await {
        Ok(_) => Finding::ok("port", format!("{address} is available")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            match tokio::time::timeout(PATIENCE, health(address)).await {
                Ok(Ok(answer)) if answer.contains("\"status\":\"ok\"") && answer.contains("\"version\"") => {
                    Finding::ok("port", format!("Lyra answers at {address}"))
                }
                _ => Finding::broken(
                    "port",
                    format!("another program listens on {address}"),
                    "stop it, or set server.port to a free port",
                ),
            }
        }
        Err(error) => Finding::broken(
            "port",
            format!("cannot listen on {address}: {error}"),
            "set server.host to an address of this machine and server.port to a free port above 1023",
        ),
    }
}

async fn health(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = Vec::new();
    stream.take(4096).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn little_space_is_said_and_too_little_is_broken() {
        for (free, health) in [
            (None, Health::Ok),
            (Some(0), Health::Broken),
            (Some(TOO_LITTLE), Health::Note),
            (Some(LITTLE), Health::Ok),
        ] {
            let finding = space(free);
            assert_eq!(finding.health, health, "{finding:?}");
            assert_eq!(finding.remedy.is_some(), health != Health::Ok);
        }
    }
}
