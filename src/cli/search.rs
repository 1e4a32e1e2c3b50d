//! `scrip search`: wallets, orders and ledger entries by anything that is known of them. `scrip orders`: a project's orders,
//! filtered, on the screen or as CSV.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::{
    Failure, print,
    project::ProjectArgs,
    remote,
    table::{self, Table, field, list, money, when},
};

/// What to look for.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// A user's id or how it begins, a recovery code, a wallet, order, checkout or hold, what the payment provider calls
    /// a payment, invoice, subscription or customer, or a buyer's e-mail address. With --wallet: the key of a request.
    query: String,
    /// Only ledger entries of this wallet, by the key of the request that wrote them.
    #[arg(long, value_name = "WAL_ID")]
    wallet: Option<String>,
    /// Print what the server answered as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

/// What to do with orders.
#[derive(Debug, Args)]
pub(super) struct OrdersArgs {
    #[command(subcommand)]
    action: OrdersAction,
}

#[derive(Debug, Subcommand)]
enum OrdersAction {
    /// Lists a project's orders, newest first.
    List(ListArgs),
}

/// Which orders to list.
#[derive(Debug, Args)]
struct ListArgs {
    /// pending, processing, paid, failed, refunded or expired.
    #[arg(long)]
    status: Option<String>,
    /// Only orders of this product.
    #[arg(long, value_name = "PROD_ID")]
    product: Option<String>,
    /// Only orders of the buyer with this address.
    #[arg(long)]
    email: Option<String>,
    /// Only orders placed at this instant or later, such as 2027-01-31T00:00:00Z.
    #[arg(long, value_name = "INSTANT")]
    from: Option<String>,
    /// Only orders placed before this instant.
    #[arg(long, value_name = "INSTANT")]
    to: Option<String>,
    /// Only orders of at least this amount, in the minor unit of their currency.
    #[arg(long, value_name = "CENTS")]
    min: Option<u64>,
    /// Only orders of at most this amount.
    #[arg(long, value_name = "CENTS")]
    max: Option<u64>,
    /// How many orders to list, at most 100.
    #[arg(long, default_value_t = 25)]
    limit: u8,
    /// Print all of them as CSV.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print what the server answered as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

/// Finds wallets, orders and ledger entries.
pub(super) fn run(args: SearchArgs) -> Result<(), Failure> {
    find(args, &["wallets", "orders", "entries"])
}

/// Finds wallets alone.
pub(super) fn run_wallets(args: SearchArgs) -> Result<(), Failure> {
    find(args, &["wallets"])
}

fn find(args: SearchArgs, kinds: &[&str]) -> Result<(), Failure> {
    let found: Value = remote::wait(async {
        let project = args.project.open().await?;
        let mut query = vec![("projectId", project.id.clone()), ("query", args.query)];
        query.extend(args.wallet.map(|wallet| ("walletId", wallet)));
        let path = remote::with_query("/search", &query);
        Ok(project.remote.get(&path).await?)
    })?;
    let count: usize = kinds.iter().map(|kind| list(&found, kind).len()).sum();
    if count == 0 {
        return Err(Failure::new("nothing was found"));
    }
    if args.json {
        table::json(&found);
        return Ok(());
    }
    for kind in kinds {
        let rows = list(&found, kind);
        if rows.is_empty() {
            continue;
        }
        match *kind {
            "wallets" => wallets(rows),
            "orders" => orders(rows),
            _ => entries(rows),
        }
    }
    Ok(())
}

/// Lists a project's orders.
pub(super) fn run_orders(args: OrdersArgs) -> Result<(), Failure> {
    let OrdersAction::List(args) = args.action;
    let filters = [
        ("status", args.status),
        ("productId", args.product),
        ("email", args.email),
        ("from", args.from),
        ("to", args.to),
        ("minCents", args.min.map(|cents| cents.to_string())),
        ("maxCents", args.max.map(|cents| cents.to_string())),
        ("limit", Some(args.limit.to_string())),
        ("format", args.csv.then(|| "csv".to_owned())),
        ("totals", (!args.csv).then(|| "true".to_owned())),
    ];
    let filters = filters.into_iter();
    let query: Vec<_> = filters
        .filter_map(|(name, text)| Some((name, text?)))
        .collect();
    remote::wait(async {
        let project = args.project.open().await?;
        let path = remote::with_query(&project.path("/orders"), &query);
        if args.csv {
            return project.remote.print_text(&path).await;
        }
        let page: Value = project.remote.get(&path).await?;
        if args.json {
            table::json(&page);
            return Ok(());
        }
        orders(list(&page, "orders"));
        let totals = page.get("totals").cloned().unwrap_or_default();
        print::line(&format!("{} orders in all", field(&totals, "count")));
        for sum in list(&totals, "currencies") {
            let (paid, refunded) = (money(sum, "paidCents"), money(sum, "refundedCents"));
            print::line(&format!("{paid} paid, {refunded} of it refunded"));
        }
        Ok(())
    })
}

fn wallets(rows: &[Value]) {
    let mut table = Table::new(&["WALLET", "USER", "BALANCES", "LAST USED"]);
    for wallet in rows {
        let balances = list(wallet, "balances").iter();
        let balances =
            balances.map(|it| format!("{} {}", field(it, "balance"), field(it, "creditUnit")));
        table.row([
            field(wallet, "walletId"),
            field(wallet, "externalUserId"),
            balances.collect::<Vec<_>>().join(", "),
            when(wallet, "lastUsedAt"),
        ]);
    }
    table.print("no wallets");
}

fn orders(rows: &[Value]) {
    let mut table = Table::new(&["PLACED", "ORDER", "STATUS", "AMOUNT", "USER", "BUYER"]);
    for order in rows {
        let is_processing = order.get("processing").and_then(Value::as_bool);
        let status = match is_processing {
            Some(true) => "processing".to_owned(),
            _ => field(order, "status"),
        };
        table.row([
            when(order, "createdAt"),
            field(order, "id"),
            status,
            money(order, "amountCents"),
            field(order, "externalUserId"),
            field(order, "customerEmail"),
        ]);
    }
    table.print("no orders");
}

fn entries(rows: &[Value]) {
    let mut table = Table::new(&["WRITTEN", "ENTRY", "REASON", "DELTA", "BALANCE"]);
    for entry in rows {
        table.row([
            when(entry, "createdAt"),
            field(entry, "id"),
            field(entry, "reason"),
            field(entry, "delta"),
            field(entry, "balanceAfter"),
        ]);
    }
    table.print("no entries");
}
