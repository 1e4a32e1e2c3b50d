//! Stored numbers and texts as the domain's, which have bounds. What breaks them was damaged.

use std::fmt::Display;

use domain::{
    Amount, Quantity, Timestamp,
    id::{HoldId, OrderSerial, WalletKey},
    metadata::Metadata,
};

use crate::contract::Error;

/// A hold's name: its serial and its wallet.
pub(super) type Hold = (u128, [u8; 16]);

pub(super) const fn hold(id: HoldId) -> Hold {
    (id.serial, id.wallet.0)
}

pub(super) const fn hold_id((serial, wallet): Hold) -> HoldId {
    HoldId {
        serial,
        wallet: WalletKey(wallet),
    }
}

pub(super) fn amount(credits: i64) -> Result<Amount, Error> {
    Amount::new(credits).ok_or_else(|| broken("an amount is not a positive number of credits"))
}

/// A text through its kind's constructor.
pub(super) fn text<T, E: Display>(
    text: &str,
    new: impl FnOnce(Box<str>) -> Result<T, E>,
) -> Result<T, Error> {
    new(text.into()).map_err(broken)
}

/// The same where there may be none.
pub(super) fn some_text<T, E: Display>(
    text: Option<&str>,
    new: impl FnOnce(Box<str>) -> Result<T, E>,
) -> Result<Option<T>, Error> {
    text.map(|some| self::text(some, new)).transpose()
}

/// Pairs of an order's own.
pub(super) type Pairs<'a> = Vec<(&'a str, &'a str)>;

pub(super) fn metadata(pairs: Pairs<'_>) -> Result<Metadata, Error> {
    let pairs = pairs.into_iter();
    let pairs = pairs.map(|(key, value)| (key.into(), value.into()));
    Metadata::new(pairs.collect()).map_err(broken)
}

pub(super) fn quantity(number: u32) -> Result<Quantity, Error> {
    Quantity::new(number).ok_or_else(|| broken("a quantity is not 1 to 1,000"))
}

pub(super) fn instant(millis: Option<i64>) -> Option<Timestamp> {
    millis.map(Timestamp)
}

pub(super) fn millis(instant: Option<Timestamp>) -> Option<i64> {
    instant.map(|instant| instant.0)
}

pub(super) fn serial(order: Option<u128>) -> Option<OrderSerial> {
    order.map(OrderSerial)
}

pub(super) fn broken(why: impl Display) -> Error {
    Error::Damaged(format!("a stored value breaks its bounds: {why}"))
}
