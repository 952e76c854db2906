//! Bombs of HTML and PDF, read by `lyra web fetch`.

use crate::bombs::{any_page, pages_that_held, quoted_pages};
use crate::watch::ended;
use crate::{Run, planted};
use lyra_tests::TestApp;
use lyra_tests::site::{Page, Site};

/// Most bytes that a process and its workers may hold: the default of containers.
const MEMORY: u64 = 1 << 30;

fn configured(app: &TestApp, site: &Site) -> anyhow::Result<String> {
    let file = app.data_dir().join("site.toml");
    std::fs::write(&file, site.configuration(app.data_dir())?)?;
    Ok(file.display().to_string())
}

#[expect(clippy::print_stdout, reason = "what each takes is worth knowing")]
fn fetched(app: &TestApp, site: &Site, config: &str, page: usize, what: &str) {
    let url = site.url(page);
    let begun = std::time::Instant::now();
    let ended = ended(what, app.command(&["--config", config, "web", "fetch", "--json", &url]));
    println!("{what}: {:?}, {} MB, {}", begun.elapsed(), ended.peak >> 20, ended.output.status);
    ended.check(what, MEMORY);
    assert!(!planted::leaked(&ended.said()), "{what}");
}

#[test]
fn quoted_pages_are_read_or_refused_in_time_and_within_memory() -> anyhow::Result<()> {
    // A tenth was already too much for what takes time by the square.
    let (quoted, held) = if crate::at_length() {
        (quoted_pages(1), pages_that_held())
    } else {
        (quoted_pages(10), Vec::new())
    };
    let (names, pages): (Vec<&str>, Vec<Page>) = quoted.into_iter().chain(held).unzip();
    let (app, site) = (TestApp::new(), Site::start(pages)?);
    let config = configured(&app, &site)?;
    for (page, name) in names.into_iter().enumerate() {
        fetched(&app, &site, &config, page, name);
    }
    Ok(())
}

#[test]
fn generated_pages_are_read_or_refused_in_time_and_within_memory() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut run = Run::new("pages");
    while run.next() {
        let page = any_page(&mut run.rng);
        let begins = String::from_utf8_lossy(&page.body[..page.body.len().min(80)]).into_owned();
        let what = format!("attack {} of seed {}: {begins}", run.sent, run.seed);
        let site = Site::start(vec![page])?;
        let config = configured(&app, &site)?;
        fetched(&app, &site, &config, 0, &what);
    }
    Ok(())
}
