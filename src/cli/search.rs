//! `scrip search`: wallets, orders and ledger entries by an id, a name, an address or a key. `scrip orders`: a project's orders,
//! filtered, on the screen or as CSV.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::{
    Failure, print,
    project::RemoteArgs,
    remote,
    table::{self, Table, field, list, money, when},
};

/// What to look for.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    #[command(flatten)]
    find: FindArgs,
    /// Searches the ledger of this wallet, for the idempotency key of a request.
    #[arg(long, value_name = "WAL_ID")]
    wallet: Option<String>,
}

/// What to look for in a project.
#[derive(Debug, Args)]
pub(super) struct FindArgs {
    /// The beginning of a user's id, a recovery code, the id of a wallet, order, checkout or hold, the provider's id of a
    /// payment, invoice, subscription or customer, or a buyer's e-mail address.
    query: String,
    #[command(flatten)]
    at: RemoteArgs,
}

/// What to do with orders.
#[derive(Debug, Args)]
pub(super) struct OrdersArgs {
    #[command(subcommand)]
    action: OrdersAction,
}

#[derive(Debug, Subcommand)]
enum OrdersAction {
    /// List a project's orders, newest first.
    List(ListArgs),
    /// Show an order.
    Show {
        /// The order or its checkout, `ord_…` or `cs_…`.
        order: String,
        #[command(flatten)]
        at: RemoteArgs,
    },
}

/// Which orders to list.
#[derive(Debug, Args)]
struct ListArgs {
    /// pending, processing, paid, failed, refunded, disputed or expired.
    #[arg(long)]
    status: Option<String>,
    /// Only orders of this product.
    #[arg(long, value_name = "PROD_ID")]
    product: Option<String>,
    /// Only orders of the buyer with this address.
    #[arg(long)]
    email: Option<String>,
    /// Only orders placed then or later: a day or an instant in ISO 8601.
    #[arg(long, value_name = "INSTANT", value_parser = super::instant)]
    from: Option<String>,
    /// Only orders placed before.
    #[arg(long, value_name = "INSTANT", value_parser = super::instant)]
    to: Option<String>,
    /// Only orders of at least this amount, in the minor unit of their currency.
    #[arg(long, value_name = "CENTS")]
    min: Option<u64>,
    /// Only orders of at most this amount.
    #[arg(long, value_name = "CENTS")]
    max: Option<u64>,
    /// How many orders to list, at most 100.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    /// Prints all of them as CSV.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    at: RemoteArgs,
}

/// Finds wallets, orders and ledger entries.
pub(super) fn run(args: SearchArgs) -> Result<(), Failure> {
    let all = ["wallets", "orders", "entries"];
    remote::wait(find(args.find, args.wallet, &all))
}

/// Finds what is of one of these kinds.
pub(super) async fn find(
    args: FindArgs,
    wallet: Option<String>,
    kinds: &[&str],
) -> Result<(), Failure> {
    let project = args.at.project.open().await?;
    let mut query = vec![("projectId", project.id.clone()), ("query", args.query)];
    query.extend(wallet.map(|wallet| ("walletId", wallet)));
    let path = remote::with_query("/search", &query);
    let found: Value = project.remote.get(&path).await?;
    let count: usize = kinds.iter().map(|kind| list(&found, kind).len()).sum();
    if count == 0 {
        return Err(Failure::new("nothing was found"));
    }
    args.at.output.print(&found, |found| {
        for kind in kinds {
            let rows = list(found, kind);
            match *kind {
                _ if rows.is_empty() => {}
                "wallets" => wallets(rows),
                "orders" => orders(rows),
                _ => entries(rows),
            }
        }
    });
    Ok(())
}

/// Lists a project's orders, or shows one.
pub(super) fn run_orders(args: OrdersArgs) -> Result<(), Failure> {
    let args = match args.action {
        OrdersAction::List(args) => args,
        OrdersAction::Show { order, at } => {
            return remote::wait(async {
                let project = at.project.open().await?;
                let path = project.path(&format!("/orders/{order}"));
                let shown: Value = project.remote.get(&path).await?;
                at.output
                    .print(&shown, |order| orders(std::slice::from_ref(order)));
                Ok(())
            });
        }
    };
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
        let project = args.at.project.open().await?;
        let path = remote::with_query(&project.path("/orders"), &query);
        if args.csv {
            return project.remote.print_text(&path).await;
        }
        let page: Value = project.remote.get(&path).await?;
        args.at.output.print(&page, |page| {
            orders(list(page, "orders"));
            let totals = page.get("totals").cloned().unwrap_or_default();
            print::line(&format!("{} orders in all", field(&totals, "count")));
            for sum in list(&totals, "currencies") {
                let (paid, refunded) = (money(sum, "paidCents"), money(sum, "refundedCents"));
                print::line(&format!("{paid} paid, {refunded} of it refunded"));
            }
        });
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
    let columns = [
        ("WRITTEN", "createdAt"),
        ("ENTRY", "id"),
        ("REASON", "reason"),
        ("DELTA", "delta"),
        ("BALANCE", "balanceAfter"),
    ];
    table::rows(rows, &columns, "no entries");
}
