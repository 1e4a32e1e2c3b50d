//! Reads a provider's own list of events, so that webhooks are a shortcut and not a requirement: an endpoint
//! that was down for a day loses nothing, a laptop without a public address needs none, and a backup
//! that was restored catches up.
//!
//! All instants are the provider's. Each reading begins some minutes before the newest event that was
//! ever seen, since events are listed late and in any order; events that are known by then cost nothing. A list too
//! long for one reading is read in slices, the oldest first, and the position is noted after each slice.

use std::collections::{BTreeMap, HashMap, HashSet};

use actors::notes;
use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use payments_port::{ObjectRef, Span};

use super::{
    context::{Context, ProjectAccount},
    error::Error,
    inbox::Inbox,
    note_kinds::{EventKey, Position, PositionNote, StoredEvent},
    sweep::{Source, Sweep},
};

/// The pause between readings soon after a checkout, or while no webhook has ever come.
const OFTEN_SECONDS: i64 = 5;
/// The pause between readings otherwise.
const SELDOM_SECONDS: i64 = 300;
/// How long the list is read often after a checkout was opened.
const AFTER_A_CHECKOUT_SECONDS: i64 = 60;
/// How far before the newest event a reading begins: lists lag by minutes under load.
const OVERLAP_SECONDS: i64 = 15 * 60;
/// How often a reading goes back further, and how far.
const FAR_EVERY_SECONDS: i64 = 3600;
const FAR_SECONDS: i64 = 2 * 3600;
/// How long before the first order, or the project's creation, the first reading begins: no clock is further off.
const BEFORE_THE_FIRST_SECONDS: i64 = 24 * 3600;
/// With this many orders or more, the first one is not looked for.
const ORDERS: usize = 1000;
/// The most pages of a slice; a longer slice is cut in half.
const PAGES: usize = 10;

/// The sweep over providers' lists of events.
pub type EventPoller = Sweep<EventList>;

/// The source of that sweep: how far each project's list was read.
pub struct EventList {
    context: Context,
    inbox: Inbox,
    projects: DashMap<ProjectId, ReadState>,
}

/// How far a project's list was read, and when.
#[derive(Debug, Clone, Copy, Default)]
struct ReadState {
    /// All events up to here were read, by the provider's clock; `None`: never read.
    until: Option<Timestamp>,
    /// Whether a webhook had ever come by then; stored with the position.
    heard: bool,
    /// When it was last read to its end, by Scrip's clock.
    read: Option<Timestamp>,
    /// When a reading last went back far, by Scrip's clock.
    far: Option<Timestamp>,
    /// When the last checkout was opened, by Scrip's clock.
    checkout: Option<Timestamp>,
}

/// New events about one object, which is fetched once for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnseenEvents {
    about: ObjectRef,
    events: Vec<StoredEvent>,
}

/// The progress of one reading.
#[derive(Debug, Default)]
pub(crate) struct TimeSlices {
    /// The next slice, or the one that was just read; `None` before the first.
    next: Option<Span>,
    /// The newest event of the slice that was just read.
    newest: Option<Timestamp>,
    /// The newest event of all, where there is more than one slice.
    last: Option<Timestamp>,
    is_long: bool,
    is_over: bool,
    /// Events about payments in the slice that was just read: handled once its purchases are known.
    money: Vec<UnseenEvents>,
}

/// The new events of a slice of the list.
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

    /// Restores the position of an earlier process.
    pub(crate) fn restore(&self, project: ProjectId, position: Position) {
        let mut reading = self.projects.entry(project).or_default();
        (reading.until, reading.heard) = (Some(position.until), position.heard);
    }

    /// Notes that a checkout was opened: soon there will be events to read.
    pub(crate) fn expect(&self, project: ProjectId) {
        let mut reading = self.projects.entry(project).or_default();
        reading.checkout = Some(self.context.handle.now());
    }

    fn reading(&self, project: ProjectId) -> ReadState {
        let state = self.projects.get(&project);
        state.map(|reading| *reading).unwrap_or_default()
    }

    /// The instant from which a project's list is read.
    fn since(&self, project: &ProjectCatalog, reading: ReadState) -> Result<Timestamp, Error> {
        let handle = &self.context.handle;
        if let Some(until) = reading.until {
            let now = handle.now();
            let far = reading
                .far
                .is_some_and(|far| now >= far.plus_seconds(FAR_EVERY_SECONDS));
            let back = if far { -FAR_SECONDS } else { -OVERLAP_SECONDS };
            return Ok(until.plus_seconds(back));
        }
        let placed = handle.order_positions(&project.scope, None, ORDERS)?;
        // Without an order nothing may have been sold yet, or a backup from before the first was restored.
        let first = placed.last().filter(|_| placed.len() < ORDERS);
        let first = first.map_or(project.project.created_at, |place| place.at);
        Ok(first.plus_seconds(-BEFORE_THE_FIRST_SECONDS))
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
                if self.inbox.knows(key) || !seen.insert(key) {
                    continue;
                }
                let about = event.about.clone();
                let is_of_money = matches!(about, ObjectRef::Payment(_));
                if !is_of_money && self.inbox.is_foreign(account.project, &event)? {
                    self.inbox.remember(key);
                    continue;
                }
                // An object's place is that of the first event about it.
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
            let is_cut = next.is_some() && pages >= PAGES && !is_instant;
            if next.is_none() || is_cut {
                let unseen = unseen.into_values();
                let (money, bought) =
                    unseen.partition(|unseen| matches!(unseen.about, ObjectRef::Payment(_)));
                return Ok(Slice {
                    bought,
                    money,
                    newest,
                    is_cut,
                    is_long: pages > PAGES / 2,
                });
            }
        }
    }

    /// Drops the events of other products.
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
        let heard = reading.heard || self.inbox.hears(id);
        let until = reading.until.max(until);
        if let Some(until) = until.filter(|_| reading.until != until || reading.heard != heard) {
            let note = notes::put::<PositionNote>(&id, &Position { until, heard });
            self.context.handle.put_notes(vec![note]).await?;
        }
        let mut reading = self.projects.entry(id).or_default();
        (reading.until, reading.heard) = (until, heard);
        Ok(())
    }
}

impl Source for EventList {
    type Candidate = UnseenEvents;
    type Run = TimeSlices;

    const AT_ONCE: usize = 8;

    fn is_due(&self, project: ProjectId) -> bool {
        let reading = self.reading(project);
        let Some(read) = reading.read else {
            return true;
        };
        let now = self.context.handle.now();
        let busy = reading
            .checkout
            .is_some_and(|at| now < at.plus_seconds(AFTER_A_CHECKOUT_SECONDS));
        let pause = if busy || !reading.heard {
            OFTEN_SECONDS
        } else {
            SELDOM_SECONDS
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
            // The list begins with the newest events, and they are to be handled last: so the older half is read.
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

    async fn keep(
        &self,
        _: ProjectAccount<'_>,
        unseen: UnseenEvents,
        error: Error,
    ) -> Result<(), Error> {
        // One of them stands for all: they only say which object to fetch.
        let mut events = unseen.events.into_iter();
        if let Some(event) = events.next() {
            self.inbox.keep(event, &error).await?;
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
        // Without events the position is the slice's end or start: the next reading need not find the start again.
        self.note(id, run.newest.max(span.until).or(Some(span.since)))
            .await?;
        let Some(until) = span.until else {
            run.is_over = true;
            let now = self.context.handle.now();
            let mut reading = self.projects.entry(id).or_default();
            let went_far = reading
                .far
                .is_none_or(|far| now >= far.plus_seconds(FAR_EVERY_SECONDS));
            if went_far {
                reading.far = Some(now);
            }
            reading.read = Some(now);
            return Ok(());
        };
        // The next slice may be twice as long, unless that would be too much; it is open-ended where it reaches
        // the newest event that was seen.
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
