//! `scrip keys`: a project's API keys.

use clap::{Args, Subcommand, ValueEnum};
use domain::{catalog::KeyKind, id::KeyId};
use serde_json::{Value, json};

use super::{
    Failure, print,
    project::ProjectArgs,
    remote,
    table::{self, Table, field, list, when},
};

/// What to do about keys.
#[derive(Debug, Args)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Lists them, revoked ones too. Secret keys are never shown again.
    List {
        #[command(flatten)]
        project: ProjectArgs,
        /// For programs.
        #[arg(long)]
        json: bool,
    },
    /// Makes one. A secret key is shown only now.
    Make {
        /// What it may do.
        #[arg(value_enum)]
        kind: Kind,
        #[command(flatten)]
        project: ProjectArgs,
        /// For programs.
        #[arg(long)]
        json: bool,
    },
    /// Revokes one, from the next request on and for good.
    Revoke {
        /// The key's id, as `scrip keys list` shows it.
        #[arg(value_name = "KEY_ID")]
        id: String,
        #[command(flatten)]
        project: ProjectArgs,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// For browsers.
    Publishable,
    /// For servers.
    Secret,
}

pub(super) fn run(args: KeysArgs) -> Result<(), Failure> {
    remote::wait(async {
        match args.verb {
            Verb::List { project, json } => show_all(&project, json).await,
            Verb::Make {
                kind,
                project,
                json,
            } => make(kind, &project, json).await,
            Verb::Revoke { id, project } => revoke(&id, &project).await,
        }
    })
}

async fn show_all(project: &ProjectArgs, json: bool) -> Result<(), Failure> {
    let project = project.open().await?;
    let all: Value = project.remote.get(&project.path("/keys")).await?;
    if json {
        table::json(&all);
        return Ok(());
    }
    let mut table = Table::new(&["ID", "KIND", "KEY", "MADE", "REVOKED"]);
    for key in list(&all, "keys") {
        let shown = match field(key, "key") {
            shown if shown.is_empty() => "(not shown)".into(),
            shown => shown,
        };
        table.row([
            field(key, "id"),
            field(key, "kind"),
            shown,
            when(key, "createdAt"),
            when(key, "revokedAt"),
        ]);
    }
    table.print("this project has no keys: `scrip keys make secret` makes one");
    Ok(())
}

async fn make(kind: Kind, project: &ProjectArgs, json: bool) -> Result<(), Failure> {
    let kind = match kind {
        Kind::Publishable => "publishable",
        Kind::Secret => "secret",
    };
    let project = project.open().await?;
    let path = project.path("/keys");
    let made: Value = project.remote.post(&path, &json!({ "kind": kind })).await?;
    if json {
        table::json(&made);
        return Ok(());
    }
    print::line(&format!("id   {}", field(&made, "id")));
    let once = match kind {
        "secret" => "  (shown only now)",
        _ => "",
    };
    print::line(&format!("key  {}{once}", field(&made, "key")));
    Ok(())
}

async fn revoke(id: &str, project: &ProjectArgs) -> Result<(), Failure> {
    let kinds = [KeyKind::Publishable, KeyKind::Secret];
    if kinds.iter().any(|kind| id.starts_with(kind.prefix())) {
        return Err(Failure::new(
            "that is a key itself: give its id, `key_…`, as `scrip keys list` shows it",
        ));
    }
    // It goes into a path.
    let Ok(id) = id.parse::<KeyId>() else {
        return Err(Failure::new(
            "that is no key's id: one begins with `key_`, as `scrip keys list` shows it",
        ));
    };
    let project = project.open().await?;
    project
        .remote
        .delete(&project.path(&format!("/keys/{id}")))
        .await?;
    print::line(&format!("{id} is revoked"));
    Ok(())
}
