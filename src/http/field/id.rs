//! Names of what may or may not exist. A malformed one names nothing: it is an unknown one, not an
//! invalid request.

use std::{fmt, str::FromStr};

use domain::{
    code::Code as RecoveryCode,
    id::{DeliveryId, EventId, PriceId, ProductId},
};
use utoipa::openapi::ObjectBuilder;

use super::text::{FromText, Text};

/// An identifier; `None`: nothing can have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Id<T>(pub(crate) Option<T>);

/// What a person typed for a recovery code.
#[derive(Debug, Clone)]
pub(crate) struct Typed(pub(crate) Result<RecoveryCode, Malformed>);

/// What is no recovery code and opens nothing. It may be one with a slip in it: it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Malformed(Box<str>);

impl Typed {
    /// Reads a code, or what stands in the place of one.
    pub(crate) fn new(text: &str) -> Self {
        Self(RecoveryCode::parse(text).ok_or_else(|| Malformed(text.into())))
    }
}

impl Malformed {
    /// As it was typed.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Malformed(..)")
    }
}

/// A product's identifier.
pub(crate) type ProductName = Text<Id<ProductId>>;
/// The event after which a list goes on: what is malformed is no cursor.
pub(crate) type EventName = Text<EventId>;
/// The delivery before which a list goes on.
pub(crate) type DeliveryName = Text<DeliveryId>;
/// A price's identifier.
pub(crate) type PriceName = Text<Id<PriceId>>;
/// A recovery code.
pub(crate) type CodeText = Text<Typed>;

/// Identifiers that callers send in a body or a query.
pub(crate) trait Identifier: FromStr {
    /// The name of its schema.
    const NAME: &'static str;
    /// What one looks like.
    const EXAMPLE: &'static str;
}

impl Identifier for ProductId {
    const NAME: &'static str = "ProductId";
    const EXAMPLE: &'static str = "prod_01jd3v8q6pf6r9x3v1m2k4c5d7";
}

impl Identifier for PriceId {
    const NAME: &'static str = "PriceId";
    const EXAMPLE: &'static str = "price_01jd3v8q6pf6r9x3v1m2k4c5d7";
}

impl<T: Identifier> FromText for Id<T> {
    const NAME: &'static str = T::NAME;
    const WANTED: &'static str = "a string";

    fn from_text(text: &str) -> Option<Self> {
        Some(Self(text.parse().ok()))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string.examples([T::EXAMPLE])
    }
}

impl FromText for EventId {
    const NAME: &'static str = "EventId";
    const WANTED: &'static str = "a nextCursor of this list";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .pattern(Some("^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"))
            .examples(["evt_00000f4vj0e8h7k3v1m2k4c5d7"])
    }
}

impl FromText for DeliveryId {
    const NAME: &'static str = "DeliveryId";
    const WANTED: &'static str = "a nextCursor of this list";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .pattern(Some("^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$"))
            .examples(["dlv_01jd3v8q6pf6r9x3v1m2k4c5d7"])
    }
}

impl FromText for Typed {
    const NAME: &'static str = "RecoveryCode";
    const WANTED: &'static str = "a string";

    fn from_text(text: &str) -> Option<Self> {
        Some(Self::new(text))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string
            .description(Some("The recovery code of a wallet, in any case."))
            .examples(["OLIVE-7K2M-9QXP-4TBD"])
    }
}
