//! Reads a provider's list of events, so that webhooks are optional: an endpoint that was down for a day loses nothing,
//! a laptop without a public address needs none, and a restored backup catches up.
//!
//! All instants are the provider's. Each reading begins some minutes before the newest known event, since events are
//! listed late and in any order; known events cost nothing. A list too long for one reading is read in slices, oldest
//! first, and the position is noted after each.

use std::collections::{BTreeMap, HashMap, HashSet};

use actors::notes;
use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use payments_port::{ObjectRef, Span};

use super::{
    context::Context,
    error::Error,
    inbox::Inbox,
    note_kinds::{EventKey, Position, PositionNote, StoredEvent},
    project_account::ProjectAccount,
    sweep::{Source, Sweep},
};

/// The pause between readings after a checkout, or while no webhook has ever come.
const SHORT_INTERVAL_SECONDS: i64 = 5;
/// The pause between readings otherwise.
const LONG_INTERVAL_SECONDS: i64 = 300;
/// How long the short interval lasts after a checkout.
const CHECKOUT_WINDOW_SECONDS: i64 = 60;
/// How far before the newest event a reading begins: lists lag by minutes under load.
const OVERLAP_SECONDS: i64 = 15 * 60;
/// How often a deep reading is made, and how far back it goes.
const DEEP_INTERVAL_SECONDS: i64 = 3600;
const DEEP_OVERLAP_SECONDS: i64 = 2 * 3600;
/// How long before the first order, or the project's creation, the first reading begins, in case clocks differ.
const INITIAL_OVERLAP_SECONDS: i64 = 24 * 3600;
/// With this many orders or more, the first one is not searched.
const MAX_ORDERS: usize = 1000;
/// The most pages of a slice; a longer slice is cut in half.
const MAX_PAGES: usize = 10;

/// The sweep over providers' lists of events.
pub type EventPoller = Sweep<EventList>;

/// The source of that sweep: how far each project's list was read.
pub struct EventList {
    context: Context,
    inbox: Inbox,
    projects: DashMap<ProjectId, ReadState>,
}

#[derive(Debug, Clone, Copy, Default)]
struct ReadState {
    /// All events up to here were read, by the provider's clock; `None` if never.
    until: Option<Timestamp>,
    /// Whether a webhook has ever come; stored with the position.
    webhooks_seen: bool,
    /// When it was last read to its end, by Scrip's clock.
    read: Option<Timestamp>,
    /// When the last deep reading was, by Scrip's clock.
    far: Option<Timestamp>,
    /// When the last checkout was opened, by Scrip's clock.
    checkout: Option<Timestamp>,
}

/// New events about one object, to be fetched once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnseenEvents {
    about: ObjectRef,
    events: Vec<StoredEvent>,
}

/// The progress of one reading.
#[derive(Debug, Default)]
pub(crate) struct TimeSlices {
    /// The next or current slice; `None` before the first.
    next: Option<Span>,
    newest: Option<Timestamp>,
    /// The newest event of all slices, if there are several.
    last: Option<Timestamp>,
    is_long: bool,
    is_over: bool,
    /// Events about payments in the current slice, handled once its purchases are known.
    money: Vec<UnseenEvents>,
}

struct Slice {
    /// Events about purchases, handled before those about their refunds.
    bought: Vec<UnseenEvents>,
    money: Vec<UnseenEvents>,
    newest: Option<Timestamp>,
    /// Whether it has more pages than may be read.
    is_cut: bool,
    /// Whether a slice of twice the length might have.
    is_long: bool,
}

impl EventList {
    pub(crate) fn new(context: Context, inbox: Inbox) -> Self {
        Self {
            context,
            inbox,
            projects: DashMap::new(),
        }
    }

    pub(crate) fn restore(&self, project: ProjectId, position: Position) {
        let mut reading = self.projects.entry(project).or_default();
        (reading.until, reading.webhooks_seen) = (Some(position.until), position.webhooks_seen);
    }

    /// Notes that a checkout was opened, so that events are expected.
    pub(crate) fn expect(&self, project: ProjectId) {
        let mut reading = self.projects.entry(project).or_default();
        reading.checkout = Some(self.context.handle.now());
    }

    fn reading(&self, project: ProjectId) -> ReadState {
        let state = self.projects.get(&project);
        state.map(|reading| *reading).unwrap_or_default()
    }

    /// The start of the next reading of a project's list.
    fn since(&self, project: &ProjectCatalog, reading: ReadState) -> Result<Timestamp, Error> {
        let handle = &self.context.handle;
        if let Some(until) = reading.until {
            let now = handle.now();
            let far = reading
                .far
                .is_some_and(|far| now >= far.plus_seconds(DEEP_INTERVAL_SECONDS));
            let back = if far {
                -DEEP_OVERLAP_SECONDS
            } else {
                -OVERLAP_SECONDS
            };
            return Ok(until.plus_seconds(back));
        }
        let placed = handle.order_positions(&project.scope, None, MAX_ORDERS)?;
        // Without an order nothing was sold yet, or a backup from before the first was restored.
        let first = placed.last().filter(|_| placed.len() < MAX_ORDERS);
        let first = first.map_or(project.project.created_at, |place| place.at);
        Ok(first.plus_seconds(-INITIAL_OVERLAP_SECONDS))
    }

    async fn slice(&self, account: ProjectAccount<'_>, span: Span) -> Result<Slice, Error> {
        let id = account.project.project.id;
        let outages = self.context.fulfilment.outages();
        let is_instant = span.until.is_some_and(|until| until <= span.since);
        let mut unseen: BTreeMap<(Timestamp, String), UnseenEvents> = BTreeMap::new();
        let mut subjects: HashMap<ObjectRef, (Timestamp, String)> = HashMap::new();
        let mut seen: HashSet<EventKey> = HashSet::new();
        let mut newest = None;
        let mut next: Option<String> = None;
        let mut pages = 0_usize;
        loop {
            let page = account.provider.events(span, next.as_deref()).await;
            outages.note(id, self.context.handle.now(), &page);
            let page = page?;
            newest = newest.max(page.items.iter().map(|event| event.at).max());
            for event in page.items {
                let key = EventKey::new(id, &event.id);
                if self.inbox.has_seen(key) || !seen.insert(key) {
                    continue;
                }
                let about = event.about.clone();
                let is_of_money = matches!(about, ObjectRef::Payment(_));
                if !is_of_money && self.inbox.is_foreign(account.project, &event)? {
                    self.inbox.remember(key);
                    continue;
                }
                // An object is handled at the position of its first event.
                let place = (event.at, event.id.clone());
                let place = subjects.entry(about.clone()).or_insert(place);
                let of_object = unseen.entry(place.clone()).or_insert(UnseenEvents {
                    about,
                    events: Vec::new(),
                });
                of_object.events.push(StoredEvent {
                    key,
                    content: event,
                });
            }
            next = page.next;
            pages = pages.saturating_add(1);
            // A span of one second cannot be cut.
            let is_cut = next.is_some() && pages >= MAX_PAGES && !is_instant;
            if next.is_none() || is_cut {
                let unseen = unseen.into_values();
                let (money, bought) =
                    unseen.partition(|unseen| matches!(unseen.about, ObjectRef::Payment(_)));
                return Ok(Slice {
                    bought,
                    money,
                    newest,
                    is_cut,
                    is_long: pages > MAX_PAGES / 2,
                });
            }
        }
    }

    fn without_foreign(
        &self,
        project: &ProjectCatalog,
        unseen: Vec<UnseenEvents>,
    ) -> Result<Vec<UnseenEvents>, Error> {
        let mut ours = Vec::new();
        for UnseenEvents { about, events } in unseen {
            let mut our_events = Vec::new();
            for event in events {
                match self.inbox.is_foreign(project, &event.content)? {
                    true => self.inbox.remember(event.key),
                    false => our_events.push(event),
                }
            }
            if !our_events.is_empty() {
                ours.push(UnseenEvents {
                    about,
                    events: our_events,
                });
            }
        }
        Ok(ours)
    }

    async fn note(&self, id: ProjectId, until: Option<Timestamp>) -> Result<(), Error> {
        let reading = self.reading(id);
        let webhooks_seen = reading.webhooks_seen || self.inbox.receives_webhooks(id);
        let until = reading.until.max(until);
        if let Some(until) =
            until.filter(|_| reading.until != until || reading.webhooks_seen != webhooks_seen)
        {
            let note = notes::put::<PositionNote>(
                &id,
                &Position {
                    until,
                    webhooks_seen,
                },
            );
            self.context.handle.put_notes(vec![note]).await?;
        }
        let mut reading = self.projects.entry(id).or_default();
        (reading.until, reading.webhooks_seen) = (until, webhooks_seen);
        Ok(())
    }
}

impl Source for EventList {
    type Candidate = UnseenEvents;
    type Run = TimeSlices;

    const CONCURRENCY: usize = 8;

    fn is_due(&self, project: ProjectId) -> bool {
        let reading = self.reading(project);
        let Some(read) = reading.read else {
            return true;
        };
        let now = self.context.handle.now();
        let busy = reading
            .checkout
            .is_some_and(|at| now < at.plus_seconds(CHECKOUT_WINDOW_SECONDS));
        let pause = if busy || !reading.webhooks_seen {
            SHORT_INTERVAL_SECONDS
        } else {
            LONG_INTERVAL_SECONDS
        };
        now >= read.plus_seconds(pause)
    }

    async fn next(
        &self,
        account: ProjectAccount<'_>,
        run: &mut TimeSlices,
    ) -> Result<Option<Vec<UnseenEvents>>, Error> {
        if run.is_over {
            return Ok(None);
        }
        let money = std::mem::take(&mut run.money);
        if !money.is_empty() {
            return self.without_foreign(account.project, money).map(Some);
        }
        let mut span = match run.next {
            Some(span) => span,
            None => {
                let reading = self.reading(account.project.project.id);
                let since = self.since(account.project, reading)?;
                let until = None;
                Span { since, until }
            }
        };
        loop {
            let slice = self.slice(account, span).await?;
            if !slice.is_cut {
                (run.next, run.newest) = (Some(span), slice.newest);
                run.is_long = slice.is_long;
                run.money = slice.money;
                return Ok(Some(slice.bought));
            }
            // The list begins with the newest events, which are handled last: so the older half is read.
            run.last = run.last.max(slice.newest);
            let until = span.until.or(slice.newest).unwrap_or(span.since);
            let half = until.0.saturating_sub(span.since.0) / 2;
            let seconds = half.div_euclid(1000).max(0);
            span.until = Some(span.since.plus_seconds(seconds));
        }
    }

    async fn refresh(
        &self,
        account: ProjectAccount<'_>,
        unseen: &UnseenEvents,
    ) -> Result<(), Error> {
        let fulfilment = &self.context.fulfilment;
        fulfilment.refresh(account, &unseen.about).await?;
        for event in &unseen.events {
            self.inbox.remember(event.key);
        }
        Ok(())
    }

    async fn store(
        &self,
        _: ProjectAccount<'_>,
        unseen: UnseenEvents,
        error: Error,
    ) -> Result<(), Error> {
        // One event is enough: it only names the object to fetch.
        let mut events = unseen.events.into_iter();
        if let Some(event) = events.next() {
            self.inbox.store(event, &error).await?;
        }
        for event in events {
            self.inbox.remember(event.key);
        }
        Ok(())
    }

    async fn advance(
        &self,
        account: ProjectAccount<'_>,
        run: &mut TimeSlices,
    ) -> Result<(), Error> {
        let Some(span) = run.next.filter(|_| run.money.is_empty()) else {
            return Ok(());
        };
        let id = account.project.project.id;
        // Without events the position is the slice's end or start, so that the next reading need not search again.
        self.note(id, run.newest.max(span.until).or(Some(span.since)))
            .await?;
        let Some(until) = span.until else {
            run.is_over = true;
            let now = self.context.handle.now();
            let mut reading = self.projects.entry(id).or_default();
            let went_far = reading
                .far
                .is_none_or(|far| now >= far.plus_seconds(DEEP_INTERVAL_SECONDS));
            if went_far {
                reading.far = Some(now);
            }
            reading.read = Some(now);
            return Ok(());
        };
        // The next slice may be twice as long, unless that would be too much; it is open-ended if it reaches the newest
        // event.
        let since = until.plus_seconds(1);
        let length = until.0.saturating_sub(span.since.0).saturating_add(1000);
        let times = if run.is_long { 1 } else { 2 };
        let until = Timestamp(since.0.saturating_add(length.saturating_mul(times)));
        let until = Some(until).filter(|until| run.last.is_some_and(|last| *until < last));
        run.next = Some(Span { since, until });
        Ok(())
    }

    async fn forget(&self, project: ProjectId) -> Result<(), Error> {
        self.projects.remove(&project);
        let forget = notes::forget::<PositionNote>(&project);
        self.context.handle.put_notes(vec![forget]).await?;
        Ok(())
    }
}
