//! A wallet's part in recovering a buyer's code: its paid orders are in its history, which is read outside of the
//! wallet's turn.

use std::sync::Arc;

use domain::{
    history::Record,
    id::{ProjectId, WalletKey},
    text::Email,
    wallet::{ArchivedOrder, OrderStatus, Owner},
};
use persistence::History;

use super::{Command, Turn, state::unreadable};
use crate::{answer::Error, keyring::order_key};

/// Reads the code of a wallet for a buyer with this email address, by which the wallet was found.
#[derive(Debug, Clone)]
pub(crate) struct FindBuyersCode {
    pub(crate) project: ProjectId,
    pub(crate) email: Email,
}

/// The history in memory, and access to the rest.
pub(crate) struct RecentBuyer {
    /// The encrypted code.
    pub(crate) sealed: Box<[u8]>,
    /// How often the code was replaced.
    pub(crate) rotations: u32,
    pub(crate) key: WalletKey,
    /// The email address of a matching order, if found already.
    pub(crate) address: Option<Email>,
    /// The folded records.
    pub(crate) history: Arc<dyn History>,
    /// The number below which folded records continue.
    pub(crate) below: u64,
}

impl Command for FindBuyersCode {
    /// `None` if no code opens the wallet.
    type Answer = Option<RecentBuyer>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<RecentBuyer>, Error> {
        let wallet = turn.wallet()?;
        let Owner::Code { sealed, .. } = &wallet.owner else {
            return Ok(None);
        };
        let (recent, history) = turn.history();
        let mut parts = RecentBuyer {
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

impl FindBuyersCode {
    /// The email address of the record's order, if it has one and its buyer may get the code.
    pub(crate) fn address<'a>(
        &self,
        wallet: &RecentBuyer,
        record: &'a Record,
    ) -> Option<&'a Email> {
        let ArchivedOrder { serial, order } = record.order()?;
        let address = order.email.as_ref()?;
        // Capitals are ignored, as in the look-up.
        let same = address.as_str().to_lowercase() == self.email.as_str().to_lowercase();
        let paid = matches!(order.status(), OrderStatus::Paid | OrderStatus::Refunded);
        // A buyer who topped up a wallet may know only a former code, or none. The code is theirs if their payment
        // created the wallet, or if they named the present code.
        let minted = order_key(self.project, *serial) == wallet.key;
        let knew = minted || order.names_code && order.rotations == wallet.rotations;
        (same && paid && knew).then_some(address)
    }
}
