//! `scrip reconcile`: has the running server compare the payment providers' records with the orders, and prints
//! the result. Exits with 0 only if every cent belongs to an order, an unfulfilled payment or another product.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::{
    Failure, api, print,
    remote::{self, ApiClient, ServerArgs},
    table::{OutputArgs, field, list},
};

/// How often the server is asked for the result.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// What to compare.
#[derive(Debug, Args)]
pub(super) struct ReconcileArgs {
    /// The project [default: all that have a provider].
    #[arg(long, value_name = "ID OR NAME")]
    project: Option<String>,
    /// The start, a day or an instant in ISO 8601 [default: three days before the end].
    #[arg(long, value_name = "INSTANT", value_parser = super::instant)]
    from: Option<String>,
    /// The end, a day or an instant in ISO 8601 [default: now].
    #[arg(long, value_name = "INSTANT", value_parser = super::instant)]
    to: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(args: &ReconcileArgs) -> Result<(), Failure> {
    let server = args.server.administration()?;
    remote::wait(async {
        let all: Value = server.get("/projects?archived=all").await?;
        let projects = list(&all, "projects")
            .iter()
            .filter(|it| match &args.project {
                Some(project) => ["id", "name"]
                    .iter()
                    .any(|name| field(it, name) == *project),
                None => !field(it, "provider").is_empty(),
            });
        let projects: Vec<&Value> = projects.collect();
        if let (Some(project), []) = (&args.project, projects.as_slice()) {
            return Err(Failure(format!("no project is called \"{project}\"")));
        }
        let mut differences = 0_u64;
        for project in projects {
            let id = field(project, "id");
            let result = reconcile_one(&server, &id, args).await?;
            let found = result.get("differences").and_then(Value::as_u64);
            differences = differences.saturating_add(found.unwrap_or_default());
            let whole = json!({ "projectId": id, "reconciliation": result });
            match args.output.json {
                // A project a line.
                true => print::line(&whole.to_string()),
                false => {
                    print::line(&format!(
                        "{}:",
                        super::table::plain(&field(project, "name"))
                    ));
                    api::print_answer("Reconciliation", &result);
                }
            }
        }
        match differences {
            0 => Ok(()),
            1 => Err(Failure("1 difference".into())),
            many => Err(Failure(format!("{many} differences"))),
        }
    })
}

/// Starts a reconciliation, and waits for its result.
async fn reconcile_one(
    server: &ApiClient,
    project: &str,
    args: &ReconcileArgs,
) -> Result<Value, Failure> {
    let path = format!("/projects/{project}/reconciliation");
    let request = json!({ "from": args.from, "to": args.to });
    let begun: Value = server.post(&path, &request).await?;
    let part = |of: &Value, name: &str| of.get(name).filter(|it| it.is_object()).cloned();
    let failed = |of: &Value| match field(of, "error") {
        error if error.is_empty() => Failure::new("the server no longer knows this reconciliation"),
        error => Failure(error),
    };
    let began = part(&begun, "running").or_else(|| part(&begun, "last"));
    let began = field(&began.ok_or_else(|| failed(&begun))?, "startedAt");
    let is_it = |result: &Value| field(result, "startedAt") == began;
    loop {
        let now: Value = server.get(&path).await?;
        if let Some(last) = part(&now, "last").filter(is_it) {
            return Ok(last);
        }
        if part(&now, "running").filter(is_it).is_none() {
            return Err(failed(&now));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
