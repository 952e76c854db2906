//! The command line.

mod audit;
mod auth;
mod backup;
mod calibration;
mod check;
mod config;
mod corpus;
mod doctor;
mod embeddings;
mod eval;
mod feedback;
mod fuse;
mod graph;
mod open;
mod progress;
mod remedy;
mod report;
mod research;
mod serve;
mod shell;
mod sources;
mod store;
mod task;
mod token;
mod view;
mod web;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use lyra_research::trace::{self, Cause, TraceId};
use lyra_telemetry::Logs;
use lyra_text::terminal::{drives, escaped};
use lyra_usecases::config::{Config, LogConfig, LogFormat, address_problem};
use lyra_usecases::{AppError, ErrorCode};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// What `lyra` prints without arguments.
const WELCOME: &str = "\
Lyra finds what is known about a question, and how contested it is: claims, the passages that
support or refute them, and a confidence for each. It runs on this machine; nothing to set up.

  lyra research \"Does a short daytime nap improve memory?\"   answer from the example corpus
  lyra check \"Napping improves memory\"                       evidence for and against one claim
  lyra corpus import NAME FILE.jsonl                         your own documents; then --corpus NAME
  lyra open                                                  all of it in the browser
  lyra mcp | lyra serve                                      tools for an AI agent: stdio, or HTTP

From a checkout: cargo run --release -- research \"…\".   More: lyra --help, lyra doctor
";

/// Evidence with citations and confidence, for people and their agents.
#[derive(Debug, Parser)]
#[command(name = "lyra", version, about, long_about = None, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Args)]
struct Global {
    /// Folder of the database and the corpora [default: the platform's data folder]
    #[arg(long, global = true, env = "LYRA_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Configuration file (TOML) [default: lyra.toml in the platform's configuration folder]
    #[arg(long, global = true, env = "LYRA_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use a running lyra-ml-server instead of the built-in one; separate multiple URLs with commas
    #[arg(long, global = true, env = "LYRA_ML_URL", value_name = "URL", value_delimiter = ',')]
    ml_url: Vec<String>,
    /// What to log on stderr: error, warn, info, debug, trace, or a filter
    #[arg(long, global = true, value_name = "LEVEL")]
    log: Option<String>,
    /// Whether the command has `--quiet`.
    #[arg(skip)]
    quiet: bool,
}

impl Cli {
    /// The command line of this process; a wrong one ends it.
    pub fn read() -> Self {
        Self::of(&Self::command().get_matches()).unwrap_or_else(|error| error.exit())
    }

    fn of(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut cli = Self::from_arg_matches(matches)?;
        let mut command = matches;
        while let Some((_, inner)) = command.subcommand() {
            command = inner;
        }
        cli.global.quiet = matches!(command.try_get_one::<bool>("quiet"), Ok(Some(true)));
        Ok(cli)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer a question from evidence: both sides, findings with their sources, and what was not covered
    Research(research::ResearchArgs),
    /// Gather and judge the evidence for and against one claim
    Check(check::CheckArgs),
    /// Measure how often the configured models are right, on your own labeled claims
    #[command(after_help = eval::HELP)]
    Eval(eval::EvalArgs),
    /// Import, list, show, search and remove local corpora
    #[command(subcommand)]
    Corpus(corpus::CorpusCommand),
    /// Search corpora by lane; fuse, explain, and read the results
    #[command(subcommand, after_help = fuse::HELP)]
    Fuse(fuse::FuseCommand),
    /// List the lanes available for searches
    Lanes(fuse::LanesArgs),
    /// List the sources, and test the external ones
    #[command(subcommand)]
    Sources(sources::SourcesCommand),
    /// Fetch and read a web page, or query search engines
    #[command(subcommand)]
    Web(web::WebCommand),
    /// List, open, resolve or skip pages that require a person (CAPTCHA, consent, login)
    #[command(subcommand, after_help = auth::HELP)]
    Auth(auth::AuthCommand),
    /// List, show, export, resume and stop research tasks
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// Export a task's evidence graph, or analyze its citations
    #[command(subcommand)]
    Graph(graph::GraphCommand),
    /// Measure and correct the calibration of the NLI model
    #[command(subcommand)]
    Calibration(calibration::CalibrationCommand),
    /// Query the evidence graph through predefined views
    #[command(subcommand)]
    View(view::ViewCommand),
    /// Show which model produced each embedding; re-embed outdated ones
    #[command(subcommand)]
    Embeddings(embeddings::EmbeddingsCommand),
    /// Block, unblock and list domains
    #[command(subcommand)]
    Domain(feedback::DomainCommand),
    /// Show a claim with its evidence, reject or restore one
    #[command(subcommand)]
    Claim(feedback::ClaimCommand),
    /// Override the relation between a passage and a claim
    #[command(subcommand)]
    Edge(feedback::EdgeCommand),
    /// Open the workbench in a browser, starting a server if none is running
    Open(open::OpenArgs),
    /// Serve the workbench, its JSON API, and MCP over HTTP
    Serve(serve::ServeArgs),
    /// Serve MCP over stdin and stdout
    Mcp(serve::McpArgs),
    /// Create, verify and restore backups of the database and the corpora
    #[command(subcommand, after_help = backup::HELP)]
    Backup(backup::BackupCommand),
    /// Check the database, and delete old data
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Create, list and revoke access tokens for HTTP
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Show who changed what
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Show and check the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Check models, database, disk and ml-server, and suggest fixes
    Doctor(doctor::DoctorArgs),
    /// Print completions for a shell
    Completions(shell::CompletionsArgs),
    /// Write manual pages, one for every command
    Man(shell::ManArgs),
}

/// Runs the command line: 0 on success, 1 on failure, 2 for wrong arguments, 130 when interrupted.
pub fn run(cli: &Cli) -> ExitCode {
    let Some(command) = &cli.command else {
        return print(WELCOME).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    };
    // These two need neither configuration nor data.
    let written = match command {
        Command::Completions(args) => Some(shell::completions(args)),
        Command::Man(args) => Some(shell::man(args)),
        _ => None,
    };
    if let Some(written) = written {
        return written.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&anyhow::Error::from(error)),
    };
    let outcome = runtime.block_on(dispatch(&cli.global, command));
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    match outcome {
        Ok(code) => code,
        Err(error) => {
            let code = fail(&error);
            if is_wrong_argument(command, &error) { ExitCode::from(2) } else { code }
        }
    }
}

/// Whether a question or a claim cannot be a task as it was given.
fn is_wrong_argument(command: &Command, error: &anyhow::Error) -> bool {
    matches!(command, Command::Research(_) | Command::Check(_))
        && error.downcast_ref::<AppError>().is_some_and(|error| error.code == ErrorCode::InvalidArgument)
}

async fn dispatch(global: &Global, command: &Command) -> anyhow::Result<ExitCode> {
    if let Command::Config(command) = command {
        return config::run(global, command);
    }
    let mut config = match (configured(global), command) {
        (Err(error), Command::Doctor(args)) => return doctor::unreadable(&error, args),
        (config, _) => config?,
    };
    if let Command::Serve(serve::ServeArgs { tools, .. }) | Command::Mcp(serve::McpArgs { tools }) = command {
        config.server.toolset = tools.toolset.unwrap_or(config.server.toolset);
    }
    let logs = Logs { level: &config.log.level, json: config.log.format == LogFormat::Json };
    let _telemetry = lyra_telemetry::start("lyra", logs, || trace::current().map(TraceId::get));
    let cancel = cancelled_by_signals()?;
    if let Command::Doctor(args) = command {
        return doctor::run(config, args).await;
    }
    if let Command::Backup(command) = command
        && let Some(code) = backup::without_app(&config, command, &cancel).await?
    {
        return Ok(code);
    }
    let app = crate::compose::open(config).await?;
    let waits = tokio::spawn(progress::waits(app.clone(), cancel.clone()));
    let work = async {
        let call = audit::of(command);
        let code = match command {
            Command::Research(args) => research::run(&app, args, &cancel).await,
            Command::Check(args) => Box::pin(check::run(&app, args, &cancel)).await,
            Command::Eval(args) => Box::pin(eval::run(&app, args, &cancel)).await,
            Command::Corpus(command) => corpus::run(&app, command, &cancel).await,
            Command::Fuse(command) => fuse::run(&app, command).await,
            Command::Lanes(args) => fuse::lanes(&app, args),
            Command::Sources(command) => sources::run(&app, command).await,
            Command::Web(command) => web::run(&app, command).await,
            Command::Auth(command) => auth::run(&app, command, &cancel).await,
            Command::Task(command) => task::run(&app, command, &cancel).await,
            Command::Graph(command) => graph::run(&app, command).await,
            Command::Calibration(command) => calibration::run(&app, command).await,
            Command::View(command) => view::run(&app, command).await,
            Command::Embeddings(command) => embeddings::run(&app, command, &cancel).await,
            Command::Domain(command) => feedback::domain(&app, command).await,
            Command::Claim(command) => feedback::claim(&app, command).await,
            Command::Edge(command) => feedback::edge(&app, command).await,
            Command::Open(args) => open::run(&app, args, cancel.clone()).await,
            Command::Serve(args) => serve::http(&app, args, cancel.clone()).await,
            Command::Mcp(_) => serve::stdio(&app, cancel.clone()).await,
            Command::Backup(command) => backup::run(&app, command).await,
            Command::Store(command) => store::run(&app, command).await,
            Command::Token(command) => token::run(&app, command).await,
            Command::Audit(command) => audit::run(&app, command).await,
            Command::Config(_) | Command::Doctor(_) | Command::Completions(_) | Command::Man(_) => {
                Ok(ExitCode::SUCCESS)
            }
        };
        if let Some(call) = call {
            audit::note(&app, call, &code).await;
        }
        code
    };
    // Servers name the trace of every call themselves.
    let code = match command {
        Command::Open(_) | Command::Serve(_) | Command::Mcp(_) => Box::pin(work).await,
        _ => {
            let span = |trace: TraceId| tracing::error_span!("command", trace_id = %trace);
            Box::pin(trace::within(Cause::new(), span, work)).await
        }
    };
    waits.abort();
    app.close().await;
    match code {
        Err(error) if cancel.is_cancelled() => {
            fail(&error);
            Ok(ExitCode::from(130))
        }
        code => code,
    }
}

fn configured(global: &Global) -> anyhow::Result<Config> {
    let mut config = Config::load(global.config.as_deref())?;
    if let Some(dir) = &global.data_dir {
        config.data_dir = Some(dir.clone());
    }
    let problems: Vec<String> = if global.ml_url.is_empty() {
        config.ml.address_problems()
    } else {
        (config.ml.url, config.ml.urls) = (None, global.ml_url.clone());
        let problem = |url: &String| address_problem("`--ml-url` or `LYRA_ML_URL`", url);
        global.ml_url.iter().filter_map(problem).collect()
    };
    anyhow::ensure!(problems.is_empty(), "the configuration cannot be used: {}", problems.join("; "));
    if let Some(level) = &global.log {
        config.log.level.clone_from(level);
    } else if global.quiet && config.log.level == LogConfig::default().level {
        "error".clone_into(&mut config.log.level);
    }
    config.worker_program = lyra_usecases::worker::this_program();
    Ok(config)
}

/// A token cancelled by Ctrl-C or SIGTERM. A second signal ends the process at once.
fn cancelled_by_signals() -> anyhow::Result<CancellationToken> {
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::spawn(async move {
        for first in [true, false] {
            #[cfg(unix)]
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            #[cfg(not(unix))]
            let _ = tokio::signal::ctrl_c().await;
            if !first {
                std::process::exit(130);
            }
            token.cancel();
        }
    });
    Ok(cancel)
}

/// Writes text for people to stdout. Control characters from documents must not reach their terminal.
fn print(text: &str) -> anyhow::Result<()> {
    write(&escaped(text))
}

/// Writes output for programs to stdout, unchanged unless stdout is a terminal.
fn print_document(text: &str) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() { print(text) } else { write(text) }
}

/// Writes to stdout; a closed pipe is not an error.
fn write(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Prints one JSON object on stdout.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    if !text.chars().any(drives) {
        return write(&format!("{text}\n"));
    }
    // Such characters stand in strings alone, where JSON has its own way to write them.
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if drives(c) {
            let _ = std::fmt::Write::write_fmt(&mut out, format_args!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    write(&format!("{out}\n"))
}

/// Prints a message for people on stderr.
fn tell(text: &str) {
    // When stderr is closed there is nowhere to write.
    let _ = writeln!(std::io::stderr(), "{}", escaped(text));
}

fn fail(error: &anyhow::Error) -> ExitCode {
    tell(&format!("error: {error:#}"));
    let remedy = error.downcast_ref::<AppError>().and_then(|error| error.remedy.as_ref());
    if let Some(remedy) = remedy {
        tell(&format!("hint: {}", remedy::words(remedy)));
    }
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_command_logs_errors_alone_unless_a_level_is_set() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("lyra.toml");
        let level = |config: &str, args: &[&str]| {
            std::fs::write(&file, config).unwrap();
            let all = [&["lyra", "--config", file.to_str().unwrap()][..], args].concat();
            let matches = Cli::command().try_get_matches_from(all).unwrap();
            configured(&Cli::of(&matches).unwrap().global).unwrap().log.level
        };
        // `cargo test` may run with a filter, which overrides the file.
        if std::env::var_os("RUST_LOG").is_none() {
            assert_eq!(level("", &["check", "Naps help.", "-q"]), "error");
            assert_eq!(level("", &["check", "Naps help."]), LogConfig::default().level);
            assert_eq!(level("[log]\nlevel = \"info\"\n", &["check", "Naps help.", "-q"]), "info");
        }
        assert_eq!(level("", &["check", "Naps help.", "-q", "--log", "debug"]), "debug");
        assert_eq!(level("", &["task", "list", "--log", "debug"]), "debug");
    }
}
