//! `lyra corpus import … --watch`.

use super::import::{ImportArgs, completion};
use crate::cli::report::counted;
use crate::cli::{print, tell};
use lyra_corpus::FileKind;
use lyra_usecases::{App, WatchOptions, Watched};
use std::process::ExitCode;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(super) async fn run(
    app: &App,
    args: &ImportArgs,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let options = WatchOptions {
        import: args.options()?,
        poll: args.poll.map(Duration::from_secs),
        complete: (!args.offline).then(|| args.complete.clone()),
    };
    tell(&format!("watching {} for {} (Ctrl-C stops)", paths(args), args.name));
    let say = |watched: Watched<'_>| match watched {
        Watched::Failed(why) => tell(&format!("error: {why}")),
        Watched::Polls(path, every, why) => {
            tell(&format!("looking at {} every {} s: {why}", path.display(), every.as_secs()));
        }
        // A closed pipe does not end the watch.
        other => drop(print(&said(&args.name, &other))),
    };
    app.watch_corpus(&args.name, &args.files, &options, &say, cancel).await?;
    tell("stopped watching");
    Ok(ExitCode::SUCCESS)
}

fn paths(args: &ImportArgs) -> String {
    args.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The line for what happened.
fn said(corpus: &str, watched: &Watched<'_>) -> String {
    match watched {
        Watched::File(change, why) => {
            let word = match (change.kind, why) {
                (FileKind::Gone, _) => "gone",
                (_, Some(_)) => "rejected",
                (FileKind::New, _) => "new",
                (FileKind::Changed, _) => "changed",
            };
            let about = match (change.kind, why) {
                (FileKind::Gone, _) if change.documents.is_empty() => "no document was only there".to_owned(),
                (_, Some(why)) => (*why).to_owned(),
                _ => documents(&change.documents),
            };
            format!("{word:<8} {}: {about}\n", change.file.display())
        }
        Watched::Round(report) => {
            let pruned = match report.files.pruned {
                0 => String::new(),
                pruned => format!(", {pruned} removed"),
            };
            format!(
                "{corpus}: {}; {} added, {} updated{pruned}\n",
                counted(report.documents, "document"),
                report.added,
                report.updated
            )
        }
        Watched::Completed(completed) => format!("{}\n", completion(completed)),
        Watched::Failed(why) => format!("{why}\n"),
        Watched::Polls(path, ..) => format!("{}\n", path.display()),
    }
}

fn documents(ids: &[String]) -> String {
    match ids {
        [] => "no document".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}
