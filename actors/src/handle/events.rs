//! Reads a project's events for its own servers, and its usage.

use std::sync::Arc;

use domain::{
    Timestamp,
    id::{EventId, OrderId, ProductId},
    project_event::{OrderSnapshot, ProjectEvent},
};
use persistence::{Books, EventNumber, OnEvents, usage};

use super::{Handle, Scope};
use crate::answer::{Error, OrderAnswer};

/// A project event with its public id, as webhooks and the feed of events show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    /// The event's id, `evt_…`, which never changes.
    pub id: EventId,
    /// What happened, and to which wallet.
    pub project_event: ProjectEvent,
}

/// The start of an hour, day or month, and the usage in it.
pub type UsagePeriod = (Timestamp, usage::Usage);

/// Events that are read at once where few of them may be wanted.
const EVENTS_AT_ONCE: usize = 1000;

impl Handle {
    /// At most `limit` of a project's events, oldest first, after this one or from the oldest that is kept. `None` if
    /// there never was an event with this id.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn events_after(
        &self,
        scope: &Scope,
        after: Option<EventId>,
        limit: usize,
    ) -> Result<Option<Vec<EventRecord>>, Error> {
        let number = after.map_or(0, event_number);
        if let Some(after) = after
            && !self.event_existed(scope, after).await?
        {
            return Ok(None);
        }
        self.events_from(scope, number, limit).await.map(Some)
    }

    /// At most `limit` of a project's events after this number, oldest first.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn events_from(
        &self,
        scope: &Scope,
        after: EventNumber,
        limit: usize,
    ) -> Result<Vec<EventRecord>, Error> {
        let project = scope.project;
        let events = self
            .read_books(move |books| books.project_events(project, after, limit))
            .await?;
        let keyring = &self.inner.keyring;
        let records = events
            .into_iter()
            .map(|(number, project_event)| EventRecord {
                id: keyring.event(number, &project_event),
                project_event,
            });
        Ok(records.collect())
    }

    /// A project's events since an instant that are wanted, oldest first, and whether they are all: only so many are
    /// looked at.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn events_since(
        &self,
        scope: &Scope,
        since: Timestamp,
        most: usize,
        wanted: impl Fn(&ProjectEvent) -> bool + Send + 'static,
    ) -> Result<(Vec<ProjectEvent>, bool), Error> {
        let project = scope.project;
        let read = move |books: &dyn Books| {
            let (mut after, mut end) = (0, books.last_project_event());
            while after < end {
                let middle = after.midpoint(end);
                let next = books.project_events(project, middle, 1)?;
                match next.first().is_none_or(|(_, event)| event.is_since(since)) {
                    true => end = middle,
                    false => after = middle.saturating_add(1),
                }
            }
            let (mut found, mut looked_at) = (Vec::new(), 0_usize);
            while looked_at < most {
                let page = books.project_events(project, after, EVENTS_AT_ONCE)?;
                let Some((last, _)) = page.last() else {
                    return Ok((found, true));
                };
                (after, looked_at) = (*last, looked_at.saturating_add(page.len()));
                found.extend(page.into_iter().map(|(_, event)| event).filter(&wanted));
            }
            Ok((found, false))
        };
        self.read_books(read).await
    }

    /// A project's event with this id; `None` if there is none, or it is no longer kept.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn event_by_id(
        &self,
        scope: &Scope,
        id: EventId,
    ) -> Result<Option<EventRecord>, Error> {
        let before = event_number(id).saturating_sub(1);
        let records = self.events_from(scope, before, 1).await?;
        Ok(records.into_iter().find(|record| record.id == id))
    }

    /// Whether the event exists, or may have existed before the oldest that is kept.
    async fn event_existed(&self, scope: &Scope, id: EventId) -> Result<bool, Error> {
        if self.event_by_id(scope, id).await?.is_some() {
            return Ok(true);
        }
        let oldest = self.events_from(scope, 0, 1).await?;
        let oldest = oldest.first().map(|oldest| event_number(oldest.id));
        Ok(oldest.is_some_and(|oldest| event_number(id) < oldest))
    }

    /// The number of the last durable project event; later ones have larger numbers.
    pub fn last_event_number(&self) -> EventNumber {
        self.books().last_project_event()
    }

    /// Sets the callback that runs whenever project events become durable.
    pub fn on_events(&self, listener: OnEvents) {
        self.books().on_project_events(listener);
    }

    /// The order of a project event as it was then, with its wallet's code at that time.
    pub fn order_of_event(
        &self,
        project_event: &ProjectEvent,
        facts: &OrderSnapshot,
    ) -> OrderAnswer {
        let is_usable = project_event.user.is_some() || facts.code.is_some();
        let code = facts.code.as_deref();
        OrderAnswer {
            id: OrderId {
                serial: facts.serial,
                wallet: project_event.key,
            },
            order: facts.order.clone(),
            wallet: is_usable.then_some(project_event.wallet),
            external_user: project_event.user.clone(),
            code: code.and_then(|sealed| self.inner.keyring.unseal(sealed)),
            is_original_code: true,
            balance: facts.balance,
        }
    }

    /// A product's usage within a span of time, up to now.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn usage(
        &self,
        product: ProductId,
        interval: usage::Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<UsagePeriod>, Error> {
        let read = move |books: &dyn Books| {
            books.flush()?;
            books.usage(product, interval, within)
        };
        self.read_books(read).await
    }

    /// The usage of several products, in their order.
    /// # Errors
    /// [`Error::Unavailable`] when the books cannot be read.
    pub async fn usage_of(
        &self,
        products: Vec<ProductId>,
        interval: usage::Interval,
        within: (Timestamp, Timestamp),
    ) -> Result<Vec<Vec<UsagePeriod>>, Error> {
        let read = move |books: &dyn Books| {
            books.flush()?;
            let products = products.into_iter();
            products
                .map(|product| books.usage(product, interval, within))
                .collect()
        };
        self.read_books(read).await
    }

    pub(super) async fn read_books<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Books) -> Result<T, persistence::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let books = Arc::clone(&self.inner.registry.store.books);
        let read = tokio::task::spawn_blocking(move || read(&*books)).await;
        let read = read.map_err(|_| Error::Unavailable)?;
        read.map_err(|error| {
            tracing::error!(%error, "Project events or usage cannot be read");
            Error::Unavailable
        })
    }
}

/// The project event's number, which an event's id contains.
pub const fn event_number(id: EventId) -> EventNumber {
    (id.0 >> 64) as EventNumber
}
