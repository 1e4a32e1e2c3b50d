//! Finds lost recovery codes by the buyer's email address.

use std::sync::Arc;

use domain::{
    Rejection,
    code::RecoveryCode,
    history::Record,
    id::{OrderId, ProjectId, WalletKey},
    text::Email,
    time::Span,
    wallet::{ArchivedOrder, OrderStatus},
};
use persistence::WalletName;

use super::{Address, Handle, Scope, orders::looked_up};
use crate::{
    answer::Error,
    keyring::order_key,
    wallet::{Caller, FindCode, RecordQuery},
};

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
        let mut codes = Vec::new();
        for wallet in looked_up(self.books().wallets_of(
            scope.project,
            WalletName::Buyer(email),
            limit,
        ))? {
            let place = (wallet, Caller::Order(scope.project));
            let code = match self.ask(scope, place, FindCode).await {
                Err(Error::Rejected(Rejection::WalletNotFound)) => None,
                answer => answer?,
            };
            let Some((sealed, rotations)) = code else {
                continue;
            };
            let buyer = Buyer {
                project: scope.project,
                wallet,
                rotations,
                email: email.as_str().to_lowercase(),
            };
            let Some(address) = self.address_of(scope, buyer).await? else {
                continue;
            };
            let code = self.inner.keyring.unseal(&sealed);
            codes.extend(code.map(|code| BoughtCode { address, code }));
        }
        Ok(codes)
    }

    /// The address in the newest order whose buyer may get the wallet's code.
    async fn address_of(&self, scope: &Scope, buyer: Buyer) -> Result<Option<Email>, Error> {
        let wallet = Address::Stored(buyer.wallet);
        let buyer = Arc::new(buyer);
        for before in [None, Some(FIRST_RECORDS)] {
            let of = Arc::clone(&buyer);
            let query = RecordQuery {
                before,
                limit: 1,
                within: Span::ALWAYS,
                wants: Arc::new(move |record| of.address(record).is_some()),
            };
            let records = self.records(scope, &wallet, query).await?;
            let found = records.matches.first();
            if let Some(address) = found.and_then(|record| buyer.address(record)) {
                return Ok(Some(address.clone()));
            }
            if records.next.is_none() {
                break;
            }
        }
        Ok(None)
    }
}

/// Who asks for a wallet's code.
struct Buyer {
    project: ProjectId,
    wallet: WalletKey,
    /// How often the wallet's code was replaced.
    rotations: u32,
    /// In lower case.
    email: String,
}

impl Buyer {
    /// The email address of the record's order, if it has one and its buyer may get the code.
    fn address<'a>(&self, record: &'a Record) -> Option<&'a Email> {
        let ArchivedOrder { serial, order } = record.order()?;
        let address = order.email.as_ref()?;
        // Capitals are ignored, as in the look-up.
        let same = address.as_str().to_lowercase() == self.email;
        let paid = matches!(order.status(), OrderStatus::Paid | OrderStatus::Refunded);
        // A buyer who topped up a wallet may know only a former code, or none. The code is theirs if their payment
        // created the wallet, or if they named the present code.
        let minted = order_key(self.project, *serial) == self.wallet;
        let knew = minted || order.names_code && order.rotations == self.rotations;
        (same && paid && knew).then_some(address)
    }
}
