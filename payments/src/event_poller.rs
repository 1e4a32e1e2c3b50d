//! Reading a provider's own list of events, so that a webhook is a shortcut and not a need: an endpoint
//! that was down for a day loses nothing, a laptop without a public address needs none, and a backup
//! that was put back catches up.
//!
//! All of it is reckoned by the provider's time. Each reading begins some minutes before the newest event that was
//! ever seen, since events are listed late and in any order; what is known by then costs nothing. What is too
//! much for one reading is read in slices, the oldest first, and how far it came is noted behind each.

use std::collections::{BTreeMap, HashMap, HashSet};

use catalog::ProjectCatalog;
use dashmap::DashMap;
use domain::{Timestamp, id::ProjectId};
use port::{ObjectRef, Span};

use super::{
    Context, Error,
    inbox::Inbox,
    note_kinds::{EventKey, Position, PositionNote, StoredEvent},
    sweep::{Source, Sweep, Work},
};

/// While the last minutes saw a checkout, or no webhook has ever come.
const OFTEN_SECONDS: i64 = 5;
/// Else.
const SELDOM_SECONDS: i64 = 300;
/// How long a checkout has the list read often.
const AFTER_A_CHECKOUT_SECONDS: i64 = 60;
/// How far a reading goes back behind the newest event: lists lag by minutes under load.
const OVERLAP_SECONDS: i64 = 15 * 60;
/// So often a reading goes back further, and by so much.
const FAR_EVERY_SECONDS: i64 = 3600;
const FAR_SECONDS: i64 = 2 * 3600;
/// The first reading begins so long before the first order, or before the project was made: nobody's clock is
/// further off.
const BEFORE_THE_FIRST_SECONDS: i64 = 24 * 3600;
/// Orders among which the first one is looked for.
const ORDERS: usize = 1000;
/// Pages of a slice; a longer one is cut in half.
const PAGES: usize = 10;

/// Reads lists of events.
pub type EventPoller = Sweep<EventList>;

/// See the module.
pub struct EventList {
    context: Context,
    inbox: Inbox,
    projects: DashMap<ProjectId, Reading>,
}

/// How far a project's list was read.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    /// The newest event before which all is read, by the provider's clock; `None`: never read.
    until: Option<Timestamp>,
    /// Whether a webhook had ever come by then: kept with it.
    heard: bool,
    /// When it was last read to its end, by our own clock.
    read: Option<Timestamp>,
    /// When a reading last went back far, likewise.
    far: Option<Timestamp>,
    /// When the last checkout was opened, likewise.
    checkout: Option<Timestamp>,
}

/// Events about one thing that are not known yet: it is looked at once for all of them.
#[derive(Debug)]
pub(crate) struct Unseen {
    about: ObjectRef,
    events: Vec<StoredEvent>,
}

/// One reading.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// The next one; `None` before the first.
    next: Option<Span>,
    /// The newest event of the one that was just read.
    newest: Option<Timestamp>,
    /// The newest event of all, where there is more than one slice.
    last: Option<Timestamp>,
    is_long: bool,
    is_over: bool,
    /// What tells of money in the slice that was just read: looked at once what was bought is known.
    money: Vec<Unseen>,
}

/// A slice of the list, as far as it is new.
struct Slice {
    /// What was bought comes before what went back of it.
    bought: Vec<Unseen>,
    money: Vec<Unseen>,
    newest: Option<Timestamp>,
    /// Whether there is more than was read.
    is_cut: bool,
    /// Whether one of twice the length would be.
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

    /// Takes up how far an earlier process had read.
    pub(crate) fn restore(&self, project: ProjectId, position: Position) {
        let mut reading = self.projects.entry(project).or_default();
        (reading.until, reading.heard) = (Some(position.until), position.heard);
    }

    /// A checkout was opened: soon there will be something to read.
    pub(crate) fn expect(&self, project: ProjectId) {
        let mut reading = self.projects.entry(project).or_default();
        reading.checkout = Some(self.context.handle.now());
    }

    fn reading(&self, project: ProjectId) -> Reading {
        let known = self.projects.get(&project);
        known.map(|reading| *reading).unwrap_or_default()
    }

    /// From when on a project's list is read.
    fn since(&self, project: &ProjectCatalog, reading: Reading) -> Result<Timestamp, Error> {
        let handle = &self.context.handle;
        if let Some(until) = reading.until {
            let now = handle.now();
            let far = reading
                .far
                .is_some_and(|far| now >= far.plus_seconds(FAR_EVERY_SECONDS));
            let back = if far { -FAR_SECONDS } else { -OVERLAP_SECONDS };
            return Ok(until.plus_seconds(back));
        }
        let placed = handle.placed(&project.scope, None, ORDERS)?;
        // Without one nothing may have been sold yet, or a backup was put back that is older than the first.
        let first = placed.last().filter(|_| placed.len() < ORDERS);
        let first = first.map_or(project.project.created_at, |place| place.at);
        Ok(first.plus_seconds(-BEFORE_THE_FIRST_SECONDS))
    }

    async fn slice(&self, work: Work<'_>, span: Span) -> Result<Slice, Error> {
        let id = work.project.project.id;
        let silence = self.context.fulfilment.silence();
        let is_instant = span.until.is_some_and(|until| until <= span.since);
        let mut unseen: BTreeMap<(Timestamp, String), Unseen> = BTreeMap::new();
        let mut subjects: HashMap<ObjectRef, (Timestamp, String)> = HashMap::new();
        let mut seen: HashSet<EventKey> = HashSet::new();
        let mut newest = None;
        let mut next: Option<String> = None;
        let mut pages = 0_usize;
        loop {
            let page = work.provider.events(span, next.as_deref()).await;
            silence.note(id, self.context.handle.now(), &page);
            let page = page?;
            newest = newest.max(page.events.iter().map(|told| told.at).max());
            for told in page.events {
                let key = EventKey::new(id, &told.id);
                if self.inbox.knows(key) || !seen.insert(key) {
                    continue;
                }
                let about = told.about.clone();
                let is_of_money = matches!(about, ObjectRef::Payment(_));
                if !is_of_money && self.inbox.is_foreign(work.project, &told)? {
                    self.inbox.remember(key);
                    continue;
                }
                let at = (told.at, told.id.clone());
                let place = subjects.entry(about.clone()).or_insert(at);
                let events = Vec::new();
                let of = unseen.entry(place.clone());
                let of = of.or_insert(Unseen { about, events });
                of.events.push(StoredEvent { key, told });
            }
            next = page.next;
            pages = pages.saturating_add(1);
            // What happened within one second cannot be cut.
            let is_cut = next.is_some() && pages >= PAGES && !is_instant;
            if next.is_none() || is_cut {
                let unseen = unseen.into_values();
                let (money, bought) =
                    unseen.partition(|it| matches!(it.about, ObjectRef::Payment(_)));
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

    /// Without what is another product's.
    fn of_ours(&self, project: &ProjectCatalog, unseen: Vec<Unseen>) -> Result<Vec<Unseen>, Error> {
        let mut ours = Vec::new();
        for Unseen { about, events } in unseen {
            let mut left = Vec::new();
            for event in events {
                match self.inbox.is_foreign(project, &event.told)? {
                    true => self.inbox.remember(event.key),
                    false => left.push(event),
                }
            }
            if !left.is_empty() {
                let events = left;
                ours.push(Unseen { about, events });
            }
        }
        Ok(ours)
    }

    async fn note(&self, id: ProjectId, until: Option<Timestamp>) -> Result<(), Error> {
        let known = self.reading(id);
        let heard = known.heard || self.inbox.hears(id);
        let until = known.until.max(until);
        if let Some(until) = until.filter(|_| known.until != until || known.heard != heard) {
            let note = notes::put::<PositionNote>(&id, &Position { until, heard });
            self.context.handle.put_notes(vec![note]).await?;
        }
        let mut reading = self.projects.entry(id).or_default();
        (reading.until, reading.heard) = (until, heard);
        Ok(())
    }
}

impl Source for EventList {
    type Candidate = Unseen;
    type Run = Slices;

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

    async fn next(&self, work: Work<'_>, run: &mut Slices) -> Result<Option<Vec<Unseen>>, Error> {
        if run.is_over {
            return Ok(None);
        }
        let money = std::mem::take(&mut run.money);
        if !money.is_empty() {
            return self.of_ours(work.project, money).map(Some);
        }
        let mut span = match run.next {
            Some(span) => span,
            None => {
                let reading = self.reading(work.project.project.id);
                let since = self.since(work.project, reading)?;
                let until = None;
                Span { since, until }
            }
        };
        loop {
            let slice = self.slice(work, span).await?;
            if !slice.is_cut {
                (run.next, run.newest) = (Some(span), slice.newest);
                run.is_long = slice.is_long;
                run.money = slice.money;
                return Ok(Some(slice.bought));
            }
            // The newest come first, and are to be worked off last.
            run.last = run.last.max(slice.newest);
            let until = span.until.or(slice.newest).unwrap_or(span.since);
            let half = until.0.saturating_sub(span.since.0) / 2;
            let seconds = half.div_euclid(1000).max(0);
            span.until = Some(span.since.plus_seconds(seconds));
        }
    }

    async fn look(&self, work: Work<'_>, unseen: &Unseen) -> Result<(), Error> {
        let Work { project, provider } = work;
        let fulfilment = &self.context.fulfilment;
        fulfilment.look(project, provider, &unseen.about).await?;
        for event in &unseen.events {
            self.inbox.remember(event.key);
        }
        Ok(())
    }

    async fn keep(&self, _: Work<'_>, unseen: Unseen, error: Error) -> Result<(), Error> {
        // One of them stands for all: they only say where to look.
        let mut events = unseen.events.into_iter();
        if let Some(event) = events.next() {
            self.inbox.keep(event, &error).await?;
        }
        for event in events {
            self.inbox.remember(event.key);
        }
        Ok(())
    }

    async fn advance(&self, work: Work<'_>, run: &mut Slices) -> Result<(), Error> {
        let Some(span) = run.next.filter(|_| run.money.is_empty()) else {
            return Ok(());
        };
        let id = work.project.project.id;
        // Nothing happened since then: the next reading need not look for the beginning again.
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
        // The next slice may be twice as long, unless that were too much; it has no end where it reaches what
        // was seen.
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
