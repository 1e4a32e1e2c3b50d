//! Credits that were granted, deducted and held, and the ledger of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Instant, is_zero};

records! {
    /// The result of a deduction or of settling a hold. `charged`, `owed` and `uncovered` are there where the request said what to do
    /// with a shortfall, and where there was one.
    pub struct Deducted {
        /// Credits that can be spent now.
        pub balance: i64,
        /// Whether this very request took credits; false on a repeat.
        pub deducted: bool,
        /// Credits that were charged, those drawn from the hold before included. With the next two it adds up to the
        /// amount.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub charged: Option<i64>,
        /// Credits that are owed for it: what it added to the debt.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub owed: Option<i64>,
        /// Credits that could neither be charged nor owed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uncovered: Option<i64>,
        /// Whether the hold had expired, and this was done as a deduction under its key; left out where it had not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub late: bool,
        /// What a rate card charged, in whole credits; with a `rateCard`, as are the next two.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub amount: Option<i64>,
        /// The exact cost, as a decimal number of credits.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "server", schema(example = "0.4122"))]
        pub cost: Option<String>,
        /// The version of the card that priced it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate_version: Option<u32>,
        /// Counts in `usage` that this server does not know, and so did not price; left out where there were none. The
        /// entry's `meta` names them, too.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub unpriced_usage: Vec<String>,
    }

    /// The result of a grant.
    #[derive(Copy)]
    pub struct Credited {
        /// Credits that can be spent now.
        pub balance: i64,
        /// Whether this very request granted them; false on a repeat.
        pub credited: bool,
    }

    /// The result of a reversal.
    #[derive(Copy)]
    pub struct Reversed {
        /// Credits that can be spent now.
        pub balance: i64,
        /// Whether this very request gave them back; false on a repeat.
        pub reversed: bool,
        /// Credits that were given back; on a repeat, those of the first request.
        pub amount: i64,
    }

    /// A hold that was placed.
    pub struct PlacedHold {
        /// The hold's identifier: `hold_…`
        pub hold_id: String,
        /// Credits that can be spent now.
        pub balance: i64,
        /// Credits set aside.
        pub amount: i64,
        /// `open`, unless a repeat finds it `settled`, `released` or `expired`
        #[cfg_attr(feature = "server", schema(example = "open"))]
        pub status: String,
        /// When it expires and its credits come back.
        pub expires_at: Instant,
        /// Whether an earlier request placed it: in the results of a batch, which have no header to say so. Left out
        /// where none did.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub replayed: bool,
        /// The exact cost by a rate card, as a decimal number of credits; with a `rateCard`, as is the next.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cost: Option<String>,
        /// The version of the card that priced it, and prices what is drawn and settled.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate_version: Option<u32>,
    }

    /// A hold with its status.
    pub struct Hold {
        /// The hold's identifier: `hold_…`
        pub hold_id: String,
        /// The product of the credits.
        pub product_id: String,
        /// Credits set aside when it was placed.
        pub amount: i64,
        /// `open`, `settled`, `released` or `expired`
        #[cfg_attr(feature = "server", schema(example = "open"))]
        pub status: String,
        /// Credits deducted when it was settled, those that are owed and those that were drawn included; else 0.
        pub settled_amount: i64,
        /// When it expires and its credits come back, or when it expired.
        pub expires_at: Instant,
        /// Credits that were drawn from it while it was open: they stay charged however it ends. Left out when there are
        /// none.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub drawn: i64,
        /// How much the work may come to owe; left out when nothing.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub max_overrun: i64,
        /// What of the settlement is owed; left out when nothing.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub owed: i64,
        /// What of the cost the settlement could not take; left out when nothing.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub uncovered: i64,
    }

    /// What a draw left of its hold.
    pub struct DrawnHold {
        /// Credits that can be spent now.
        pub balance: i64,
        /// Whether this very request charged credits; false on a repeat.
        pub deducted: bool,
        /// Credits drawn from the hold so far.
        pub drawn: i64,
        /// Credits that the hold still sets aside.
        pub held: i64,
        /// What a rate card charged, in whole credits; with a `rateCard`, as are the next two.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub amount: Option<i64>,
        /// The exact cost, as a decimal number of credits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cost: Option<String>,
        /// The version of the card that priced it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate_version: Option<u32>,
    }

    /// The usage of one interval.
    pub struct Bucket {
        /// Its first instant, UTC.
        pub start: Instant,
        /// Credits bought, given by hand and for free.
        pub granted: i64,
        /// Credits that were used.
        pub deducted: i64,
        /// Credits taken for refunds and disputes, less what was given back.
        pub refunded: i64,
        /// Credits that expired.
        pub expired: i64,
        /// How often credits were used.
        pub deductions: i64,
        /// What they were used for; with `groupBy=feature`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub features: Option<Vec<FeatureUse>>,
        /// The same by what `groupBy` says, the most used first.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub groups: Option<Vec<UsageGroup>>,
    }

    /// Credits used for one feature, by one rate card or for one model.
    pub struct UsageGroup {
        /// Which one; null where there was none. At most 200 are kept apart, the rest is `other`.
        pub key: Option<String>,
        /// Credits that were used.
        pub credits: i64,
        /// How often credits were used.
        pub deductions: i64,
    }

    /// Credits used for one feature.
    #[cfg_attr(feature = "server", schema(as = Feature))]
    pub struct FeatureUse {
        /// `meta.feature`; null where there was none. At most 200 are kept apart, the rest is `other`.
        pub feature: Option<String>,
        /// Credits that were used for it.
        pub credits: i64,
        /// How often credits were used for it.
        pub deductions: i64,
    }
}

// `M` is the note: the server writes it as it keeps it.
/// One change of a balance. An entry never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema), schema(bound = ""))]
#[cfg_attr(not(feature = "server"), non_exhaustive)]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry<M = Map<String, Value>> {
    /// The entry's identifier: `led_…`
    pub id: String,
    /// Credits added (positive) or removed (negative).
    pub delta: i64,
    /// Why: `purchase`, `deduction`, `free_grant`, `manual`, `refund`, `expiry`, `reversal` or `forgiveness`.
    #[cfg_attr(feature = "server", schema(value_type = crate::schema::Reason))]
    pub reason: String,
    /// The product of the credits.
    pub product_id: String,
    /// What the credits are called.
    pub credit_unit: Option<String>,
    /// The sum of all deltas of this product up to and with this one: credits that can be spent and
    /// those that are held, less those that are owed.
    pub balance_after: i64,
    /// When the change was made.
    pub created_at: Instant,
    /// The order behind the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
    /// The deduction that the credits were taken by, of a reversal by hand: `led_…`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverses: Option<String>,
    /// The key that the caller gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "server", schema(value_type = Option<crate::schema::IdempotencyKey>))]
    pub idempotency_key: Option<String>,
    /// The caller's note.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "server", schema(value_type = Option<crate::schema::Meta>))]
    pub meta: Option<M>,
    /// When the granted credits expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant>,
    /// What was used, if a rate card priced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RatedUse>,
    /// The member who used them, if the request named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

records! {
    /// What was used, and what it cost by a rate card.
    pub struct RatedUse {
        /// The rate card's name.
        pub card: String,
        /// The number of the card's version.
        pub version: u32,
        /// What was used, such as its `model`.
        pub attributes: BTreeMap<String, String>,
        /// How much of each unit.
        pub quantities: BTreeMap<String, u64>,
        /// The exact cost, as a decimal number of credits: of a settlement that of all the work.
        pub cost: String,
    }
}
