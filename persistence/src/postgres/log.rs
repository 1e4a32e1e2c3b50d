//! Frames in the database: what its leader writes, and what everybody reads.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::Timestamp;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::{
    client::{ANSWER_WITHIN, Connection, Failure, Server, within},
    commits::{Insert, Pipeline, Wake, Writer},
    housekeeping::{Housekeeper, Identity, Standing},
    rows::{ROWS, all_from, kept, row, rows},
    schema,
    segments::Segments,
};
use crate::{
    Faults, Step,
    error::Error,
    frames::{
        Claimant, FramePosition, Frames, Group, KeptFrame, Lease, OnFrame, SharedFrames, Term,
        Verdict, Written,
        lease::{self, Moment},
    },
};

/// Groups under way at once: with a millisecond to the database, four of them carry what one would with a quarter.
const DEPTH: usize = 4;
/// How long an opening may wait for its place. It is not hurried: where a synchronous standby is gone, the frame before
/// it waits as well.
const OPEN_WITHIN: Duration = Duration::from_secs(30);

/// The result of an attempt to open.
#[derive(Debug)]
pub enum Opened {
    /// This process leads: what lies behind the last place that it knew. See [`Term::opened`].
    Leads(Vec<FramePosition>),
    /// Not yet, for this reason.
    NotYet(String),
    /// Somebody else was faster.
    Beaten,
}

/// A group that was sent.
struct Sent {
    last: FramePosition,
    at: Moment,
}

/// See the module.
pub struct PostgresFrames {
    server: Server,
    segments: Segments,
    term: Mutex<Term>,
    lease: Arc<Lease>,
    /// The connection that frames are written on, while there is one.
    pipeline: Mutex<Option<Pipeline>>,
    sent: Mutex<VecDeque<Sent>>,
    /// A connection that frames are read on.
    reader: Mutex<Option<Connection>>,
    wake: Arc<Wake>,
    identity: Identity,
    standing: Arc<Standing>,
    housekeeping: JoinHandle<()>,
    /// Failures to inject, for tests.
    faults: Option<Arc<dyn Faults>>,
}

impl std::fmt::Debug for PostgresFrames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresFrames")
            .field("server", &self.server)
            .field("segments", &self.segments)
            .finish_non_exhaustive()
    }
}

impl PostgresFrames {
    /// The log of a cell, which this process only reads until [`PostgresFrames::open_behind`].
    #[must_use]
    pub(super) fn new(
        server: Server,
        segments: Segments,
        claimant: Claimant,
        faults: Option<Arc<dyn Faults>>,
    ) -> Self {
        let standing = Arc::new(Standing::default());
        let identity = Identity::of(&claimant);
        let keeper = Housekeeper::new(&server, segments, identity.clone(), Arc::clone(&standing));
        Self {
            housekeeping: server.spawn(keeper.run()),
            identity,
            standing,
            server,
            segments,
            faults,
            term: Mutex::new(Term::new(claimant)),
            lease: Arc::default(),
            pipeline: Mutex::default(),
            sent: Mutex::default(),
            reader: Mutex::default(),
            wake: Arc::default(),
        }
    }

    /// The data directory of this process.
    pub(super) fn node(&self) -> u128 {
        self.term.lock().claimant().node
    }

    pub(super) const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The last frame in its books, as it was last said.
    pub(super) fn folded(&self) -> u64 {
        self.standing.folded.load(Ordering::Acquire)
    }

    pub(super) const fn segments(&self) -> Segments {
        self.segments
    }

    /// Whether it has opened the log for writing.
    pub(super) fn has_opened(&self) -> bool {
        self.standing.opened.load(Ordering::Acquire) > 0
    }

    /// Says that this process needs every frame behind this one. Whoever trims the log from then on leaves it these, and
    /// whoever did before has moved the base by then.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the database does not answer.
    pub(super) fn announce(&self, folded: u64) -> Result<(), Error> {
        self.standing.folded.store(folded, Ordering::Release);
        let announced = self.server.wait(async {
            let mut connection = self.server.connect().await?;
            let said =
                self.identity
                    .announce(&mut connection, self.segments.cell(), &self.standing);
            within(ANSWER_WITHIN, said).await
        });
        announced.map_err(Error::from)
    }

    /// The same from the next report on, where what was said before asks for more.
    pub(super) fn needs_behind(&self, folded: u64) {
        self.standing.folded.store(folded, Ordering::Release);
    }

    /// Reads frames behind a place: at most a few hundred, none where there is nothing more.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the database does not answer, [`Error::Damaged`] when what it holds is no frame.
    pub fn behind(&self, place: u64) -> Result<Vec<KeptFrame>, Error> {
        self.reading(async |reader| rows(reader, self.segments, place, ROWS).await)?
            .into_iter()
            .map(kept)
            .collect()
    }

    /// The frame in a place, if there is one. The one before the first has no bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the database does not answer.
    pub fn at(&self, lsn: u64) -> Result<Option<KeptFrame>, Error> {
        let row = self.reading(async |reader| row(reader, self.segments, lsn).await)?;
        row.map(kept).transpose()
    }

    /// Where this log begins and who was said to lead it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the database does not answer.
    pub fn cell(&self) -> Result<Option<schema::Cell>, Error> {
        self.reading(async |reader| schema::cell(reader, self.segments.cell()).await)
    }

    /// Tries to take the log over right behind a head, which [`super::super::frames::lease::Watch`] has allowed.
    ///
    /// # Errors
    ///
    /// Those of [`Term::judge`].
    pub fn open_behind(&self, head: FramePosition) -> Result<Opened, Error> {
        self.term.lock().behind(head);
        self.server.wait(self.open())
    }

    /// Connects, and opens behind all that lies there.
    async fn open(&self) -> Result<Opened, Error> {
        drop(self.pipeline.lock().take());
        self.sent.lock().clear();
        let not_yet = |failure: Failure| match failure {
            Failure::Refused(_) => Err(Error::from(failure)),
            other => Ok(Opened::NotYet(other.to_string())),
        };
        let connection = match self.server.connect().await {
            Ok(connection) => connection,
            Err(failure) => return not_yet(failure),
        };
        let known = self.term.lock().known();
        let found = match all_from(&connection, self.segments, known.lsn).await {
            Ok(found) => found,
            Err(failure) => return not_yet(failure),
        };
        let kept = found.into_iter().map(kept).collect::<Result<Vec<_>, _>>()?;
        let verdict = self.term.lock().judge(&kept, wall_clock())?;
        let group = match verdict {
            Verdict::Open(group) => group,
            Verdict::Beaten => return Ok(Opened::Beaten),
            Verdict::Deposed => {
                return Err(Error::Deposed(
                    "another process leads the log now: this one has to start anew".into(),
                ));
            }
        };
        let last = group.last();
        let made = self.segments.make_ahead(&connection, last.lsn);
        if let Err(failure) = within(ANSWER_WITHIN, made).await {
            return not_yet(failure);
        }
        let mut writer = Writer::new(connection, self.segments);
        let at = lease::now();
        match within(OPEN_WITHIN, writer.add(Insert::of(&group)?)).await {
            Ok(true) => {}
            Ok(false) | Err(Failure::Exists(_)) => {
                return Ok(Opened::NotYet("another frame was faster".into()));
            }
            Err(failure) => {
                writer.connection().cancel().await;
                return not_yet(failure);
            }
        }
        let found = self.term.lock().opened();
        self.lease.renew(at);
        self.standing.head.store(last.lsn, Ordering::Release);
        let pipeline = Pipeline::start(&self.server, writer, &self.wake);
        *self.pipeline.lock() = Some(pipeline);
        self.standing.opened.store(last.lsn, Ordering::Release);
        Ok(Opened::Leads(found))
    }

    /// Fails when a test wants this step to fail.
    fn before(&self, step: Step) -> Result<(), Error> {
        let faults = self.faults.as_ref();
        faults.map_or(Ok(()), |faults| faults.before(step).map_err(Error::Io))
    }

    /// Asks on the connection for reading, which is made anew where it is gone.
    fn reading<T>(&self, ask: impl AsyncFn(&Connection) -> Result<T, Failure>) -> Result<T, Error> {
        let mut reader = self.reader.lock();
        let answer = self.server.wait(async {
            let connection = match reader.take() {
                Some(connection) if !connection.is_closed() => connection,
                _ => self.server.connect().await?,
            };
            let answer = within(ANSWER_WITHIN, ask(&connection)).await;
            // One that failed may still be busy.
            if answer.is_ok() {
                *reader = Some(connection);
            }
            answer
        });
        answer.map_err(Error::from)
    }
}

impl Drop for PostgresFrames {
    fn drop(&mut self) {
        self.housekeeping.abort();
    }
}

impl Frames for PostgresFrames {
    fn depth(&self) -> usize {
        DEPTH
    }

    fn start(&self, group: &Group) -> Result<(), Error> {
        self.before(Step::InsertFrame)?;
        let insert = Insert::of(group)?;
        self.sent.lock().push_back(Sent {
            last: group.last(),
            at: lease::now(),
        });
        if let Some(pipeline) = &*self.pipeline.lock() {
            pipeline.send(insert);
        }
        Ok(())
    }

    fn finish(&self) -> Result<Written, Error> {
        self.before(Step::FlushFrames)?;
        let pipeline = self.pipeline.lock();
        let Some(sent) = self.sent.lock().pop_front() else {
            return Ok(Written::Unknown);
        };
        let waited = lease::now().saturating_sub(sent.at);
        let left = ANSWER_WITHIN.saturating_sub(waited);
        match pipeline.as_ref().and_then(|pipeline| pipeline.next(left)) {
            Some(true) => {
                self.term.lock().acknowledged(sent.last);
                self.lease.renew(sent.at);
                self.standing.head.store(sent.last.lsn, Ordering::Release);
                Ok(Written::Durable)
            }
            _ => Ok(Written::Unknown),
        }
    }

    fn shared(&self) -> Option<&dyn SharedFrames> {
        Some(self)
    }

    fn walk(&self, behind: FramePosition, see: OnFrame<'_>) -> Result<(), Error> {
        let mut last = behind.lsn;
        loop {
            let some = self.behind(last)?;
            let Some(end) = some.last() else {
                return Ok(());
            };
            last = end.place.lsn;
            for kept in &some {
                see(kept.place.lsn, &kept.bytes)?;
            }
        }
    }

    fn read(&self, lsn: u64) -> Result<Option<Arc<[u8]>>, Error> {
        Ok(self.at(lsn)?.map(|kept| kept.bytes))
    }

    fn forget(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
}

impl SharedFrames for PostgresFrames {
    fn is_answered(&self) -> bool {
        let pipeline = self.pipeline.lock();
        pipeline.as_ref().is_none_or(Pipeline::is_answered)
    }

    fn on_answer(&self, wake: Arc<dyn Fn() + Send + Sync>) {
        self.wake.set(wake);
    }

    fn reopen(&self) -> Result<Option<Vec<FramePosition>>, Error> {
        match self.server.wait(self.open())? {
            Opened::Leads(found) => Ok(Some(found)),
            Opened::NotYet(why) => {
                tracing::warn!(error = why, "The log in the database is not open yet");
                Ok(None)
            }
            Opened::Beaten => Err(Error::Deposed("another process leads the log".into())),
        }
    }

    fn beat(&self, behind: FramePosition) -> Result<Group, Error> {
        Term::beat(behind, wall_clock())
    }

    fn closing(&self, behind: FramePosition, takes: bool) -> Result<Group, Error> {
        self.term.lock().closing(behind, takes, wall_clock())
    }

    fn lease(&self) -> Arc<Lease> {
        Arc::clone(&self.lease)
    }

    fn stands(&self, head: u64, folded: u64) {
        self.standing.head.fetch_max(head, Ordering::AcqRel);
        self.standing.folded.store(folded, Ordering::Release);
    }
}

/// The clock that openings and beats carry.
fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp(millis.try_into().unwrap_or_default())
}
