//! What a project's own servers are told, and what it granted and used.

use std::sync::Arc;

use domain::{
    Timestamp,
    id::{EventId, OrderId, ProductId},
    notice::{Notice, OrderFacts},
};
use persistence::{Books, NoticeNumber, OnNotices, usage};

use super::{Handle, Scope};
use crate::answer::{Error, OrderAnswer};

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What it is called, the same for good.
    pub id: EventId,
    /// What there is to tell.
    pub notice: Notice,
}

/// A stretch of time, and what was granted and used in it.
pub type Used = (Timestamp, usage::Usage);

impl Handle {
    /// At most `limit` of what a project is told, oldest first: behind this one, or from the oldest that
    /// is kept. `None`: there never was such a one.
    pub async fn told_after(
        &self,
        scope: &Scope,
        after: Option<EventId>,
        limit: usize,
    ) -> Result<Option<Vec<Told>>, Error> {
        let number = after.map_or(0, event_number);
        if let Some(after) = after
            && !self.was_told(scope, after).await?
        {
            return Ok(None);
        }
        self.told(scope, number, limit).await.map(Some)
    }

    /// At most `limit` of what a project is told behind this number, oldest first.
    pub async fn told(
        &self,
        scope: &Scope,
        after: NoticeNumber,
        limit: usize,
    ) -> Result<Vec<Told>, Error> {
        let project = scope.project;
        let found = self
            .read_books(move |books| books.notices(project, after, limit))
            .await?;
        let keyring = &self.inner.keyring;
        let told = found.into_iter().map(|(number, notice)| Told {
            id: keyring.event(number, &notice),
            notice,
        });
        Ok(told.collect())
    }

    /// What of this name a project was told; `None`: nothing, or it is not kept any more.
    pub async fn told_as(&self, scope: &Scope, id: EventId) -> Result<Option<Told>, Error> {
        let before = event_number(id).saturating_sub(1);
        let found = self.told(scope, before, 1).await?;
        Ok(found.into_iter().find(|told| told.id == id))
    }

    /// Whether it was, or may have been where it is not kept any more.
    async fn was_told(&self, scope: &Scope, id: EventId) -> Result<bool, Error> {
        if self.told_as(scope, id).await?.is_some() {
            return Ok(true);
        }
        let oldest = self.told(scope, 0, 1).await?;
        let oldest = oldest.first().map(|oldest| event_number(oldest.id));
        Ok(oldest.is_some_and(|oldest| event_number(id) < oldest))
    }

    /// All that is told from now on has a larger number.
    #[must_use]
    pub fn last_told(&self) -> NoticeNumber {
        self.books().last_notice()
    }

    /// Who is told whenever there is more to tell.
    pub fn on_told(&self, told: OnNotices) {
        self.books().on_notices(told);
    }

    /// The order of a notice as it stood, with the code that opened its wallet.
    #[must_use]
    pub fn order_told(&self, notice: &Notice, facts: &OrderFacts) -> OrderAnswer {
        let is_usable = notice.user.is_some() || facts.code.is_some();
        let code = facts.code.as_deref();
        OrderAnswer {
            id: OrderId {
                serial: facts.serial,
                wallet: notice.key,
            },
            order: facts.order.clone(),
            wallet: is_usable.then_some(notice.wallet),
            external_user: notice.user.clone(),
            code: code.and_then(|sealed| self.inner.keyring.unseal(sealed)),
            code_of_the_order: true,
            balance: facts.balance,
        }
    }

    /// What was granted and used of a product within a stretch of time, up to now.
    pub async fn usage(
        &self,
        product: ProductId,
        interval: usage::Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<Used>, Error> {
        let read = move |books: &dyn Books| {
            books.settle()?;
            books.usage(product, interval, within)
        };
        self.read_books(read).await
    }

    /// The same of several products, in their order.
    pub async fn usage_of(
        &self,
        products: Vec<ProductId>,
        interval: usage::Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<Vec<Used>>, Error> {
        let read = move |books: &dyn Books| {
            books.settle()?;
            let products = products.into_iter();
            products
                .map(|product| books.usage(product, interval, within))
                .collect()
        };
        self.read_books(read).await
    }

    async fn read_books<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Books) -> Result<T, persistence::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let books = Arc::clone(&self.inner.registry.store.books);
        let read = tokio::task::spawn_blocking(move || read(&*books)).await;
        let read = read.map_err(|_| Error::Unavailable)?;
        read.map_err(|error| {
            tracing::error!(%error, "What there is to tell cannot be read");
            Error::Unavailable
        })
    }
}

/// The number that a name carries.
#[must_use]
pub const fn event_number(id: EventId) -> NoticeNumber {
    // Its upper half: nothing is cut off.
    (id.0 >> 64) as NoticeNumber
}
