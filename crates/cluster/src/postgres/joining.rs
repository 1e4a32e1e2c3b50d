//! How a process joins others: with the books in its directory, where they can go on with the log, else with
//! books that are rebuilt.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use persistence::{
    Books as _, Directory, DirectoryPosition, Error, Log as _, Membership, Options, SledJournal,
    Step,
    backup::{self, MemberRestore, Repository},
    frames::FramePosition,
};
use uuid::Uuid;

use super::{
    admission::{admit, check},
    housekeeping::Standing,
    log::PostgresFrames,
    member::Member,
    segments::ALLOWED_LOG2,
    snapshots::PostgresRows,
};
use crate::{snapshots::DatabaseRepository, term::Claimant};

/// How long a log that begins behind data of another may be without a snapshot.
const FIRST_SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(60);
/// How often books are rebuilt before joining fails: each time the log may have been trimmed past them.
const MAX_REMADE: u32 = 3;
/// Pause between two looks for it.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// What stays of a process when it goes on with another log.
#[derive(Clone)]
pub(super) struct Run {
    pub incarnation: Uuid,
    pub standing: Arc<Standing>,
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            incarnation: Uuid::new_v4(),
            standing: Arc::default(),
        }
    }
}

/// The books, the log and the snapshots of a process that has joined.
pub(super) type Joined = (Arc<SledJournal>, Arc<PostgresFrames>, Arc<PostgresRows>);

/// What it takes to join: the log, once it is known that it and the directory belong together.
pub(super) struct Joining<'a> {
    member: &'a Member,
    options: &'a Options,
    run: &'a Run,
    joined: Option<(Arc<PostgresFrames>, Arc<PostgresRows>)>,
    /// What is to be noted in a directory that has followed another log of the cluster so far, once its books are of this
    /// one.
    moves: Option<Membership>,
}

impl<'a> Joining<'a> {
    pub(super) fn new(
        member: &'a Member,
        options: &'a Options,
        run: &'a Run,
    ) -> Result<Self, Error> {
        if !ALLOWED_LOG2.contains(&member.segment_frames_log2) {
            return Err(Error::Unusable(format!(
                "a segment cannot have 2^{} frames",
                member.segment_frames_log2
            )));
        }
        Ok(Self {
            member,
            options,
            run,
            joined: None,
            moves: None,
        })
    }

    /// Opens the data directory, whose books are rebuilt where they cannot go on with the log.
    pub(super) fn open(mut self) -> Result<Joined, Error> {
        let (options, dir) = (self.options, &self.options.dir);
        let mut reason = backup::is_unfinished_member(dir)
            .then(|| "making its books was interrupted".to_owned());
        if reason.is_none() && Membership::read(dir)?.is_none() && SledJournal::has_data(dir) {
            // What is in the directory's own log goes into its books first: the shared log goes on behind it.
            let alone = SledJournal::open(options.clone())?;
            alone.flush()?;
            alone.close()?;
        }
        let mut remade = 0_u32;
        loop {
            if let Some(reason) = reason.take() {
                if remade >= MAX_REMADE {
                    return Err(Error::Unusable(format!(
                        "the books in {} cannot go on with the log: {reason}",
                        dir.display()
                    )));
                }
                remade += 1;
                self.remake(&reason)?;
            }
            let opened =
                SledJournal::open_following(options.clone(), |place| match self.go_on(&place)? {
                    Ok(frames) => Ok(frames),
                    Err(why) => {
                        reason = Some(why.clone());
                        Err(Error::Unusable(why))
                    }
                });
            match opened {
                Ok(journal) => {
                    let (frames, rows) = self.joined()?;
                    return Ok((Arc::new(journal), frames, rows));
                }
                Err(_) if reason.is_some() => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn joined(&self) -> Result<(Arc<PostgresFrames>, Arc<PostgresRows>), Error> {
        let not_yet = || Error::Io("the log was not opened".into());
        self.joined.clone().ok_or_else(not_yet)
    }

    /// The log. The first caller has locked the directory.
    fn frames(&mut self, place: &DirectoryPosition<'_>) -> Result<Arc<PostgresFrames>, Error> {
        if let Some((frames, _)) = &self.joined {
            return Ok(Arc::clone(frames));
        }
        let server = &self.member.server;
        let admitted = server.wait(admit(self.member, place))?;
        let claimant = Claimant {
            node: admitted.membership.node.as_u128(),
            incarnation: self.run.incarnation.as_u128(),
            address: self.member.address.clone(),
        };
        let frames = Arc::new(PostgresFrames::new(
            self.member,
            admitted.segments,
            claimant,
            admitted.joins,
            Arc::clone(&self.run.standing),
            self.options.faults.clone(),
        ));
        let files = self.member.snapshots.as_deref();
        let rows = Arc::new(PostgresRows::new(server.clone(), admitted.segments, files));
        self.moves = admitted.is_moved.then_some(admitted.membership);
        self.joined = Some((Arc::clone(&frames), rows));
        Ok(frames)
    }

    /// The log, if the books of a locked directory can go on with it; else why not.
    fn go_on(
        &mut self,
        place: &DirectoryPosition<'_>,
    ) -> Result<Result<Arc<PostgresFrames>, String>, Error> {
        let frames = self.frames(place)?;
        frames.announce(place.applied.lsn)?;
        Ok(match check(place, &frames, self.moves.is_some())? {
            None => {
                self.note_cell()?;
                Ok(frames)
            }
            Some(why) => Err(why),
        })
    }

    /// Notes in the directory which log it follows from here on, where that was another.
    fn note_cell(&mut self) -> Result<(), Error> {
        if let Some(membership) = self.moves.take() {
            self.options.faults.before(Step::ChangeCell)?;
            membership.write(&self.options.dir)?;
            self.options.faults.before(Step::ChangeCell)?;
        }
        Ok(())
    }

    /// Rebuilds the books of a directory, whose own are of no use.
    fn remake(&mut self, reason: &str) -> Result<(), Error> {
        let options = self.options;
        let dir = &options.dir;
        if self.joined.is_none() {
            let _lock = Directory::lock(dir)?;
            self.frames(&DirectoryPosition {
                root: dir,
                applied: FramePosition::default(),
                acknowledged: FramePosition::default(),
            })?;
        }
        let (frames, rows) = self.joined()?;
        // Nothing of the log goes until it is known which snapshot it is to be.
        frames.announce(0)?;
        let repository = DatabaseRepository::new(rows);
        let is_new = !self.has_snapshot(&frames, &repository)?;
        tracing::warn!(reason, dir = %dir.display(), "Rebuilding local state");
        // What was begun with another log's snapshot is of no use either.
        if is_new || self.moves.is_some() || !backup::is_unfinished_member(dir) {
            backup::discard(dir, &options.faults)?;
        }
        self.note_cell()?;
        if is_new {
            tracing::info!("There is no snapshot: the log is read from its first frame on");
            return backup::start_over(dir);
        }
        let began = Instant::now();
        let what = MemberRestore {
            repository: &repository,
            log: &*frames,
            on_needs: &|place| frames.needs_behind(place.lsn),
            name: None,
            dir: dir.clone(),
            allow_unsynced: options.allow_unsynced,
            faults: options.faults.clone(),
        };
        let made = backup::restore_member(&what, &|_| true)?;
        tracing::info!(
            snapshot.name = made.name,
            snapshot.bytes = made.moved.bytes,
            seconds = began.elapsed().as_secs(),
            "The books were made from a snapshot"
        );
        Ok(())
    }

    /// Whether there is a snapshot. Where the log is of no use without one, it waits for the first.
    fn has_snapshot(
        &self,
        frames: &PostgresFrames,
        repository: &dyn Repository,
    ) -> Result<bool, Error> {
        let began = Instant::now();
        loop {
            let is_there = !repository.manifests()?.is_empty();
            let base = frames.cell()?.map_or(0, |cell| cell.base.lsn);
            if is_there || base == 0 {
                return Ok(is_there);
            }
            if began.elapsed() >= FIRST_SNAPSHOT_TIMEOUT {
                return Err(Error::Unusable(format!(
                    "the log begins behind frame {base}, and there is no snapshot yet of what was before: start this \
                     process again once one was made"
                )));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}
