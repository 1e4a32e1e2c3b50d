//! The look-ups by name, with what their entries consist of.

use domain::id::WalletKey;

/// A key of a look-up.
pub type Key = Box<[u8]>;
/// The value under a key of a look-up.
pub type Value = Box<[u8]>;

pub(crate) struct LookUpSpec {
    pub(crate) name: &'static str,
    /// Bytes of a key and of a value.
    pub(crate) key: usize,
    pub(crate) value: usize,
    wallet: WalletIn,
}

/// The part of an entry that names its wallet: the end of the key if a key may lead to several wallets, otherwise the
/// value; a wallet's own entries begin with it.
enum WalletIn {
    Key,
    Value,
    Start,
}

/// Passes the look-ups to a macro: name, tree, bytes of a key and of a value, and what names an entry's wallet.
macro_rules! each_look_up {
    ($declare:ident) => {
        $declare! {
            /// Orders of a project by when they were placed: all, and those of each state, product and buyer; never
            /// removed. Key: hash of the project and what its orders have in common, instant, serial. Value:
            /// [`super::OrderSummary`], wallet.
            Orders "orders" 40 68 Value,
            /// Orders by the provider's identifiers; never removed. Key: hash of project and identifier, wallet. Value:
            /// serial. A customer may have several wallets, and what somebody wrote on a subscription may have led to
            /// two.
            ProviderIds "called" 32 16 Key,
            /// Pending orders of a project by when they expire. Key: project, instant, serial. Value: wallet.
            Due "due" 40 16 Value,
            /// Subscriptions of a project that are not over, by when their periods end: those whose next period was not
            /// reported are found here, to ask the provider about them. Key: project, the period's end, hash of the
            /// subscription. Value: wallet.
            Periods "periods" 40 16 Value,
            /// Wallets by the email address under which an order was paid, until that is erased. Key: hash of project
            /// and address, wallet.
            Buyers "buyers" 32 0 Key,
            /// Wallets by a code that is not the one that their own key was made from: it replaced that one, or a
            /// payment minted it. Key: hash of the code. Value: wallet.
            Codes "codes" 16 16 Value,
            /// Wallets by the identifier that callers see, which does not contain the wallet's key; never removed.
            /// Key: identifier. Value: wallet.
            Ids "ids" 16 16 Value,
            /// Orders of a wallet by when they were placed; never removed. Key: wallet, instant, serial.
            WalletOrders "wallet_orders" 40 0 Start,
            /// Wallets by a code that was replaced; never removed. Only an operator's search reads it: to callers such
            /// a code opens nothing. Key: hash of the code. Value: wallet.
            FormerCodes "former_codes" 16 16 Value,
            /// Wallets by how their user's identifier begins, without regard to case; never removed. Key: the half of
            /// the project that is random, the first bytes of the identifier in lower case, wallet.
            Users "users" 48 0 Key,
            /// Wallets of a project by the day of their last use. Key: project, day, wallet. Coarse, as balances are:
            /// a place that moved with each deduction would make every checkpoint dearer; within a day or a rank,
            /// wallets tell the order.
            LastUsed "last_used" 36 0 Key,
            /// Wallets whose automatic top-up is due, by when, and those whose is suspended. Key: hash of the project and
            /// the list, instant, wallet.
            TopUps "top_ups" 40 0 Key,
            /// Wallets by the coarse rank of their balance of a product. Key: product, rank, wallet.
            Balances "balances" 33 0 Key,
        }
    };
}
pub(crate) use each_look_up;

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident $tree:literal $key:literal $value:literal $wallet:ident,)*) => {
        /// The look-ups that there are.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum LookUp {
            $($(#[$doc])* $name,)*
        }

        impl LookUp {
            pub(crate) const ALL: [Self; 13] = [$(Self::$name,)*];

            pub(crate) const fn declared(self) -> LookUpSpec {
                match self {
                    $(Self::$name => LookUpSpec {
                        name: $tree,
                        key: $key,
                        value: $value,
                        wallet: WalletIn::$wallet,
                    },)*
                }
            }
        }
    };
}
each_look_up!(declare);

impl LookUp {
    /// In rising order, from the first key on that can begin with `prefix`.
    pub(crate) fn from(self, prefix: &[u8]) -> LookUpRange {
        let mut first = prefix.to_vec();
        first.resize(self.declared().key, 0);
        LookUpRange::From(first.into())
    }

    /// The wallet that an entry leads to.
    pub(crate) fn wallet_in(self, key: &[u8], value: &[u8]) -> WalletKey {
        let place = match self.declared().wallet {
            WalletIn::Key => key,
            WalletIn::Value => value,
            WalletIn::Start => key.get(..16).unwrap_or_default(),
        };
        WalletKey(place.last_chunk().copied().unwrap_or_default())
    }
}

/// What an event changed in a look-up: an entry put or, without a value, taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LookUpChange {
    pub(crate) look_up: LookUp,
    pub(crate) key: Key,
    pub(crate) value: Option<Value>,
}

/// The part of a look-up to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUpRange {
    /// In rising order, from this key on.
    From(Key),
    /// In falling order, before this key.
    Before(Key),
}
