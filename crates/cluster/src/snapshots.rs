//! Snapshots in a database that several processes share: any of them may add some and remove others' at the same time.

use std::{collections::BTreeSet, sync::Arc};

use persistence::{
    Error,
    backup::{MAX_COMPRESSED_BYTES, Manifest, Repository, from_hex, hex, named},
    frames::FramePosition,
};

/// The SHA-256 of what a chunk holds.
pub type ChunkName = [u8; 32];

/// A chunk that no snapshot names stays for so long after it was last used, in microseconds: longer than a copy may
/// take, so that one under way finds what it used.
const MIN_UNUSED: i64 = 6 * 60 * 60 * 1_000_000;
/// Chunks that are removed at a time.
const MAX_REMOVED: usize = 500;

#[derive(Debug, Clone, Copy)]
pub struct NewSnapshot<'a> {
    /// Its name among the cell's snapshots.
    pub name: &'a str,
    /// Up to where all of its books are applied: a restore needs the frames behind that.
    pub applied: FramePosition,
    /// Up to where some of its books may be applied.
    pub head: FramePosition,
    /// Its manifest, to be kept as it is.
    pub manifest: &'a [u8],
    /// The chunks that it consists of, in the order of their names.
    pub chunks: &'a [ChunkName],
}

/// What became of a snapshot that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotAdded {
    /// It is there, and survives what the database's commits survive.
    Added,
    NameTaken,
    /// A chunk that it needs is not there.
    ChunkMissing,
    /// The log begins behind the frame that would have to follow it.
    Trimmed,
    /// The log does not have the frame that its books are applied up to.
    OtherLog,
}

/// The rows of one cell's snapshots and their chunks.
///
/// Of each chunk the database knows when it was last used, by its own clock (`scrip.chunk.used_at`). What keeps a sweep
/// away from the chunks of a snapshot that is added at the same time:
///
/// 1. [`SnapshotRows::add_snapshot`] is one transaction. It sets `used_at` of every chunk that the snapshot names to
///    now, in the order of their names so that two do not wait for each other, adds nothing unless all of them are
///    there. Nor does it where the cell's base is behind `applied` (`base_lsn > applied.lsn`; it locks the cell's row for
///    that, as trimming does), or where the log has not the frame `head` under its hash (nor is that the base).
/// 2. [`SnapshotRows::remove_chunks`] looks at `used_at` at the moment at which it removes each row, in the same
///    statement: `DELETE … WHERE name = ANY(…) AND used_at < …`, at READ COMMITTED, which looks again at a row that it
///    had to wait for.
/// 3. [`SnapshotRows::now`] is read before the manifests that a sweep goes by. So a snapshot is either among them, or
///    was added later, and its chunks were used later than all that the sweep removes.
///
/// A chunk need not be durable before the snapshot that names it, as long as the database's log has them in this order.
/// `Ok` means that the statement was acknowledged without a warning; anything else is an error, and may have been done.
/// The base moves to no place that two snapshots do not cover, as the rows have them at that moment.
pub trait SnapshotRows: Send + Sync {
    /// The database's clock, in microseconds since 1970.
    /// # Errors
    /// The database does not answer.
    fn now(&self) -> Result<i64, Error>;

    /// Whether there is a chunk of this name. If so, it was last used now.
    /// # Errors
    /// The database does not answer.
    fn use_chunk(&self, name: &ChunkName) -> Result<bool, Error>;

    /// Puts a chunk in its place, also over one that is there; it was last used now.
    /// # Errors
    /// The database does not answer.
    fn put_chunk(&self, name: &ChunkName, bytes: &[u8]) -> Result<(), Error>;

    /// A chunk as it was put.
    /// # Errors
    /// The database does not answer.
    fn chunk(&self, name: &ChunkName) -> Result<Option<Vec<u8>>, Error>;

    /// Adds a snapshot, or says why not.
    /// # Errors
    /// The database does not answer: it may have been added.
    fn add_snapshot(&self, snapshot: &NewSnapshot<'_>) -> Result<SnapshotAdded, Error>;

    /// The names of all snapshots, and up to where their books are applied.
    /// # Errors
    /// The database does not answer.
    fn snapshots(&self) -> Result<Vec<(String, FramePosition)>, Error>;

    /// The manifest of a snapshot.
    /// # Errors
    /// The database does not answer.
    fn manifest(&self, name: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Removes a snapshot, if it is there.
    /// # Errors
    /// The database does not answer.
    fn remove_snapshot(&self, name: &str) -> Result<(), Error>;

    /// The names of all chunks that were last used before this moment.
    /// # Errors
    /// The database does not answer.
    fn chunks_unused_since(&self, moment: i64) -> Result<Vec<ChunkName>, Error>;

    /// Removes those of these chunks that were last used before this moment; returns how many.
    /// # Errors
    /// The database does not answer.
    fn remove_chunks(&self, names: &[ChunkName], moment: i64) -> Result<u64, Error>;
}

/// Snapshots in a database. The newest is the one whose books are applied furthest.
pub struct DatabaseRepository {
    rows: Arc<dyn SnapshotRows>,
}

impl DatabaseRepository {
    pub fn new(rows: Arc<dyn SnapshotRows>) -> Self {
        Self { rows }
    }
}

impl Repository for DatabaseRepository {
    fn label(&self) -> String {
        "the database".into()
    }

    fn chunk_label(&self, name: &str) -> String {
        format!("{name} in the database")
    }

    fn claim(&self, name: &str) -> Result<bool, Error> {
        self.rows.use_chunk(&hash(name)?)
    }

    fn write_chunk(&self, name: &str, compressed: &[u8]) -> Result<(), Error> {
        self.rows.put_chunk(&hash(name)?, compressed)
    }

    fn read_chunk(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let mut chunk = self.rows.chunk(&hash(name)?)?;
        if let Some(chunk) = &mut chunk {
            chunk.truncate(MAX_COMPRESSED_BYTES);
        }
        Ok(chunk)
    }

    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    fn put_manifest(&self, name: &str, manifest: &Manifest) -> Result<(), Error> {
        let mut named = BTreeSet::new();
        manifest.names(&mut named);
        let chunks: Vec<_> = named.iter().map(|it| hash(it)).collect::<Result<_, _>>()?;
        let added = self.rows.add_snapshot(&NewSnapshot {
            name,
            applied: manifest.applied()?,
            head: manifest.head()?,
            manifest: &manifest.encode()?,
            chunks: &chunks,
        })?;
        let why = match added {
            SnapshotAdded::Added => return Ok(()),
            SnapshotAdded::NameTaken => "there is one of this name",
            SnapshotAdded::ChunkMissing => {
                "it took so long that chunks of it were removed. The next one writes them again"
            }
            SnapshotAdded::Trimmed => "the log was trimmed past it, since later ones were made",
            SnapshotAdded::OtherLog => "the log does not have the frames that these books have",
        };
        Err(Error::Unusable(format!(
            "snapshot {name} does not count: {why}"
        )))
    }

    fn manifest(&self, name: &str) -> Result<Manifest, Error> {
        let bytes = self
            .rows
            .manifest(name)?
            .ok_or_else(|| Error::Unusable(format!("the database has no snapshot {name}")))?;
        Manifest::decode(&bytes)
            .map_err(|why| Error::Damaged(format!("manifest {name} in the database: {why}")))
    }

    fn manifests(&self) -> Result<Vec<String>, Error> {
        let mut all = self.rows.snapshots()?;
        all.sort_unstable_by(|(one, at), (other, place)| (at.lsn, one).cmp(&(place.lsn, other)));
        Ok(all.into_iter().map(|(name, _)| name).collect())
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        self.rows.remove_snapshot(name)
    }

    fn sweep(&self) -> Result<u64, Error> {
        // Before the manifests: see `SnapshotRows`.
        let moment = self.rows.now()?.saturating_sub(MIN_UNUSED);
        let Some(named) = named(self)? else {
            return Ok(0);
        };
        let mut unused = self.rows.chunks_unused_since(moment)?;
        unused.retain(|name| !named.contains(&hex(name)));
        let mut removed = 0_u64;
        for some in unused.chunks(MAX_REMOVED) {
            removed += self.rows.remove_chunks(some, moment)?;
        }
        Ok(removed)
    }
}

fn hash(name: &str) -> Result<ChunkName, Error> {
    from_hex(name).ok_or_else(|| Error::Damaged(format!("{name} is not a chunk's name")))
}
