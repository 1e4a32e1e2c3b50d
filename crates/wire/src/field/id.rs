//! Identifiers of things that may not exist. A malformed one is treated as unknown, not as an
//! invalid request.

use std::{fmt, str::FromStr};

use domain::{
    code::{RecoveryCode, folded},
    id::{DeliveryId, EventId, HoldId, PriceId, ProductId, PublicSubscriptionId, WalletId},
};
use utoipa::openapi::ObjectBuilder;

use super::text::{FromText, Text, texts};
use crate::{Error, ErrorCode};

/// An identifier; `None` if it is malformed, so that nothing can have it, with what its prefix names then.
#[derive(Debug, Clone, Copy)]
pub struct Id<T>(pub Option<T>, Option<&'static str>);

/// What an identifier's prefix names.
const KINDS: [(&str, &str); 8] = [
    ("prod_", "a product"),
    ("price_", "a price"),
    ("wal_", "a wallet"),
    ("ord_", "an order"),
    ("sub_", "a subscription"),
    ("hold_", "a hold"),
    ("led_", "a ledger entry"),
    ("proj_", "a project"),
];

impl<T> Id<T> {
    /// The refusal with this code, which also says that the identifier is of something else.
    #[must_use]
    pub fn refused(&self, code: ErrorCode) -> Error {
        match self.1 {
            Some(kind) => {
                Error::new(code).saying(format!("{} This is the id of {kind}.", code.message()))
            }
            None => Error::new(code),
        }
    }
}

/// What a person typed for a recovery code.
#[derive(Debug, Clone)]
pub struct TypedCode(pub Result<RecoveryCode, MalformedCode>);

/// A text that is not a recovery code, folded as codes are. It may be one with a slip in it, so it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct MalformedCode(Box<str>);

impl TypedCode {
    /// Reads a code; keeps the text where it is malformed, so that the same one counts once however it is spelled.
    pub fn new(text: &str) -> Self {
        Self(RecoveryCode::parse(text).ok_or_else(|| MalformedCode(folded(text).into())))
    }
}

impl MalformedCode {
    /// The text, without marks and in upper case.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for MalformedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Malformed(..)")
    }
}

/// A product's identifier as callers send it.
pub type ProductName = Text<Id<ProductId>>;
/// The event after which a list goes on; a malformed one is an invalid cursor.
pub type EventName = Text<EventId>;
/// The delivery before which a list goes on.
pub type DeliveryName = Text<DeliveryId>;
/// A price's identifier as callers send it.
pub type PriceName = Text<Id<PriceId>>;
/// A wallet's identifier as callers send it.
pub type WalletName = Text<Id<WalletId>>;
/// A subscription's identifier as callers send it.
pub type SubscriptionName = Text<Id<PublicSubscriptionId>>;
/// A hold's identifier as callers send it.
pub type HoldName = Text<Id<HoldId>>;
/// A recovery code as callers send it.
pub type CodeText = Text<TypedCode>;

/// Identifiers that callers send in a body or a query.
pub trait Identifier: FromStr {
    /// The name of its schema in the API's description.
    const NAME: &'static str;
    /// An example for the API's description.
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

impl Identifier for WalletId {
    const NAME: &'static str = "WalletId";
    const EXAMPLE: &'static str = "wal_01jd3v8q6pf6r9x3v1m2k4c5d7";
}

impl Identifier for PublicSubscriptionId {
    const NAME: &'static str = "SubscriptionId";
    const EXAMPLE: &'static str = "sub_01jd3v8q6pf6r9x3v1m2k4c5d7";
}

impl Identifier for HoldId {
    const NAME: &'static str = "HoldId";
    const EXAMPLE: &'static str = "hold_01m7xe18r9e3vaq5p5ptpf7vy93vzm0mhp285meja3m4nsrvcqtj";
}

impl<T: Identifier> FromText for Id<T> {
    const NAME: &'static str = T::NAME;
    const WANTED: &'static str = "a string";

    fn from_text(text: &str) -> Option<Self> {
        let id = text.parse().ok();
        let kind = KINDS.iter().find(|(prefix, _)| text.starts_with(prefix));
        let kind = kind.filter(|_| id.is_none()).map(|(_, kind)| *kind);
        Some(Self(id, kind))
    }

    fn bounds(string: ObjectBuilder) -> ObjectBuilder {
        string.examples([T::EXAMPLE])
    }
}

texts! {
    EventId = "EventId", "a nextCursor of this list",
        |text| text.parse().ok(),
        |string| string
            .pattern(Some("^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"))
            .examples(["evt_00000f4vj0e8h7k3v1m2k4c5d7"]);
    DeliveryId = "DeliveryId", "a nextCursor of this list",
        |text| text.parse().ok(),
        |string| string
            .pattern(Some("^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$"))
            .examples(["dlv_01jd3v8q6pf6r9x3v1m2k4c5d7"]);
    TypedCode = "RecoveryCode", "a string",
        |text| Some(Self::new(text)),
        |string| string
            .description(Some(
                "The recovery code of a wallet, in any case, with dashes and spaces anywhere or nowhere.",
            ))
            .examples(["OLIVE-7K2M-9QXP-4TBD"]);
}
