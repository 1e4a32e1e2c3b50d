//! A project's wallets, by their last use or by a balance.

use std::cmp::Reverse;

use domain::id::{ProductId, WalletKey};
use futures_util::{StreamExt as _, stream};
use persistence::{WalletOrder, WalletPlace};

use super::{Address, Handle, Scope, orders::looked_up};
use crate::answer::{Error, ListedWallet, WalletListPage, WalletListPlace};

/// The most wallets of one day, or of one rank (a coarse size of the balance), that are sorted; more come in the order
/// of their keys.
const MAX_SORTED: usize = 1000;
pub(super) const CONCURRENCY: usize = 64;

impl Handle {
    /// A page of a project's wallets after a position: last used first, or largest balance first. Within a day, or
    /// among balances of similar size, at most a thousand are sorted.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read; else see [`Error`].
    pub async fn wallets(
        &self,
        scope: &Scope,
        order: WalletOrder,
        after: Option<WalletListPlace>,
        limit: usize,
    ) -> Result<WalletListPage, Error> {
        if after.is_none() {
            // Lists show wallets as of the last checkpoint.
            self.read_books(|books| books.flush()).await?;
        }
        let mut page = WalletListPage::default();
        let mut after = after;
        let mut below = after.map_or(i32::MAX, |after| after.number);
        loop {
            let missing = limit.saturating_sub(page.wallets.len());
            let group = self.group(scope, order, below, None, MAX_SORTED + 1)?;
            let Some(number) = group.first().map(|place| place.number) else {
                return Ok(page);
            };
            let within = after.take().filter(|after| after.number == number);
            let by_key = group.len() > MAX_SORTED || within.is_some_and(|it| it.exact.is_none());
            let (mut wallets, more) = if by_key {
                let start = within.map(|within| within.wallet);
                let places = self.group(scope, order, number, start, missing.saturating_add(1))?;
                let more = places.len() > missing;
                let places = places.into_iter().take(missing).map(|it| it.wallet);
                (self.peek_all(scope, places).await?, more)
            } else {
                let group = group.into_iter().map(|place| place.wallet);
                let mut all = self.peek_all(scope, group).await?;
                let place = |wallet: &ListedWallet| (exact(order, wallet), wallet.view.key);
                all.sort_by_key(|wallet| Reverse(place(wallet)));
                let start = within.and_then(|it| Some((it.exact?, it.wallet)));
                all.retain(|wallet| start.is_none_or(|start| place(wallet) < start));
                let more = all.len() > missing;
                all.truncate(missing);
                (all, more)
            };
            page.wallets.append(&mut wallets);
            let last = page.wallets.last();
            if more || page.wallets.len() >= limit {
                page.next = last.map(|wallet| WalletListPlace {
                    number,
                    exact: (!by_key).then(|| exact(order, wallet)),
                    wallet: wallet.view.key,
                });
                if !more && self.is_last(scope, order, number)? {
                    page.next = None;
                }
                return Ok(page);
            }
            match number.checked_sub(1) {
                Some(next) => below = next,
                None => return Ok(page),
            }
        }
    }

    /// The positions of the first group at `number` or below, after a wallet of it.
    fn group(
        &self,
        scope: &Scope,
        order: WalletOrder,
        number: i32,
        after: Option<WalletKey>,
        limit: usize,
    ) -> Result<Vec<WalletPlace>, Error> {
        let wallet = after.unwrap_or(WalletKey([u8::MAX; 16]));
        let after = Some(WalletPlace { number, wallet });
        let mut places = looked_up(self.books().wallets(scope.project, order, after, limit))?;
        if let Some(first) = places.first().map(|place| place.number) {
            places.retain(|place| place.number == first);
        }
        Ok(places)
    }

    fn is_last(&self, scope: &Scope, order: WalletOrder, number: i32) -> Result<bool, Error> {
        match number.checked_sub(1) {
            Some(next) => Ok(self.group(scope, order, next, None, 1)?.is_empty()),
            None => Ok(true),
        }
    }

    /// Wallets as their owners would see them now, in this order and without those that do not exist. Nothing is logged,
    /// and none is woken.
    /// # Errors
    /// See [`Error`].
    pub async fn peek_all(
        &self,
        scope: &Scope,
        wallets: impl IntoIterator<Item = WalletKey>,
    ) -> Result<Vec<ListedWallet>, Error> {
        let read = wallets.into_iter().map(|wallet| async move {
            let wallet = self.peek(scope, &Address::Stored(wallet)).await;
            super::search::if_found(wallet)
        });
        let read: Vec<_> = stream::iter(read).buffered(CONCURRENCY).collect().await;
        read.into_iter().filter_map(Result::transpose).collect()
    }
}

fn exact(order: WalletOrder, wallet: &ListedWallet) -> i64 {
    let of = |product: ProductId| {
        let mut balances = wallet.view.balances.iter();
        let balance = balances.find(|balance| balance.product == product);
        balance.map_or(0, |balance| balance.balance)
    };
    match order {
        WalletOrder::LastUsed => wallet.used_at.0,
        WalletOrder::Balance(product) => of(product),
    }
}
