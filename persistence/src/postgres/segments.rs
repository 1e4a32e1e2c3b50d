//! Segments: tables of [`FRAMES`] frames each. They are made before they are needed, and dropped whole; nothing in them
//! is ever changed or deleted, so that there is nothing to vacuum.

use super::client::{Connection, Failure};

/// Frames of one segment, as a power of two.
const FRAMES_LOG2: u32 = 14;
/// Frames of one segment.
pub(super) const FRAMES: u64 = 1 << FRAMES_LOG2;

/// Segments that are made before they are needed.
pub(super) const AHEAD: u64 = 2;

/// The number of the segment that a frame lies in.
pub(super) const fn of(lsn: u64) -> u64 {
    lsn >> FRAMES_LOG2
}

/// The table of a segment.
pub(super) fn table(cell: i16, segment: u64) -> String {
    format!("scrip.log_{cell}_{segment}")
}

/// What makes a segment where it is not there.
pub(super) fn definition(cell: i16, segment: u64) -> String {
    let table = table(cell, segment);
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (lsn bigint PRIMARY KEY, hash bytea NOT NULL, bytes bytea NOT NULL) \
         WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false); \
         ALTER TABLE {table} ALTER bytes SET STORAGE EXTERNAL"
    )
}

/// Makes the segments of a cell from one to another, both included, where they are not there.
pub(super) async fn make(
    connection: &Connection,
    cell: i16,
    from: u64,
    to: u64,
) -> Result<(), Failure> {
    for segment in from..=to {
        if exists(connection, cell, segment).await? {
            continue;
        }
        let definition = definition(cell, segment);
        let made = connection.client().batch_execute(&definition).await;
        match made.map_err(Failure::from) {
            // Made by another at the same instant.
            Ok(()) | Err(Failure::Exists(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Drops the segments of a cell below one, the oldest first: what a crash leaves is found by the next.
pub(super) async fn drop_below(
    connection: &Connection,
    cell: i16,
    segment: u64,
) -> Result<(), Failure> {
    let mut first = segment;
    while let Some(below) = first.checked_sub(1)
        && exists(connection, cell, below).await?
    {
        first = below;
    }
    for segment in first..segment {
        let table = table(cell, segment);
        // A dump may hold the table: nobody else should have to wait behind this.
        let client = connection.client();
        client.batch_execute("SET lock_timeout = '1s'").await?;
        client
            .batch_execute(&format!("DROP TABLE IF EXISTS {table}"))
            .await?;
    }
    Ok(())
}

async fn exists(connection: &Connection, cell: i16, segment: u64) -> Result<bool, Failure> {
    let table = table(cell, segment);
    let found = connection
        .client()
        .query_one("SELECT to_regclass($1) IS NOT NULL", &[&table])
        .await?;
    Ok(found.try_get(0)?)
}
