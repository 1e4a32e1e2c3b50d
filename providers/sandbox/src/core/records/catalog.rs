//! Products, prices, coupons, promotion codes and customers.

use serde::{Deserialize, Serialize};

use super::{Head, Interval, Metadata, is_default};
use crate::core::money::share;

/// Something that is sold.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Product {
    pub(crate) head: Head,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) active: bool,
    pub(crate) metadata: Metadata,
}

/// What it costs. Never changed but for its labels.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Price {
    pub(crate) head: Head,
    pub(crate) product: String,
    pub(crate) active: bool,
    pub(crate) currency: String,
    pub(crate) unit_amount: i64,
    /// `None`: paid once.
    pub(crate) interval: Option<Interval>,
    pub(crate) lookup_key: Option<String>,
    pub(crate) nickname: Option<String>,
    pub(crate) metadata: Metadata,
}

/// How much a coupon takes off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Off {
    /// In hundredths of a percent.
    Percent(i64),
    Amount {
        amount: i64,
        currency: String,
    },
}

impl Off {
    /// What it takes off an amount: never more than that.
    pub(crate) fn of(&self, amount: i64) -> i64 {
        let off = match self {
            Self::Percent(hundredths) => share(amount, *hundredths, 10_000),
            Self::Amount { amount, .. } => *amount,
        };
        off.min(amount).max(0)
    }
}

/// For how long a coupon counts on a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Duration {
    Once,
    Forever,
    Months(u32),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Coupon {
    pub(crate) head: Head,
    pub(crate) name: Option<String>,
    pub(crate) off: Off,
    pub(crate) duration: Duration,
    pub(crate) max_redemptions: Option<u32>,
    pub(crate) redeem_by: Option<i64>,
    pub(crate) times_redeemed: u32,
    pub(crate) metadata: Metadata,
}

impl Coupon {
    pub(crate) fn is_valid(&self, now: i64) -> bool {
        self.redeem_by.is_none_or(|by| now < by)
            && self
                .max_redemptions
                .is_none_or(|max| self.times_redeemed < max)
    }
}

/// What people type.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PromotionCode {
    pub(crate) head: Head,
    pub(crate) code: String,
    pub(crate) coupon: String,
    pub(crate) active: bool,
    pub(crate) customer: Option<String>,
    pub(crate) expires_at: Option<i64>,
    pub(crate) max_redemptions: Option<u32>,
    pub(crate) times_redeemed: u32,
    pub(crate) first_time: bool,
    pub(crate) minimum: Option<(i64, String)>,
    pub(crate) metadata: Metadata,
}

impl PromotionCode {
    pub(crate) fn is_active(&self, now: i64) -> bool {
        self.active
            && self.expires_at.is_none_or(|at| now < at)
            && self
                .max_redemptions
                .is_none_or(|max| self.times_redeemed < max)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Customer {
    pub(crate) head: Head,
    pub(crate) email: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
    /// Whether their card is to be declined: a switch on the portal's page.
    pub(crate) declines: bool,
    /// Below zero: what the next invoices are paid with first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) balance: i64,
}
