//! One awake wallet. It decides with the pure rules, changes its memory at once, queues what
//! happened in the journal with the caller's reply attached, and takes the next message: it never
//! waits for the disk. One file per verb.

mod actor;
mod checkout;
mod create;
mod credit;
mod deduct;
mod feature;
mod hold;
mod ledger;
mod order;
mod purchase;
mod recent;
mod reply;
mod state;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use domain::{
    Timestamp,
    id::{CodeHash, HoldId, OrderSerial, ProjectId},
    terms::Terms,
    text::{CustomerId, Feature},
    wallet::{
        Created, FreeGrantRule, credit::Credit, deduct::Deduct, feature::FeatureAction,
        hold::PlaceHold, purchase::Purchase,
    },
};

pub(crate) use actor::WalletActor;
pub(crate) use create::NewCode;
pub(crate) use deduct::{Batch, BatchItem, BatchShare};
pub(crate) use ledger::LedgerParts;
pub(crate) use order::OrderParts;
pub(crate) use purchase::Purchased;
pub(crate) use reply::Reply;
pub(crate) use state::{Distrusted, WalletState};

use crate::answer::{Applied, HoldAnswer, LedgerQuery, WalletView};

/// What a caller must match to be let at a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Addressed by user id: the address is derived from project and user, nothing more to check.
    External,
    /// Addressed by code: it must be the one in force, not one that was rotated away.
    Code(CodeHash),
    /// Addressed by a hold's identifier, which anybody can make up.
    Hold {
        project: ProjectId,
        code_wallets_only: bool,
    },
    /// Addressed by an order's identifier, or by what the provider says of one.
    Order(ProjectId),
}

/// The catalog's word at the moment of the request.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// `None` where there are none, as in most projects: sharing an empty list between cores costs.
    pub(crate) free_grants: Option<Arc<[FreeGrantRule]>>,
    pub(crate) for_code_wallets: bool,
    /// How far the project's clock is ahead of the machine's, in milliseconds.
    pub(crate) ahead_millis: i64,
}

/// What a wallet can be asked.
pub(crate) enum Command {
    CreateCode(Created, Reply<WalletView>),
    OpenExternal(Created, Reply<WalletView>),
    Read(Reply<WalletView>),
    Ledger(LedgerQuery, Reply<LedgerParts>),
    Deduct(Deduct, Reply<Applied>),
    DeductMany(Vec<BatchItem>, BatchShare),
    Credit(Credit, Option<Created>, Reply<Applied>),
    SetFeature(Feature, FeatureAction, Option<Created>, Reply<Vec<String>>),
    Rotate(NewCode, Reply<()>),
    PlaceHold(PlaceHold, Reply<HoldAnswer>),
    Hold(HoldId, Reply<HoldAnswer>),
    Settle(HoldId, i64, Reply<Applied>),
    Release(HoldId, Reply<Applied>),
    Extend(HoldId, Timestamp, Reply<HoldAnswer>),
    /// Whether an order under these terms is welcome, and who buys.
    Checkout(Terms, Reply<Option<CustomerId>>),
    /// Whose portal can be opened.
    Customer(Reply<CustomerId>),
    Purchase(Purchase, Option<Created>, Reply<Purchased>),
    Order(OrderSerial, Reply<OrderParts>),
    /// The encrypted code of an anonymous wallet with a paid order of this address.
    PaidBy(Reply<Option<Box<[u8]>>>),
    /// Panics in mid-command, after its first event was applied to memory.
    #[cfg(test)]
    Panic(Deduct, Reply<Applied>),
}

/// A command and the conditions under which it was sent.
pub(crate) struct Message {
    pub(crate) caller: Caller,
    pub(crate) rules: Rules,
    pub(crate) command: Command,
}
