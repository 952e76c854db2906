//! Which browser: the configured one, or the first that is installed.

use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// Names of executables, the preferred one first.
const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
/// Places outside `PATH`.
const PLACES: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
/// The key of the configuration.
const KEY: &str = "`browser` under [sources.web]";

/// Which browser to use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// The first that is found.
    #[default]
    Auto,
    /// None.
    Off,
    /// This one.
    Path(PathBuf),
}

impl Choice {
    /// From the configuration: `auto`, `off`, or a path.
    pub fn from_setting(text: &str) -> Self {
        match text.trim() {
            "" | "auto" => Self::Auto,
            "off" | "none" => Self::Off,
            path => Self::Path(PathBuf::from(path)),
        }
    }

    /// The executable.
    ///
    /// # Errors
    /// [`Error::NoBrowser`] with the places searched and what to do.
    pub(super) fn find(&self) -> Result<PathBuf> {
        if cfg!(not(unix)) {
            return Err(missing(
                "it is driven over a Unix socket, which this system does not have".to_owned(),
            ));
        }
        match self {
            Self::Off => Err(missing(format!("it is disabled; set {KEY} to \"auto\" or to a path"))),
            Self::Path(path) if is_executable(path) => Ok(path.clone()),
            Self::Path(path) => {
                Err(missing(format!("{} is not an executable file; correct {KEY}", path.display())))
            }
            Self::Auto => {
                let folders: Vec<PathBuf> = std::env::var_os("PATH")
                    .map(|path| std::env::split_paths(&path).collect())
                    .unwrap_or_default();
                let named = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
                named.chain(PLACES.map(PathBuf::from)).find(|path| is_executable(path)).ok_or_else(|| {
                    missing(format!(
                        "neither {} in the folders of PATH nor {}; install Debian's `chromium`, or name one with {KEY}",
                        NAMES.join(", "),
                        PLACES.join(", ")
                    ))
                })
            }
        }
    }
}

fn missing(why: String) -> Error {
    Error::NoBrowser { why }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_with_the_key() {
        let why = |choice: Choice| choice.find().unwrap_err().to_string();
        assert!(why(Choice::Off).contains("disabled"));
        let path = Choice::from_setting("/nowhere/chromium");
        assert!(why(path.clone()).contains("/nowhere/chromium") && why(path).contains("[sources.web]"));
        assert_eq!(Choice::from_setting("auto"), Choice::Auto);
        assert_eq!(Choice::from_setting("off"), Choice::Off);
    }
}
