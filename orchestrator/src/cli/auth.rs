//! `lyra auth …`.

use super::{print, print_json, tell};
use anyhow::Context;
use clap::Subcommand;
use lyra_domain::{AuthId, AuthItem, TaskId};
use lyra_store::{AuthResolved, AuthTarget};
use lyra_usecases::{App, Resolution};
use lyra_wire::WaitingPage;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// What `lyra auth --help` says at its end.
pub(super) const HELP: &str = "\
Some engines and pages require a person: a CAPTCHA, Cloudflare's check, consent, a login. Lyra never
answers these itself. They wait in this queue, while the rest of the task continues and
completes.

  lyra auth list                     the waiting items, and their tasks
  lyra auth open ID                  open it in a window; Lyra keeps the domain's cookies
  lyra auth resolve ID --cookies F   the same with cookies saved by another browser
  lyra auth skip ID                  continue without it
  lyra task resume TASK              run the waiting searches, and judge their results

A running `lyra serve` or `lyra mcp` picks up resolved items automatically.";

#[derive(Debug, Subcommand)]
pub(super) enum AuthCommand {
    /// List the pages that require a person
    List {
        /// Only items of this task
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Open the page in a browser window, and keep the cookies of its domain
    ///
    /// Resolve the page, then close the window or press Enter here. All items of the same domain are resolved with it.
    /// Cookies are only sent to that domain and its subdomains. Requires Chromium and a display.
    Open {
        /// Item, as `lyra auth list` shows it
        id: AuthId,
    },
    /// Mark an item as resolved, with or without cookies
    ///
    /// With --cookies, Lyra reads the cookies of the item's domain from a file in Netscape format (cookies.txt, as
    /// written by browser extensions and curl), uses them for that domain from then on, and resolves all items of the
    /// domain. Without --cookies, Lyra only retries the page.
    Resolve {
        /// Item, as `lyra auth list` shows it
        #[arg(required_unless_present_any = ["domain", "task"], conflicts_with_all = ["domain", "task"])]
        id: Option<AuthId>,
        /// All items of this domain instead
        #[arg(long, conflicts_with = "task")]
        domain: Option<String>,
        /// All items of this task instead
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
        /// Cookie file
        #[arg(long, value_name = "FILE", requires = "id")]
        cookies: Option<PathBuf>,
        /// User-Agent of the browser that saved them; some sites tie their cookies to it
        #[arg(long, value_name = "TEXT", requires = "cookies")]
        user_agent: Option<String>,
    },
    /// Skip items: their jobs are cancelled
    Skip {
        /// Item, as `lyra auth list` shows it
        #[arg(required_unless_present_any = ["domain", "task"], conflicts_with_all = ["domain", "task"])]
        id: Option<AuthId>,
        /// All items of this domain instead
        #[arg(long, conflicts_with = "task")]
        domain: Option<String>,
        /// All items of this task instead
        #[arg(long, value_name = "ID")]
        task: Option<TaskId>,
    },
    /// Forget the cookies of a domain
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
                print_json(&items.into_iter().map(WaitingPage::from).collect::<Vec<_>>())?;
            } else if items.is_empty() {
                print("no page requires a person\n")?;
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
                // They resolve all items of the domain.
                target = AuthTarget::Domain(item.domain);
            }
            report(&app.resolve_auth(target, Resolution::Completed(session)).await?);
        }
        AuthCommand::Skip { id, domain, task } => {
            let target = target(id.as_ref(), domain.as_deref(), task.as_ref())?;
            let resolved = app.resolve_auth(target, Resolution::Skipped).await?;
            tell(&format!("{} skipped", resolved.items));
        }
        AuthCommand::Forget { domain } => {
            let forgotten = app.forget_session(domain).await?;
            tell(if forgotten { "forgotten" } else { "no cookies are stored for that domain" });
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn open(app: &App, id: &AuthId, cancel: &CancellationToken) -> anyhow::Result<ExitCode> {
    let item = app.auth_item(id).await?;
    tell(&format!(
        "opening {}\nResolve the page, then close the window or press Enter here (Ctrl-C cancels).",
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
        tell("cancelled; it is still waiting");
        return Ok(ExitCode::from(130));
    }
    tell(&format!("{} cookies of {} kept", session.cookies(), item.domain));
    let session = (session.cookies() > 0).then_some(session);
    let domain = AuthTarget::Domain(item.domain.clone());
    report(&app.resolve_auth(domain, Resolution::Completed(session)).await?);
    Ok(ExitCode::SUCCESS)
}

/// Returns when a line arrives on stdin; never when stdin is closed, because then no one can press Enter.
async fn enter() {
    let (pressed, wait) = tokio::sync::oneshot::channel();
    // A separate thread: a read from a terminal cannot be cancelled, and nothing must wait for it at exit.
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
        tell("no matching items");
        return;
    }
    tell(&format!("{} resolved, {} searches queued again", resolved.items, resolved.requeued));
    for task in &resolved.tasks {
        tell(&format!("a running server picks them up; otherwise: lyra task resume {task}"));
    }
}

fn listed(item: &AuthItem) -> String {
    let until = item.expires_at.as_deref().unwrap_or("");
    format!(
        "{}  {:<10} {:<10} {:<8} {}\n      {}\n      task {}, expires {until}\n",
        item.id, item.auth_type, item.status, item.priority, item.domain, item.url, item.task_id
    )
}
