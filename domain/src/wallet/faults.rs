//! What must hold in every wallet, whatever it has lived through. For whoever checks the books: a wallet
//! that has a fault was damaged, or its rules are wrong.

use std::collections::BTreeMap;

use super::Wallet;

impl Wallet {
    /// What does not hold, a plain sentence each.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for account in &self.accounts {
            let product = account.product;
            let (left, held) = account
                .lots()
                .iter()
                .fold((0_i64, 0_i64), |(left, held), lot| {
                    (left.saturating_add(lot.left), held.saturating_add(lot.held))
                });
            if left != account.balance {
                faults.push(format!(
                    "the lots of {product} do not add up to its balance"
                ));
            }
            if held != account.held || held > left {
                faults.push(format!(
                    "the lots of {product} do not add up to what is held"
                ));
            }
            let mut pinned = BTreeMap::<u64, i64>::new();
            let holds = self.holds().values().filter(|hold| hold.product == product);
            for (lot, credits) in holds.flat_map(|hold| &hold.pins) {
                let sum = pinned.entry(*lot).or_default();
                *sum = sum.saturating_add(*credits);
            }
            let same = account
                .lots()
                .iter()
                .all(|lot| pinned.remove(&lot.number).unwrap_or_default() == lot.held);
            if !same || !pinned.is_empty() {
                faults.push(format!(
                    "open holds of {product} do not pin what its lots hold"
                ));
            }
        }
        faults
    }
}
