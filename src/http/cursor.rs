//! Where the next page of a list starts, opaque to callers.

use domain::{Timestamp, id::OrderSerial};

use super::error::Error;

/// What cursors start with, so that a later kind can be told apart.
const CURSOR_PREFIX: &str = "c1_";
const ORDER_CURSOR_PREFIX: &str = "o1_";

/// Of a ledger.
pub(crate) fn write_cursor(before: u64) -> String {
    format!("{CURSOR_PREFIX}{before:x}")
}

pub(crate) fn read_cursor(cursor: &str) -> Result<u64, Error> {
    let digits = cursor
        .strip_prefix(CURSOR_PREFIX)
        .filter(|digits| !digits.starts_with('+'));
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| Error::invalid("cursor", "cursor has to be a nextCursor of this list."))
}

/// The same for a list of orders.
pub(crate) fn write_order_cursor((at, order): (Timestamp, OrderSerial)) -> String {
    format!("{ORDER_CURSOR_PREFIX}{:x}_{:x}", at.0, order.0)
}

pub(crate) fn read_order_cursor(cursor: &str) -> Result<(Timestamp, OrderSerial), Error> {
    let parse = || {
        let (at, order) = cursor.strip_prefix(ORDER_CURSOR_PREFIX)?.split_once('_')?;
        let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let at = u64::from_str_radix(at, 16).ok().filter(|_| hex(at))?;
        let order = u128::from_str_radix(order, 16)
            .ok()
            .filter(|_| hex(order))?;
        Some((
            Timestamp(i64::from_ne_bytes(at.to_ne_bytes())),
            OrderSerial(order),
        ))
    };
    parse().ok_or_else(|| Error::invalid("cursor", "cursor has to be a nextCursor of this list."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_nothing_else_does() {
        for before in [0, 1, 255, u64::MAX] {
            assert_eq!(read_cursor(&write_cursor(before)).unwrap(), before);
        }
        for bad in [
            "",
            "c1_",
            "1",
            "c1_+1",
            "c1_-1",
            "c1_10000000000000000",
            "c2_1",
            "c1_ 1",
        ] {
            assert_eq!(
                read_cursor(bad).unwrap_err().param(),
                Some("cursor"),
                "{bad}"
            );
        }
    }

    #[test]
    fn cursors_of_orders_read_back_and_nothing_else_does() {
        for at in [0, 1_800_000_000_000, i64::MAX] {
            let place = (Timestamp(at), OrderSerial(u128::MAX - 1));
            assert_eq!(
                read_order_cursor(&write_order_cursor(place)).unwrap(),
                place
            );
        }
        for bad in [
            "", "o1_", "o1_1", "o1__1", "o1_1_", "o1_+1_1", "o1_1_+1", "c1_1", "o1_1_1_1",
        ] {
            let error = read_order_cursor(bad).unwrap_err();
            assert_eq!(error.param(), Some("cursor"), "{bad}");
        }
    }
}
