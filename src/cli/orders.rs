//! `scrip orders`: a look at a project's orders.

use clap::{Args, Subcommand, ValueEnum};
use domain::id::OrderId;
use serde_json::Value;

use super::{
    Failure, pages, print,
    project::ProjectArgs,
    remote,
    table::{self, Table, field, money, plain, when},
};

/// What to look at.
#[derive(Debug, Args)]
pub(super) struct OrdersArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Lists the newest.
    List {
        /// How many at most.
        #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Only those that stand so.
        #[arg(long, value_enum)]
        status: Option<Status>,
        #[command(flatten)]
        project: ProjectArgs,
        /// For programs. Holds recovery codes.
        #[arg(long)]
        json: bool,
    },
    /// Shows one.
    Show {
        /// `ord_…` or the checkout's `cs_…`.
        #[arg(value_name = "ORDER")]
        order: String,
        #[command(flatten)]
        project: ProjectArgs,
        /// For programs.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    Pending,
    Paid,
    Failed,
    Refunded,
    Expired,
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Refunded => "refunded",
            Self::Expired => "expired",
        }
    }
}

pub(super) fn run(args: OrdersArgs) -> Result<(), Failure> {
    remote::wait(async {
        match args.verb {
            Verb::List {
                limit,
                status,
                project,
                json,
            } => show_all((limit, status), &project, json).await,
            Verb::Show {
                order,
                project,
                json,
            } => show(&order, &project, json).await,
        }
    })
}

async fn show_all(
    (limit, status): (u32, Option<Status>),
    project: &ProjectArgs,
    json: bool,
) -> Result<(), Failure> {
    let project = project.open().await?;
    let path = project.path("/orders");
    let filters: Vec<_> = status
        .iter()
        .map(|status| ("status", status.name()))
        .collect();
    let orders = pages::read(&project.remote, &path, &filters, ("orders", limit)).await?;
    if json {
        table::json(&serde_json::json!({ "orders": orders }));
        return Ok(());
    }
    let headings = ["PLACED", "STATUS", "KIND", "AMOUNT", "BUYER", "ORDER"];
    let mut table = Table::new(&headings);
    for order in &orders {
        let buyer = ["externalUserId", "customerEmail", "walletId"];
        let buyer = buyer.map(|name| field(order, name));
        table.row([
            when(order, "createdAt"),
            field(order, "status"),
            field(order, "kind"),
            money(order, "amountCents"),
            buyer
                .into_iter()
                .find(|who| !who.is_empty())
                .unwrap_or_default(),
            field(order, "id"),
        ]);
    }
    table.print(if status.is_none() {
        "no orders yet"
    } else {
        "no such orders"
    });
    Ok(())
}

async fn show(order: &str, project: &ProjectArgs, json: bool) -> Result<(), Failure> {
    // It goes into a path.
    let named = order.parse::<OrderId>().is_ok()
        || (order.starts_with("cs_")
            && order.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    if !named {
        return Err(Failure::new(
            "that names no order: give `ord_…`, or the checkout's `cs_…`, whole",
        ));
    }
    let project = project.open().await?;
    let path = project.path(&format!("/orders/{order}"));
    let order: Value = project.remote.get(&path).await?;
    if json {
        table::json(&order);
        return Ok(());
    }
    let payment = order.get("payment").cloned().unwrap_or_default();
    let refunded = match order.get("refundedCents").and_then(Value::as_i64) {
        None | Some(0) => String::new(),
        Some(_) => money(&order, "refundedCents"),
    };
    let lines = [
        ("order", field(&order, "id")),
        ("status", field(&order, "status")),
        ("kind", field(&order, "kind")),
        ("amount", money(&order, "amountCents")),
        ("refunded", refunded),
        ("placed", when(&order, "createdAt")),
        ("paid", when(&order, "paidAt")),
        ("user", field(&order, "externalUserId")),
        ("wallet", field(&order, "walletId")),
        ("e-mail", field(&order, "customerEmail")),
        ("product", field(&order, "productId")),
        ("price", field(&order, "priceId")),
        ("quantity", field(&order, "quantity")),
        ("balance", field(&order, "balance")),
        ("checkout", field(&order, "checkoutId")),
        ("provider", field(&payment, "provider")),
        ("payment", field(&payment, "paymentId")),
        ("receipt", field(&order, "receiptUrl")),
        ("invoice", field(&order, "invoiceUrl")),
    ];
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        print::line(&format!("{name:<10}{}", plain(value)));
    }
    Ok(())
}
