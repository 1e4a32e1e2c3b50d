//! `scrip users`: the people who work with a running server's dashboard.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{
    Failure, print,
    remote::{self, ServerArgs},
    table::{self, Table, field, list},
};

/// What to do about users.
#[derive(Debug, Args)]
pub(super) struct UsersArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists all users.
    List {
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Invites somebody, and prints the link by which they set a password.
    Invite {
        /// What they are called.
        name: String,
        /// Their e-mail address, by which they sign in.
        email: String,
        /// What they may do: owner, operator, support or viewer.
        role: String,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Invites a user again, who lost their password or device, and prints the link.
    Reset {
        /// The user: `usr_…` or the e-mail address.
        user: String,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Changes what a user may do.
    Change {
        /// The user: `usr_…` or the e-mail address.
        user: String,
        /// What they may do: owner, operator, support or viewer.
        #[arg(long)]
        role: Option<String>,
        /// Whether they are kept out: true or false.
        #[arg(long, value_name = "BOOL")]
        disabled: Option<bool>,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Removes a user and ends their sessions.
    Remove {
        /// The user: `usr_…` or the e-mail address.
        user: String,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Lists all sessions of the dashboard, or ends one.
    Sessions {
        /// The session to end, `ses_…`.
        #[arg(long, value_name = "SESSION")]
        end: Option<String>,
        #[command(flatten)]
        server: ServerArgs,
    },
}

impl Action {
    /// The server that it is about.
    const fn server(&self) -> &ServerArgs {
        match self {
            Self::List { server }
            | Self::Invite { server, .. }
            | Self::Reset { server, .. }
            | Self::Change { server, .. }
            | Self::Remove { server, .. }
            | Self::Sessions { server, .. } => server,
        }
    }
}

/// Where somebody may do it, and how much of it.
#[derive(Debug, Args)]
struct Limits {
    /// A project that they work with; may be repeated [default: all].
    #[arg(long = "in", value_name = "PROJECT")]
    projects: Vec<String>,
    /// The most credits that they may grant in a day.
    #[arg(long, value_name = "CREDITS")]
    grant_limit_per_day: Option<i64>,
    /// The most that they may refund in a day, in the currencies' minor units.
    #[arg(long, value_name = "CENTS")]
    refund_limit_cents_per_day: Option<i64>,
}

impl Limits {
    fn add_to(self, body: &mut Map<String, Value>) {
        if !self.projects.is_empty() {
            body.insert("projects".into(), json!(self.projects));
        }
        for (name, limit) in [
            ("grantLimitPerDay", self.grant_limit_per_day),
            ("refundLimitCentsPerDay", self.refund_limit_cents_per_day),
        ] {
            if let Some(limit) = limit {
                body.insert(name.into(), json!(limit));
            }
        }
    }
}

pub(super) fn run(args: UsersArgs) -> Result<(), Failure> {
    let remote = args.action.server().administration()?;
    remote::wait(async {
        let path = |user: &str| format!("/users/{user}");
        match args.action {
            Action::List { .. } => {
                let found: Value = remote.get("/users").await?;
                let columns = ["id", "name", "email", "role", "status"];
                print_all(list(&found, "users"), &columns, "no users");
            }
            Action::Invite {
                name,
                email,
                role,
                limits,
                ..
            } => {
                let mut body = Map::new();
                for (key, value) in [("name", name), ("email", email), ("role", role)] {
                    body.insert(key.into(), json!(value));
                }
                limits.add_to(&mut body);
                let made: Value = remote.post("/users", &Value::Object(body)).await?;
                print::line(&field(&made, "invitationUrl"));
            }
            Action::Reset { user, .. } => {
                let path = format!("{}/invitation", path(&named(&remote, &user).await?));
                let made: Value = remote.post(&path, &json!({})).await?;
                print::line(&field(&made, "invitationUrl"));
            }
            Action::Change {
                user,
                role,
                disabled,
                limits,
                ..
            } => {
                let mut body = Map::new();
                if let Some(role) = role {
                    body.insert("role".into(), json!(role));
                }
                if let Some(disabled) = disabled {
                    body.insert("disabled".into(), json!(disabled));
                }
                limits.add_to(&mut body);
                let path = path(&named(&remote, &user).await?);
                let changed: Value = remote.patch(&path, &Value::Object(body)).await?;
                table::json(&changed);
            }
            Action::Remove { user, .. } => {
                let path = path(&named(&remote, &user).await?);
                remote.accept(Method::DELETE, &path, None).await?;
            }
            Action::Sessions {
                end: Some(session), ..
            } => {
                let path = format!("/sessions/{session}");
                remote.accept(Method::DELETE, &path, None).await?;
            }
            Action::Sessions { end: None, .. } => {
                let found: Value = remote.get("/sessions").await?;
                let columns = [
                    "id",
                    "userId",
                    "address",
                    "createdAt",
                    "lastSeenAt",
                    "browser",
                ];
                print_all(list(&found, "sessions"), &columns, "no sessions");
            }
        }
        Ok(())
    })
}

/// The identifier of a user who is named by it or by their e-mail address.
async fn named(remote: &remote::ApiClient, user: &str) -> Result<String, Failure> {
    if user.starts_with("usr_") {
        return Ok(user.to_owned());
    }
    let found: Value = remote.get("/users").await?;
    let wanted = user.to_ascii_lowercase();
    let mut users = list(&found, "users").iter();
    let user = users.find(|it| field(it, "email") == wanted);
    let user = user.ok_or_else(|| Failure::new("there is no user with this e-mail address"))?;
    Ok(field(user, "id"))
}

fn print_all(rows: &[Value], columns: &[&str], nothing: &str) {
    let mut table = Table::new(columns);
    for row in rows {
        table.row(columns.iter().map(|column| field(row, column)));
    }
    table.print(nothing);
}
