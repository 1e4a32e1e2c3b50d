//! Products, prices, coupons, promotion codes and customers.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::prelude::*;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Product {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) active: bool,
    pub(crate) metadata: Metadata,
}

impl Object for Product {
    fn shown(&self, _: &Database) -> Value {
        json!({ "updated": self.head.created })
    }
}

/// A price of a product. Only its labels and whether it is active ever change.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Price {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) product: String,
    pub(crate) active: bool,
    pub(crate) currency: String,
    pub(crate) unit_amount: i64,
    /// The billing interval; `None` for one-time.
    #[serde(rename = "recurring", default, with = "recurring")]
    pub(crate) interval: Option<Interval>,
    pub(crate) lookup_key: Option<String>,
    pub(crate) nickname: Option<String>,
    pub(crate) metadata: Metadata,
}

/// The form of a price's interval in JSON.
mod recurring {
    use super::{Deserialize, Deserializer, Interval, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Recurring {
        interval: Interval,
    }

    pub(super) fn serialize<S: Serializer>(
        interval: &Option<Interval>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let recurring = interval.map(|interval| Recurring { interval });
        recurring.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Interval>, D::Error> {
        let recurring = Option::<Recurring>::deserialize(deserializer)?;
        Ok(recurring.map(|recurring| recurring.interval))
    }
}

impl Object for Price {
    fn shown(&self, _: &Database) -> Value {
        unit(self.unit_amount, self.interval)
    }
}

/// The common fields of stored and inline prices.
pub(super) fn unit(unit_amount: i64, interval: Option<Interval>) -> Value {
    json!({
        "recurring": interval.map(|interval| json!({ "interval": interval.word() })),
        "type": if interval.is_some() { "recurring" } else { "one_time" },
        "unit_amount": unit_amount,
        "unit_amount_decimal": unit_amount.to_string(),
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiscountAmount {
    /// A share of the amount, in hundredths of a percent.
    Percent(i64),
    Amount {
        amount: i64,
        currency: String,
    },
}

impl Default for DiscountAmount {
    fn default() -> Self {
        Self::Percent(0)
    }
}

impl DiscountAmount {
    /// The discount of an amount, at most all of it.
    pub(crate) fn of(&self, amount: i64) -> i64 {
        let off = match self {
            Self::Percent(hundredths) => share(amount, *hundredths, 10_000),
            Self::Amount { amount, .. } => *amount,
        };
        off.min(amount).max(0)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Duration {
    #[default]
    Once,
    Forever,
    Months(u32),
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Coupon {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) name: Option<String>,
    pub(crate) off: DiscountAmount,
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

impl Object for Coupon {
    fn shown(&self, _: &Database) -> Value {
        let (percent_off, amount_off, currency) = match &self.off {
            DiscountAmount::Percent(hundredths) => (percent(*hundredths), None, None),
            DiscountAmount::Amount { amount, currency } => {
                (Value::Null, Some(amount), Some(currency))
            }
        };
        let (duration, months) = match self.duration {
            Duration::Once => ("once", None),
            Duration::Forever => ("forever", None),
            Duration::Months(months) => ("repeating", Some(months)),
        };
        json!({
            "amount_off": amount_off, "currency": currency, "duration": duration,
            "duration_in_months": months, "percent_off": percent_off,
            "valid": self.is_valid(i64::MIN),
        })
    }
}

/// Hundredths of a percent as Stripe's number of percent.
fn percent(hundredths: i64) -> Value {
    let (whole, part) = (hundredths.div_euclid(100), hundredths.rem_euclid(100));
    let text = match part {
        0 => whole.to_string(),
        part => format!("{whole}.{part:02}"),
    };
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// A promotion code, which buyers type.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PromotionCode {
    #[serde(flatten)]
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

impl Object for PromotionCode {
    fn shown(&self, _: &Database) -> Value {
        let minimum = self.minimum.as_ref();
        json!({
            "active": self.is_active(i64::MIN),
            "promotion": { "type": "coupon", "coupon": self.coupon },
            "restrictions": {
                "first_time_transaction": self.first_time,
                "minimum_amount": minimum.map(|(amount, _)| amount),
                "minimum_amount_currency": minimum.map(|(_, currency)| currency),
            },
        })
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Customer {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) email: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
    /// Whether their card is declined: a switch on the portal's page.
    pub(crate) declines: bool,
    /// Customer balance; negative for credit that the next invoices use first.
    pub(crate) balance: i64,
}

impl Object for Customer {}
