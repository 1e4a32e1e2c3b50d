//! Reads a file of balances, whole or not at all: every line with an error is reported.

use std::{collections::HashMap, io::Read as Input};

use domain::{
    Amount, Timestamp,
    id::ProductId,
    text::{ExternalUserId, IdempotencyKey},
};
use serde::Deserialize;

/// Prefix of an import's idempotency keys, so that they cannot collide with the caller's own.
const KEY_PREFIX: &str = "import:";

/// A line as in the file. Columns may have the API's names or a table's.
#[derive(Debug, Deserialize)]
struct ImportRow {
    #[serde(alias = "externalUserId")]
    external_user_id: String,
    #[serde(alias = "productId", alias = "product_id")]
    product: String,
    #[serde(alias = "amount")]
    balance: String,
    #[serde(alias = "key")]
    id: String,
    #[serde(alias = "expiresAt", default)]
    expires_at: Option<String>,
}

impl ImportRow {
    /// Without space around what is no name of the caller's own.
    fn trimmed(mut self) -> Self {
        for text in [&mut self.product, &mut self.balance, &mut self.id] {
            *text = text.trim().to_owned();
        }
        self.expires_at = self.expires_at.map(|text| text.trim().to_owned());
        self
    }
}

/// A product as the file names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Product {
    Id(ProductId),
    /// By name, which only the server can resolve.
    Named(String),
}

/// A grant to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grant {
    /// The line's number in the file.
    pub(super) line: u64,
    pub(super) user: ExternalUserId,
    pub(super) product: Product,
    pub(super) amount: Amount,
    pub(super) key: IdempotencyKey,
    pub(super) expires_at: Option<Timestamp>,
}

/// The result of reading a file.
#[derive(Debug, Default)]
pub(super) struct ImportFile {
    pub(super) grants: Vec<Grant>,
    /// Number of lines with a balance of 0, and of lines that have expired.
    pub(super) empty: u64,
    pub(super) expired: u64,
}

/// What is wrong with a file, or may be.
#[derive(Debug, Default)]
pub(super) struct BadFile {
    /// The lines with an error, with all errors of each.
    pub(super) problems: Vec<(u64, String)>,
    /// The names of products in all lines, also in those: only the server knows whether they are right.
    pub(super) names: Vec<(u64, String)>,
}

/// Reads the whole file, with all errors in it. A user's id is taken as it is: spaces in it count.
pub(super) fn read(mut input: impl Input, now: Timestamp) -> (ImportFile, BadFile) {
    let (mut read, mut bad) = (ImportFile::default(), BadFile::default());
    let mut bytes = Vec::new();
    if let Err(error) = input.read_to_end(&mut bytes) {
        bad.problems.push((1, error.to_string()));
        return (read, bad);
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::Headers)
        .delimiter(delimiter(&bytes))
        .from_reader(bytes.as_slice());
    if let Some(missing) = missing_column(&mut reader) {
        let why = format!("no column is called {missing}: the first line has to name the columns");
        bad.problems.push((1, why));
        return (read, bad);
    }
    // With the same key only the first of two grants would be made, which is hardly what the file means.
    let mut seen: HashMap<(String, String), u64> = HashMap::new();
    let mut lines = reader.deserialize::<ImportRow>();
    loop {
        let before = lines.reader().position().byte();
        let Some(text) = lines.next() else { break };
        let line = line_at(&bytes, before);
        let row = match text {
            Ok(row) => row.trimmed(),
            Err(error) => {
                bad.problems.push((line, unreadable(&error)));
                continue;
            }
        };
        if let Ok(Product::Named(name)) = product(&row.product) {
            bad.names.push((line, name));
        }
        match grant(line, &row) {
            Ok(grant) => {
                let key = (row.external_user_id, row.id);
                match (seen.insert(key, line), grant) {
                    (Some(other), _) => {
                        let why = format!("this user has the same key in line {other}");
                        bad.problems.push((line, why));
                    }
                    (None, None) => read.empty = read.empty.saturating_add(1),
                    (None, Some(grant)) if grant.expires_at.is_some_and(|at| at <= now) => {
                        read.expired = read.expired.saturating_add(1);
                    }
                    (None, Some(grant)) => read.grants.push(grant),
                }
            }
            Err(wrong) => {
                let wrong = wrong.into_iter().map(|why| (line, why));
                bad.problems.extend(wrong);
            }
        }
    }
    (read, bad)
}

/// A column that a file has to have and does not.
fn missing_column(reader: &mut csv::Reader<&[u8]>) -> Option<&'static str> {
    const COLUMNS: [&[&str]; 4] = [
        &["external_user_id", "externalUserId"],
        &["product", "productId", "product_id"],
        &["balance", "amount"],
        &["id", "key"],
    ];
    let head = reader.headers().ok()?;
    let mut missing = COLUMNS.into_iter();
    let missing = missing.find(|names| !head.iter().any(|name| names.contains(&name)));
    missing.and_then(|names| names.first().copied())
}

/// Why a line is not read.
fn unreadable(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("it has {len} columns, and the first line names {expected_len}"),
        csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
        _ => error.to_string(),
    }
}

/// What separates the columns: of those that spreadsheets write, the one that the head has most of.
pub(super) fn delimiter(file: &[u8]) -> u8 {
    let head = file.split(|byte| matches!(byte, b'\n' | b'\r')).next();
    let count = |mark: u8| {
        let marks = head.into_iter().flatten();
        marks.filter(|byte| **byte == mark).count()
    };
    let mut best = b',';
    for other in [b';', b'\t'] {
        if count(other) > count(best) {
            best = other;
        }
    }
    best
}

/// The number of the line that a record begins in. The reader's own count lags behind where lines end in CR LF:
/// the LF belongs to the next record then.
fn line_at(file: &[u8], before: u64) -> u64 {
    let before = usize::try_from(before).unwrap_or(usize::MAX);
    let (read, rest) = file.split_at_checked(before).unwrap_or((file, &[]));
    let ends = rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
    let ends = ends.chain(read).filter(|byte| **byte == b'\n').count();
    u64::try_from(ends).unwrap_or(u64::MAX).saturating_add(1)
}

fn product(text: &str) -> Result<Product, String> {
    match text.parse() {
        Ok(id) => Ok(Product::Id(id)),
        Err(_) if text.is_empty() || text.starts_with(ProductId::PREFIX) => {
            Err("product: neither an id nor a name".into())
        }
        Err(_) => Ok(Product::Named(text.to_owned())),
    }
}

/// A line's grant, or all that is wrong with it; `None`: its balance is 0.
fn grant(line: u64, row: &ImportRow) -> Result<Option<Grant>, Vec<String>> {
    let mut wrong = Vec::new();
    let user = ExternalUserId::new(row.external_user_id.clone());
    let user = user.map_err(|error| wrong.push(format!("external_user_id: {error}")));
    let product = product(&row.product).map_err(|why| wrong.push(why));
    let key = match row.id.is_empty() {
        true => Err("key: must not be empty".to_owned()),
        false => IdempotencyKey::new(format!("{KEY_PREFIX}{}", row.id))
            .map_err(|error| format!("key: {error}")),
    };
    let key = key.map_err(|why| wrong.push(why));
    let expires_at = expiry(row.expires_at.as_deref().unwrap_or_default());
    let expires_at = expires_at.map_err(|why| wrong.push(why));
    let balance: Option<i64> = row.balance.parse().ok();
    let amount = balance.and_then(Amount::new);
    if amount.is_none() && balance != Some(0) {
        // Three zeros would be thousands to some.
        let mut ends = [".00", ",00", ".0", ",0", "."].into_iter();
        let whole = ends.find_map(|end| row.balance.strip_suffix(end)?.parse::<u64>().ok());
        let hint = whole.map_or_else(String::new, |whole| format!(": write {whole}"));
        wrong.push(format!(
            "balance: must be a whole number of credits, 0 or more{hint}"
        ));
    }
    match (user, product, key, expires_at) {
        (Ok(user), Ok(product), Ok(key), Ok(expires_at)) if wrong.is_empty() => {
            Ok(amount.map(|amount| Grant {
                line,
                user,
                product,
                amount,
                key,
                expires_at,
            }))
        }
        _ => Err(wrong),
    }
}

/// Parses an expiry with an offset from UTC, as in ISO 8601 or as databases write it.
fn expiry(text: &str) -> Result<Option<Timestamp>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let instant: Result<jiff::Timestamp, _> = text.parse();
    let instant = instant.map_err(|_| "expires_at: must be an instant with an offset from UTC")?;
    Ok(Some(Timestamp(instant.as_millisecond())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "externalUserId,productId,amount,key\n";

    fn product() -> String {
        ProductId(7).to_string()
    }

    fn of(text: &str) -> Result<ImportFile, Vec<String>> {
        let (read, bad) = read(text.as_bytes(), Timestamp(1_795_000_000_000));
        let line = |(line, why)| format!("line {line}: {why}");
        match bad.problems.is_empty() {
            true => Ok(read),
            false => Err(bad.problems.into_iter().map(line).collect()),
        }
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let product = product();
        let file =
            format!("{HEAD}ann,{product},5,a\n\"Bea, of \"\"B\"\"\",Images,9007199254740991,a\n");
        let grants = of(&file).unwrap().grants;
        assert_eq!(grants[0].product, Product::Id(ProductId(7)));
        assert_eq!(grants[0].key.as_str(), "import:a");
        assert_eq!(grants[1].user.as_str(), "Bea, of \"B\"");
        assert_eq!(grants[1].product, Product::Named("Images".into()));
        assert_eq!(grants[1].line, 3);
    }

    #[test]
    fn a_tables_own_columns_do_and_what_is_empty_or_over_is_counted() {
        let head = "id,external_user_id,product,balance,expires_at,note\n";
        let file = format!(
            "{head}1,ann,Images,5,,x\n2,bea,Images,0,,\n3,cid,Images,7,2026-01-31 00:00:00+00,\n\
             4,dan,Images,8,2027-01-31 00:00:00+00,\n5,eve,Images,9,2027-01-31T01:00:00.5+01:00,\n"
        );
        let read = of(&file).unwrap();
        assert_eq!((read.empty, read.expired), (1, 1));
        let expiries: Vec<_> = read.grants.iter().map(|grant| grant.expires_at).collect();
        let at = 1_801_353_600_000;
        assert_eq!(
            expiries,
            [None, Some(Timestamp(at)), Some(Timestamp(at + 500))]
        );
    }

    #[test]
    fn a_users_id_is_taken_as_it_stands() {
        let grants = of(&format!(
            "{HEAD}eve,Images, 10 ,a\n\"eve \", Images ,500,a\n"
        ));
        let grants = grants.unwrap().grants;
        let users: Vec<_> = grants.iter().map(|grant| grant.user.as_str()).collect();
        assert_eq!(users, ["eve", "eve "]);
        assert_eq!(grants[1].product, Product::Named("Images".into()));
    }

    #[test]
    fn lines_are_counted_however_they_end_and_columns_found_however_they_are_kept_apart() {
        for end in ["\n", "\r\n"] {
            for mark in [",", ";", "\t"] {
                let file = format!(
                    "{HEAD}ann,Images,1,a\n\nbea,Images,x,a\n\"c\nd\",Images,2,a\neve,Images,x,a\n"
                );
                let file = file.replace(',', mark).replace('\n', end);
                let (_, bad) = read(file.as_bytes(), Timestamp(0));
                let lines: Vec<_> = bad.problems.iter().map(|(line, _)| *line).collect();
                // A user's id has no line ends.
                assert_eq!(lines, [4, 5, 7], "{file:?}");
            }
        }
    }

    #[test]
    fn a_balance_with_a_zero_fraction_is_refused_with_advice() {
        for (balance, hint) in [
            ("100.00", true),
            ("7.", true),
            ("7.5", false),
            ("10.000", false),
            ("x", false),
        ] {
            let problems = of(&format!("{HEAD}ann,Images,{balance},a\n")).unwrap_err();
            assert_eq!(problems[0].contains(": write "), hint, "{problems:?}");
        }
    }

    #[test]
    fn every_line_that_is_wrong_is_named() {
        let product = product();
        for (line, named) in [
            (format!("ann,{product},5.0,b"), "balance"),
            (format!("ann,{product},-5,b"), "balance"),
            (format!("ann,{product},1e3,b"), "balance"),
            (format!("ann,{product},9007199254740992,b"), "balance"),
            ("ann,prod_x,5,b".to_owned(), "product"),
            ("ann,,5,b".to_owned(), "product"),
            (format!(",{product},5,b"), "external_user_id"),
            (format!("ann,{product},5,"), "key"),
            (format!("ann,{product},5,{}", "k".repeat(255)), "key"),
            (format!("ann,{product},5"), "line 3"),
            (format!("ann,{product},6,a"), "same key in line 2"),
        ] {
            let file = format!("{HEAD}ann,{product},5,a\n{line}\nbea,{product},5,a\n");
            let problems = of(&file).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains("line 3"), "{problems:?}");
            assert!(problems[0].contains(named), "{problems:?}");
        }
        let head = "external_user_id,product,balance,id,expires_at\n";
        for bad in ["2027-01-31", "soon", "2027-01-31 00:00:00"] {
            let problems = of(&format!("{head}ann,Images,5,1,{bad}\n")).unwrap_err();
            assert!(problems[0].contains("line 2: expires_at"), "{problems:?}");
        }
        for headless in ["ann,Images,5,1\n", "user,amount\nann,5\n", "user;amount\n"] {
            let problems = of(headless).unwrap_err();
            let why = "line 1: no column is called external_user_id";
            assert!(problems[0].contains(why), "{problems:?}");
        }
        // Two errors of a line, and the names of products beside them.
        let file = format!("{HEAD}ann,Imagse,x,\nbea,{product},5,a\ncid,Imagse,5,a\n");
        let (_, bad) = read(file.as_bytes(), Timestamp(0));
        assert_eq!(bad.problems.len(), 2, "{bad:?}");
        let names = [(2, "Imagse".to_owned()), (4, "Imagse".to_owned())];
        assert_eq!(bad.names, names);
    }
}
