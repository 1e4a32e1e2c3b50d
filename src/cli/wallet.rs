//! `scrip wallet`: a look at a wallet, and a grant, found by any of its names.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    Failure, pages, print,
    project::{Project, ProjectArgs},
    remote,
    table::{self, Table, field, list, plain, when},
};

/// Not what was typed: it may be a recovery code.
const NOTHING: &str = "no wallet goes by that in this project";

/// What to do.
#[derive(Debug, Args)]
pub(super) struct WalletArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Finds wallets.
    Find(Look),
    /// Shows what a wallet holds.
    Show(Look),
    /// Shows how a wallet came to what it holds, newest first.
    Ledger(Ledger),
    /// Gives a wallet credits.
    Grant(Grant),
}

#[derive(Debug, Args)]
struct Look {
    #[command(flatten)]
    wallet: Named,
    /// For programs.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Named {
    /// Your own user's id, a recovery code, an order (`ord_…`, `cs_…`), the
    /// address that something was paid for under, or the wallet's REF.
    #[arg(value_name = "WALLET")]
    wallet: String,
    #[command(flatten)]
    project: ProjectArgs,
}

#[derive(Debug, Args)]
struct Ledger {
    #[command(flatten)]
    look: Look,
    /// How many entries at most.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only entries with this reason: purchase, deduction, free_grant, manual, refund, expiry.
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
struct Grant {
    #[command(flatten)]
    look: Look,
    /// How many credits.
    #[arg(value_parser = clap::value_parser!(i64).range(1..=9_007_199_254_740_991))]
    amount: i64,
    /// Of which product [default: the only one with credits].
    #[arg(long, value_name = "ID OR NAME")]
    product: Option<String>,
    /// Why, for the ledger (`meta.reason`).
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// When what is left of them expires, such as 2030-01-31T00:00:00.000Z [default: never].
    #[arg(long, value_name = "INSTANT")]
    expires_at: Option<String>,
    /// Names this grant: given again with the same key, nothing more is granted [default: a new one].
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// WALLET is a user of yours who may have no wallet yet: makes it.
    #[arg(long)]
    create: bool,
}

pub(super) fn run(args: WalletArgs) -> Result<(), Failure> {
    remote::wait(async {
        match args.verb {
            Verb::Find(look) => find(&look).await,
            Verb::Show(look) => show(&look).await,
            Verb::Ledger(ledger) => show_ledger(&ledger).await,
            Verb::Grant(grant) => give(&grant).await,
        }
    })
}

impl Named {
    async fn search(&self) -> Result<(Project, Value), Failure> {
        let project = self.project.open().await?;
        let query = [("query", self.wallet.as_str())];
        let found = project
            .remote
            .get_with(&project.path("/wallets"), &query)
            .await?;
        Ok((project, found))
    }

    /// The one wallet.
    async fn one(&self) -> Result<(Project, Value), Failure> {
        let (project, found) = self.search().await?;
        match list(&found, "wallets") {
            [wallet] => Ok((project, wallet.clone())),
            [] => Err(Failure(NOTHING.to_owned())),
            several => {
                let refs = several.iter().map(|wallet| {
                    format!("\n  {}  {}", field(wallet, "ref"), plain(&whose(wallet)))
                });
                Err(Failure(format!(
                    "several wallets go by that; name one by its REF:{}",
                    refs.collect::<String>()
                )))
            }
        }
    }
}

async fn find(look: &Look) -> Result<(), Failure> {
    let (_, found) = look.wallet.search().await?;
    if look.json {
        table::json(&found);
        return Ok(());
    }
    let mut table = Table::new(&["REF", "WHOSE", "WALLET", "CREDITS"]);
    for wallet in list(&found, "wallets") {
        let balances = list(wallet, "balances").iter();
        let balances =
            balances.map(|of| format!("{} {}", field(of, "balance"), field(of, "creditUnit")));
        table.row([
            field(wallet, "ref"),
            whose(wallet),
            field(wallet, "walletId"),
            balances.collect::<Vec<_>>().join(", "),
        ]);
    }
    table.print(NOTHING);
    Ok(())
}

async fn show(look: &Look) -> Result<(), Failure> {
    let (_, wallet) = look.wallet.one().await?;
    if look.json {
        table::json(&wallet);
        return Ok(());
    }
    for (name, value) in [
        ("ref", field(&wallet, "ref")),
        ("wallet", field(&wallet, "walletId")),
        ("whose", whose(&wallet)),
    ] {
        print::line(&format!("{name:<10}{}", plain(&value)));
    }
    let features = list(&wallet, "features").iter().filter_map(Value::as_str);
    let features = features.collect::<Vec<_>>().join(", ");
    if !features.is_empty() {
        print::line(&format!("features  {}", plain(&features)));
    }
    print::line("");
    let mut table = Table::new(&["BALANCE", "HELD", "UNIT", "PRODUCT", "EXPIRES NEXT"]);
    for balance in list(&wallet, "balances") {
        let next = balance.get("nextExpiry").cloned().unwrap_or_default();
        let next = match next {
            Value::Null => String::new(),
            next => format!("{} at {}", field(&next, "amount"), when(&next, "at")),
        };
        table.row([
            field(balance, "balance"),
            field(balance, "held"),
            field(balance, "creditUnit"),
            field(balance, "productId"),
            next,
        ]);
    }
    table.print("no credits were ever in it");
    if !list(&wallet, "subscriptions").is_empty() {
        print::line("");
        let mut table = Table::new(&["TIER", "STATUS", "UNTIL", "PRODUCT"]);
        for subscription in list(&wallet, "subscriptions") {
            let ends = subscription.get("cancelAtPeriodEnd").is_some();
            let status = field(subscription, "status");
            table.row([
                field(subscription, "label"),
                if ends {
                    format!("{status}, then ends")
                } else {
                    status
                },
                when(subscription, "currentPeriodEnd"),
                field(subscription, "productId"),
            ]);
        }
        table.print("");
    }
    Ok(())
}

async fn show_ledger(ledger: &Ledger) -> Result<(), Failure> {
    let (project, wallet) = ledger.look.wallet.one().await?;
    let path = project.path(&format!("/wallets/{}/ledger", field(&wallet, "ref")));
    let reason = ledger.reason.as_deref().map(|reason| ("reason", reason));
    let filters: Vec<_> = reason.into_iter().collect();
    let entries = pages::read(&project.remote, &path, &filters, ("entries", ledger.limit));
    let entries = entries.await?;
    if ledger.look.json {
        table::json(&json!({ "entries": entries }));
        return Ok(());
    }
    let mut table = Table::new(&["WHEN", "DELTA", "BALANCE", "UNIT", "REASON", "ABOUT"]);
    for entry in &entries {
        let about = ["meta", "orderId", "idempotencyKey"].map(|name| field(entry, name));
        table.row([
            when(entry, "createdAt"),
            field(entry, "delta"),
            field(entry, "balanceAfter"),
            field(entry, "creditUnit"),
            field(entry, "reason"),
            about
                .into_iter()
                .find(|about| !about.is_empty())
                .unwrap_or_default(),
        ]);
    }
    table.print("nothing in it");
    Ok(())
}

async fn give(grant: &Grant) -> Result<(), Failure> {
    let Grant { look, amount, .. } = grant;
    let named = &look.wallet;
    let (project, wallet) = if grant.create {
        let project = named.project.open().await?;
        let body = json!({ "externalUserId": named.wallet });
        let wallet = project
            .remote
            .post(&project.path("/wallets"), &body)
            .await?;
        (project, wallet)
    } else {
        named.one().await.map_err(|Failure(why)| {
            let hint = match why.starts_with("no wallet") {
                true => ". A user of yours who has none yet gets one with --create",
                false => "",
            };
            Failure(format!("{why}{hint}"))
        })?
    };
    let product = product(&project, grant.product.as_deref()).await?;
    let key = grant.key.clone();
    let key = key.unwrap_or_else(|| format!("cli-{}", Uuid::now_v7().simple()));
    let mut body = Map::from_iter([
        ("productId".to_owned(), json!(field(&product, "id"))),
        ("amount".to_owned(), json!(amount)),
        ("idempotencyKey".to_owned(), json!(key)),
    ]);
    if let Some(reason) = &grant.reason {
        body.insert("meta".into(), json!({ "reason": reason }));
    }
    if let Some(at) = &grant.expires_at {
        body.insert("expiresAt".into(), json!(at));
    }
    let path = project.path(&format!("/wallets/{}/credit", field(&wallet, "ref")));
    let done = project.remote.post(&path, &Value::Object(body)).await;
    let done: Value = done.map_err(|error: remote::Error| match error.may_pass() {
        // Whoever does not know whether it happened can find out without granting twice.
        true => Failure(format!(
            "{error} It may have been granted: to find out without granting twice, add --key {}",
            plain(&key)
        )),
        false => error.into(),
    })?;
    if look.json {
        table::json(&done);
        return Ok(());
    }
    let (unit, balance) = (
        plain(&field(&product, "creditUnit")),
        field(&done, "balance"),
    );
    let whose = plain(&whose(&wallet));
    print::line(&match done.get("credited") == Some(&Value::Bool(true)) {
        true => {
            format!("granted {amount} {unit} to {whose}: {balance} can be spent now (key {key})")
        }
        false => format!("granted before, by this key: {whose} has {balance} {unit} to spend"),
    });
    Ok(())
}

/// The product whose credits are granted.
async fn product(project: &Project, wanted: Option<&str>) -> Result<Value, Failure> {
    let all: Value = project.remote.get(&project.path("/products")).await?;
    let with_credits = list(&all, "products").iter();
    let with_credits = with_credits.filter(|product| !field(product, "creditUnit").is_empty());
    let fits = with_credits.clone().filter(|product| {
        wanted
            .is_none_or(|wanted| field(product, "id") == wanted || field(product, "name") == wanted)
    });
    match fits.collect::<Vec<_>>().as_slice() {
        [one] => Ok((*one).clone()),
        several => {
            let all = with_credits
                .map(|product| format!("{} ({})", field(product, "id"), field(product, "name")));
            let all = plain(&all.collect::<Vec<_>>().join(", "));
            Err(Failure(match (all.is_empty(), several.is_empty()) {
                (true, _) => "this project has no product with credits".into(),
                (_, true) => format!("no product with credits goes by that. There are: {all}"),
                (_, false) => format!("of which product? Name one by --product: {all}"),
            }))
        }
    }
}

/// Whose wallet it is, as far as that is known.
fn whose(wallet: &Value) -> String {
    match field(wallet, "externalUserId") {
        user if user.is_empty() => "whoever has its code".into(),
        user => user,
    }
}
