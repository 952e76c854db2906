//! Where Hugging Face's own tools keep their files, by the same environment variables.

use std::path::PathBuf;

/// Folder of the model cache: `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, else `hub` in [`home`].
pub(super) fn cache() -> PathBuf {
    set("HF_HUB_CACHE").or_else(|| set("HUGGINGFACE_HUB_CACHE")).unwrap_or_else(|| home().join("hub"))
}

/// Folder of everything: `HF_HOME`, else `huggingface` in `XDG_CACHE_HOME` or in `.cache` of the user.
pub(super) fn home() -> PathBuf {
    let caches =
        || set("XDG_CACHE_HOME").unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(".cache"));
    set("HF_HOME").unwrap_or_else(|| caches().join("huggingface"))
}

fn set(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
