//! `scrip keys`: a project's API keys on a running server.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{
    Failure,
    project::{Project, ProjectArgs},
    remote,
    table::{self, Table, field, list},
};

/// What to do about keys.
#[derive(Debug, Args)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists all keys: how each starts and ends, its last use and its end.
    List {
        #[command(flatten)]
        project: ProjectArgs,
    },
    /// Makes a key, and prints it: a secret one is never shown again.
    Create {
        /// What it may do: publishable or secret.
        kind: String,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        project: ProjectArgs,
    },
    /// Changes a key's name or end.
    Change {
        /// The key: `key_…`, its name, or its last four characters.
        key: String,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        project: ProjectArgs,
    },
    /// Revokes a key, for the next request and for good.
    Revoke {
        /// The key: `key_…`, its name, or its last four characters.
        key: String,
        #[command(flatten)]
        project: ProjectArgs,
    },
}

/// A key's name and end.
#[derive(Debug, Args)]
struct Settings {
    /// What uses it; empty: no name.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// From when on it is not to work any more, such as 2027-12-31T00:00:00Z; empty: it works until it is revoked.
    #[arg(long, value_name = "INSTANT")]
    expires_at: Option<String>,
}

impl Settings {
    fn fields(self) -> Map<String, Value> {
        let named = [("name", self.name), ("expiresAt", self.expires_at)];
        let value = |text: String| match text.is_empty() {
            true => Value::Null,
            false => Value::String(text),
        };
        let given = named.into_iter();
        let given = given.filter_map(|(name, text)| Some((name.to_owned(), value(text?))));
        given.collect()
    }
}

pub(super) fn run(args: KeysArgs) -> Result<(), Failure> {
    remote::wait(async {
        match args.action {
            Action::List { project } => {
                let project = project.open().await?;
                let found: Value = project.remote.get(&project.path("/keys")).await?;
                print_all(list(&found, "keys"));
            }
            Action::Create {
                kind,
                settings,
                project,
            } => {
                let project = project.open().await?;
                let mut body = settings.fields();
                body.insert("kind".into(), json!(kind));
                let (keys, body) = (project.path("/keys"), Value::Object(body));
                let made: Value = project.remote.post(&keys, &body).await?;
                table::json(&made);
            }
            Action::Change {
                key,
                settings,
                project,
            } => {
                let project = project.open().await?;
                let path = path(&project, &key).await?;
                let body = Value::Object(settings.fields());
                let changed: Value = project.remote.patch(&path, &body).await?;
                table::json(&changed);
            }
            Action::Revoke { key, project } => {
                let project = project.open().await?;
                let path = path(&project, &key).await?;
                project.remote.accept(Method::DELETE, &path, None).await?;
            }
        }
        Ok(())
    })
}

/// The path of the one key that a text names.
async fn path(project: &Project, wanted: &str) -> Result<String, Failure> {
    let keys = project.path("/keys");
    let id = match wanted.starts_with("key_") {
        true => wanted.to_owned(),
        false => found(project, wanted).await?,
    };
    Ok(format!("{keys}/{id}"))
}

/// The identifier of the one key with this name or these last characters.
async fn found(project: &Project, wanted: &str) -> Result<String, Failure> {
    let found: Value = project.remote.get(&project.path("/keys")).await?;
    let fits = |key: &&Value| field(key, "name") == wanted || field(key, "last") == wanted;
    let keys: Vec<_> = list(&found, "keys").iter().filter(fits).collect();
    match keys.as_slice() {
        [only] => Ok(field(only, "id")),
        [] => Err(Failure::new("there is no such key in this project")),
        _ => Err(Failure::new(
            "this names several keys: name one by its identifier, key_…",
        )),
    }
}

fn print_all(keys: &[Value]) {
    let columns = [
        "id",
        "name",
        "kind",
        "key",
        "lastUsedOn",
        "expiresAt",
        "revokedAt",
    ];
    let mut table = Table::new(&columns);
    for key in keys {
        let cell = |column: &str| match column {
            "key" => format!("{}…{}", field(key, "first"), field(key, "last")),
            name => field(key, name),
        };
        table.row(columns.iter().map(|column| cell(column)));
    }
    table.print("no keys");
}
