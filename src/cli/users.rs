//! `scrip users`: the people who work with a running server's dashboard.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{
    Failure, print,
    remote::{self, ServerArgs},
    table::{self, OutputArgs, field, list, plain},
};

/// What to do about users.
#[derive(Debug, Args)]
pub(super) struct UsersArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all users.
    List {
        #[command(flatten)]
        at: ServerOptions,
    },
    /// Invite a person, and print the link where they set a password.
    Invite {
        /// The person's name.
        name: String,
        /// Their e-mail address, which they sign in with.
        email: String,
        /// What they may do: owner, operator, support or viewer.
        role: String,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        at: ServerOptions,
    },
    /// Invite a user who lost their password or device again, and print the link.
    Reset {
        /// The user: `usr_…` or the e-mail address.
        user: String,
        #[command(flatten)]
        at: ServerOptions,
    },
    /// Change what a user may do.
    Change {
        /// The user: `usr_…` or the e-mail address.
        user: String,
        /// What they may do: owner, operator, support or viewer.
        #[arg(long)]
        role: Option<String>,
        /// Whether they may not sign in: true or false.
        #[arg(long, value_name = "BOOL")]
        disabled: Option<bool>,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        at: ServerOptions,
    },
    /// Remove a user and end their sessions.
    Remove {
        /// The user: `usr_…` or the e-mail address.
        user: String,
        #[command(flatten)]
        at: ServerOptions,
    },
    /// List all sessions of the dashboard, or end one.
    Sessions {
        /// The session to end, `ses_…`.
        #[arg(long, value_name = "SESSION")]
        end: Option<String>,
        #[command(flatten)]
        at: ServerOptions,
    },
}

/// Options for a server, and for how its answer is printed.
#[derive(Debug, Args)]
struct ServerOptions {
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Action {
    const fn place(&self) -> &ServerOptions {
        match self {
            Self::List { at }
            | Self::Invite { at, .. }
            | Self::Reset { at, .. }
            | Self::Change { at, .. }
            | Self::Remove { at, .. }
            | Self::Sessions { at, .. } => at,
        }
    }
}

/// In which projects a user may act, and within which limits.
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
    let remote = args.action.place().server.administration()?;
    remote::wait(async {
        let path = |user: &str| format!("/users/{user}");
        let link = |user: &Value| print::line(&field(user, "invitationUrl"));
        match args.action {
            Action::List { at } => {
                let found: Value = remote.get("/users").await?;
                at.output.print(&found, |found| {
                    let columns = [
                        ("ID", "id"),
                        ("NAME", "name"),
                        ("E-MAIL", "email"),
                        ("ROLE", "role"),
                        ("STATUS", "status"),
                    ];
                    table::rows(list(found, "users"), &columns, "no users");
                });
            }
            Action::Invite {
                name,
                email,
                role,
                limits,
                at,
            } => {
                let mut body = Map::new();
                for (key, value) in [("name", name), ("email", email), ("role", role)] {
                    body.insert(key.into(), json!(value));
                }
                limits.add_to(&mut body);
                let invited: Value = remote.post("/users", &Value::Object(body)).await?;
                at.output.print(&invited, link);
            }
            Action::Reset { user, at } => {
                let path = format!("{}/invitation", path(&named(&remote, &user).await?));
                let invited: Value = remote.post(&path, &json!({})).await?;
                at.output.print(&invited, link);
            }
            Action::Change {
                user,
                role,
                disabled,
                limits,
                at,
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
                at.output.print(&changed, |user| {
                    let [name, role, status] = ["name", "role", "status"].map(|it| field(user, it));
                    print::line(&plain(&format!("{name} is {status}, role {role}")));
                });
            }
            Action::Remove { user, at } => {
                let path = path(&named(&remote, &user).await?);
                remote.accept(Method::DELETE, &path, None).await?;
                let done = json!({ "removed": true });
                at.output.print(&done, |_| {
                    print::line("the user was removed and is signed out")
                });
            }
            Action::Sessions {
                end: Some(session),
                at,
            } => {
                let path = format!("/sessions/{session}");
                remote.accept(Method::DELETE, &path, None).await?;
                let done = json!({ "ended": true });
                at.output.print(&done, |_| print::line("the session ended"));
            }
            Action::Sessions { end: None, at } => {
                let found: Value = remote.get("/sessions").await?;
                at.output.print(&found, |found| {
                    let columns = [
                        ("ID", "id"),
                        ("USER", "userId"),
                        ("ADDRESS", "address"),
                        ("SINCE", "createdAt"),
                        ("LAST SEEN", "lastSeenAt"),
                        ("BROWSER", "browser"),
                    ];
                    table::rows(list(found, "sessions"), &columns, "no sessions");
                });
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
