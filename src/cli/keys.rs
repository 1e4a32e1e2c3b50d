//! `scrip keys`: a project's API keys on a running server.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{
    Failure, print,
    project::{Project, RemoteArgs},
    remote,
    table::{Table, field, list, plain, when},
};

/// What to do about keys.
#[derive(Debug, Args)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all keys: how each starts and ends, its last use and its expiry.
    List(RemoteArgs),
    /// Create a key and print it: a secret one is never shown again.
    Create {
        /// What it may do: publishable or secret.
        kind: String,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        at: RemoteArgs,
    },
    /// Change a key's name or expiry.
    Change {
        /// The key: `key_…`, its name, or its last four characters.
        key: String,
        #[command(flatten)]
        settings: Settings,
        #[command(flatten)]
        at: RemoteArgs,
    },
    /// Revoke a key. It is refused from the next request on.
    Revoke {
        /// The key: `key_…`, its name, or its last four characters.
        key: String,
        #[command(flatten)]
        at: RemoteArgs,
    },
}

/// A key's name and expiry.
#[derive(Debug, Args)]
struct Settings {
    /// What uses it; empty: no name.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// When it expires, a day or an instant in ISO 8601; empty: never.
    #[arg(long, value_name = "INSTANT", value_parser = super::instant)]
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
            Action::List(at) => {
                let project = at.project.open().await?;
                let found: Value = project.remote.get(&project.path("/keys")).await?;
                at.output
                    .print(&found, |found| print_all(list(found, "keys")));
            }
            Action::Create { kind, settings, at } => {
                let project = at.project.open().await?;
                let mut body = settings.fields();
                body.insert("kind".into(), json!(kind));
                let (keys, body) = (project.path("/keys"), Value::Object(body));
                let created: Value = project.remote.post(&keys, &body).await?;
                at.output.print(&created, |key| {
                    print::line(&format!("created the {}", described(key)));
                    print::line(&field(key, "key"));
                });
            }
            Action::Change { key, settings, at } => {
                let project = at.project.open().await?;
                let path = path(&project, &key).await?;
                let body = Value::Object(settings.fields());
                let changed: Value = project.remote.patch(&path, &body).await?;
                at.output.print(&changed, |key| {
                    print::line(&format!("changed: {}", described(key)));
                });
            }
            Action::Revoke { key, at } => {
                let project = at.project.open().await?;
                let path = path(&project, &key).await?;
                project.remote.accept(Method::DELETE, &path, None).await?;
                at.output.print(&json!({ "revoked": true }), |_| {
                    print::line("revoked: the server refuses this key");
                });
            }
        }
        Ok(())
    })
}

/// A key in a sentence.
fn described(key: &Value) -> String {
    let name = match field(key, "name") {
        name if name.is_empty() => "without a name".to_owned(),
        name => format!("\"{}\"", plain(&name)),
    };
    let expiry = match when(key, "expiresAt") {
        at if at.is_empty() => "never expires".to_owned(),
        at => format!("expires at {at}"),
    };
    format!(
        "{} key {} {name}, which {expiry}",
        field(key, "kind"),
        field(key, "id")
    )
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
    let mut table = Table::new(&[
        "ID",
        "NAME",
        "KIND",
        "KEY",
        "LAST USED",
        "EXPIRES",
        "REVOKED",
    ]);
    for key in keys {
        table.row([
            field(key, "id"),
            field(key, "name"),
            field(key, "kind"),
            format!("{}…{}", field(key, "first"), field(key, "last")),
            field(key, "lastUsedOn"),
            when(key, "expiresAt"),
            when(key, "revokedAt"),
        ]);
    }
    table.print("no keys");
}
