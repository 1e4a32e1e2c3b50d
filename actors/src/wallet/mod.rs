//! One awake wallet. It decides with the domain's rules, applies events to memory at once, appends them to the journal
//! with the caller's reply attached, and takes the next task without waiting for the disk. Each command has a file.

mod batch;
mod caller;
mod charge;
mod checkout;
mod command;
mod contact;
mod create;
mod credit;
mod debt_limit;
mod deduct;
mod draw;
mod feature;
mod forgive;
mod freeze;
mod hold;
mod inspect;
mod instruction;
mod leave_provider;
mod ledger;
mod limits;
mod order;
mod overdue_subscriptions;
mod peek;
mod purchase;
mod read;
mod recent;
mod recover;
mod replace_code;
mod reply;
mod reverse_deduction;
mod rotate;
mod session;
mod settle;
mod state;
mod subscription;
#[cfg(test)]
mod tests;
mod top_up;
mod turn;

use std::sync::Arc;

use domain::{
    limit::ProjectLimits,
    project_event::LowBalance,
    wallet::{FreeGrantRule, debt_limit::DebtLimit},
};

pub(crate) use batch::{Batch, BatchItem, BatchResult, RunMany, run_each};
pub(crate) use caller::Caller;
pub use charge::Charge;
pub(crate) use checkout::{CheckOrder, PortalCustomer};
pub(crate) use command::{Command, CommandTask};
pub(crate) use contact::FindMailContact;
pub use contact::MailContact;
pub(crate) use create::CreateCode;
pub(crate) use feature::SetFeature;
pub(crate) use hold::{Extend, FindHold, Release, UseHold};
pub(crate) use inspect::InspectWallet;
pub use inspect::{AccountDetail, FeatureSource, WalletDetail};
pub(crate) use instruction::{CloseInstruction, Instruct, LossByRefund};
pub(crate) use leave_provider::EndWithProvider;
pub(crate) use ledger::{RecentLedger, RecordQuery};
pub(crate) use limits::{InspectLimits, ReadLimits};
pub(crate) use order::FindOrders;
pub(crate) use overdue_subscriptions::FindOverdueSubscriptions;
pub(crate) use peek::{FindByKey, PeekWallet};
pub(crate) use purchase::ReportPurchase;
pub(crate) use read::Read;
pub(crate) use recover::FindCode;
pub(crate) use replace_code::ReplaceCode;
pub(crate) use reply::Reply;
pub(crate) use reverse_deduction::{AskGivenBack, AskReversible, Reverse};
pub(crate) use rotate::{CheckCaller, Rotate};
pub use session::WatchedView;
pub(crate) use session::{ReadWatched, RevokeSessions, StartSession};
pub(crate) use state::{Diverged, WalletState};
pub use subscription::{DoubledWallet, SubscriptionDetail};
pub(crate) use subscription::{FindDoubled, FindSubscription};
pub(crate) use top_up::{FindAttempt, ListTopUp, ReadTopUp, RemoveCard, SaveCard};
pub use top_up::{OpenAttempt, TopUpDetail};
pub(crate) use turn::{CatchUp, Turn};

/// The part of a request's [`Scope`](crate::Scope) that decisions need.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// `None` if there are none, as usual: sharing an empty list between cores costs.
    pub(crate) free_grants: Option<Arc<[FreeGrantRule]>>,
    pub(crate) for_code_wallets: bool,
    /// The low-balance thresholds; `None` if there are none.
    pub(crate) low_balances: Option<Arc<[LowBalance]>>,
    /// What external wallets may owe; `None` for nothing.
    pub(crate) debt_limits: Option<Arc<[DebtLimit]>>,
    /// What the catalog limits; `None`: nothing.
    pub(crate) limits: Option<Arc<ProjectLimits>>,
    /// How far the project's clock is ahead of the machine's, in milliseconds.
    pub(crate) ahead_millis: i64,
}
