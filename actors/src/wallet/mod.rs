//! One awake wallet. It decides with the pure rules, changes its memory at once, queues what
//! happened in the journal with the caller's reply attached, and takes the next errand: it never
//! waits for the disk. One file per verb.

mod batch;
mod caller;
mod cancel;
mod checkout;
mod create;
mod credit;
mod deduct;
mod feature;
mod hold;
mod instruction;
mod lapsed;
mod leave;
mod ledger;
mod look;
mod order;
mod paid_by;
mod purchase;
mod recent;
mod refund;
mod reply;
mod resume;
mod rotate;
mod state;
mod subscription;
#[cfg(test)]
mod tests;
mod turn;
mod verb;
mod view;

use std::sync::Arc;

use domain::{notice::LowBalance, wallet::FreeGrantRule};

pub(crate) use batch::{Batch, BatchItem, BatchResult, DeductMany, deduct_each};
pub(crate) use caller::Caller;
pub(crate) use cancel::AskCancel;
pub use cancel::Instructable;
pub(crate) use checkout::{Checkout, PortalCustomer};
pub(crate) use create::{CreateCode, Open};
pub(crate) use credit::Grant;
pub(crate) use feature::SetFeature;
pub(crate) use hold::{Extend, FindHold, Release, Settle};
pub(crate) use instruction::CloseInstruction;
pub use instruction::InstructionKind;
pub(crate) use lapsed::Lapsed;
pub(crate) use leave::Leave;
pub use leave::Left;
pub(crate) use ledger::{LedgerParts, RecordQuery};
pub(crate) use look::Look;
pub use look::{Access, Inside, Purse};
pub(crate) use order::{FindOrder, OrderParts};
pub(crate) use paid_by::{PaidBy, PaidByParts};
pub(crate) use purchase::Report;
pub(crate) use refund::AskRefund;
pub use refund::Refunding;
pub(crate) use reply::Reply;
pub(crate) use resume::AskResume;
pub(crate) use rotate::{InForce, NewCode, Rotate};
pub(crate) use state::{Distrusted, WalletState};
pub use subscription::SubscriptionInside;
pub(crate) use subscription::{FindSubscription, LookAtSubscription};
pub(crate) use turn::{Caught, Turn};
pub(crate) use verb::{Asked, Verb};
pub(crate) use view::Read;

/// The catalog's word at the moment of the request.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// `None` where there are none, as in most projects: sharing an empty list between cores costs.
    pub(crate) free_grants: Option<Arc<[FreeGrantRule]>>,
    pub(crate) for_code_wallets: bool,
    /// At which balances a project's servers are told. `None` where there are none.
    pub(crate) low_balances: Option<Arc<[LowBalance]>>,
    /// How far the project's clock is ahead of the machine's, in milliseconds.
    pub(crate) ahead_millis: i64,
}
