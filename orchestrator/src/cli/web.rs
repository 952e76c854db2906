//! `lyra web …`.

use super::{print, print_json};
use clap::Subcommand;
use lyra_sources::web::FetchedPage;
use lyra_usecases::{App, EngineAnswer};
use lyra_web::danger::Place;
use lyra_web::serp::SerpPage;
use std::fmt::Write;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum WebCommand {
    /// Fetch a page (HTML, PDF, plain text) and print its main text as Markdown, with its metadata
    Fetch {
        /// Its address
        url: String,
        /// Print everything as JSON: blocks, fragments with offsets, links, text that addresses an AI
        #[arg(long)]
        json: bool,
    },
    /// Query web search engines and print the results of each; report challenges and changed markup
    Search {
        /// The query
        query: String,
        /// Engine to query; may be repeated [default: the configured APIs, or else the general engines in
        /// config/engines.yaml]
        #[arg(long, value_name = "NAME")]
        engine: Vec<String>,
        /// ISO 639-1 code of the query's language [default: detected]
        #[arg(long, value_name = "CODE")]
        language: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(app: &App, command: &WebCommand) -> anyhow::Result<ExitCode> {
    match command {
        WebCommand::Fetch { url, json } => {
            let page = app.fetch_page(url).await?;
            if *json {
                print_json(&page)?;
            } else {
                print(&as_text(&page))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        WebCommand::Search { query, engine, language, json } => {
            let answers = app.ask_engines(engine, query, language.as_deref()).await;
            let answered = answers.iter().any(EngineAnswer::answered);
            if *json {
                print_json(&answers)?;
            } else {
                print(&answers.iter().map(answer_text).collect::<String>())?;
            }
            Ok(if answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// The page as text: its metadata, then its content. The content is the page's, not Lyra's.
fn as_text(page: &FetchedPage) -> String {
    let said = &page.extracted;
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(out, "{name:<10} {value}");
        }
    };
    line("title", &said.title);
    line("address", &page.final_url);
    line("fetched by", page.fetch_method.as_str());
    line("domain", &format!("{} ({})", page.domain.domain, page.domain.category));
    line("authors", &said.authors.join(", "));
    line("published", &said.published.map(|date| date.to_string()).unwrap_or_default());
    line("site", said.site.as_deref().unwrap_or_default());
    line("language", said.language.as_deref().unwrap_or_default());
    line("doi", said.doi.as_ref().map(lyra_domain::Doi::as_str).unwrap_or_default());
    line("fragments", &page.fragments.len().to_string());
    line("left out", said.left_out.as_deref().unwrap_or_default());
    for finding in &page.findings {
        let place = match &finding.place {
            Place::Text { start, end } => format!("characters {start} to {end}"),
            Place::Hidden { how } => format!("hidden: {how}"),
        };
        line("note", &format!("text that addresses an AI ({}, {place}): {}", finding.rule, finding.excerpt));
    }
    out.push('\n');
    out.push_str(&said.markdown());
    out
}

fn answer_text(answer: &EngineAnswer) -> String {
    let name = &answer.engine;
    match &answer.page {
        Err(why) => format!("{name}: {why}\n\n"),
        Ok(SerpPage::Results { results, ads, unread }) => {
            let mut out = format!(
                "{name}: {} results, {ads} advertisements skipped, {unread} unreadable\n",
                results.len()
            );
            for result in results {
                let _ = writeln!(
                    out,
                    "{:>3}. {}\n     {}\n     {}",
                    result.rank, result.title, result.url, result.snippet
                );
            }
            out.push('\n');
            out
        }
        Ok(SerpPage::NoResults) => format!("{name}: nothing found\n\n"),
        Ok(SerpPage::Challenge { kind }) => {
            format!("{name}: requires human verification ({})\n\n", kind.as_str())
        }
        Ok(SerpPage::Refused { why }) => format!("{name}: refuses: {why}\n\n"),
        Ok(SerpPage::Drift { why }) => {
            format!("{name}: its markup has changed, or it needs a browser: {why}\n\n")
        }
    }
}
