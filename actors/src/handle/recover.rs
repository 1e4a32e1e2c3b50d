//! Finds lost recovery codes by the buyer's email address.

use std::sync::Arc;

use domain::{
    Rejection, code::RecoveryCode, history::Record, id::OrderId, text::Email, time::Span,
    wallet::OrderStatus,
};

use super::{Address, Handle, Scope, orders::unreadable};
use crate::{
    answer::Error,
    keyring::order_key,
    wallet::{Caller, FindBuyersCode, RecentBuyer, RecordQuery},
};

/// The most records of a wallet scanned for the buyer's order, newest first.
const MAX_SCAN: usize = 50_000;
const PAGE_SIZE: usize = 500;
/// The first records of a wallet are always scanned, because they include the order that created it.
const FIRST_RECORDS: u64 = 64;

/// A recovery code, and the address to send it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoughtCode {
    /// The email address exactly as in the order: another case may be another person's mailbox.
    pub address: Email,
    /// The code that opens the wallet now.
    pub code: RecoveryCode,
}

impl Handle {
    /// The email address of the paid order that created a wallet; `None` without such an order or address. A later
    /// buyer may know only a former code.
    /// # Errors
    /// [`Rejection::WalletNotFound`]; else see [`Error`].
    pub async fn first_buyer(
        &self,
        scope: &Scope,
        address: &Address,
    ) -> Result<Option<Email>, Error> {
        let wallet = self.read(scope, address).await?.key;
        let project = scope.project;
        let made_it = move |serial| order_key(project, serial) == wallet;
        let query = RecordQuery {
            before: Some(FIRST_RECORDS),
            limit: 1,
            within: Span::ALWAYS,
            wants: Arc::new(move |record| record.order().is_some_and(|it| made_it(it.serial))),
        };
        let records = self.records(scope, address, query).await?;
        let Some(archived) = records.matches.first().and_then(Record::order) else {
            return Ok(None);
        };
        let serial = archived.serial;
        // The order may have been erased since its record.
        let order = self.order(scope, OrderId { serial, wallet }).await?.order;
        let paid = matches!(order.status(), OrderStatus::Paid | OrderStatus::Refunded);
        Ok(order.email.filter(|_| paid))
    }

    /// The codes of anonymous wallets with a paid order of this email address, of at most `limit` wallets. If the order
    /// only topped the wallet up, its checkout must have named the present code.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn codes_paid_by(
        &self,
        scope: &Scope,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<BoughtCode>, Error> {
        let wallets = self.books().buyers(scope.project, email, limit);
        let find = FindBuyersCode {
            project: scope.project,
            email: email.clone(),
        };
        let mut codes = Vec::new();
        for wallet in wallets.map_err(|error| unreadable(&error))? {
            let place = (wallet, Caller::Order(scope.project));
            let recent = match self.ask(scope, place, find.clone()).await {
                Err(Error::Rejected(Rejection::WalletNotFound)) => None,
                answer => answer?,
            };
            let Some(recent) = recent else { continue };
            let find = find.clone();
            let read = tokio::task::spawn_blocking(move || read_on(recent, &find)).await;
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
type EncryptedCode = (Email, Box<[u8]>);

fn read_on(recent: RecentBuyer, find: &FindBuyersCode) -> Result<Option<EncryptedCode>, Error> {
    let mut address = recent.address.clone();
    let mut below = recent.below;
    let mut looked_at = 0_usize;
    while address.is_none() && below > 1 {
        if looked_at >= MAX_SCAN {
            below = below.min(FIRST_RECORDS);
        }
        let older = recent.history.before(below, PAGE_SIZE).map_err(|error| {
            tracing::error!(%error, "A wallet's history cannot be read");
            Error::Unavailable
        })?;
        let Some(last) = older.last() else { break };
        below = last.seq;
        looked_at += older.len();
        let mut addresses = older
            .iter()
            .filter_map(|record| find.address(&recent, record));
        address = addresses.next().cloned();
    }
    Ok(address.map(|address| (address, recent.sealed)))
}
