//! A wallet that is read without being used: nothing is logged. What is due since its last use, free credits included,
//! counts in the answer, and is logged when the wallet is used.

use domain::{
    history::{Record, RecordContent, RecordKey},
    id::{OrderId, WalletId, WalletKey},
    wallet::Wallet,
};

use super::{Command, Turn, read::view};
use crate::{
    answer::{Error, LedgerLine, ListedWallet},
    keyring::ledger_id,
};

pub(crate) struct PeekWallet;

impl Command for PeekWallet {
    type Answer = ListedWallet;
    const READ_ONLY: bool = true;

    fn run(self, turn: &mut Turn<'_>) -> Result<ListedWallet, Error> {
        let (wallet, _) = turn.caught_up()?;
        Ok(ListedWallet {
            view: view(&wallet, turn.now()),
            used_at: wallet.used_at,
        })
    }
}

/// Ledger entries by the caller's key of a request.
pub(crate) struct FindByKey(pub(crate) Box<str>);

impl Command for FindByKey {
    type Answer = Vec<LedgerLine>;
    const READ_ONLY: bool = true;

    fn run(self, turn: &mut Turn<'_>) -> Result<Vec<LedgerLine>, Error> {
        let Wallet { id, key, .. } = *turn.wallet()?;
        let name = &*self.0;
        let mut lines = Vec::new();
        for kind in [
            RecordKey::Deduct(name),
            RecordKey::Grant(name),
            RecordKey::Draw(name),
            RecordKey::Forgive(name),
        ] {
            if let Some(record) = turn.prior(kind)? {
                lines.extend(LedgerLine::of((id, key), record));
            }
        }
        // A settled hold's entry is stored under the hold.
        if let Some(placed) = turn.prior(RecordKey::Hold(name))?
            && let RecordContent::HoldPlaced(hold, ..) = placed.fact
            && let Some(closed) = turn.prior(RecordKey::HoldClosed(hold.id.serial))?
        {
            lines.extend(LedgerLine::of((id, key), closed));
        }
        Ok(lines)
    }
}

impl LedgerLine {
    pub(crate) fn of((id, wallet): (WalletId, WalletKey), record: Record) -> Option<Self> {
        let entry = record.entry()?.clone();
        let reverses = match &record.fact {
            RecordContent::Reversed(of, ..) => Some(ledger_id((id, wallet), of.seq, of.at)),
            _ => None,
        };
        Some(Self {
            id: ledger_id((id, wallet), record.seq, record.at),
            at: record.at,
            order: entry.order.map(|serial| OrderId { serial, wallet }),
            reverses,
            entry,
        })
    }
}
