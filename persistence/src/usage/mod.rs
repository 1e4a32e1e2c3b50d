//! What was granted, used and sold, by how many wallets, by product and time: counted from wallets' entries as they
//! are applied, so that a query reads no ledger and no order.

pub(crate) mod pending;
mod sales;
mod wallets;

use std::{borrow::Cow, collections::BTreeMap};

use domain::{
    Timestamp,
    history::{Entry, Reason},
    id::{ProductId, WalletKey},
    time::{Period, Span},
};
use serde::{Deserialize, Serialize};

pub use self::{
    sales::{Money, Sales},
    wallets::{DistinctCount, Wallets},
};
pub(crate) use self::{
    sales::{OTHER_PRICES, SalesCell, SalesChange, SalesSum},
    wallets::mix,
};

/// How many features of a product are counted separately; the rest is [`OTHER`].
pub const FEATURES: usize = 200;
/// What features beyond [`FEATURES`], and those with longer names than [`FEATURE_BYTES`], are counted as.
pub const OTHER: &str = "other";
/// The longest name of a feature that is counted by itself, in bytes.
pub const FEATURE_BYTES: usize = 64;

/// The length of the intervals that usage is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interval {
    /// An hour; kept for 90 days.
    Hour,
    /// A day; kept for three years.
    Day,
    /// A month; kept for good.
    Month,
}

pub(crate) const HOUR: i64 = 60 * 60 * 1000;

impl Interval {
    pub(crate) const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Month];

    /// The interval of the UTC calendar that an instant is in; `None` only outside the calendar's range (years past
    /// 9999).
    pub fn span(self, at: Timestamp) -> Option<Span> {
        match self {
            Self::Hour => {
                let start = at.0.checked_sub(at.0.checked_rem_euclid(HOUR)?)?;
                Some(Span {
                    start: Timestamp(start),
                    end: Timestamp(start.checked_add(HOUR)?),
                })
            }
            Self::Day => Period::Daily.span(at),
            Self::Month => Period::Monthly.span(at),
        }
    }

    /// For how long it is kept, in milliseconds; `None`: for good.
    pub(crate) const fn retention_millis(self) -> Option<i64> {
        match self {
            Self::Hour => Some(90 * 24 * HOUR),
            Self::Day => Some(3 * 366 * 24 * HOUR),
            Self::Month => None,
        }
    }
}

/// Credits, by why they came and went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Credits that were bought, given by hand or granted for free.
    pub granted: i64,
    /// Credits that were used.
    pub deducted: i64,
    /// Credits taken for refunds and disputes, less those given back.
    pub refunded: i64,
    /// Credits that expired.
    pub expired: i64,
    /// How often credits were used.
    pub deductions: i64,
}

/// What deductions are counted by, besides their product and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What the note names as `feature`.
    Feature,
    /// The rate card that priced them.
    RateCard,
    /// The attribute `model` of what was used.
    Model,
    /// The member of those who share the wallet.
    Member,
}

impl Group {
    const ALL: [Self; 4] = [Self::Feature, Self::RateCard, Self::Model, Self::Member];

    /// What the names of its values begin with where all are counted together: no name has a control character.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Feature => "",
            Self::RateCard => "\u{1}",
            Self::Model => "\u{2}",
            Self::Member => "\u{3}",
        }
    }

    const fn other(self) -> &'static str {
        match self {
            Self::Feature => OTHER,
            Self::RateCard => "\u{1}other",
            Self::Model => "\u{2}other",
            Self::Member => "\u{3}other",
        }
    }

    /// The group that a name belongs to.
    pub(crate) fn of(name: &str) -> Self {
        let others = [Self::RateCard, Self::Model, Self::Member];
        let mut others = others.into_iter();
        let found = others.find(|group| name.starts_with(group.prefix()));
        found.unwrap_or(Self::Feature)
    }

    /// The name of the values that are not counted separately, of the group of this one.
    pub(crate) fn other_than(name: &str) -> &'static str {
        Self::of(name).other()
    }

    /// The value of an entry.
    fn value(self, entry: &Entry) -> Option<Cow<'_, str>> {
        let rate = entry.rate.as_deref();
        match self {
            Self::Feature => feature(entry.meta.as_ref()?.as_str()),
            Self::RateCard => Some(rate?.card.as_str().into()),
            Self::Model => Some(rate?.attributes.get("model")?.into()),
            Self::Member => Some(entry.member()?.as_str().into()),
        }
    }

    /// The name under which an entry is counted.
    fn name(self, entry: &Entry) -> Option<Cow<'_, str>> {
        let value = self.value(entry)?;
        Some(match (self, value.len() <= FEATURE_BYTES) {
            (_, false) => self.other().into(),
            // A feature is any text, one with a control character as well.
            (Self::Feature, true) if Self::of(&value) != self => OTHER.into(),
            (Self::Feature, true) => value,
            (_, true) => format!("{}{value}", self.prefix()).into(),
        })
    }
}

/// Credits used for one feature, or one value of another group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureUsage {
    /// Credits that were used.
    pub credits: i64,
    /// How often credits were used.
    pub deductions: i64,
}

/// Usage of a product in an interval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Credits of all entries, with a feature or without.
    pub count: Count,
    /// Credits that were used, by [`Group`] and value.
    pub features: BTreeMap<Box<str>, FeatureUsage>,
    /// Orders that were placed in it, as they stand now.
    pub sales: Sales,
    /// Wallets whose credits were used or bought in it.
    pub wallets: Wallets,
}

/// Whether an entry with this reason makes its wallet active: grants and expiry do not come from its user.
pub(crate) const fn is_active(reason: Reason) -> bool {
    matches!(reason, Reason::Deduction | Reason::Purchase)
}

impl Count {
    pub(crate) const fn add(&mut self, reason: Reason, delta: i64) {
        let lost = delta.saturating_neg();
        match reason {
            Reason::Purchase | Reason::Manual | Reason::FreeGrant | Reason::Forgiveness => {
                self.granted = self.granted.saturating_add(delta);
            }
            Reason::Deduction => {
                self.deducted = self.deducted.saturating_add(lost);
                self.deductions = self.deductions.saturating_add(1);
            }
            // What was deducted too much was not used.
            Reason::Reversal => self.deducted = self.deducted.saturating_add(lost),
            Reason::Refund => self.refunded = self.refunded.saturating_add(lost),
            Reason::Expiry => self.expired = self.expired.saturating_add(lost),
        }
    }

    pub(crate) const fn merge(&mut self, other: &Self) {
        self.granted = self.granted.saturating_add(other.granted);
        self.deducted = self.deducted.saturating_add(other.deducted);
        self.refunded = self.refunded.saturating_add(other.refunded);
        self.expired = self.expired.saturating_add(other.expired);
        self.deductions = self.deductions.saturating_add(other.deductions);
    }
}

impl FeatureUsage {
    const fn add(&mut self, credits: i64, deductions: i64) {
        self.credits = self.credits.saturating_add(credits);
        self.deductions = self.deductions.saturating_add(deductions);
    }
}

impl Usage {
    /// Counts one more ledger entry.
    pub fn add(&mut self, entry: &Entry) {
        self.count.add(entry.reason, entry.delta);
        let times = match entry.reason {
            Reason::Deduction => 1,
            Reason::Reversal => 0,
            _ => return,
        };
        let credits = entry.delta.saturating_neg();
        for name in Group::ALL.into_iter().filter_map(|group| group.name(entry)) {
            match self.features.get_mut(&*name) {
                Some(known) => known.add(credits, times),
                None => {
                    let mut first = FeatureUsage::default();
                    first.add(credits, times);
                    self.features.insert(name.into(), first);
                }
            }
        }
    }

    /// Credits that were used, by the values of a group.
    pub fn by(&self, group: Group) -> impl Iterator<Item = (&str, &FeatureUsage)> {
        let all = self.features.iter();
        let within = all.filter(move |(name, _)| Group::of(name) == group);
        within.map(move |(name, used)| (name.strip_prefix(group.prefix()).unwrap_or(name), used))
    }

    /// Whether another says the same, as far as prices were counted apart.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.count == other.count
            && self.features == other.features
            && self.wallets == other.wallets
            && self.sales.agrees_with(&other.sales)
    }

    /// Adds all of another, with features under the names that `name` gives them.
    pub(crate) fn merge<'a>(&mut self, other: &'a Self, name: impl Fn(&'a str) -> &'a str) {
        self.count.merge(&other.count);
        self.sales.merge(&other.sales);
        self.wallets.merge(&other.wallets);
        for (feature, used) in &other.features {
            let total = self.features.entry(name(feature).into()).or_default();
            total.add(used.credits, used.deductions);
        }
    }
}

/// The feature that a caller's `meta` names: its own `feature`, if that is a text.
pub fn feature(meta: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow)]
        feature: Option<Cow<'a, str>>,
    }
    // Most have none: this tells it without parsing the JSON.
    if !meta.contains("feature") {
        return None;
    }
    serde_json::from_str::<Meta<'_>>(meta).ok()?.feature
}

/// What a checkpoint adds to an hour. Each frame has a part of its own, because the stored record says which frames it has
/// counted already. Wallets are together: a set counts none twice.
#[derive(Debug, Default)]
pub(crate) struct Hour {
    pub(crate) parts: Vec<(u64, Usage)>,
    pub(crate) wallets: Wallets,
}

impl Hour {
    /// The part of a frame. Frames come in order.
    fn part(&mut self, lsn: u64) -> Option<&mut Usage> {
        if self.parts.last().is_none_or(|(last, _)| *last != lsn) {
            self.parts.push((lsn, Usage::default()));
        }
        self.parts.last_mut().map(|(_, usage)| usage)
    }
}

/// What a checkpoint adds to usage, by product and hour.
#[derive(Debug, Default)]
pub(crate) struct UsageDelta {
    hours: BTreeMap<(ProductId, i64), Hour>,
}

impl UsageDelta {
    pub(crate) fn clear(&mut self) {
        self.hours.clear();
    }

    fn hour(&mut self, product: ProductId, at: Timestamp) -> Option<&mut Hour> {
        let span = Interval::Hour.span(at)?;
        Some(self.hours.entry((product, span.start.0)).or_default())
    }

    /// Adds a ledger entry of this frame. Frames come in order.
    pub(crate) fn add(&mut self, lsn: u64, wallet: &WalletKey, at: Timestamp, entry: &Entry) {
        let Some(hour) = self.hour(entry.product, at) else {
            return;
        };
        if is_active(entry.reason) {
            hour.wallets.add(wallet);
        }
        if let Some(usage) = hour.part(lsn) {
            usage.add(entry);
        }
    }

    pub(crate) fn sell(&mut self, lsn: u64, change: &SalesChange) {
        let hour = self.hour(change.product, change.placed_at);
        if let Some(usage) = hour.and_then(|hour| hour.part(lsn)) {
            usage.sales.change(change);
        }
    }

    /// Hours in order with their first instants, by product.
    pub(crate) fn products(&self) -> BTreeMap<ProductId, Vec<(Timestamp, &Hour)>> {
        let mut products: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for ((product, start), hour) in &self.hours {
            let hours = products.entry(*product).or_default();
            hours.push((Timestamp(*start), hour));
        }
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_a_text_of_the_notes_own() {
        let cases = [
            (r#"{"feature":"chat"}"#, Some("chat")),
            (r#"{"model":{"feature":"deep"}}"#, None),
            (r#"{"feature":7}"#, None),
            (r#"{"feature":null}"#, None),
            (r#"{"note":"a feature"}"#, None),
            (r#"{"x":[1,{"y":2}],"feature":"a\"b"}"#, Some("a\"b")),
        ];
        for (meta, expected) in cases {
            assert_eq!(feature(meta).as_deref(), expected, "{meta}");
        }
    }

    #[test]
    fn long_names_are_counted_as_other() {
        let mut usage = Usage::default();
        let long = format!(r#"{{"feature":"{}"}}"#, "x".repeat(FEATURE_BYTES + 1));
        // A feature that looks like a rate card is none.
        for meta in [&long, r#"{"feature":"\u0001chat"}"#] {
            usage.add(&Entry {
                product: ProductId(1),
                delta: -5,
                balance_after: 0,
                reason: Reason::Deduction,
                order: None,
                key: None,
                meta: domain::text::Meta::new(meta).ok(),
                expires_at: None,
                rate: None,
                counted: None,
            });
        }
        let by = |group| usage.by(group).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(by(Group::Feature), [OTHER]);
        assert!(by(Group::RateCard).is_empty());
        assert_eq!((usage.count.deducted, usage.count.deductions), (10, 2));
    }
}
