//! `scrip import`: balances from a CSV file, as manual grants, over the API of a running server. A grant's key
//! is the line's own, so a file may be imported again, also after it was cut off: what was granted is
//! not granted twice. Nothing is sent before all of the file is in order.

use std::{
    collections::{BTreeMap, HashMap},
    io::Read,
    path::PathBuf,
};

use clap::Args;
use domain::{
    Amount,
    id::ProductId,
    text::{ExternalUserId, IdempotencyKey},
};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::json;

use super::{
    Failure, print,
    progress::Bar,
    remote::{self, Error, KeyArgs, PlaceArgs, Remote},
};

/// Grants that are under way at a time.
const AT_ONCE: usize = 16;
/// Attempts for each while the server is busy or away.
const ATTEMPTS: u32 = 5;
/// What keys of imports begin with: none of the caller's own is taken for one.
const KEY_PREFIX: &str = "import:";
/// Problems of a file that are shown.
const SHOWN: usize = 20;

/// What to import, and where.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file: CSV with the columns externalUserId, productId, amount, key; `-`: standard input.
    #[arg(value_name = "BALANCES.CSV")]
    file: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    key: KeyArgs,
    /// Checks the file and says what would be granted, and grants nothing.
    #[arg(long)]
    dry_run: bool,
}

/// A line as it is in the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    external_user_id: String,
    product_id: String,
    amount: String,
    key: String,
}

/// What the server answers.
#[derive(Deserialize)]
struct Credited {
    credited: bool,
}

/// A grant to make.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Grant {
    /// Where it is in the file.
    line: u64,
    user: ExternalUserId,
    product: ProductId,
    amount: Amount,
    key: IdempotencyKey,
}

pub(super) fn run(args: ImportArgs) -> Result<(), Failure> {
    let name = args.file.display().to_string();
    let unreadable = |error| Failure(format!("{name} cannot be read: {error}"));
    let input: Box<dyn Read> = match name.as_str() {
        "-" => Box::new(std::io::stdin()),
        _ => Box::new(std::fs::File::open(&args.file).map_err(unreadable)?),
    };
    let grants = match read(input) {
        Ok(grants) => grants,
        Err(problems) => {
            for problem in problems.iter().take(SHOWN) {
                print::error(&format!("{name}: {problem}"));
            }
            return Err(Failure(format!(
                "{name} has {} problems, and nothing was granted",
                problems.len()
            )));
        }
    };
    for (product, (count, credits)) in totals(&grants)? {
        print::line(&format!("{product}: {credits} credits in {count} grants"));
    }
    if args.dry_run {
        print::line("nothing was granted: this was a dry run");
        return Ok(());
    }
    let server = args.key.api(&args.place)?;
    remote::wait(all(&server, &grants))
}

/// All grants of a file, or all that is wrong with it.
fn read(input: impl Read) -> Result<Vec<Grant>, Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(input);
    let (mut grants, mut problems) = (Vec::<Grant>::new(), Vec::new());
    // Two lines with one key are two grants by intention and one by effect.
    let mut seen: HashMap<(String, String), u64> = HashMap::new();
    let mut lines = reader.deserialize::<Line>();
    loop {
        let line = lines.reader().position().line();
        let Some(read) = lines.next() else { break };
        match read
            .map_err(|error| error.to_string())
            .and_then(|it| grant(line, &it))
        {
            Ok(grant) => {
                let key = (
                    grant.user.as_str().to_owned(),
                    grant.key.as_str().to_owned(),
                );
                match seen.insert(key, line) {
                    None => grants.push(grant),
                    Some(other) => problems.push(format!(
                        "line {line}: this user has the same key in line {other}"
                    )),
                }
            }
            Err(why) => problems.push(format!("line {line}: {why}")),
        }
    }
    match problems.is_empty() {
        true => Ok(grants),
        false => Err(problems),
    }
}

fn grant(line: u64, of: &Line) -> Result<Grant, String> {
    let amount = of.amount.parse().ok().and_then(Amount::new);
    Ok(Grant {
        line,
        user: ExternalUserId::new(of.external_user_id.clone())
            .map_err(|error| format!("externalUserId: {error}"))?,
        product: of
            .product_id
            .parse()
            .map_err(|_| "productId: it is none".to_owned())?,
        amount: amount.ok_or("amount: it is no positive whole number of credits")?,
        key: match of.key.is_empty() {
            true => return Err("key: it is empty".into()),
            false => IdempotencyKey::new(format!("{KEY_PREFIX}{}", of.key))
                .map_err(|error| format!("key: {error}"))?,
        },
    })
}

/// Grants and credits by product.
fn totals(grants: &[Grant]) -> Result<BTreeMap<String, (u64, i64)>, Failure> {
    let mut totals: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    for grant in grants {
        let (count, credits) = totals.entry(grant.product.to_string()).or_default();
        *count = count.saturating_add(1);
        *credits = credits
            .checked_add(grant.amount.get())
            .ok_or_else(|| Failure("the sum of all grants is too large".into()))?;
    }
    Ok(totals)
}

async fn all(server: &Remote, grants: &[Grant]) -> Result<(), Failure> {
    let bar = Bar::counting();
    let count = u64::try_from(grants.len()).unwrap_or(u64::MAX);
    let (mut granted, mut before, mut failed) = (0_u64, 0_u64, Vec::new());
    let mut answers = stream::iter(grants)
        .map(|grant| async {
            let answer = credit(server, grant).await;
            (grant.line, answer)
        })
        .buffer_unordered(AT_ONCE);
    while let Some((line, answer)) = answers.next().await {
        match answer {
            Ok(true) => granted = granted.saturating_add(1),
            Ok(false) => before = before.saturating_add(1),
            Err(why) => failed.push(format!("line {line}: {why}")),
        }
        // What all would meet is told once.
        if failed.len() >= SHOWN {
            break;
        }
        bar.at(granted.saturating_add(before), count);
    }
    bar.end();
    print::line(&format!("{granted} were granted, {before} had been before"));
    failed.sort_unstable();
    for why in &failed {
        print::error(why);
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure(
            "not all were granted. Import the same file again once the cause is gone: nothing is granted twice"
                .into(),
        )),
    }
}

/// Whether it was granted now; `false`: it had been before.
async fn credit(server: &Remote, grant: &Grant) -> Result<bool, Error> {
    let body = json!({
        "externalUserId": grant.user.as_str(),
        "productId": grant.product.to_string(),
        "amount": grant.amount.get(),
        "idempotencyKey": grant.key.as_str(),
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

    const HEAD: &str = "externalUserId,productId,amount,key\n";

    fn product() -> String {
        ProductId(7).to_string()
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let product = product();
        let file = format!(
            "{HEAD}ann,{product},5,a\n\"Bea, of \"\"B\"\"\",{product},9007199254740991,a\n"
        );
        let grants = read(file.as_bytes()).unwrap();
        assert_eq!(grants[1].user.as_str(), "Bea, of \"B\"");
        assert_eq!(grants[1].line, 3);
        assert_eq!(grants[0].key.as_str(), "import:a");
        let totals = totals(&grants).unwrap();
        assert_eq!(totals[&product], (2, 9_007_199_254_740_996));
    }

    #[test]
    fn every_line_that_is_wrong_is_named() {
        let product = product();
        for (line, named) in [
            (format!("ann,{product},5.0,b"), "amount"),
            (format!("ann,{product},0,b"), "amount"),
            (format!("ann,{product},-5,b"), "amount"),
            (format!("ann,{product},1e3,b"), "amount"),
            (format!("ann,{product},9007199254740992,b"), "amount"),
            ("ann,prod_x,5,b".to_owned(), "productId"),
            (format!(",{product},5,b"), "externalUserId"),
            (format!("ann,{product},5,"), "key"),
            (format!("ann,{product},5,{}", "k".repeat(255)), "key"),
            (format!("ann,{product},5"), "line 3"),
            (format!("ann,{product},6,a"), "same key in line 2"),
        ] {
            let file = format!("{HEAD}ann,{product},5,a\n{line}\nbea,{product},5,a\n");
            let problems = read(file.as_bytes()).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains("line 3"), "{problems:?}");
            assert!(problems[0].contains(named), "{problems:?}");
        }
        assert!(read("user,amount\nann,5\n".as_bytes()).is_err());
    }
}
