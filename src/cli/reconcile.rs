//! `scrip reconcile`: has the running server compare the payment providers' records with the orders, and prints
//! the result. Exits with 0 only if every cent belongs to an order, an unfulfilled payment or another product.

use std::time::Duration;

use clap::Args;
use dashboard::money::money;
use serde_json::json;
use web::admin::{
    reconciliation::{Reconciliation, Reconciliations},
    view::Projects,
};

use super::{
    Failure, print,
    remote::{self, ApiClient, ServerArgs},
};

/// How often the server is asked for the result.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// What to compare.
#[derive(Debug, Args)]
pub(super) struct ReconcileArgs {
    /// The project [default: all that have a provider].
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The start, a day or an instant in ISO 8601 [default: three days before the end].
    #[arg(long, value_name = "INSTANT", value_parser = super::instant)]
    from: Option<String>,
    /// The end, a day or an instant in ISO 8601 [default: now].
    #[arg(long, value_name = "INSTANT", value_parser = super::instant)]
    to: Option<String>,
    /// Prints JSON, for programs.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(args: &ReconcileArgs) -> Result<(), Failure> {
    let server = args.server.administration()?;
    remote::wait(async {
        let projects = match &args.project {
            Some(project) => vec![(project.clone(), project.clone())],
            None => {
                let Projects { projects } = server.get("/projects?archived=all").await?;
                let selling = projects.into_iter().filter(|it| it.provider.is_some());
                selling.map(|it| (it.id, it.name)).collect()
            }
        };
        let mut differences = 0_u64;
        for (id, name) in projects {
            let result = reconcile_one(&server, &id, args).await?;
            differences = differences.saturating_add(result.differences);
            if args.json {
                let text = json!({ "projectId": id, "reconciliation": result });
                print::line(&text.to_string());
            } else {
                print_result(&name, &result);
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
) -> Result<Reconciliation, Failure> {
    let path = format!("/projects/{project}/reconciliation");
    let request = json!({ "from": args.from, "to": args.to });
    let begun: Reconciliations = server.post(&path, &request).await?;
    let lost = || Failure("the server no longer knows this reconciliation".into());
    let began = match (begun.running, begun.last) {
        (Some(running), _) => running.started_at,
        (None, Some(last)) => last.started_at,
        (None, None) => {
            return Err(Failure(
                begun
                    .error
                    .unwrap_or_else(|| "the reconciliation did not start".into()),
            ));
        }
    };
    loop {
        let now: Reconciliations = server.get(&path).await?;
        if let Some(last) = now.last.filter(|last| last.started_at == began) {
            return Ok(last);
        }
        if now
            .running
            .is_none_or(|running| running.started_at != began)
        {
            return Err(now.error.map_or_else(lost, Failure));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn print_result(name: &str, result: &Reconciliation) {
    let Reconciliation {
        from,
        to,
        charges,
        refunds,
        disputes,
        corrected,
        ..
    } = result;
    let line = |text: String| print::line(&super::table::plain(&text));
    line(format!("{name}: {from} to {to}"));
    line(format!(
        "  {charges} charges, {refunds} refunds, {disputes} disputes; {corrected} were corrected by reading them again"
    ));
    for sum in &result.sums {
        let amount = |cents| money(cents, &sum.currency);
        line(format!(
            "  {} orders, {} unfulfilled, {} other products, {} differs",
            amount(sum.orders_cents),
            amount(sum.unfulfilled_cents),
            amount(sum.other_cents),
            amount(sum.differing_cents)
        ));
    }
    for found in &result.first_differences {
        let order = found.order_id.as_deref().unwrap_or("no order");
        let says = found.order_cents.map(|cents| money(cents, &found.currency));
        line(format!(
            "  DIFFERS {:<8} {} {order}: the provider says {}, the order {}",
            found.kind,
            found.id,
            money(found.provider_cents, &found.currency),
            says.as_deref().unwrap_or("nothing")
        ));
    }
    let all = u64::try_from(result.first_differences.len()).unwrap_or(u64::MAX);
    if result.differences > all {
        let more = result.differences.saturating_sub(all);
        line(format!("  and {more} more"));
    }
    if result.balanced {
        line("  it adds up".into());
    }
}
