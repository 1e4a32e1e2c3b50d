//! What directory and database are to each other when a process joins: whether they belong together, and whether the books in
//! the directory can go on with the log. Where they cannot, others are made.

use std::{
    fs::File,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use uuid::Uuid;

use super::{
    client::{ANSWER_WITHIN, Connection, DatabaseError, within},
    follower::Member,
    housekeeping::Standing,
    log::PostgresFrames,
    membership::Membership,
    schema,
    segments::{ALLOWED_LOG2, Segments},
    snapshots::PostgresRows,
};
use crate::{
    backup::{self, DatabaseVault, MemberRestore, Vault},
    error::Error,
    frames::{Claimant, FramePosition, Frames},
    log::lock::{DATABASE, Directory},
    options::{Options, Step},
};

/// How long a log that begins behind data of another may be without a snapshot.
const FIRST_SNAPSHOT_WITHIN: Duration = Duration::from_secs(60);
/// How long threads of a store that was closed may hold its files.
const CLOSED_WITHIN: Duration = Duration::from_secs(10);
/// Pause between two looks for it.
const LOOK_EVERY: Duration = Duration::from_millis(250);

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

    pub(super) fn joined(&self) -> Result<(Arc<PostgresFrames>, Arc<PostgresRows>), Error> {
        let not_yet = || Error::Io("the log was not opened".into());
        self.joined.clone().ok_or_else(not_yet)
    }

    /// The log. Whoever asks first has locked the directory.
    fn frames(&mut self, place: &DirectoryPosition<'_>) -> Result<Arc<PostgresFrames>, Error> {
        if let Some((frames, _)) = &self.joined {
            return Ok(Arc::clone(frames));
        }
        let server = &self.member.server;
        let settled = server.wait(settle(self.member, place))?;
        let claimant = Claimant {
            node: settled.membership.node.as_u128(),
            incarnation: self.run.incarnation.as_u128(),
            address: self.member.address.clone(),
        };
        let frames = Arc::new(PostgresFrames::new(
            self.member,
            settled.segments,
            claimant,
            settled.joins,
            Arc::clone(&self.run.standing),
            self.options.faults.clone(),
        ));
        let rows = Arc::new(PostgresRows::new(server.clone(), settled.segments));
        self.moves = settled.is_moved.then_some(settled.membership);
        self.joined = Some((Arc::clone(&frames), rows));
        Ok(frames)
    }

    /// The log, if the books of a locked directory can go on with it; else why not.
    pub(super) fn go_on(
        &mut self,
        place: &DirectoryPosition<'_>,
    ) -> Result<Result<Arc<PostgresFrames>, String>, Error> {
        let frames = self.frames(place)?;
        frames.announce(place.folded.lsn)?;
        Ok(match place.check(&frames, self.moves.is_some())? {
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
            self.options.before(Step::ChangeCell)?;
            membership.write(&self.options.dir)?;
            self.options.before(Step::ChangeCell)?;
        }
        Ok(())
    }

    /// Makes the books of a directory anew, whose own are of no use.
    pub(super) fn remake(&mut self, reason: &str) -> Result<(), Error> {
        let options = self.options;
        let dir = &options.dir;
        if self.joined.is_none() {
            let _lock = Directory::lock(dir)?;
            self.frames(&DirectoryPosition {
                root: dir,
                folded: FramePosition::default(),
                acknowledged: FramePosition::default(),
            })?;
        }
        let (frames, rows) = self.joined()?;
        // Nothing of the log goes until it is known which snapshot it is to be.
        frames.announce(0)?;
        let vault = DatabaseVault::new(rows);
        let is_new = !self.has_snapshot(&frames, &vault)?;
        tracing::warn!(reason, dir = %dir.display(), "The books are made anew");
        // What was begun with another log's snapshot is of no use either.
        if is_new || self.moves.is_some() || !backup::is_unfinished_member(dir) {
            await_closed(dir);
            backup::discard(dir, options.faults.as_deref())?;
        }
        self.note_cell()?;
        if is_new {
            tracing::info!("There is no snapshot: the log is read from its first frame on");
            return backup::begin_anew(dir);
        }
        let began = Instant::now();
        let what = MemberRestore {
            vault: &vault,
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
    fn has_snapshot(&self, frames: &PostgresFrames, vault: &dyn Vault) -> Result<bool, Error> {
        let began = Instant::now();
        loop {
            let is_there = !vault.manifests()?.is_empty();
            let base = frames.cell()?.map_or(0, |cell| cell.base.lsn);
            if is_there || base == 0 {
                return Ok(is_there);
            }
            if began.elapsed() >= FIRST_SNAPSHOT_WITHIN {
                return Err(Error::Unusable(format!(
                    "the log begins behind frame {base}, and there is no snapshot yet of what was before: start this \
                     process again once one was made"
                )));
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// Waits until no thread of a store that was closed here writes to its files any more.
fn await_closed(root: &Path) {
    let began = Instant::now();
    let Ok(file) = File::open(root.join(DATABASE).join("db")) else {
        return;
    };
    while file.try_lock().is_err() && began.elapsed() < CLOSED_WITHIN {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Where a data directory stands.
pub(super) struct DirectoryPosition<'a> {
    pub root: &'a Path,
    /// The last frame in its books.
    pub folded: FramePosition,
    /// The last frame that was acknowledged to it as durable.
    pub acknowledged: FramePosition,
}

impl DirectoryPosition<'_> {
    /// Compares what the directory knows with what the database has. `Some`: why its books cannot go on with the log, which
    /// has everything that was ever acknowledged to this process, unless it `is_moved`: has followed another log so far.
    fn check(&self, frames: &PostgresFrames, is_moved: bool) -> Result<Option<String>, Error> {
        let base = frames.cell()?.map(|cell| cell.base).unwrap_or_default();
        if is_moved && self.folded.lsn.max(self.acknowledged.lsn) > base.lsn {
            return Ok(Some(format!(
                "they went on with another log behind frame {}, from which this one goes on",
                base.lsn
            )));
        }
        let has = |place: FramePosition| {
            if place.lsn < base.lsn {
                // Gone for good: nobody can say.
                return Ok(true);
            }
            if place.lsn == base.lsn {
                return Ok(place == base);
            }
            let kept = frames.at(place.lsn)?;
            Ok::<_, Error>(kept.is_some_and(|kept| kept.place == place))
        };
        if !has(self.acknowledged)? {
            let head = newest(frames, base.lsn)?;
            return Err(Error::Unusable(format!(
                "the database has lost frames of the log: frame {} was acknowledged to this process as durable, the \
                 database ends at frame {head}. It was restored to an earlier time, or a standby was promoted that did \
                 not have all; {} is not touched",
                self.acknowledged.lsn,
                self.root.display()
            )));
        }
        if self.folded.lsn < base.lsn {
            return Ok(Some(match self.folded.lsn {
                0 => format!(
                    "it has none yet, and the log begins behind frame {}",
                    base.lsn
                ),
                folded => format!(
                    "they end at frame {folded}, and the log begins behind frame {}",
                    base.lsn
                ),
            }));
        }
        Ok(match has(self.folded)? {
            true => None,
            false => Some(format!(
                "they have frame {}, which the database has lost before it was durable",
                self.folded.lsn
            )),
        })
    }
}

/// The number of the last frame.
fn newest(frames: &PostgresFrames, base: u64) -> Result<u64, Error> {
    let mut last = base;
    frames.walk(
        FramePosition {
            lsn: base,
            hash: [0; 32],
        },
        &mut |lsn, _| {
            last = lsn;
            Ok(())
        },
    )?;
    Ok(last)
}

/// What directory and database are to each other.
struct Settled {
    membership: Membership,
    /// Of the log that is followed.
    segments: Segments,
    /// The cell that the process is to become: it does not exist yet, or begins behind its books.
    joins: Option<i16>,
    /// Whether the directory has followed another log of the cluster so far: nothing says yet that it follows this one.
    is_moved: bool,
}

/// Makes the tables where there are none, and says what directory and database are to each other.
async fn settle(member: &Member, place: &DirectoryPosition<'_>) -> Result<Settled, Error> {
    let mut connection = member.server.connect().await?;
    let own = Membership::read(place.root)?;
    let mut found = look(&connection).await?;
    let key_check = (member.key_check)(found.is_some())?;
    if found.is_none() {
        if own.is_some() {
            return Err(Error::Unusable(format!(
                "{} belongs to a cluster, and the database has no log of one: is storage.url the right one?",
                place.root.display()
            )));
        }
        let segments = Segments::new(member.cell, member.segment_frames_log2);
        let made = schema::make(&mut connection, segments, place.folded, &key_check).await;
        found = look(&connection).await?;
        // Another may have been faster: what it made is looked at below.
        if found.is_none() {
            made?;
        }
    }
    let (cluster, cells) =
        found.ok_or_else(|| Error::Unreachable("it has lost its tables".into()))?;
    if cluster.key_check != key_check {
        return Err(Error::Unusable(
            "the server key is another one than the cluster's: give each process the same SCRIP_SERVER_KEY or server.key"
                .into(),
        ));
    }
    let cell = follows(member, &cells, own.as_ref(), place)?;
    let settled = |membership, is_moved| Settled {
        membership,
        segments: Segments::new(cell.number, cell.segment_frames_log2),
        joins: (cell.number != member.cell).then_some(member.cell),
        is_moved,
    };
    match own {
        // Or noted already which cell it is to become, which the database then lost before anybody had led it.
        Some(own)
            if own.cluster == cluster.id && [cell.number, member.cell].contains(&own.cell) =>
        {
            Ok(settled(own, false))
        }
        // It followed that log so that it could become this cell.
        Some(own) if own.cluster == cluster.id && own.cell == member.split_from => {
            let cell = cell.number;
            Ok(settled(Membership { cell, ..own }, true))
        }
        Some(_) => Err(Error::Unusable(format!(
            "{} belongs to another cluster or another cell of it: is storage.url the right one?",
            place.root.display()
        ))),
        // The log goes on behind this directory, or the directory is new.
        None if place.folded == cell.base || place.folded.lsn == 0 => {
            let membership = Membership {
                cluster: cluster.id,
                node: Uuid::new_v4(),
                cell: cell.number,
            };
            membership.write(place.root)?;
            Ok(settled(membership, false))
        }
        None => Err(Error::Unusable(format!(
            "{} holds data of its own, and the database has the log of another: use an empty directory to join it, or \
             an empty database to move this data there",
            place.root.display()
        ))),
    }
}

/// The log that a process follows: its cell's. Where that does not exist yet, the one that it will come from; also where
/// the books have not come as far as it begins, and find the rest there.
fn follows<'a>(
    member: &Member,
    cells: &'a [schema::Cell],
    own: Option<&Membership>,
    place: &DirectoryPosition<'_>,
) -> Result<&'a schema::Cell, Error> {
    let of = |number| cells.iter().find(|cell| cell.number == number);
    let (cell, from) = (of(member.cell), of(member.split_from));
    let goes_on_with = |from: &schema::Cell, cell: &schema::Cell| {
        own.is_some_and(|own| own.cell == from.number)
            && (from.base.lsn..cell.base.lsn).contains(&place.folded.lsn)
    };
    match (cell, from) {
        (Some(cell), Some(from)) if goes_on_with(from, cell) => Ok(from),
        (Some(cell), _) | (None, Some(cell)) => Ok(cell),
        (None, None) => Err(Error::Unusable(format!(
            "the database has neither cell {} (cluster.cell) nor cell {} (cluster.split_from), from which it would come: \
             set one of them to a cell that is there",
            member.cell, member.split_from
        ))),
    }
}

/// Whose database it is, and the logs in it; `None`: there are none.
async fn look(
    connection: &Connection,
) -> Result<Option<(schema::Cluster, Vec<schema::Cell>)>, DatabaseError> {
    let Some(cluster) = within(ANSWER_WITHIN, schema::cluster(connection)).await? else {
        return Ok(None);
    };
    let cells = within(ANSWER_WITHIN, schema::cells(connection)).await?;
    Ok((!cells.is_empty()).then_some((cluster, cells)))
}
