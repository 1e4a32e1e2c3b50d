//! Everything that books hold, to compare it with others'.

use domain::{Timestamp, history::Record, id::ProductId, wallet::Wallet};
use persistence::{
    Books, Error, Reader, SledJournal,
    lookups::{LookUp, LookUpRange},
    usage::Interval,
};

use super::life::PROJECT;

#[derive(Default)]
struct All(Vec<String>);

impl Reader for All {
    fn wallet(&mut self, wallet: &Wallet) -> Result<bool, Error> {
        self.0.push(format!("{wallet:?}"));
        Ok(true)
    }

    fn record(&mut self, _: &Wallet, record: Record) -> Result<(), Error> {
        self.0.push(format!("{record:?}"));
        Ok(())
    }
}

/// Everything that can be read from a journal.
pub(crate) fn world(journal: &SledJournal) -> Vec<String> {
    let mut all = All::default();
    journal.read_all(&mut all).unwrap();
    let All(mut all) = all;
    for (look_up, key_bytes) in [
        (LookUp::Orders, 40),
        (LookUp::ProviderIds, 32),
        (LookUp::Due, 40),
        (LookUp::Periods, 40),
        (LookUp::Buyers, 32),
        (LookUp::Codes, 16),
        (LookUp::Ids, 16),
        (LookUp::WalletOrders, 40),
        (LookUp::FormerCodes, 16),
        (LookUp::Users, 48),
        (LookUp::LastUsed, 36),
        (LookUp::TopUps, 40),
        (LookUp::Balances, 33),
    ] {
        let all_of_it = LookUpRange::From(vec![0; key_bytes].into());
        let entries = journal.range(look_up, &all_of_it, usize::MAX).unwrap();
        all.extend(entries.iter().map(|it| format!("{look_up:?} {it:?}")));
    }
    for interval in [Interval::Hour, Interval::Day, Interval::Month] {
        let always = (Timestamp(0), Timestamp::NEVER);
        let usage = journal.usage(ProductId(1), interval, always).unwrap();
        all.push(format!("{usage:?}"));
    }
    all.push(format!("{:?}", journal.documents().unwrap()));
    all.push(format!("{:?}", journal.notes(b"").unwrap()));
    let events = journal.project_events(PROJECT, 0, usize::MAX).unwrap();
    all.extend(events.iter().map(|it| format!("{it:?}")));
    all
}
