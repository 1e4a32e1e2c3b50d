//! Whether the server's ledgers agree with the diary.

use kit::{
    Client,
    ledger::{self, Balance, Entry},
};

use super::{
    diary::Record,
    operation::{Mark, Operation},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Problems shown of a failed audit.
const MAX_PROBLEMS: usize = 10;

/// All ledgers and balances of a server, read whole.
pub(crate) struct Audit {
    wallets: BTreeMap<String, (Vec<Entry>, Balance)>,
}

/// What the diary expects of one ledger entry.
struct Expected {
    must_be_there: bool,
    found: usize,
}

impl Audit {
    /// Reads the wallets' ledgers, page by page, and their balances.
    pub(crate) async fn read(client: &Client, product: &str, wallets: &[String]) -> Self {
        let mut read = BTreeMap::new();
        for wallet in wallets {
            let entries = ledger::entries(client, wallet).await.unwrap_or_default();
            let balance = ledger::balance(client, wallet, product)
                .await
                .unwrap_or_default();
            read.insert(wallet.clone(), (entries, balance));
        }
        Self { wallets: read }
    }

    /// Panics unless every operation that `acknowledged` names is there exactly once, every other
    /// one at most once and nothing else at all, and all sums are right.
    pub(crate) fn assert(
        &self,
        context: &str,
        records: &[Record],
        acknowledged: impl Fn(usize) -> bool,
    ) {
        let problems = self.problems(records, acknowledged);
        let shown = problems[..problems.len().min(MAX_PROBLEMS)].join("\n  ");
        assert!(
            problems.is_empty(),
            "{context}: {} problems:\n  {shown}",
            problems.len()
        );
    }

    /// What is wrong with the books; nothing if they are right.
    pub(crate) fn problems(
        &self,
        records: &[Record],
        acknowledged: impl Fn(usize) -> bool,
    ) -> Vec<String> {
        let mut problems = self.wrong_sums();
        problems.extend(self.wrong_entries(records, &acknowledged));
        problems.extend(self.wrong_holds(records, &acknowledged));
        problems
    }

    /// `balance` and `held` are the sum of the deltas, and so is each entry's `balanceAfter`.
    fn wrong_sums(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (wallet, (entries, balance)) in &self.wallets {
            let mut sum = 0;
            for entry in entries.iter().rev() {
                sum += entry.delta;
                if entry.balance_after != sum {
                    problems.push(format!("{wallet}: {entry:?} comes after a sum of {sum}"));
                }
            }
            if balance.balance + balance.held != sum {
                problems.push(format!(
                    "{wallet}: {balance:?}, but the deltas sum up to {sum}"
                ));
            }
        }
        problems
    }

    fn wrong_entries(
        &self,
        records: &[Record],
        acknowledged: &impl Fn(usize) -> bool,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        let mut expected = expectations(records, acknowledged);
        for (wallet, (entries, _)) in &self.wallets {
            for entry in entries {
                let mark = |key| Mark {
                    wallet: wallet.clone(),
                    delta: entry.delta,
                    key,
                };
                let known = if expected.contains_key(&mark(entry.key.clone())) {
                    expected.get_mut(&mark(entry.key.clone()))
                } else {
                    // A settlement is recognized by its amount, not by the key that its entry shows.
                    expected.get_mut(&mark(None))
                };
                match known {
                    Some(known) => known.found += 1,
                    None => problems.push(format!("{wallet}: {entry:?} was never requested")),
                }
            }
        }
        for (
            mark,
            Expected {
                must_be_there,
                found,
            },
        ) in expected
        {
            if found > 1 {
                problems.push(format!("{mark:?} is there {found} times"));
            } else if must_be_there && found == 0 {
                problems.push(format!("{mark:?} was acknowledged and is not there"));
            }
        }
        problems
    }

    /// What is held is at least what acknowledged holds hold, and at most what all of them do.
    fn wrong_holds(
        &self,
        records: &[Record],
        acknowledged: &impl Fn(usize) -> bool,
    ) -> Vec<String> {
        let mut bounds: HashMap<&str, (i64, i64)> = HashMap::new();
        let mut settlements = HashMap::new();
        for (number, record) in records.iter().enumerate() {
            if let Operation::Settle { hold, .. } = record.operation {
                settlements.insert(hold, acknowledged(number));
            }
        }
        for (number, record) in records.iter().enumerate() {
            let Operation::Hold(item) = &record.operation else {
                continue;
            };
            let (low, high) = bounds.entry(&item.wallet).or_default();
            match settlements.get(&number) {
                None if acknowledged(number) => {
                    (*low, *high) = (*low + item.amount, *high + item.amount)
                }
                None | Some(false) => *high += item.amount,
                Some(true) => {}
            }
        }
        let mut problems = Vec::new();
        for (wallet, (_, Balance { held, .. })) in &self.wallets {
            let (low, high) = bounds.get(wallet.as_str()).copied().unwrap_or_default();
            if !(low..=high).contains(held) {
                problems.push(format!("{wallet}: {held} held, not {low} to {high}"));
            }
        }
        problems
    }
}

/// Every entry the diary knows of, and whether it must be there: because it was acknowledged, or
/// because an acknowledged read has shown it.
fn expectations(
    records: &[Record],
    acknowledged: &impl Fn(usize) -> bool,
) -> HashMap<Mark, Expected> {
    let done = records
        .iter()
        .enumerate()
        .filter(|(number, _)| acknowledged(*number));
    let revealed: BTreeSet<&str> = done
        .flat_map(|(_, record)| &record.revealed)
        .map(String::as_str)
        .collect();
    let mut expected = HashMap::new();
    for (number, record) in records.iter().enumerate() {
        for mark in record.operation.marks() {
            let shown = mark
                .key
                .as_deref()
                .is_some_and(|key| revealed.contains(key));
            let must_be_there = acknowledged(number) || shown;
            let before = expected.insert(
                mark,
                Expected {
                    must_be_there,
                    found: 0,
                },
            );
            assert!(
                before.is_none(),
                "the test sent the same thing twice under two numbers"
            );
        }
    }
    expected
}
