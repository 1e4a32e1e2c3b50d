//! A project's wallets, as an operator looks for them.

use domain::id::{CodeHash, ProductId, ProjectId, WalletKey};

use super::books::Books;
use crate::{
    error::Error,
    lookups::{
        LookUp, LookUpRange,
        lists::rank,
        orders::wallet,
        users::{first_user, user_prefix},
        wallet_lists::{day_key, day_of, rank_key, rank_of},
    },
};

/// A wallet's place in a list: its day or its rank, and its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalletPlace {
    /// The day of its last use, counted from the epoch; or the rank of its balance. Higher ones come first.
    pub number: i32,
    /// The wallet. Within a day or a rank, higher ones come first.
    pub wallet: WalletKey,
}

/// What wallets are listed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletOrder {
    /// By the day of their last use, the last one first.
    LastUsed,
    /// By their balance of a product, roughly, the largest first: see [`WalletOrder::balance_rank`].
    Balance(ProductId),
}

impl WalletOrder {
    /// The rank of a balance: coarse, and in the order of balances.
    pub fn balance_rank(balance: i64) -> i32 {
        rank(balance).into()
    }
}

impl dyn Books + '_ {
    /// At most `limit` wallets of a project whose user's identifier begins with a text, by identifier; case is ignored.
    /// Only the first bytes of an identifier are compared: whether the rest fits, the wallet knows.
    /// # Errors
    /// The books cannot be read.
    pub fn users(
        &self,
        project: ProjectId,
        text: &str,
        limit: usize,
    ) -> Result<Vec<WalletKey>, Error> {
        let prefix = user_prefix(project, text);
        let from = LookUpRange::From(first_user(&prefix));
        let entries = self.range(LookUp::Users, &from, limit)?;
        let same = entries.iter();
        let same = same.take_while(|(key, _)| key.starts_with(&prefix));
        same.map(|(key, _)| wallet(key)).collect()
    }

    /// The wallet that this code opened before it was replaced.
    /// # Errors
    /// The books cannot be read.
    pub fn former_code(&self, code: &CodeHash) -> Result<Option<WalletKey>, Error> {
        let stored = self.find(LookUp::FormerCodes, &code.0)?;
        stored.map(|value| wallet(&value)).transpose()
    }

    /// At most `limit` wallets of a list, strictly after the place `after`, or from the first. Fewer than `limit`: there
    /// are no more.
    /// # Errors
    /// The books cannot be read.
    pub fn wallets(
        &self,
        project: ProjectId,
        order: WalletOrder,
        after: Option<WalletPlace>,
        limit: usize,
    ) -> Result<Vec<WalletPlace>, Error> {
        let WalletPlace { number, wallet } = after.unwrap_or(WalletPlace {
            number: i32::MAX,
            wallet: WalletKey([u8::MAX; 16]),
        });
        let (look_up, key, of) = match order {
            WalletOrder::LastUsed => (
                LookUp::LastUsed,
                day_key(project, number, &wallet),
                project.0.to_be_bytes(),
            ),
            WalletOrder::Balance(product) => {
                let rank = u8::try_from(number).unwrap_or(u8::MAX);
                let key = rank_key(product, rank, &wallet);
                (LookUp::Balances, key, product.0.to_be_bytes())
            }
        };
        let entries = self.range(look_up, &LookUpRange::Before(key), limit)?;
        let own = entries.iter().take_while(|(key, _)| key.starts_with(&of));
        own.map(|(key, _)| place(order, key)).collect()
    }
}

fn place(order: WalletOrder, key: &[u8]) -> Result<WalletPlace, Error> {
    let number = match order {
        WalletOrder::LastUsed => day_of(key),
        WalletOrder::Balance(_) => rank_of(key).map(i32::from),
    };
    Ok(WalletPlace {
        number: number.unwrap_or(0),
        wallet: wallet(key)?,
    })
}
