//! Frames as they are read from segments.

use persistence::{
    Error,
    frames::{FramePosition, MAX_FRAME_BYTES, StoredFrame},
};

use super::{
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, Value, int8, within},
    schema::{signed, unsigned},
    segments::Segments,
};

/// Frames that are read at once.
pub(super) const ROWS: i64 = 256;

pub(super) struct Row {
    lsn: i64,
    hash: [u8; 32],
    bytes: Vec<u8>,
}

impl Row {
    pub(super) fn lsn(&self) -> u64 {
        unsigned(self.lsn)
    }

    fn of(row: &tokio_postgres::Row) -> Result<Self, DatabaseError> {
        let hash: &[u8] = row.try_get(1)?;
        Ok(Self {
            lsn: row.try_get(0)?,
            hash: hash.try_into().unwrap_or_default(),
            bytes: row.try_get(2)?,
        })
    }
}

/// A frame as it was before it was compressed. The row before the first is empty.
pub(super) fn kept(row: Row) -> Result<StoredFrame, Error> {
    let lsn = unsigned(row.lsn);
    let bytes = match row.bytes.is_empty() {
        true => Vec::new(),
        false => zstd::bulk::decompress(&row.bytes, MAX_FRAME_BYTES)
            .map_err(|error| Error::Damaged(format!("the log at frame {lsn}: {error}")))?,
    };
    Ok(StoredFrame {
        place: FramePosition {
            lsn,
            hash: row.hash,
        },
        bytes: bytes.into(),
    })
}

/// Rows of a segment; one that is not there has none.
async fn select(
    connection: &Connection,
    table: &str,
    which: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, DatabaseError> {
    let sql = format!("SELECT lsn, hash, bytes FROM {table} {which}");
    match connection.query(&sql, values).await {
        Err(DatabaseError::NoTable(_)) => Ok(Vec::new()),
        rows => rows?.iter().map(Row::of).collect(),
    }
}

/// The rows behind a place, up to so many, of one segment.
pub(super) async fn rows(
    connection: &Connection,
    segments: Segments,
    place: u64,
    limit: i64,
) -> Result<Vec<Row>, DatabaseError> {
    let table = segments.table_of(place.saturating_add(1));
    let place = signed(place)?;
    let which = "WHERE lsn > $1 ORDER BY lsn LIMIT $2";
    select(connection, &table, which, &[int8(&place), int8(&limit)]).await
}

pub(super) async fn row(
    connection: &Connection,
    segments: Segments,
    lsn: u64,
) -> Result<Option<Row>, DatabaseError> {
    let table = segments.table_of(lsn);
    let lsn = signed(lsn)?;
    let rows = select(connection, &table, "WHERE lsn = $1", &[int8(&lsn)]).await?;
    Ok(rows.into_iter().next())
}

/// The last row of a segment.
pub(super) async fn last(
    connection: &Connection,
    segments: Segments,
    segment: u64,
) -> Result<Option<Row>, DatabaseError> {
    let table = segments.table(segment);
    let rows = select(connection, &table, "ORDER BY lsn DESC LIMIT 1", &[]).await?;
    Ok(rows.into_iter().next())
}

/// The row in a place and all behind it.
pub(super) async fn all_from(
    connection: &Connection,
    segments: Segments,
    lsn: u64,
) -> Result<Vec<Row>, DatabaseError> {
    let first = within(ANSWER_TIMEOUT, row(connection, segments, lsn)).await?;
    let mut all: Vec<Row> = first.into_iter().collect();
    let mut last = lsn;
    loop {
        let some = within(ANSWER_TIMEOUT, rows(connection, segments, last, ROWS)).await?;
        let Some(end) = some.last() else {
            return Ok(all);
        };
        last = unsigned(end.lsn);
        all.extend(some);
    }
}
