//! What buyers without an account are told when they lost their codes.

use domain::{Rejection, code::Code, text::Email};

use super::{Handle, Scope, orders::unreadable};
use crate::{
    answer::Error,
    wallet::{Caller, PaidBy, PaidByParts},
};

/// Records of a wallet looked at for an order of the buyer's, the newest first.
const MAX_SCAN: usize = 50_000;
/// Records read at once.
const PAGE: usize = 500;
/// The order that made a wallet is among its first records.
const FIRST: u64 = 64;

/// A code, and whom to send it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoughtCode {
    /// The address as the order has it, however it was asked for: a mailbox that is only spelled alike
    /// may be another's.
    pub address: Email,
    /// What opens the wallet now.
    pub code: Code,
}

impl Handle {
    /// The codes of anonymous wallets with a paid order of this address, of at most `limit` wallets.
    /// A wallet that was topped up under this address shows its code only while that is still the one
    /// it was topped up with.
    pub async fn codes_paid_by(
        &self,
        scope: &Scope,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<BoughtCode>, Error> {
        let wallets = self.books().buyers(scope.project, email, limit);
        let asked = PaidBy {
            project: scope.project,
            email: email.clone(),
        };
        let mut codes = Vec::new();
        for wallet in wallets.map_err(|error| unreadable(&error))? {
            let place = (wallet, Caller::Order(scope.project));
            let parts = match self.ask(scope, place, asked.clone()).await {
                Err(Error::Rejected(Rejection::WalletNotFound)) => None,
                answer => answer?,
            };
            let Some(parts) = parts else { continue };
            let asked = asked.clone();
            let read = tokio::task::spawn_blocking(move || read_on(parts, &asked)).await;
            let Some((address, sealed)) = read.map_err(|_| Error::Unavailable)?? else {
                continue;
            };
            let code = self.inner.keyring.unseal(&sealed);
            codes.extend(code.map(|code| BoughtCode { address, code }));
        }
        Ok(codes)
    }
}

/// The buyer's address and the encrypted code.
type Found = (Email, Box<[u8]>);

fn read_on(parts: PaidByParts, asked: &PaidBy) -> Result<Option<Found>, Error> {
    let mut found = parts.address.clone();
    let mut below = parts.below;
    let mut looked_at = 0_usize;
    while found.is_none() && below > 1 {
        if looked_at >= MAX_SCAN {
            below = below.min(FIRST);
        }
        let older = parts.history.before(below, PAGE).map_err(|error| {
            tracing::error!(%error, "A wallet's history cannot be read");
            Error::Unavailable
        })?;
        let Some(last) = older.last() else { break };
        below = last.seq;
        looked_at = looked_at.saturating_add(older.len());
        let mut addresses = older
            .iter()
            .filter_map(|record| asked.address(&parts, record));
        found = addresses.next().cloned();
    }
    Ok(found.map(|address| (address, parts.sealed)))
}
