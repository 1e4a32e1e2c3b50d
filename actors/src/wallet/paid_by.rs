//! A wallet's part in telling a buyer its code: who paid for it is in its history, which is read
//! outside, as the ledger is.

use std::sync::Arc;

use domain::{
    history::Record,
    id::{ProjectId, WalletKey},
    text::Email,
    wallet::{ArchivedOrder, OrderStatus, Owner},
};
use persistence::History;

use super::{Turn, Verb, state::unreadable};
use crate::{answer::Error, keyring::order_key};

/// Asks for the code of a wallet that was found by an address under which somebody paid for it.
#[derive(Debug, Clone)]
pub(crate) struct PaidBy {
    pub(crate) project: ProjectId,
    pub(crate) email: Email,
}

/// What the wallet itself knows.
pub(crate) struct PaidByParts {
    /// The encrypted code.
    pub(crate) sealed: Box<[u8]>,
    /// How often it was replaced.
    pub(crate) rotations: u32,
    pub(crate) key: WalletKey,
    /// The address on an order, where one is found already.
    pub(crate) address: Option<Email>,
    /// Where to read on.
    pub(crate) history: Arc<dyn History>,
    /// Only records with numbers below this.
    pub(crate) below: u64,
}

impl Verb for PaidBy {
    /// `None`: it is not opened by a code.
    type Answer = Option<PaidByParts>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<PaidByParts>, Error> {
        let wallet = turn.wallet()?;
        let Owner::Code { sealed, .. } = &wallet.owner else {
            return Ok(None);
        };
        let (recent, history) = turn.history();
        let mut parts = PaidByParts {
            sealed: sealed.clone(),
            rotations: wallet.rotations,
            key: wallet.key,
            address: None,
            history: Arc::clone(history),
            below: recent.first().unwrap_or(u64::MAX),
        };
        for record in recent.newest_first(u64::MAX) {
            let record = record.map_err(|error| unreadable(&wallet.key, &error))?;
            if let Some(address) = self.address(&parts, &record) {
                parts.address = Some(address.clone());
                break;
            }
        }
        Ok(Some(parts))
    }
}

impl PaidBy {
    /// The address on an order, if that is what the record is and its buyer may be told the code.
    pub(crate) fn address<'a>(
        &self,
        wallet: &PaidByParts,
        record: &'a Record,
    ) -> Option<&'a Email> {
        let ArchivedOrder { serial, order } = record.order()?;
        let address = order.email.as_ref()?;
        // As the look-up found it: capitals do not count.
        let same = address.as_str().to_lowercase() == self.email.as_str().to_lowercase();
        let paid = matches!(order.status(), OrderStatus::Paid | OrderStatus::Refunded);
        // Whoever topped up somebody's wallet under a code that was replaced knew the old one only.
        let minted = order_key(self.project, *serial) == wallet.key;
        let knew = minted || order.rotations == wallet.rotations;
        (same && paid && knew).then_some(address)
    }
}
