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
    Server,
    client::{ANSWER_WITHIN, Connection, within},
    follower::{KeyCheck, Member},
    log::PostgresFrames,
    membership::Membership,
    opening::WallClock,
    schema,
    segments::{ALLOWED_LOG2, Segments},
    snapshots::PostgresRows,
};
use crate::{
    backup::{self, DatabaseVault, MemberRestore, Vault},
    error::Error,
    frames::{Claimant, FramePosition, Frames},
    log::lock::{DATABASE, Directory},
    options::{Faults, Options},
};

/// How long a log that begins behind data of another may be without a snapshot.
const FIRST_SNAPSHOT_WITHIN: Duration = Duration::from_secs(60);
/// How long threads of a store that was closed may hold its files.
const CLOSED_WITHIN: Duration = Duration::from_secs(10);
/// Pause between two looks for it.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What it takes to join: the log, once it is known that it and the directory belong together.
pub(super) struct Joining {
    /// It is asked once.
    key_check: Option<KeyCheck>,
    server: Server,
    /// The segments of a log that it makes.
    segments: Segments,
    address: Box<str>,
    depth: usize,
    clock: WallClock,
    faults: Option<Arc<dyn Faults>>,
    joined: Option<(Arc<PostgresFrames>, Arc<PostgresRows>)>,
}

impl Joining {
    pub(super) fn new(member: Member, options: &Options) -> Result<Self, Error> {
        if !ALLOWED_LOG2.contains(&member.segment_frames_log2) {
            return Err(Error::Unusable(format!(
                "a segment cannot have 2^{} frames",
                member.segment_frames_log2
            )));
        }
        Ok(Self {
            key_check: Some(member.key_check),
            server: member.server,
            segments: Segments::new(member.cell, member.segment_frames_log2),
            address: member.address,
            depth: member.depth,
            clock: member.clock,
            faults: options.faults.clone(),
            joined: None,
        })
    }

    pub(super) fn joined(&self) -> Result<(Arc<PostgresFrames>, Arc<PostgresRows>), Error> {
        let not_yet = || Error::Io("the log was not opened".into());
        self.joined.clone().ok_or_else(not_yet)
    }

    /// The log. Whoever asks first has locked the directory.
    pub(super) fn frames(
        &mut self,
        place: &DirectoryPosition<'_>,
    ) -> Result<Arc<PostgresFrames>, Error> {
        let Some(key_check) = self.key_check.take() else {
            return Ok(self.joined()?.0);
        };
        let settled = settle(&self.server, self.segments, key_check, place);
        let (membership, segments) = self.server.wait(settled)?;
        let claimant = Claimant {
            node: membership.node.as_u128(),
            incarnation: Uuid::new_v4().as_u128(),
            address: self.address.clone(),
        };
        let server = self.server.clone();
        let frames = PostgresFrames::new(
            server.clone(),
            segments,
            claimant,
            self.depth,
            Arc::clone(&self.clock),
            self.faults.clone(),
        );
        let frames = Arc::new(frames);
        let rows = Arc::new(PostgresRows::new(server, segments));
        self.joined = Some((Arc::clone(&frames), rows));
        Ok(frames)
    }

    /// Makes the books of a directory anew, whose own are of no use.
    pub(super) fn remake(&mut self, options: &Options, reason: &str) -> Result<(), Error> {
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
        if is_new || !backup::is_unfinished_member(dir) {
            await_closed(dir);
            backup::discard(dir, options.faults.as_deref())?;
        }
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
    /// has everything that was ever acknowledged to this process.
    pub(super) fn check(&self, frames: &PostgresFrames) -> Result<Option<String>, Error> {
        let base = frames.cell()?.map(|cell| cell.base).unwrap_or_default();
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

/// Makes the tables where there are none, and says what directory and database are to each other.
async fn settle(
    server: &Server,
    segments: Segments,
    key_check: KeyCheck,
    place: &DirectoryPosition<'_>,
) -> Result<(Membership, Segments), Error> {
    let number = segments.cell();
    let mut connection = server.connect().await?;
    let own = Membership::read(place.root)?;
    let exists = look(&connection, number).await?.is_some();
    let key_check = key_check(exists)?;
    if !exists {
        if own.is_some() {
            return Err(Error::Unusable(format!(
                "{} belongs to a cluster, and the database has no log of one: is storage.url the right one?",
                place.root.display()
            )));
        }
        match schema::make(&mut connection, segments, place.folded, &key_check).await {
            Ok(()) => {}
            // Another was faster: what it made is looked at below.
            Err(_) if look(&connection, number).await?.is_some() => {}
            Err(error) => return Err(error),
        }
    }
    let (cluster, cell) = look(&connection, number)
        .await?
        .ok_or_else(|| Error::Unreachable("it has lost its tables".into()))?;
    if cluster.key_check != key_check {
        return Err(Error::Unusable(
            "the server key is another one than the cluster's: give each process the same SCRIP_SERVER_KEY or server.key"
                .into(),
        ));
    }
    let id = cluster.id;
    let segments = Segments::new(number, cell.segment_frames_log2);
    match own {
        Some(own) if own.cluster == id && own.cell == number => Ok((own, segments)),
        Some(_) => Err(Error::Unusable(format!(
            "{} belongs to another cluster or another cell of it: is storage.url the right one?",
            place.root.display()
        ))),
        // The log goes on behind this directory, or the directory is new.
        None if place.folded == cell.base || place.folded.lsn == 0 => {
            let membership = Membership {
                cluster: id,
                node: Uuid::new_v4(),
                cell: number,
            };
            membership.write(place.root)?;
            Ok((membership, segments))
        }
        None => Err(Error::Unusable(format!(
            "{} holds data of its own, and the database has the log of another: use an empty directory to join it, or \
             an empty database to move this data there",
            place.root.display()
        ))),
    }
}

async fn look(
    connection: &Connection,
    number: i16,
) -> Result<Option<(schema::Cluster, schema::Cell)>, Error> {
    let Some(cluster) = within(ANSWER_WITHIN, schema::cluster(connection)).await? else {
        return Ok(None);
    };
    let cell = within(ANSWER_WITHIN, schema::cell(connection, number)).await?;
    Ok(cell.map(|cell| (cluster, cell)))
}
