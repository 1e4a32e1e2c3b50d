//! `scrip reconcile`: has the running server hold the payment providers' books against the orders, and prints
//! what it comes to. Succeeds only where every cent is an order's, an unfulfilled payment's or another product's.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::{
    Failure, print,
    remote::{self, Remote, ServerArgs},
};
use crate::{
    admin::{
        reconciliation::{Reconciliation, Reconciliations},
        view::Projects,
    },
    dashboard::money::money,
};

/// How often the server is asked how it goes.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// What to hold against each other.
#[derive(Debug, Args)]
pub(super) struct ReconcileArgs {
    /// The project [default: all that sell].
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// From when on: a day, or an ISO 8601 instant [default: three days before the end].
    #[arg(long, value_name = "INSTANT")]
    from: Option<String>,
    /// Until when [default: now].
    #[arg(long, value_name = "INSTANT")]
    to: Option<String>,
    /// For programs.
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
                let Projects { projects } = server.get("/projects").await?;
                let selling = projects.into_iter().filter(|it| it.provider.is_some());
                selling.map(|it| (it.id, it.name)).collect()
            }
        };
        let mut differences = 0_u64;
        for (id, name) in projects {
            let made = made(&server, &id, args).await?;
            differences = differences.saturating_add(made.differences);
            if args.json {
                let text = json!({ "projectId": id, "reconciliation": made });
                print::line(&text.to_string());
            } else {
                said(&name, &made);
            }
        }
        match differences {
            0 => Ok(()),
            1 => Err(Failure("1 difference".into())),
            many => Err(Failure(format!("{many} differences"))),
        }
    })
}

/// Has one made, and waits for its end.
async fn made(
    server: &Remote,
    project: &str,
    args: &ReconcileArgs,
) -> Result<Reconciliation, Failure> {
    let path = format!("/projects/{project}/reconciliation");
    let asked = json!({ "from": instant(args.from.as_deref()), "to": instant(args.to.as_deref()) });
    let begun: Reconciliations = server.post(&path, &asked).await?;
    let lost = || Failure("the server does not know this reconciliation any more".into());
    let began = match (begun.running, begun.last) {
        (Some(running), _) => running.started_at,
        (None, Some(last)) => last.started_at,
        (None, None) => {
            return Err(Failure(
                begun.error.unwrap_or_else(|| "it did not begin".into()),
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
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// A day begins at its midnight, UTC.
fn instant(text: Option<&str>) -> Option<String> {
    text.map(|text| match text.contains('T') {
        true => text.to_owned(),
        false => format!("{text}T00:00:00Z"),
    })
}

fn said(name: &str, made: &Reconciliation) {
    let Reconciliation {
        from,
        to,
        charges,
        refunds,
        disputes,
        mended,
        ..
    } = made;
    let line = |text: String| print::line(&super::table::plain(&text));
    line(format!("{name}: {from} to {to}"));
    line(format!(
        "  {charges} charges, {refunds} refunds, {disputes} disputes; {mended} were mended by looking again"
    ));
    for sum in &made.sums {
        let of = |cents| money(cents, &sum.currency);
        line(format!(
            "  {} orders, {} unfulfilled, {} other products, {} differs",
            of(sum.orders_cents),
            of(sum.unfulfilled_cents),
            of(sum.other_cents),
            of(sum.differing_cents)
        ));
    }
    for found in &made.found {
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
    let all = u64::try_from(made.found.len()).unwrap_or(u64::MAX);
    if made.differences > all {
        let more = made.differences.saturating_sub(all);
        line(format!("  and {more} more"));
    }
    if made.adds_up {
        line("  it adds up".into());
    }
}
