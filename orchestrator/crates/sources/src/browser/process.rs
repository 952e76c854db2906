//! The browser's process: started with its own profile, and removed with all its children when this process ends.

use super::cdp::Cdp;
use crate::{Error, Result};
use std::io::PipeWriter;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;

/// Time to start.
const START: Duration = Duration::from_secs(20);
/// Time to exit.
const END: Duration = Duration::from_secs(5);

/// A guardian between this process and the browser, the leader of their process group. It waits on a pipe that closes
/// when this process ends for any reason (even when killed), and on the browser. When either ends, it removes the
/// profile, after a moment in which the browser's children may still write there, and kills the group, itself included.
/// The browser's descriptors 3 and 4 are the two directions of its protocol; it does not get the pipe. The shell itself
/// prints nothing: once stderr is closed, any output would end it too early.
const GUARDIAN: &str = r#"profile=$1; shift
exec 3<&0 4>&0 5<&1 6>&2 </dev/null >/dev/null 2>&1
"$@" 2>&6 5<&- 6>&- &
browser=$!
exec 3<&- 4<&- 6>&-
{ read -r _ <&5; kill -KILL $browser; } &
wait $browser
rm -rf "$profile"
sleep 0.2
rm -rf "$profile"
kill -KILL -- -$$
"#;

/// Flags that keep Chromium from doing anything that no page requested, and from connecting to anything but the proxy
/// of each page's context: names do not resolve, and requests without a proxy go to a closed port.
const FLAGS: [&str; 31] = [
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate,AutofillServerCommunication,\
     CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,InterestFeedContentSuggestions",
    "--disable-gpu",
    "--disable-sync",
    "--disable-search-engine-choice-screen",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--safebrowsing-disable-auto-update",
    "--use-mock-keychain",
    "--window-size=1280,1600",
    "--deny-permission-prompts",
];

/// Whether a person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    /// No window, no pictures.
    Headless,
    /// A window.
    Visible,
}

/// A running browser. Dropping it stops it.
pub(super) struct Running {
    pub(super) cdp: Cdp,
    /// Its `User-Agent`, as a browser with a window sends it.
    pub(super) agent: String,
    profile: PathBuf,
    /// The guardian's pipe; closed first.
    alive: Option<PipeWriter>,
    guardian: Option<Child>,
}

impl Running {
    /// Starts the executable and waits until it answers.
    pub(super) async fn start(executable: &Path, face: Face) -> Result<Self> {
        let failed = |why: String| Error::NoBrowser { why: format!("{}: {why}", executable.display()) };
        let broken = |error: std::io::Error| failed(error.to_string());
        let profile = tempfile::Builder::new().prefix("lyra-browser-").tempdir().map_err(broken)?.keep();
        let (cdp, alive, mut guardian) = spawn(executable, face, &profile).map_err(|error| {
            remove(&profile);
            broken(error)
        })?;
        let said = guardian.stderr.take().map(|stderr| tokio::spawn(last_words(stderr)));
        let mut running =
            Self { cdp, agent: String::new(), profile, alive: Some(alive), guardian: Some(guardian) };
        let version = running.cdp.call("Browser.getVersion", serde_json::json!({}), None);
        let answer = tokio::time::timeout(START, version)
            .await
            .map_err(|_| failed(format!("it did not answer within {} s", START.as_secs())))?;
        let Some(version) = answer? else {
            running.alive = None;
            return Err(failed(format!("it ended at once{}", heard(said).await)));
        };
        let agent = version["userAgent"].as_str().unwrap_or_default();
        running.agent = agent.replace("HeadlessChrome/", "Chrome/");
        tracing::debug!(product = version["product"].as_str(), ?face, "browser started");
        Ok(running)
    }

    /// Stops it, and waits until it and its profile are gone.
    pub(super) async fn end(mut self) {
        self.alive = None;
        if let Some(guardian) = self.guardian.take() {
            gone(guardian, std::mem::take(&mut self.profile)).await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.alive = None;
        let Some(guardian) = self.guardian.take() else { return };
        let profile = std::mem::take(&mut self.profile);
        // Without a runtime this process is exiting; the guardian does the rest.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(gone(guardian, profile));
        }
    }
}

/// Starts the guardian and with it the browser.
#[cfg(unix)]
fn spawn(executable: &Path, face: Face, profile: &Path) -> std::io::Result<(Cdp, PipeWriter, Child)> {
    use std::os::fd::OwnedFd;
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let (ending, alive) = std::io::pipe()?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", GUARDIAN, "lyra-browser"]).arg(profile).arg(executable).args(FLAGS);
    command.arg(format!("--user-data-dir={}", profile.display()));
    match face {
        Face::Headless => {
            command.args(["--headless", "--hide-scrollbars", "--blink-settings=imagesEnabled=false"])
        }
        Face::Visible => command.arg("--no-startup-window"),
    };
    // Chromium's sandbox refuses to run as root; other users keep it.
    if is_root() {
        command.arg("--no-sandbox");
    }
    // Other files that it writes go there as well.
    command.envs(["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"].map(|name| (name, profile)));
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::from(OwnedFd::from(ending)));
    let guardian = command.stderr(Stdio::piped()).process_group(0).spawn()?;
    Ok((Cdp::new(tokio::net::UnixStream::from_std(ours)?), alive, guardian))
}

/// The tail of the browser's stderr, which must be drained in any case.
async fn last_words(mut stderr: ChildStderr) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..count]);
        kept.drain(..kept.len().saturating_sub(chunk.len()));
    }
    kept
}

/// Its last line, for an error message.
async fn heard(said: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = match said {
        Some(said) => tokio::time::timeout(END, said).await.ok().and_then(Result::ok).unwrap_or_default(),
        None => Vec::new(),
    };
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    line.map_or_else(|| " without output".to_owned(), |line| format!(": {line}"))
}

#[cfg(not(unix))]
fn spawn(_: &Path, _: Face, _: &Path) -> std::io::Result<(Cdp, PipeWriter, Child)> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Waits for the guardian; if it was killed, the profile still exists.
async fn gone(mut guardian: Child, profile: PathBuf) {
    if tokio::time::timeout(END, guardian.wait()).await.is_err() {
        tracing::warn!("the browser did not end in time");
    }
    remove(&profile);
}

fn remove(profile: &Path) {
    if let Err(error) = std::fs::remove_dir_all(profile)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(profile = %profile.display(), %error, "a browser's profile is left behind");
    }
}

/// Whether this process runs as root, by the owner of its `/proc` entry.
#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(test)]
mod tests;
