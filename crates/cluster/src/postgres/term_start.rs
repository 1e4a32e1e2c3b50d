//! Opens the log for writing on a new connection: what takes over from another process, goes on after a lost
//! connection, and resolves what became of commits whose answers were lost.

use std::{
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};

use domain::Timestamp;
use parking_lot::Mutex;
use persistence::{
    Error,
    frames::{
        FramePosition, Lease,
        lease::{self, Moment},
    },
};

use super::{
    client::{ANSWER_TIMEOUT, DatabaseError, Server, within},
    commits::{Insert, Pipeline, Wake, Writer},
    housekeeping::Standing,
    rows::{all_from, kept},
    segments::Segments,
};
use crate::term::{Term, Verdict};

/// How long a term start may wait for its place. It is not hurried: where a synchronous standby is gone, the frame before
/// it waits as well.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// The result of an attempt to open.
pub(super) enum OpenAttempt<P> {
    /// This process leads: what is behind the last place that it knew, as [`Term::opened`] has it, and the connection.
    Leads(Vec<FramePosition>, P),
    NotYet(String),
    /// Somebody else was faster.
    Beaten,
}

type Opened = OpenAttempt<Pipeline>;

/// What all attempts of a process share.
pub(super) struct Opener {
    pub server: Server,
    pub segments: Segments,
    pub term: Mutex<Term>,
    pub lease: Arc<Lease>,
    pub wake: Arc<Wake>,
    pub standing: Arc<Standing>,
    pub clocks: Clocks,
    /// The clock of who led before, as it was last seen, and when that was.
    pub former_clock: Mutex<Option<(Timestamp, Moment)>>,
}

type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The clocks of a process.
#[derive(Clone)]
pub struct Clocks {
    /// What the machine's clock shows: where no log does, the first leader's goes on from it.
    machine: WallClock,
    /// What the service's clock shows, once there is one, which follows the machine's slowly: the next leader's goes on
    /// from it.
    pub(crate) service: Arc<OnceLock<WallClock>>,
}

impl Clocks {
    pub fn of(machine: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            machine: Arc::new(machine),
            service: Arc::default(),
        }
    }
}

impl Opener {
    /// What the clock of who leads showed just now.
    pub(super) fn saw_clock(&self, at: Timestamp) {
        *self.former_clock.lock() = Some((at, lease::now()));
    }

    /// What the clock of who led before would show now, if it was seen.
    pub(super) fn former_clock(&self) -> Option<Timestamp> {
        let (at, seen) = (*self.former_clock.lock())?;
        let since = lease::now().saturating_sub(seen).as_millis();
        Some(Timestamp(
            at.0.saturating_add(since.try_into().unwrap_or_default()),
        ))
    }

    /// What the service's clock shows, or will once there is one.
    pub(super) fn now(&self) -> Timestamp {
        let service = self.clocks.service.get().map(|clock| clock());
        let former = || self.former_clock();
        service
            .or_else(former)
            .unwrap_or_else(|| (self.clocks.machine)())
    }

    /// Connects, and opens behind all that is there.
    pub(super) async fn open(self: Arc<Self>) -> Result<Opened, Error> {
        match self.try_open().await {
            Ok(opened) => opened,
            Err(failure) => Ok(Opened::NotYet(failure.to_string())),
        }
    }

    async fn try_open(&self) -> Result<Result<Opened, Error>, DatabaseError> {
        let connection = self.server.connect().await?;
        let known = self.term.lock().known();
        let found = all_from(&connection, self.segments, known.lsn).await?;
        let group = match self.judge(found) {
            Ok(Verdict::Open(group)) => group,
            Ok(Verdict::Beaten) => return Ok(Ok(Opened::Beaten)),
            Ok(Verdict::Fenced) => {
                return Ok(Err(Error::Fenced(
                    "another process leads the log now: this one has to restart".into(),
                )));
            }
            Err(error) => return Ok(Err(error)),
        };
        let last = group.last();
        let made = self.segments.make_ahead(&connection, last.lsn);
        within(ANSWER_TIMEOUT, made).await?;
        let insert = match Insert::of(&group) {
            Ok(insert) => insert,
            Err(error) => return Ok(Err(error)),
        };
        let has_led = self.standing.opened.load(Ordering::Acquire) > 0;
        let mut writer = Writer::new(connection, self.segments);
        let sent = lease::now();
        match within(OPEN_TIMEOUT, writer.add(insert)).await {
            Ok(true) => {}
            Ok(false) | Err(DatabaseError::Exists(_)) => {
                return Ok(Ok(match has_led {
                    true => Opened::NotYet("another frame was faster".into()),
                    false => Opened::Beaten,
                }));
            }
            Err(failure) => {
                writer.connection().cancel().await;
                return Err(failure);
            }
        }
        let found = self.term.lock().opened();
        self.lease.renew(sent);
        self.standing.head.store(last.lsn, Ordering::Release);
        self.standing.opened.store(last.lsn, Ordering::Release);
        self.standing.term_starts.fetch_add(1, Ordering::AcqRel);
        self.standing.has_opened.notify_one();
        let pipeline = Pipeline::start(&self.server, writer, &self.wake);
        Ok(Ok(Opened::Leads(found, pipeline)))
    }

    fn judge(&self, found: Vec<super::rows::Row>) -> Result<Verdict, Error> {
        let kept = found.into_iter().map(kept).collect::<Result<Vec<_>, _>>()?;
        self.term.lock().judge(&kept, self.now())
    }
}
