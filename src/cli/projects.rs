//! `scrip projects`: which there are, and a new one.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{
    Failure, print,
    remote::{self, ServerArgs},
    table::{self, Table, field, list, when},
};

/// What to do about projects.
#[derive(Debug, Args)]
pub(super) struct ProjectsArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Lists them.
    List {
        #[command(flatten)]
        server: ServerArgs,
        /// For programs.
        #[arg(long)]
        json: bool,
    },
    /// Makes one, with a key of each kind. The secret key is shown only now.
    Make {
        /// What it is called.
        name: String,
        /// How its wallets are addressed.
        #[arg(long, value_enum, default_value = "credit_codes")]
        mode: Mode,
        #[command(flatten)]
        server: ServerArgs,
        /// For programs.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Mode {
    CreditCodes,
    ExternalUsers,
}

pub(super) fn run(args: ProjectsArgs) -> Result<(), Failure> {
    remote::wait(async {
        match args.verb {
            Verb::List { server, json } => {
                let all: Value = server.administration()?.get("/projects").await?;
                if json {
                    table::json(&all);
                    return Ok(());
                }
                let mut table = Table::new(&["ID", "NAME", "MODE", "PROVIDER", "MADE"]);
                for project in list(&all, "projects") {
                    let provider = project.get("provider").map(|of| field(of, "kind"));
                    table.row([
                        field(project, "id"),
                        field(project, "name"),
                        field(project, "mode"),
                        provider
                            .filter(|kind| !kind.is_empty())
                            .unwrap_or("none".into()),
                        when(project, "createdAt"),
                    ]);
                }
                table.print("there is no project yet: `scrip projects make NAME` makes one");
            }
            Verb::Make {
                name,
                mode,
                server,
                json,
            } => {
                let mode = mode
                    .to_possible_value()
                    .map(|mode| mode.get_name().to_owned());
                let body = json!({ "name": name, "mode": mode });
                let made: Value = server.administration()?.post("/projects", &body).await?;
                if json {
                    table::json(&made);
                    return Ok(());
                }
                print::line(&format!("project          {}", field(&made, "id")));
                print::line(&format!(
                    "publishable key  {}",
                    field(&made, "publishableKey")
                ));
                print::line(&format!(
                    "secret key       {}  (shown only now)",
                    field(&made, "secretKey")
                ));
            }
        }
        Ok(())
    })
}
