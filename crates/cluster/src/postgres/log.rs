//! Frames in the database: what its leader writes, and what everybody reads.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use persistence::{
    Error, Faults, Step,
    frames::{
        FramePosition, Frames, Group, Lease, OnFrame, SharedFrames, StoredFrame, Written,
        lease::{self, Moment},
    },
};
use tokio::{task::JoinHandle, time::timeout};

use super::{
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, KeptConnection, within},
    commits::{Insert, Pipeline},
    housekeeping::{Housekeeper, Identity, Standing},
    member::Member,
    rows::{ROWS, kept, row, rows},
    schema,
    segments::Segments,
    term_start::{OpenAttempt, Opener},
};
use crate::term::{Claimant, Term};

/// How long to wait for an attempt to open before reporting to others.
const OPEN_POLL_TIMEOUT: Duration = Duration::from_millis(250);

struct Sent {
    last: FramePosition,
    at: Moment,
}

type Attempt = JoinHandle<Result<OpenAttempt<Pipeline>, Error>>;

/// See the module.
pub struct PostgresFrames {
    opener: Arc<Opener>,
    attempt: Mutex<Option<Attempt>>,
    /// The connection that frames are written on, while there is one.
    pipeline: Mutex<Option<Pipeline>>,
    sent: Mutex<VecDeque<Sent>>,
    /// A connection that frames are read on.
    reader: KeptConnection,
    identity: Identity,
    housekeeping: JoinHandle<()>,
    /// Groups under way at once.
    depth: usize,
    /// Failures to inject, for tests.
    faults: Faults,
}

impl PostgresFrames {
    /// A log that a member follows. Until [`PostgresFrames::open_behind`] this process only reads it.
    pub(super) fn new(
        member: &Member,
        segments: Segments,
        claimant: Claimant,
        joins: Option<i16>,
        standing: Arc<Standing>,
        faults: Faults,
    ) -> Self {
        standing.begin();
        let identity = Identity::of(&claimant, joins);
        let server = member.server.clone();
        let keeper = Housekeeper::new(&server, segments, identity.clone(), Arc::clone(&standing));
        Self {
            housekeeping: server.spawn(keeper.run()),
            reader: KeptConnection::new(server.clone()),
            opener: Arc::new(Opener {
                server,
                segments,
                term: Mutex::new(Term::new(claimant)),
                lease: Arc::default(),
                wake: Arc::default(),
                standing,
                clocks: member.clocks.clone(),
                former_clock: Mutex::default(),
            }),
            identity,
            attempt: Mutex::default(),
            depth: member.depth.max(1),
            faults,
            pipeline: Mutex::default(),
            sent: Mutex::default(),
        }
    }

    /// What opens it, and with which clock.
    pub(super) const fn opener(&self) -> &Arc<Opener> {
        &self.opener
    }

    pub(super) const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The last frame in its books, as it was last said.
    pub(super) fn applied(&self) -> u64 {
        self.opener.standing.applied.load(Ordering::Acquire)
    }

    pub(super) fn segments(&self) -> Segments {
        self.opener.segments
    }

    /// Whether it has opened the log for writing.
    pub(super) fn has_opened(&self) -> bool {
        self.opener.standing.opened.load(Ordering::Acquire) > 0
    }

    /// Says that this process needs every frame behind this one. A process that trims the log from then on leaves it
    /// these, and one that did before has moved the base by then.
    /// # Errors
    /// [`Error::Io`] when the database does not answer.
    pub(super) fn announce(&self, applied: u64) -> Result<(), Error> {
        self.opener
            .standing
            .applied
            .store(applied, Ordering::Release);
        let announced = self.opener.server.wait(async {
            let mut connection = self.opener.server.connect().await?;
            let announced = self.identity.announce(
                &mut connection,
                self.opener.segments.cell(),
                &self.opener.standing,
            );
            within(ANSWER_TIMEOUT, announced).await
        });
        announced.map_err(Error::from)
    }

    /// The same from the next report on, where what was said before asks for more.
    pub(super) fn needs_behind(&self, applied: u64) {
        self.opener
            .standing
            .applied
            .store(applied, Ordering::Release);
    }

    /// Reads frames behind a place: at most a few hundred, none where there is nothing more.
    /// # Errors
    /// [`Error::Io`] when the database does not answer, [`Error::Damaged`] when what it holds is no frame.
    pub fn behind(&self, place: u64) -> Result<Vec<StoredFrame>, Error> {
        self.reading(async |reader| rows(reader, self.opener.segments, place, ROWS).await)?
            .into_iter()
            .map(kept)
            .collect()
    }

    /// The frame in a place, if there is one. The one before the first has no bytes.
    /// # Errors
    /// [`Error::Io`] when the database does not answer.
    pub fn at(&self, lsn: u64) -> Result<Option<StoredFrame>, Error> {
        let row = self.reading(async |reader| row(reader, self.opener.segments, lsn).await)?;
        row.map(kept).transpose()
    }

    /// Where this log begins and who was said to lead it.
    /// # Errors
    /// [`Error::Io`] when the database does not answer.
    pub fn cell(&self) -> Result<Option<schema::Cell>, Error> {
        self.reading(async |reader| schema::cell(reader, self.opener.segments.cell()).await)
    }

    /// Where another cell's log begins, if there is one.
    pub(super) fn base_of(&self, cell: i16) -> Result<Option<FramePosition>, Error> {
        let cell = self.reading(async |reader| schema::cell(reader, cell).await)?;
        Ok(cell.map(|cell| cell.base))
    }

    /// Makes another log, which goes on from a frame of this one. Somebody else may have been faster; `false`: the frame
    /// is gone.
    pub(super) fn divide(&self, segments: Segments, base: FramePosition) -> Result<bool, Error> {
        self.faults.before(Step::MakeCell)?;
        let opener = &self.opener;
        let divided = opener.server.wait(async {
            let mut connection = opener.server.connect().await?;
            let divided = schema::divide(&mut connection, opener.segments, segments, base);
            within(ANSWER_TIMEOUT, divided).await
        });
        match divided {
            Err(DatabaseError::Exists(_)) if self.base_of(segments.cell())?.is_some() => Ok(true),
            divided => Ok(divided?),
        }
    }

    /// Tries to take the log over right behind a head, which [`crate::watch::Watch`] has allowed.
    pub(super) fn open_behind(&self, head: FramePosition) -> Result<OpenAttempt<()>, Error> {
        if self.attempt.lock().is_none() {
            self.opener.term.lock().behind(head);
        }
        self.try_open()
    }

    /// Whether an attempt to open is under way.
    pub(super) fn is_opening(&self) -> bool {
        self.attempt.lock().is_some()
    }

    /// Begins an attempt to open, or waits on for the one under way.
    fn try_open(&self) -> Result<OpenAttempt<()>, Error> {
        let mut attempt = self.attempt.lock();
        let under_way = attempt.get_or_insert_with(|| {
            drop(self.pipeline.lock().take());
            self.sent.lock().clear();
            let opener = Arc::clone(&self.opener);
            self.opener.server.spawn(opener.open())
        });
        let ended = self
            .opener
            .server
            .wait(async { timeout(OPEN_POLL_TIMEOUT, under_way).await });
        let Ok(ended) = ended else {
            return Ok(OpenAttempt::NotYet(
                "the database does not answer yet".into(),
            ));
        };
        *attempt = None;
        let ended = ended.map_err(|error| Error::Io(format!("opening the log: {error}")))?;
        Ok(match ended? {
            OpenAttempt::Leads(found, pipeline) => {
                *self.pipeline.lock() = Some(pipeline);
                OpenAttempt::Leads(found, ())
            }
            OpenAttempt::NotYet(why) => OpenAttempt::NotYet(why),
            OpenAttempt::Beaten => OpenAttempt::Beaten,
        })
    }

    fn reading<T>(
        &self,
        ask: impl AsyncFnOnce(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        let ask = async |connection: &mut Connection| ask(connection).await;
        self.reader.ask(ANSWER_TIMEOUT, ask)
    }
}

impl Drop for PostgresFrames {
    fn drop(&mut self) {
        self.housekeeping.abort();
    }
}

impl Frames for PostgresFrames {
    fn depth(&self) -> usize {
        self.depth
    }

    fn start(&self, group: &Group) -> Result<(), Error> {
        self.faults.before(Step::InsertFrame)?;
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
        self.faults.before(Step::FlushFrames)?;
        let pipeline = self.pipeline.lock();
        let Some(sent) = self.sent.lock().pop_front() else {
            return Ok(Written::Unknown);
        };
        let waited = lease::now().saturating_sub(sent.at);
        let left = ANSWER_TIMEOUT.saturating_sub(waited);
        match pipeline.as_ref().and_then(|pipeline| pipeline.next(left)) {
            Some(true) => {
                self.opener.term.lock().acknowledged(sent.last);
                self.opener.lease.renew(sent.at);
                self.opener
                    .standing
                    .head
                    .store(sent.last.lsn, Ordering::Release);
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
        self.opener.wake.set(wake);
    }

    fn reopen(&self) -> Result<Option<Vec<FramePosition>>, Error> {
        match self.try_open()? {
            OpenAttempt::Leads(found, ()) => Ok(Some(found)),
            OpenAttempt::NotYet(why) => {
                tracing::warn!(error = why, "The log in the database is not open yet");
                Ok(None)
            }
            OpenAttempt::Beaten => Err(Error::Fenced("another process leads the log".into())),
        }
    }

    fn heartbeat(&self, behind: FramePosition) -> Result<Group, Error> {
        Term::heartbeat(behind, self.opener.now())
    }

    fn resignation(&self, behind: FramePosition, takes: bool) -> Result<Group, Error> {
        self.opener
            .term
            .lock()
            .resignation(behind, takes, self.opener.now())
    }

    fn lease(&self) -> Arc<Lease> {
        Arc::clone(&self.opener.lease)
    }

    fn report_progress(&self, head: u64, applied: u64) {
        let standing = &self.opener.standing;
        standing.head.fetch_max(head, Ordering::AcqRel);
        standing.applied.store(applied, Ordering::Release);
    }
}
