//! Segments: tables of a fixed number of frames each. They are made before they are needed, and dropped whole; nothing in
//! them is ever changed or deleted, so that there is nothing to vacuum.

use super::{
    client::{Connection, DatabaseError, text},
    schema::unsigned,
};

/// The usual number of frames of one segment, as a power of two.
pub const SEGMENT_FRAMES_LOG2: u32 = 14;
/// The numbers that a log may have, as powers of two. No group of frames is in more than two segments.
pub(super) const ALLOWED_LOG2: std::ops::RangeInclusive<u32> = 6..=30;

/// Segments that are made before they are needed.
const AHEAD: u64 = 2;
/// Frames that there must be room for, where segments are small.
const AHEAD_FRAMES: u64 = 2048;

/// The segments of one log. All that write or read it divide it alike: the cell's row says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segments {
    cell: i16,
    frames_log2: u32,
}

impl Segments {
    pub(super) const fn new(cell: i16, frames_log2: u32) -> Self {
        Self { cell, frames_log2 }
    }

    /// Whose they are.
    pub(super) const fn cell(self) -> i16 {
        self.cell
    }

    /// Frames of one segment as a power of two, as the cell's row holds it.
    pub(super) fn log2(self) -> i16 {
        i16::try_from(self.frames_log2).unwrap_or(i16::MAX)
    }

    pub(super) fn frames(self) -> u64 {
        1_u64.checked_shl(self.frames_log2).unwrap_or(1)
    }

    /// The number of the segment that has a frame.
    pub(super) fn of(self, lsn: u64) -> u64 {
        lsn.checked_shr(self.frames_log2).unwrap_or(0)
    }

    /// The number of a segment's first frame.
    pub(super) fn first(self, segment: u64) -> u64 {
        segment.saturating_mul(self.frames())
    }

    pub(super) fn table(self, segment: u64) -> String {
        format!("scrip.log_{}_{segment}", self.cell)
    }

    pub(super) fn table_of(self, lsn: u64) -> String {
        self.table(self.of(lsn))
    }

    pub(super) fn definition(self, segment: u64) -> String {
        let table = self.table(segment);
        format!(
            "CREATE TABLE IF NOT EXISTS {table} (lsn bigint PRIMARY KEY, hash bytea NOT NULL, bytes bytea NOT NULL) \
             WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false); \
             ALTER TABLE {table} ALTER bytes SET STORAGE EXTERNAL"
        )
    }

    /// Makes the segments that a log needs soon whose last frame is this one.
    pub(super) async fn make_ahead(
        self,
        connection: &Connection,
        head: u64,
    ) -> Result<(), DatabaseError> {
        let from = self.of(head);
        let ahead = self.of(AHEAD_FRAMES).max(AHEAD);
        for segment in from..=from.saturating_add(ahead) {
            if self.exists(connection, segment).await? {
                continue;
            }
            let definition = self.definition(segment);
            let made = connection.client().batch_execute(&definition).await;
            match made.map_err(DatabaseError::from) {
                // Made by another at the same instant.
                Ok(()) | Err(DatabaseError::Exists(_)) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Drops the segments below one, the oldest first: what a crash leaves is found by the next.
    pub(super) async fn drop_below(
        self,
        connection: &Connection,
        segment: u64,
    ) -> Result<(), DatabaseError> {
        let mut first = segment;
        while let Some(below) = first.checked_sub(1)
            && self.exists(connection, below).await?
        {
            first = below;
        }
        for segment in first..segment {
            let table = self.table(segment);
            // A dump may hold the table: other statements should not have to wait behind this.
            let client = connection.client();
            client.batch_execute("SET lock_timeout = '1s'").await?;
            client
                .batch_execute(&format!("DROP TABLE IF EXISTS {table}"))
                .await?;
        }
        Ok(())
    }

    async fn exists(self, connection: &Connection, segment: u64) -> Result<bool, DatabaseError> {
        let table = self.table(segment);
        let sql = "SELECT to_regclass($1) IS NOT NULL";
        let found = connection.client().query_one(sql, &[&table]).await?;
        Ok(found.try_get(0)?)
    }

    /// Those that are there.
    pub(super) async fn all(self, connection: &Connection) -> Result<KeptSegments, DatabaseError> {
        let name = format!("^log_{}_[0-9]+$", self.cell);
        let sql = "SELECT split_part(relname, '_', 3)::bigint, pg_total_relation_size(oid) FROM pg_class \
                   WHERE relnamespace = to_regnamespace('scrip') AND relkind = 'r' AND relname ~ $1 ORDER BY 1";
        let rows = connection.query(sql, &[text(&name)]).await?;
        let mut all = KeptSegments::default();
        for row in &rows {
            all.numbers.push(unsigned(row.try_get(0)?));
            // A table that was just dropped has no size.
            let bytes: Option<i64> = row.try_get(1)?;
            all.bytes += unsigned(bytes.unwrap_or(0));
        }
        Ok(all)
    }
}

/// The segments that are there.
#[derive(Default)]
pub(super) struct KeptSegments {
    /// Their numbers, the smallest first.
    pub numbers: Vec<u64>,
    /// What they take on the disk, with indices.
    pub bytes: u64,
}
