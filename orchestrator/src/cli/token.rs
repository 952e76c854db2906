//! `lyra token …`.

use super::{print, print_json, tell};
use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use jiff::{Span, Timestamp, tz::TimeZone};
use lyra_store::{Scope, Token};
use lyra_usecases::App;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Create a token and show it once
    Create {
        /// Name: who or what it is for
        name: String,
        /// What it allows
        #[arg(long, value_enum, default_value_t = ScopeArg::Read)]
        scope: ScopeArg,
        /// When it expires: 12h, 30d, or a time such as 2027-01-31T00:00:00Z [default: never]
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// List the tokens, newest first; their secrets are not shown
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token immediately
    Revoke {
        /// Name or id of the token
        token: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ScopeArg {
    /// Tools that change nothing, and GET requests
    Read,
    /// Everything
    Full,
}

pub(super) async fn run(app: &App, command: &TokenCommand) -> anyhow::Result<ExitCode> {
    match command {
        TokenCommand::Create { name, scope, expires, json } => {
            let scope = match scope {
                ScopeArg::Read => Scope::Read,
                ScopeArg::Full => Scope::Full,
            };
            let expires = expires.as_deref().map(|text| when(text, app.now())).transpose()?;
            let made = app.create_token(name, scope, expires).await?;
            if *json {
                print_json(&json!({ "token": made.text, "about": made.token }))?;
            } else {
                print(&format!("{}\n", made.text))?;
                tell(&format!(
                    "`{name}` may {}; the token is only shown once. Send it as\n  Authorization: \
                     Bearer TOKEN",
                    if scope == Scope::Read { "read" } else { "do everything" }
                ));
            }
        }
        TokenCommand::List { json } => {
            let tokens = app.tokens().await?;
            if *json {
                print_json(&tokens)?;
            } else if tokens.is_empty() {
                print("no tokens yet; to create one: lyra token create NAME\n")?;
            } else {
                print(&list(&tokens, &app.now()))?;
            }
        }
        TokenCommand::Revoke { token } => {
            let revoked = app.revoke_token(token).await?;
            tell(&format!("`{}` ({}) is revoked", revoked.name, revoked.id));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(tokens: &[Token], now: &Timestamp) -> String {
    let line = |token: &Token| {
        let ended = token
            .expires_at
            .as_ref()
            .is_some_and(|end| end.parse::<Timestamp>().is_ok_and(|end| end <= *now));
        let state = match (&token.revoked_at, &token.expires_at) {
            (Some(at), _) => format!("revoked {at}"),
            (None, Some(at)) if ended => format!("expired {at}"),
            (None, Some(at)) => format!("until {at}"),
            (None, None) => "no end".to_owned(),
        };
        let used = token.last_used_at.as_deref().unwrap_or("never");
        format!("{}  {:<20} {:<5} last used {used:<24}  {state}\n", token.id, token.name, token.scope)
    };
    tokens.iter().map(line).collect()
}

/// A future time: a span from now, or a timestamp.
fn when(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    let help = || format!("`{text}` is not a time; write 12h, 30d, or a time such as 2027-01-31T00:00:00Z");
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let span: Span = text.parse().with_context(help)?;
    let end = now.to_zoned(TimeZone::UTC).checked_add(span).with_context(help)?;
    Ok(end.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_to_come_are_spans_or_moments() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().expect("a time");
        for (text, expect) in [
            ("12h", "2026-11-21T00:00:00Z"),
            ("30d", "2026-12-20T12:00:00Z"),
            ("1y", "2027-11-20T12:00:00Z"),
            ("2027-01-31T00:00:00Z", "2027-01-31T00:00:00Z"),
        ] {
            assert_eq!(when(text, now).expect(text).to_string(), expect);
        }
        for text in ["", "soon", "30", "2027-01-31x"] {
            assert!(when(text, now).is_err(), "{text}");
        }
    }
}
