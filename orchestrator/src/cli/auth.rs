//! `lyra auth …`.

use super::{print, print_json, tell};
use crate::app::{App, Resolution};
use anyhow::Context;
use clap::Subcommand;
use lyra_domain::{AuthId, AuthItem, TaskId};
use lyra_store::{AuthResolved, AuthTarget};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// What `lyra auth --help` says at its end.
pub(super) const HELP: &str = "\
Some engines and pages want a person: a captcha, Cloudflare's check, consent, a login. Lyra never
answers these itself. What it cannot have without a person waits here, while the rest of the task
goes on and ends.

  lyra auth list                     what waits, and for which task
  lyra auth open ID                  go there in a window; the domain's cookies are kept
  lyra auth resolve ID --cookies F   the same with cookies that another browser saved
  lyra auth skip ID                  do without
  lyra task resume TASK              search what waited, and judge what it adds

A running `lyra serve` or `lyra mcp` takes up what was resolved by itself.";

#[derive(Debug, Subcommand)]
pub(super) enum AuthCommand {
    /// List what waits for a person
    List {
        /// Of this task only
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Open a browser window where a person is wanted, and keep the cookies of that domain
    ///
    /// Answer what the page asks, then close the window or press Enter here. Everything that waits for the same domain
    /// is resolved with it. Cookies are sent to that domain and its subdomains only. Needs Chromium and a display.
    Open {
        /// Item, as `lyra auth list` shows it
        id: AuthId,
    },
    /// Say that a person has been there, with or without cookies
    ///
    /// With --cookies, those of the item's domain are read from a file in Netscape format (cookies.txt, as browser
    /// extensions and curl write it) and used for that domain from then on; everything that waits for it is resolved.
    /// Without, the page is simply tried again.
    Resolve {
        /// Item, as `lyra auth list` shows it
        #[arg(required_unless_present_any = ["domain", "task"], conflicts_with_all = ["domain", "task"])]
        id: Option<AuthId>,
        /// Everything that waits for this domain instead
        #[arg(long, conflicts_with = "task")]
        domain: Option<String>,
        /// Everything that waits in this task instead
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
        /// File of cookies
        #[arg(long, value_name = "FILE", requires = "id")]
        cookies: Option<PathBuf>,
        /// User-Agent of the browser that got them; some sites take their cookies from no other
        #[arg(long, value_name = "TEXT", requires = "cookies")]
        user_agent: Option<String>,
    },
    /// Do without what waits: its jobs are cancelled
    Skip {
        /// Item, as `lyra auth list` shows it
        #[arg(required_unless_present_any = ["domain", "task"], conflicts_with_all = ["domain", "task"])]
        id: Option<AuthId>,
        /// Everything that waits for this domain instead
        #[arg(long, conflicts_with = "task")]
        domain: Option<String>,
        /// Everything that waits in this task instead
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
    },
    /// Forget the cookies that are kept for a domain
    Forget {
        /// The domain
        domain: String,
    },
}

pub(super) async fn run(
    app: &App,
    command: &AuthCommand,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    match command {
        AuthCommand::List { task, json } => {
            let items = app.auth_queue(task.as_ref()).await?;
            if *json {
                print_json(&items)?;
            } else if items.is_empty() {
                print("nothing waits for a person\n")?;
            } else {
                print(&items.iter().map(listed).collect::<String>())?;
            }
        }
        AuthCommand::Open { id } => return open(app, id, cancel).await,
        AuthCommand::Resolve { id, domain, task, cookies, user_agent } => {
            let mut target = target(id.as_ref(), domain.as_deref(), task.as_ref())?;
            let mut session = None;
            if let (Some(file), Some(id)) = (cookies, id) {
                let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
                let item = app.auth_item(id).await?;
                let read = app.session_from_file(&item, &text, user_agent.clone())?;
                tell(&format!("{} cookies of {} kept", read.cookies(), item.domain));
                session = Some(read);
                // They serve whatever waits for the domain.
                target = AuthTarget::Domain(item.domain);
            }
            report(&app.resolve_auth(target, Resolution::Completed(session)).await?);
        }
        AuthCommand::Skip { id, domain, task } => {
            let target = target(id.as_ref(), domain.as_deref(), task.as_ref())?;
            let resolved = app.resolve_auth(target, Resolution::Skipped).await?;
            tell(&format!("{} left out", resolved.items));
        }
        AuthCommand::Forget { domain } => {
            let forgotten = app.forget_session(domain).await?;
            tell(if forgotten { "forgotten" } else { "no cookies are kept for that domain" });
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn open(app: &App, id: &AuthId, cancel: &CancellationToken) -> anyhow::Result<ExitCode> {
    let item = app.auth_item(id).await?;
    tell(&format!(
        "opening {}\nAnswer what it asks, then close the window or press Enter here (Ctrl-C gives up).",
        item.url
    ));
    let done = async {
        tokio::select! {
            () = enter() => {}
            () = cancel.cancelled() => {}
        }
    };
    let session = app.visit(&item, done).await?;
    if cancel.is_cancelled() {
        app.leave_auth(id).await?;
        tell("given up; it still waits");
        return Ok(ExitCode::from(130));
    }
    tell(&format!("{} cookies of {} kept", session.cookies(), item.domain));
    let session = (session.cookies() > 0).then_some(session);
    let domain = AuthTarget::Domain(item.domain.clone());
    report(&app.resolve_auth(domain, Resolution::Completed(session)).await?);
    Ok(ExitCode::SUCCESS)
}

/// Returns when a line comes on stdin; never when stdin is closed, for then nobody can press Enter.
async fn enter() {
    let (pressed, wait) = tokio::sync::oneshot::channel();
    // A thread of its own: a read from a terminal cannot be given up, and nothing may wait for it in the end.
    std::thread::spawn(move || {
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            let _ = pressed.send(());
        }
    });
    if wait.await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn target(id: Option<&AuthId>, domain: Option<&str>, task: Option<&TaskId>) -> anyhow::Result<AuthTarget> {
    match (id, domain, task) {
        (Some(id), ..) => Ok(AuthTarget::Item(id.clone())),
        (_, Some(domain), _) => Ok(AuthTarget::Domain(domain.to_owned())),
        (.., Some(task)) => Ok(AuthTarget::Task(task.clone())),
        _ => anyhow::bail!("name an item, --domain or --task"),
    }
}

fn report(resolved: &AuthResolved) {
    if resolved.items == 0 {
        tell("nothing waited for that");
        return;
    }
    tell(&format!("{} resolved, {} searches to be done again", resolved.items, resolved.requeued));
    for task in &resolved.tasks {
        tell(&format!("a running server takes them up; otherwise: lyra task resume {task}"));
    }
}

fn listed(item: &AuthItem) -> String {
    let until = item.expires_at.as_deref().unwrap_or("");
    format!(
        "{}  {:<10} {:<10} {:<8} {}\n      {}\n      of {}, waits until {until}\n",
        item.id, item.auth_type, item.status, item.priority, item.domain, item.url, item.task_id
    )
}
