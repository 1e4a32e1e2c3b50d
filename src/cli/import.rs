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
    table::{OutputArgs, field, list},
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
    #[command(flatten)]
    output: OutputArgs,
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
        return remote::wait(stripe::run(args.stripe, &args.output));
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
        let report = json!({ "problems": problems(&bad.problems) });
        args.output.print(&report, |_| {});
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
    let say = |text: &str| {
        if !args.output.json {
            print::line(text);
        }
    };
    let products = described(&grants, &offer, say)?;
    for (count, why) in [(empty, "a balance of 0"), (expired, "expired")] {
        if count > 0 {
            say(&format!("{count} skipped: {why}"));
        }
    }
    let sent = match args.dry_run {
        true => Sent::default(),
        false => remote::wait(send(&server()?, &grants))?,
    };
    let report = json!({
        "products": products,
        "empty": empty,
        "expired": expired,
        "dryRun": args.dry_run,
        "granted": sent.granted,
        "alreadyGranted": sent.before,
        "problems": problems(&sent.failed),
    });
    args.output.print(&report, |_| {
        print::line(&match args.dry_run {
            true => "nothing was granted: this was a dry run".to_owned(),
            false => format!(
                "{} granted, {} already granted before",
                sent.granted, sent.before
            ),
        });
    });
    for (line, why) in &sent.failed {
        print::error(&format!("line {line}: {why}"));
    }
    match sent.failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(
            "some grants failed. Import the same file again once the cause is fixed: nothing is granted twice",
        )),
    }
}

/// What is to be granted of each product, in words and for programs.
fn described(
    grants: &[(ProductId, Grant)],
    offer: &[Value],
    say: impl Fn(&str),
) -> Result<Vec<Value>, Failure> {
    let mut products = Vec::new();
    for (product, (count, credits)) in totals(grants)? {
        say(&format!("{product}: {credits} credits in {count} grants"));
        let free = offer.iter().find(|of| field(of, "id") == product);
        let free = free.and_then(|of| of.pointer("/freeGrant/credits"));
        if let Some(free) = free {
            say(&format!(
                "{product} has a freeGrant: each imported wallet gets its {free} credits, too"
            ));
        }
        products.push(
            json!({ "productId": product, "grants": count, "credits": credits, "freeGrant": free }),
        );
    }
    Ok(products)
}

/// Lines with what is wrong with them, for programs.
fn problems(all: &[(u64, String)]) -> Vec<Value> {
    let all = all.iter();
    all.map(|(line, why)| json!({ "line": line, "message": why }))
        .collect()
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

/// What became of the grants that were sent.
#[derive(Default)]
struct Sent {
    granted: u64,
    before: u64,
    /// By lines of the file.
    failed: Vec<(u64, String)>,
}

async fn send(server: &ApiClient, grants: &[(ProductId, Grant)]) -> Result<Sent, Failure> {
    let bar = Bar::counting();
    let count = u64::try_from(grants.len()).unwrap_or(u64::MAX);
    let mut sent = Sent::default();
    let mut answers = stream::iter(grants)
        .map(|(product, grant)| async {
            let answer = credit(server, product, grant).await;
            (grant.line, answer)
        })
        .buffer_unordered(CONCURRENCY);
    while let Some((line, answer)) = answers.next().await {
        match answer {
            Ok(true) => sent.granted += 1,
            Ok(false) => sent.before += 1,
            Err(why) => sent.failed.push((line, why.to_string())),
        }
        // A cause that affects all grants is not shown for each.
        if sent.failed.len() >= MAX_PRINTED {
            break;
        }
        bar.at(sent.granted.saturating_add(sent.before), count);
    }
    bar.end();
    sent.failed.sort_unstable();
    Ok(sent)
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
