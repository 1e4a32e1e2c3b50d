//! `scrip import`: balances from a CSV file, as manual grants, or subscriptions that run in the project's
//! Stripe account (`stripe.rs`), over the API of a running server. A grant's idempotency key comes from its
//! line, so a file may be imported again, also after an interruption: nothing is granted twice. Nothing is sent
//! before the whole file is valid (`file.rs`).

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use domain::{Timestamp, id::ProductId};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::view::instant;

use self::file::{Grant, ImportFile, Product};
use super::{
    Failure, print,
    progress::Bar,
    remote::{self, ApiClient, Error, KeyArgs},
    table::{field, list},
};

mod file;
mod stripe;

/// Grants that are sent concurrently.
const CONCURRENCY: usize = 16;
/// Attempts per grant while the server is busy or unreachable.
const ATTEMPTS: u32 = 5;
/// Most problems that are printed.
const MAX_PRINTED: usize = 20;

/// What to import, and where.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Balances: CSV with the columns external_user_id, product (its id or name), balance, id (which
    /// identifies the row in your table), and optionally expires_at; `-` for standard input.
    #[arg(
        value_name = "BALANCES.CSV",
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    file: Option<PathBuf>,
    /// Imports the running subscriptions of this source instead of balances: without --apply it says which
    /// ones, and why not the others.
    #[arg(long, value_enum)]
    from: Option<Source>,
    #[command(flatten)]
    stripe: stripe::StripeArgs,
    #[command(flatten)]
    key: KeyArgs,
    /// Checks the file of balances and says what would be granted, but grants nothing.
    #[arg(long, conflicts_with = "from")]
    dry_run: bool,
}

/// A source of subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    /// The project's Stripe account.
    Stripe,
}

/// The server's response to a grant.
#[derive(Deserialize)]
struct Credited {
    credited: bool,
}

pub(super) fn run(args: ImportArgs) -> Result<(), Failure> {
    let Some(file) = &args.file else {
        return remote::wait(stripe::run(args.stripe));
    };
    let name = file.display().to_string();
    let unreadable = |error| Failure(format!("cannot read {name}: {error}"));
    let input = super::open(file).map_err(unreadable)?;
    let now = Timestamp(jiff::Timestamp::now().as_millisecond());
    let (lines, mut bad) = file::read(input, now);
    let server = || args.key.api(args.stripe.place());
    let is_needed = !bad.names.is_empty() || !args.dry_run && bad.problems.is_empty();
    let offer = match is_needed {
        true => server().and_then(|server| remote::wait(offered(&server))),
        false => Ok(Vec::new()),
    };
    let offer = match offer {
        Err(error) if bad.problems.is_empty() => return Err(error),
        Err(error) => {
            print::error(&format!("the names of products were not checked: {error}"));
            bad.names.clear();
            Vec::new()
        }
        Ok(offer) => offer,
    };
    let names = names_of(&offer);
    for (line, name) in &bad.names {
        if let Err(why) = resolved(name, &names) {
            bad.problems.push((*line, format!("product: {why}")));
        }
    }
    if !bad.problems.is_empty() {
        bad.problems.sort();
        for (line, why) in bad.problems.iter().take(MAX_PRINTED) {
            print::error(&format!("{name}: line {line}: {why}"));
        }
        let count = bad.problems.len();
        return Err(Failure(format!(
            "{name} has {count} problems; nothing was granted"
        )));
    }
    let ImportFile {
        grants,
        empty,
        expired,
    } = lines;
    let grants = grants.into_iter().filter_map(|grant| {
        let product = match &grant.product {
            Product::Id(id) => Ok(*id),
            // Checked above.
            Product::Named(name) => resolved(name, &names),
        };
        Some((product.ok()?, grant))
    });
    let grants: Vec<(ProductId, Grant)> = grants.collect();
    for (product, (count, credits)) in totals(&grants)? {
        print::line(&format!("{product}: {credits} credits in {count} grants"));
        let free = offer.iter().find(|of| field(of, "id") == product);
        if let Some(free) = free.and_then(|of| of.pointer("/freeGrant/credits")) {
            print::line(&format!(
                "{product} has a freeGrant: each imported wallet gets its {free} credits, too"
            ));
        }
    }
    for (count, why) in [(empty, "a balance of 0"), (expired, "expired")] {
        if count > 0 {
            print::line(&format!("{count} skipped: {why}"));
        }
    }
    if args.dry_run {
        print::line("nothing was granted: this was a dry run");
        return Ok(());
    }
    remote::wait(all(&server()?, &grants))
}

/// The project's products.
async fn offered(server: &ApiClient) -> Result<Vec<Value>, Failure> {
    let all: Value = server.get("/products").await?;
    Ok(list(&all, "products").to_vec())
}

/// Products by name; `None` where several have the same name.
fn names_of(offer: &[Value]) -> HashMap<String, Option<ProductId>> {
    let mut names = HashMap::new();
    for product in offer {
        names
            .entry(field(product, "name"))
            .and_modify(|id| *id = None)
            .or_insert_with(|| field(product, "id").parse().ok());
    }
    names
}

/// The product that a name means.
fn resolved(
    name: &str,
    names: &HashMap<String, Option<ProductId>>,
) -> Result<ProductId, &'static str> {
    match names.get(name) {
        Some(Some(id)) => Ok(*id),
        Some(None) => Err("several active products have this name; give its id"),
        None => Err("the project has no active product of this name; give its id instead"),
    }
}

/// Number of grants and sum of credits by product.
fn totals(grants: &[(ProductId, Grant)]) -> Result<BTreeMap<String, (u64, i64)>, Failure> {
    let mut totals: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    for (product, grant) in grants {
        let (count, credits) = totals.entry(product.to_string()).or_default();
        *count = count.saturating_add(1);
        *credits = credits
            .checked_add(grant.amount.get())
            .ok_or_else(|| Failure("the sum of all grants is too large".into()))?;
    }
    Ok(totals)
}

async fn all(server: &ApiClient, grants: &[(ProductId, Grant)]) -> Result<(), Failure> {
    let bar = Bar::counting();
    let count = u64::try_from(grants.len()).unwrap_or(u64::MAX);
    let (mut granted, mut before, mut failed) = (0_u64, 0_u64, Vec::new());
    let mut answers = stream::iter(grants)
        .map(|(product, grant)| async {
            let answer = credit(server, product, grant).await;
            (grant.line, answer)
        })
        .buffer_unordered(CONCURRENCY);
    while let Some((line, answer)) = answers.next().await {
        match answer {
            Ok(true) => granted = granted.saturating_add(1),
            Ok(false) => before = before.saturating_add(1),
            Err(why) => failed.push(format!("line {line}: {why}")),
        }
        // A cause that affects all grants is not shown for each.
        if failed.len() >= MAX_PRINTED {
            break;
        }
        bar.at(granted.saturating_add(before), count);
    }
    bar.end();
    print::line(&format!(
        "{granted} granted, {before} already granted before"
    ));
    failed.sort_unstable();
    for why in &failed {
        print::error(why);
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure(
            "some grants failed. Import the same file again once the cause is fixed: nothing is granted twice"
                .into(),
        )),
    }
}

/// Grants credits. `true`: granted now; `false`: it had been granted before.
async fn credit(server: &ApiClient, product: &ProductId, grant: &Grant) -> Result<bool, Error> {
    let body = json!({
        "externalUserId": grant.user.as_str(),
        "productId": product.to_string(),
        "amount": grant.amount.get(),
        "idempotencyKey": grant.key.as_str(),
        "expiresAt": grant.expires_at.map(instant),
    });
    let mut wait = std::time::Duration::from_millis(200);
    let mut left = ATTEMPTS;
    loop {
        left = left.saturating_sub(1);
        match server.post::<Credited>("/credit", &body).await {
            Ok(Credited { credited }) => return Ok(credited),
            Err(error) if left == 0 || !error.may_pass() => return Err(error),
            Err(_) => {}
        }
        tokio::time::sleep(wait).await;
        wait = wait.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_has_its_name_for_itself() {
        let offered = |name, id| json!({ "id": ProductId(id).to_string(), "name": name });
        let names = names_of(&[
            offered("Images", 7),
            offered("Tokens", 8),
            offered("Tokens", 9),
        ]);
        assert_eq!(resolved("Images", &names), Ok(ProductId(7)));
        assert!(resolved("Tokens", &names).unwrap_err().contains("several"));
        assert!(resolved("Words", &names).unwrap_err().contains("no active"));
    }
}
