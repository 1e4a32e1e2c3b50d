//! Identifiers: a prefix and 26 Crockford base32 characters of a UUID version 7, so that they sort
//! by time and cannot be guessed. Randomness comes from outside; this module only names and parses.

use std::{fmt, hash::Hasher as _, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use siphasher::sip128::{Hasher128 as _, SipHasher24};

use crate::{text::SubscriptionId, time::Timestamp};

/// Crockford's alphabet in lower case; ids are compared exactly, never folded.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters that carry 128 bits.
const BODY_LEN: usize = 26;

/// The text is not an identifier of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier of this kind")]
pub struct ParseIdError;

fn write_body(f: &mut fmt::Formatter<'_>, value: u128) -> fmt::Result {
    let mut text = [0_u8; BODY_LEN];
    let mut rest = value;
    for slot in text.iter_mut().rev() {
        // Five bits index a table of 32.
        *slot = ALPHABET.get((rest & 31) as usize).copied().unwrap_or(b'0');
        rest >>= 5;
    }
    f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
}

fn parse_body(text: &str) -> Result<u128, ParseIdError> {
    if text.len() != BODY_LEN {
        return Err(ParseIdError);
    }
    let mut value: u128 = 0;
    for (position, byte) in text.bytes().enumerate() {
        let digit = ALPHABET
            .iter()
            .position(|&c| c == byte)
            .ok_or(ParseIdError)?;
        // 26 characters hold 130 bits: the first may only be 0 to 7.
        if position == 0 && digit > 7 {
            return Err(ParseIdError);
        }
        value = (value << 5) | digit as u128;
    }
    Ok(value)
}

/// Serializes an identifier as its text in human-readable formats, and as its number or bytes elsewhere.
macro_rules! serde_of_id {
    ($name:ident, $stored:ty, $to:expr, $from:expr) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                if to.is_human_readable() {
                    return to.collect_str(self);
                }
                let stored: fn(&Self) -> $stored = $to;
                stored(self).serialize(to)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                if from.is_human_readable() {
                    return String::deserialize(from)?.parse().map_err(D::Error::custom);
                }
                <$stored>::deserialize(from).map($from)
            }
        }
    };
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u128);

        impl $name {
            /// The prefix of this kind of identifier.
            pub const PREFIX: &'static str = $prefix;
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Self::PREFIX)?;
                write_body(f, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                parse_body(text.strip_prefix(Self::PREFIX).ok_or(ParseIdError)?).map(Self)
            }
        }

        serde_of_id!($name, u128, |id| id.0, $name);
    };
}

id!(/// A project: the tenant that an API key belongs to.
    ProjectId, "proj_");
id!(/// The identifier of an API key, safe to show; not the key itself.
    KeyId, "key_");
id!(/// A product of the catalog.
    ProductId, "prod_");
id!(/// A price of a product.
    PriceId, "price_");
id!(/// A rate card of a project; callers name it by its slug.
    RateCardId, "card_");
id!(/// A wallet, as shown to callers; storage addresses it by [`WalletKey`].
    WalletId, "wal_");
id!(/// A subscription, as shown to callers: the provider's own id is in [`SubscriptionId`].
    PublicSubscriptionId, "sub_");
id!(/// A webhook event: something to tell a project's own servers.
    EventId, "evt_");
id!(/// A webhook endpoint of a project.
    EndpointId, "wh_");
id!(/// A delivery of one event to one endpoint.
    DeliveryId, "dlv_");
id!(/// A person who works with the dashboard.
    UserId, "usr_");
id!(/// A request that waits for approval by a second person.
    ApprovalId, "apr_");
id!(/// A session of the dashboard.
    SessionId, "ses_");

impl PublicSubscriptionId {
    /// The identifier of a subscription for callers. They store it, so it must never change.
    pub fn of(project: ProjectId, subscription: &SubscriptionId) -> Self {
        let mut hasher = SipHasher24::new_with_key(&project.0.to_be_bytes());
        hasher.write(subscription.as_str().as_bytes());
        Self(hasher.finish128().as_u128())
    }
}

/// Where a wallet is stored: sixteen bytes, uniformly spread, derived from its first address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WalletKey(pub [u8; 16]);

impl fmt::Debug for WalletKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wallet:{:032x}", u128::from_be_bytes(self.0))
    }
}

impl WalletKey {
    /// The prefix of its text form.
    pub const PREFIX: &'static str = "wref_";
}

/// The text form, as the admin API shows and takes it.
impl fmt::Display for WalletKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        write_body(f, u128::from_be_bytes(self.0))
    }
}

impl FromStr for WalletKey {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let body = parse_body(text.strip_prefix(Self::PREFIX).ok_or(ParseIdError)?)?;
        Ok(Self(body.to_be_bytes()))
    }
}

serde_of_id!(WalletKey, [u8; 16], |key| key.0, WalletKey);

/// A keyed hash of a recovery code: how a code is found without being stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CodeHash(pub [u8; 16]);

impl fmt::Debug for CodeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeHash(..)")
    }
}

/// An order within its wallet: a UUID version 7, or one derived from a renewal's invoice; part of an [`OrderId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OrderSerial(pub u128);

impl OrderSerial {
    /// The time in the serial: when it was drawn, or when its invoice was made.
    pub fn made_at(self) -> Timestamp {
        Timestamp(i64::try_from(self.0 >> 80).unwrap_or(i64::MAX))
    }
}

impl fmt::Debug for OrderSerial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("order:")?;
        write_body(f, self.0)
    }
}

/// The identifier of a hold. It contains the hold's wallet, so that no index from holds to wallets is needed; `serial`
/// alone is unique and unguessable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldId {
    /// A UUID version 7.
    pub serial: u128,
    /// The wallet whose credits are held.
    pub wallet: WalletKey,
}

/// The identifier of an order: one checkout, renewal or switch. Like [`HoldId`] it contains the wallet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderId {
    /// Unique within the wallet; unguessable.
    pub serial: OrderSerial,
    /// The wallet that receives what the order buys.
    pub wallet: WalletKey,
}

/// The identifier of a ledger entry. Like [`HoldId`] it contains the wallet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LedgerId {
    /// A UUID version 7, derived from the entry. Its lowest [`LedgerId::NUMBER_BITS`] bits are the entry's number in
    /// the wallet's history.
    pub serial: u128,
    /// The wallet whose ledger it is.
    pub wallet: WalletKey,
}

impl LedgerId {
    /// How many bits hold the entry's number.
    pub const NUMBER_BITS: u32 = 40;

    /// The entry's number in the wallet's history.
    pub fn number(self) -> u64 {
        // 40 bits fit 64.
        u64::try_from(self.serial & ((1 << Self::NUMBER_BITS) - 1)).unwrap_or(0)
    }
}

macro_rules! id_in_wallet {
    ($name:ident, $prefix:literal, $kind:literal, $number:expr, $serial:expr) => {
        impl $name {
            #[doc = concat!("What every ", $kind, "'s identifier starts with.")]
            pub const PREFIX: &'static str = $prefix;
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Self::PREFIX)?;
                write_body(f, $number(self.serial))?;
                write_body(f, u128::from_be_bytes(self.wallet.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let body = text.strip_prefix(Self::PREFIX).ok_or(ParseIdError)?;
                let (serial, wallet) = body.split_at_checked(BODY_LEN).ok_or(ParseIdError)?;
                Ok(Self {
                    serial: $serial(parse_body(serial)?),
                    wallet: WalletKey(parse_body(wallet)?.to_be_bytes()),
                })
            }
        }

        serde_of_id!(
            $name,
            (u128, WalletKey),
            |id| ($number(id.serial), id.wallet),
            |(serial, wallet)| {
                let serial = $serial(serial);
                Self { serial, wallet }
            }
        );
    };
}

id_in_wallet!(
    HoldId,
    "hold_",
    "hold",
    std::convert::identity,
    std::convert::identity
);
id_in_wallet!(
    LedgerId,
    "led_",
    "ledger entry",
    std::convert::identity,
    std::convert::identity
);
id_in_wallet!(
    OrderId,
    "ord_",
    "order",
    |serial: OrderSerial| serial.0,
    OrderSerial
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_written() {
        for value in [0, 1, u128::MAX, 0x0190_1234_5678_7abc_8def_0123_4567_89ab] {
            let id = ProductId(value);
            assert_eq!(id.to_string().parse(), Ok(id));
            let hold = HoldId {
                serial: value,
                wallet: WalletKey(value.to_le_bytes()),
            };
            assert_eq!(hold.to_string().parse(), Ok(hold));
            let order = OrderId {
                serial: OrderSerial(value),
                wallet: WalletKey(value.to_le_bytes()),
            };
            assert_eq!(order.to_string().parse(), Ok(order));
            assert_eq!(order.wallet.to_string().parse(), Ok(order.wallet));
        }
    }

    #[test]
    fn ids_sort_by_time_as_text_too() {
        assert!(ProductId(5 << 80).to_string() < ProductId(6 << 80).to_string());
    }

    #[test]
    fn other_kinds_and_damaged_ids_are_refused() {
        let id = ProductId(77).to_string();
        assert!(id.parse::<PriceId>().is_err());
        assert!(id[..id.len() - 1].parse::<ProductId>().is_err());
        assert!(format!("{id}0").parse::<ProductId>().is_err());
        assert!(id.to_uppercase().parse::<ProductId>().is_err());
        assert!(
            "prod_8zzzzzzzzzzzzzzzzzzzzzzzzz"
                .parse::<ProductId>()
                .is_err()
        );
        assert!("hold_é".parse::<HoldId>().is_err());
        let hold = HoldId {
            serial: 77,
            wallet: WalletKey([7; 16]),
        };
        let order = hold.to_string().replace("hold_", "ord_");
        assert!(order.parse::<OrderId>().is_ok());
        assert!(order.parse::<HoldId>().is_err());
        assert!(order[..order.len() - 26].parse::<OrderId>().is_err());
    }
}
