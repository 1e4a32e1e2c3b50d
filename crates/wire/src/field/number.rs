//! Whole numbers, exact: `1.0`, `"1"` and `1e3` are refused.

use std::{borrow::Cow, fmt};

use domain::{Amount, MAX_CREDITS};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Unexpected, Visitor},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr, SchemaFormat,
        schema::{KnownFormat, Schema, Type},
    },
};

/// A day: the longest that credits can be held for at once.
const MAX_HOLD_SECONDS: i64 = 86_400;

/// A positive number of credits.
#[derive(Debug, Clone, Copy)]
pub struct Positive(pub Amount);

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy)]
pub struct BoundedInteger<const MIN: i64, const MAX: i64>(pub i64);

/// A number of credits that may be zero.
pub type Credits = BoundedInteger<0, MAX_CREDITS>;

/// How long credits are held.
pub type Seconds = BoundedInteger<1, MAX_HOLD_SECONDS>;

impl<const MIN: i64, const MAX: i64> BoundedInteger<MIN, MAX> {
    /// The number as a `u32`, for bounds that fit one.
    pub fn small(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let BoundedInteger(credits) = BoundedInteger::<1, MAX_CREDITS>::deserialize(deserializer)?;
        Amount::new(credits)
            .map(Self)
            .ok_or_else(|| D::Error::custom("not an amount"))
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for BoundedInteger<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor<const MIN: i64, const MAX: i64>;
        impl<const MIN: i64, const MAX: i64> Visitor<'_> for WholeVisitor<MIN, MAX> {
            type Value = BoundedInteger<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                if (MIN..=MAX).contains(&number) {
                    return Ok(BoundedInteger(number));
                }
                Err(E::invalid_value(Unexpected::Signed(number), &self))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                match i64::try_from(number) {
                    Ok(number) => self.visit_i64(number),
                    Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
                }
            }
        }
        deserializer.deserialize_i64(WholeVisitor::<MIN, MAX>)
    }
}

impl<const MIN: i64, const MAX: i64> PartialSchema for BoundedInteger<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(MIN))
            .maximum(Some(MAX))
            .into()
    }
}

impl PartialSchema for Positive {
    fn schema() -> RefOr<Schema> {
        BoundedInteger::<1, MAX_CREDITS>::schema()
    }
}

impl ToSchema for Positive {
    fn name() -> Cow<'static, str> {
        "Amount".into()
    }
}

impl<const MIN: i64, const MAX: i64> ToSchema for BoundedInteger<MIN, MAX> {
    fn name() -> Cow<'static, str> {
        match (MIN, MAX) {
            (0, MAX_CREDITS) => "Whole".into(),
            (1, MAX_HOLD_SECONDS) => "HoldSeconds".into(),
            (0, 365) => "GraceDays".into(),
            (1, 730) => "TrialDays".into(),
            (0, 604_800) => "DelaySeconds".into(),
            (1, 316_224_000) => "AdvanceSeconds".into(),
            (1, 36_525) => "ExpiryDays".into(),
            _ => format!("WholeFrom{MIN}To{MAX}").into(),
        }
    }
}
