//! Where the next page of a list starts, opaque to callers.

use std::fmt;

use actors::WalletListPlace;
use domain::{
    Timestamp,
    id::{OrderSerial, WalletKey},
    text::PaymentId,
};
use utoipa::openapi::ObjectBuilder;

use super::field::{Text, texts};

/// Prefixes of cursors, each with a version, so that a later format is recognised.
const LEDGER_PREFIX: &str = "c1_";
const ORDER_PREFIX: &str = "o1_";
const PAYMENT_PREFIX: &str = "u1_";
const WALLET_PREFIX: &str = "w1_";
const WANTED: &str = "a nextCursor of this list";

/// A position in a ledger: the page has entries before this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerCursor(pub u64);

/// A [`LedgerCursor`] as callers send it.
pub type LedgerCursorText = Text<LedgerCursor>;

/// A position in a list of orders: an order's instant and serial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderCursor(pub Timestamp, pub OrderSerial);

/// An [`OrderCursor`] as callers send it.
pub type OrderCursorText = Text<OrderCursor>;

/// A position in a list of wallets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalletCursor(pub WalletListPlace);

/// A [`WalletCursor`] as callers send it.
pub type WalletCursorText = Text<WalletCursor>;

/// A position in a list of unfulfilled payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentCursor(pub Timestamp, pub PaymentId);

/// A [`PaymentCursor`] as callers send it.
pub type PaymentCursorText = Text<PaymentCursor>;

impl fmt::Display for PaymentCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(at, payment) = self;
        write!(f, "{PAYMENT_PREFIX}{:x}_{payment}", at.0)
    }
}

texts! {
    PaymentCursor = "PaymentCursor", WANTED,
        |text| {
            let (at, payment) = text.strip_prefix(PAYMENT_PREFIX)?.split_once('_')?;
            let at = i64::try_from(hex(at, 16)?).ok()?;
            Some(Self(Timestamp(at), PaymentId::new(payment).ok()?))
        },
        |string| opaque(string).pattern(Some("^u1_[0-9a-f]{1,15}_[!-~]{2,255}$"));
}

impl fmt::Display for WalletCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(WalletListPlace {
            number,
            exact,
            wallet,
        }) = self;
        write!(f, "{WALLET_PREFIX}{number:x}_")?;
        if let Some(exact) = exact {
            write!(f, "{exact:x}")?;
        }
        write!(f, "_{:x}", u128::from_be_bytes(wallet.0))
    }
}

texts! {
    WalletCursor = "WalletCursor", WANTED,
        |text| {
            let mut parts = text.strip_prefix(WALLET_PREFIX)?.splitn(3, '_');
            let number = u32::try_from(hex(parts.next()?, 8)?).ok()?;
            let exact = match parts.next()? {
                "" => None,
                exact => Some(u64::try_from(hex(exact, 16)?).ok()?.cast_signed()),
            };
            let wallet = WalletKey(hex(parts.next()?, 32)?.to_be_bytes());
            Some(Self(WalletListPlace {
                number: number.cast_signed(),
                exact,
                wallet,
            }))
        },
        |string| opaque(string).pattern(Some("^w1_[0-9a-f]{1,8}_[0-9a-f]{0,16}_[0-9a-f]{1,32}$"));
}

impl fmt::Display for LedgerCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LEDGER_PREFIX}{:x}", self.0)
    }
}

impl fmt::Display for OrderCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(at, order) = self;
        write!(f, "{ORDER_PREFIX}{:x}_{:x}", at.0, order.0)
    }
}

texts! {
    LedgerCursor = "LedgerCursor", WANTED,
        |text| {
            let before = hex(text.strip_prefix(LEDGER_PREFIX)?, 16)?;
            Some(Self(u64::try_from(before).ok()?))
        },
        |string| opaque(string).pattern(Some("^c1_[0-9a-f]{1,16}$"));
    OrderCursor = "OrderCursor", WANTED,
        |text| {
            let (at, order) = text.strip_prefix(ORDER_PREFIX)?.split_once('_')?;
            let at = u64::try_from(hex(at, 16)?).ok()?;
            let at = Timestamp(i64::from_ne_bytes(at.to_ne_bytes()));
            Some(Self(at, OrderSerial(hex(order, 32)?)))
        },
        |string| opaque(string).pattern(Some("^o1_[0-9a-f]{1,16}_[0-9a-f]{1,32}$"));
}

fn opaque(string: ObjectBuilder) -> ObjectBuilder {
    string.description(Some("A `nextCursor` of the same list, as it was answered."))
}

/// Reads lower-case hexadecimal digits, at most so many; `from_str_radix` alone would take a sign
/// and capitals.
fn hex(digits: &str, most: usize) -> Option<u128> {
    let written = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let fits = digits.len() <= most && digits.bytes().all(written);
    u128::from_str_radix(digits, 16).ok().filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText as _;

    #[test]
    fn cursors_read_back_and_nothing_else_does() {
        for before in [0, 1, 255, u64::MAX].map(LedgerCursor) {
            assert_eq!(LedgerCursor::from_text(&before.to_string()), Some(before));
        }
        for bad in [
            "",
            "c1_",
            "1",
            "c1_+1",
            "c1_-1",
            "c1_A",
            "c1_10000000000000000",
            "c2_1",
            "c1_ 1",
        ] {
            assert_eq!(LedgerCursor::from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn cursors_of_wallets_read_back_and_nothing_else_does() {
        for exact in [None, Some(0), Some(i64::MAX), Some(-5)] {
            let place = WalletCursor(WalletListPlace {
                number: -3,
                exact,
                wallet: WalletKey([7; 16]),
            });
            assert_eq!(WalletCursor::from_text(&place.to_string()), Some(place));
        }
        for bad in [
            "",
            "w1_",
            "w1_1",
            "w1_1_",
            "w1__1_1",
            "w1_1_1_",
            "w1_1_1_1_1",
            "w1_-1_1_1",
        ] {
            assert_eq!(WalletCursor::from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn cursors_of_orders_read_back_and_nothing_else_does() {
        for at in [0, 1_800_000_000_000, i64::MAX, -1] {
            let place = OrderCursor(Timestamp(at), OrderSerial(u128::MAX - 1));
            assert_eq!(OrderCursor::from_text(&place.to_string()), Some(place));
        }
        for bad in [
            "", "o1_", "o1_1", "o1__1", "o1_1_", "o1_+1_1", "o1_1_+1", "c1_1", "o1_1_1_1",
        ] {
            assert_eq!(OrderCursor::from_text(bad), None, "{bad}");
        }
    }
}
