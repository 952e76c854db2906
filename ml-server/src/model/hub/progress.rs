//! How far a download is, on stderr: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Smaller files are over before anyone could look.
const WORTH_A_BAR: u64 = 1 << 20;
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Bars of all downloads of the process, so that two models do not write over each other.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// One file on its way.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    file: String,
    size: u64,
    start: Instant,
    told: Instant,
}

impl Progress {
    /// A file of `size` bytes.
    pub(super) fn new(file: &str, size: u64) -> Self {
        Self::on(&BARS, std::io::stderr().is_terminal(), file, size)
    }

    fn on(bars: &MultiProgress, terminal: bool, file: &str, size: u64) -> Self {
        tracing::info!(file, bytes = size, "downloading from the hub");
        let bar = (size >= WORTH_A_BAR && terminal).then(|| {
            let bar = bars.add(ProgressBar::new(size));
            let style = ProgressStyle::with_template(
                "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}",
            );
            // The template is constant; were it wrong, the default style would do.
            if let Ok(style) = style {
                bar.set_style(style);
            }
            bar.with_message(file.to_owned())
        });
        let start = Instant::now();
        Self { bar, file: file.to_owned(), size, start, told: start }
    }

    /// So many bytes are there.
    pub(super) fn set(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        } else if self.told.elapsed() >= LINE_EVERY {
            self.told = Instant::now();
            tracing::info!(file = self.file, bytes, of = self.size, "fetching");
        }
    }

    /// The file is there and checked.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        tracing::info!(file = self.file, bytes = self.size, took = ?self.start.elapsed(), "downloaded and verified");
    }
}

#[cfg(test)]
mod tests {
    use indicatif::{InMemoryTerm, ProgressDrawTarget};

    use super::*;

    const SIZE: u64 = 4 << 20;

    #[test]
    fn a_terminal_shows_a_bar_until_the_file_is_there() {
        let screen = InMemoryTerm::new(10, 120);
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::term_like(Box::new(screen.clone())));
        let mut progress = Progress::on(&bars, true, "model.safetensors", SIZE);
        progress.set(SIZE / 4);
        let shown = screen.contents();
        assert!(shown.starts_with("model.safetensors ") && shown.contains("1.00 MiB/4.00 MiB"), "{shown}");
        progress.finish();
        assert_eq!(screen.contents(), "");
    }

    #[test]
    fn small_files_and_logs_have_none() {
        for (terminal, size) in [(true, WORTH_A_BAR - 1), (false, SIZE)] {
            let screen = InMemoryTerm::new(10, 120);
            let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
            let mut progress = Progress::on(&MultiProgress::with_draw_target(target), terminal, "file", size);
            progress.set(size);
            progress.finish();
            assert_eq!(screen.contents(), "");
        }
    }
}
