//! What happens to wallets. Written from borrowed texts: a deduction allocates nothing here.

mod read;
mod write;

use serde::{Deserialize, Serialize};

use super::{
    instruction::Instructed,
    kind::{News, Period},
    order::{Archived, Reversal},
    owner::Owner,
    purchase::{OrderClosed, OrderPaid, OrderPlaced},
    read::Hold,
    subscription::Subscription,
};

/// Numbered by the order in which they stand here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Change<'a> {
    Created {
        id: u128,
        project: u128,
        #[serde(borrow)]
        owner: Owner<'a>,
    },
    CodeRotated {
        hash: [u8; 16],
        sealed: &'a [u8],
        former: Option<[u8; 16]>,
    },
    FreeGranted {
        product: u128,
        credits: i64,
        period: Period,
        start: i64,
        end: i64,
    },
    LotExpired {
        product: u128,
        lot: u64,
        amount: i64,
    },
    Granted {
        product: u128,
        amount: i64,
        expires_at: Option<i64>,
        key: &'a str,
        meta: Option<&'a str>,
    },
    Deducted {
        product: u128,
        amount: i64,
        key: &'a str,
        meta: Option<&'a str>,
    },
    HoldPlaced {
        hold: Hold,
        product: u128,
        amount: i64,
        expires_at: i64,
        key: &'a str,
        meta: Option<&'a str>,
        publishable: bool,
    },
    HoldExtended {
        hold: Hold,
        expires_at: i64,
    },
    HoldSettled {
        hold: Hold,
        amount: i64,
    },
    HoldReleased {
        hold: Hold,
    },
    HoldExpired {
        hold: Hold,
    },
    FeatureGranted {
        feature: &'a str,
    },
    FeatureRevoked {
        feature: &'a str,
    },
    OrderPlaced(Box<OrderPlaced<'a>>),
    OrderPaid(Box<OrderPaid<'a>>),
    OrderFailed(OrderClosed),
    OrderExpired(OrderClosed),
    OrderReversed {
        order: u128,
        reversal: Reversal,
        credits: i64,
    },
    SubscriptionChanged(Box<SubscriptionChanged<'a>>),
    SubscriptionGone {
        subscription: &'a str,
    },
    CycleEnded {
        subscription: &'a str,
        ends_at: i64,
    },
    OrderArchived {
        order: u128,
    },
    OrderRecalled(Box<Archived<'a>>),
    Instructed(Box<Instructed<'a>>),
    OrderProcessing {
        order: u128,
        on_its_way: bool,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SubscriptionChanged<'a> {
    project: u128,
    former_end: Option<i64>,
    news: Option<News>,
    #[serde(borrow)]
    subscription: Subscription<'a>,
}

impl<'a> Change<'a> {
    /// The product, reason, delta and note of the ledger entry that follows from it.
    pub(super) fn counted(&self) -> Option<(u128, domain::history::Reason, i64, Option<&'a str>)> {
        use domain::history::Reason::{Deduction, FreeGrant, Manual};
        match *self {
            Self::Deducted {
                product,
                amount,
                meta,
                ..
            } => Some((product, Deduction, amount.saturating_neg(), meta)),
            Self::Granted {
                product,
                amount,
                meta,
                ..
            } => Some((product, Manual, amount, meta)),
            Self::FreeGranted {
                product, credits, ..
            } => Some((product, FreeGrant, credits, None)),
            _ => None,
        }
    }
}
