//! Command line of the ml-server.

mod settings;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use lyra_ml_server::measure::rates;
use lyra_ml_server::model::ModelSource;
use lyra_ml_server::model::device::{BackendChoice, Candidates, DeviceChoice, Precision};
use lyra_ml_server::model::quantize::{Metadata, quantize};
use lyra_ml_server::{MODELS_DIR_ENV, Profile, ServerConfig, default_threads, shutdown, start};
use lyra_telemetry::Logs;
use tokio::net::TcpListener;

/// Serves embeddings and natural language inference over HTTP.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Convert a model folder into one self-contained `Q8_0` GGUF file.
    Quantize(Quantize),
    /// Benchmark a model, and print the results as JSON.
    Bench(Bench),
}

#[derive(Debug, Args)]
struct Serve {
    /// Models to serve: an embedder and a judge.
    #[arg(long, value_enum, default_value_t, env = "LYRA_ML_PROFILE")]
    profile: Profile,
    /// Embedder: a folder, a .gguf file or a hub id (`ORG/NAME` or `ORG/NAME@REVISION`). If any of the three model
    /// options is given, only those models are served.
    #[arg(long, value_name = "MODEL", env = "LYRA_ML_EMBED_MODEL")]
    embed_model: Option<String>,
    /// NLI model: a folder, a .gguf file or a hub id, as above.
    #[arg(long, value_name = "MODEL", env = "LYRA_ML_NLI_MODEL")]
    nli_model: Option<String>,
    /// Verifier, which reads a claim with a whole passage: a folder, a .gguf file or a hub id, as above. It also judges
    /// pairs if no NLI model is served.
    #[arg(long, value_name = "MODEL", env = "LYRA_ML_VERIFY_MODEL")]
    verify_model: Option<String>,
    /// Branch, tag or commit of hub models without an `@`.
    #[arg(long, env = "LYRA_ML_REVISION")]
    revision: Option<String>,
    /// Use only hub files that are already in the cache.
    #[arg(long, env = "HF_HUB_OFFLINE", value_parser = clap::builder::FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    offline: bool,
    /// Folder with the lite models [default: found near the executable].
    #[arg(long, value_name = "DIR", env = MODELS_DIR_ENV)]
    models_dir: Option<PathBuf>,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1", env = "LYRA_ML_HOST")]
    host: IpAddr,
    /// Port to listen on; 0 chooses a free one and prints it.
    #[arg(long, default_value_t = 8421, env = "LYRA_ML_PORT")]
    port: u16,
    /// Additional host name to accept in requests while the server listens on loopback, such as behind a reverse proxy;
    /// `*` allows every name. May be repeated.
    #[arg(long = "allowed-host", value_name = "NAME", env = "LYRA_ML_ALLOWED_HOSTS", value_delimiter = ',')]
    allowed_hosts: Vec<String>,
    /// Where to compute: `auto` (a GPU if available), `cpu`, `cuda`, `cuda:N` or `metal`.
    #[arg(long, default_value = "auto", env = "LYRA_ML_DEVICE")]
    device: DeviceChoice,
    /// Backend to compute with. At startup, it must reproduce the CPU's answers to a fixed batch; otherwise, the next
    /// backend is used.
    #[arg(long, value_enum, default_value_t, env = "LYRA_ML_BACKEND")]
    backend: BackendChoice,
    /// Type of weights and activations on a GPU.
    #[arg(long, value_enum, default_value_t, env = "LYRA_ML_DTYPE")]
    dtype: Precision,
    /// Computing threads [default: physical cores].
    #[arg(long, value_name = "N", env = "LYRA_ML_THREADS")]
    threads: Option<usize>,
    /// Maximum number of inputs or pairs in one request.
    #[arg(long, value_name = "N", env = "LYRA_ML_MAX_CLIENT_BATCH_SIZE")]
    max_client_batch_size: Option<usize>,
    /// Largest request body in bytes.
    #[arg(long, value_name = "BYTES", env = "LYRA_ML_MAX_BODY_BYTES")]
    max_body_bytes: Option<usize>,
    /// Maximum number of requests in progress at the same time.
    #[arg(long, value_name = "N", env = "LYRA_ML_MAX_CONCURRENT_REQUESTS")]
    max_concurrent_requests: Option<usize>,
    /// Maximum number of open connections; more wait until one closes [default: twice the requests; at most a third of
    /// `ulimit -n`].
    #[arg(long, value_name = "N", env = "LYRA_ML_MAX_CONNECTIONS")]
    max_connections: Option<usize>,
    /// Maximum number of tokens waiting in one model's queue.
    #[arg(long, value_name = "N", env = "LYRA_ML_MAX_QUEUED_TOKENS")]
    max_queued_tokens: Option<usize>,
    /// Maximum number of tokens in one batch [default: 2,048 per thread, 16,384 on a GPU].
    #[arg(long, value_name = "N", env = "LYRA_ML_MAX_BATCH_TOKENS")]
    max_batch_tokens: Option<usize>,
    /// Format of log lines, on stderr.
    #[arg(long, value_enum, default_value = "text", env = "LYRA_ML_LOG_FORMAT")]
    log_format: LogFormat,
    /// How long a shutdown waits for requests in progress.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, env = "LYRA_ML_DRAIN_SECONDS")]
    drain_seconds: u64,
    /// Print every setting with its value and origin, and exit.
    #[arg(long)]
    show_config: bool,
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, Args)]
struct Bench {
    /// A folder, a .gguf file or a hub id.
    model: String,
    /// Where to compute: `auto`, `cpu`, `cuda`, `cuda:N` or `metal`.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Backend to compute with.
    #[arg(long, value_enum, default_value_t)]
    backend: BackendChoice,
    /// Type of weights and activations on a GPU.
    #[arg(long, value_enum, default_value_t)]
    dtype: Precision,
    /// Input lengths, in tokens.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "128,512")]
    lengths: Vec<usize>,
    /// Tokens in one batch.
    #[arg(long, value_name = "N", default_value_t = 16_384)]
    batch_tokens: usize,
    /// Computing threads [default: physical cores].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

#[derive(Debug, Args)]
struct Quantize {
    /// Folder with config.json, tokenizer.json and model.safetensors.
    input: PathBuf,
    /// File to write.
    output: PathBuf,
    /// Name of the model [default: the folder's name].
    #[arg(long)]
    name: Option<String>,
    /// Language of the model (BCP 47); may be repeated.
    #[arg(long = "language", value_name = "TAG")]
    languages: Vec<String>,
    /// License of the weights (SPDX).
    #[arg(long)]
    license: Option<String>,
    /// Origin of the weights.
    #[arg(long, value_name = "URL")]
    source: Option<String>,
    /// Longest input in tokens [default: from the folder].
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,
}

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    if cli.command.is_none() && cli.serve.show_config {
        return settings::show(&Cli::command(), &matches);
    }
    let level = std::env::var("RUST_LOG").ok().filter(|level| !level.is_empty());
    let logs =
        Logs { level: level.as_deref().unwrap_or("info"), json: cli.serve.log_format == LogFormat::Json };
    // Requests bring their trace; none starts here.
    let _telemetry = lyra_telemetry::start("lyra-ml-server", logs, || None);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Some(Command::Quantize(options)) => run_quantize(options),
        Some(Command::Bench(options)) => run_bench(&options),
        None => {
            settings::check(
                &Cli::command(),
                std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()),
            )?;
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            let result = runtime.block_on(serve(cli.serve));
            // A download that is still running must not delay the exit.
            runtime.shutdown_background();
            result
        }
    }
}

async fn serve(options: Serve) -> Result<()> {
    let address = SocketAddr::new(options.host, options.port);
    let drain = Duration::from_secs(options.drain_seconds);
    let config = ServerConfig { drain, ..config(&options)? };
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let server = start(config, listener)?;
    tracing::info!(url = server.url(), "listening, loading models");
    tokio::select! {
        ready = server.ready() => match ready {
            Ok(()) => tracing::info!(url = server.url(), "ready"),
            Err(error) => {
                server.shutdown().await;
                bail!("{error}");
            }
        },
        () = shutdown::signal() => {
            server.shutdown().await;
            return Ok(());
        }
    }
    shutdown::signal().await;
    server.shutdown().await;
    Ok(())
}

fn config(options: &Serve) -> Result<ServerConfig> {
    let parse = |text: &String| ModelSource::parse(text, options.revision.as_deref(), options.offline);
    let config = match (&options.embed_model, &options.nli_model, &options.verify_model) {
        (None, None, None) => {
            ServerConfig::from_profile(options.profile, options.models_dir.as_deref(), options.offline)?
        }
        (embed, nli, verify) => {
            let named = ServerConfig::new(embed.as_ref().map(parse), nli.as_ref().map(parse));
            ServerConfig { verify: verify.as_ref().map(parse), ..named }
        }
    };
    let threads = options.threads.unwrap_or_else(default_threads);
    let mut config = config.with_threads(threads);
    let limits = &mut config.limits;
    limits.max_client_batch_size = options.max_client_batch_size.unwrap_or(limits.max_client_batch_size);
    limits.max_body_bytes = options.max_body_bytes.unwrap_or(limits.max_body_bytes);
    limits.max_concurrent_requests =
        options.max_concurrent_requests.unwrap_or(limits.max_concurrent_requests);
    config.max_connections = options.max_connections.unwrap_or(2 * limits.max_concurrent_requests).max(1);
    limits.max_queued_tokens = options.max_queued_tokens.unwrap_or(limits.max_queued_tokens);
    config.allowed_hosts.clone_from(&options.allowed_hosts);
    config.max_batch_tokens = options.max_batch_tokens;
    config.device = options.device;
    config.backend = options.backend;
    config.precision = options.dtype;
    Ok(config)
}

fn run_bench(options: &Bench) -> Result<()> {
    let threads = options.threads.unwrap_or_else(default_threads);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let candidates = Candidates::open(options.device, options.backend, options.dtype)?;
    let source = ModelSource::parse(&options.model, None, false);
    let measured = pool.install(|| rates(&candidates, &source, &options.lengths, options.batch_tokens))?;
    serde_json::to_writer_pretty(std::io::stdout(), &measured)?;
    Ok(())
}

fn run_quantize(options: Quantize) -> Result<()> {
    let metadata = Metadata {
        name: options.name,
        languages: options.languages,
        license: options.license,
        source: options.source,
        max_tokens: options.max_tokens,
    };
    let summary = quantize(&options.input, &options.output, &metadata)?;
    tracing::info!(
        file = %options.output.display(),
        bytes = summary.bytes,
        q8_0 = summary.quantised,
        f32 = summary.plain,
        "written"
    );
    Ok(())
}
