//! Frames as they are read from segments.

use persistence::{
    Error,
    frames::{FramePosition, MAX_FRAME_BYTES, StoredFrame},
};
use tokio_postgres::types::Type;

use super::{
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, within},
    commits::number,
    schema::unsigned,
    segments::Segments,
};

/// Frames that are read at once.
pub(super) const ROWS: i64 = 256;

/// A row of a segment.
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

/// The rows behind a place, up to so many, of one segment. A segment that is not there has none.
pub(super) async fn rows(
    connection: &Connection,
    segments: Segments,
    place: u64,
    limit: i64,
) -> Result<Vec<Row>, DatabaseError> {
    let table = segments.table_of(place.saturating_add(1));
    let place = number(place).map_err(|error| DatabaseError::Refused(error.to_string()))?;
    let text = format!("SELECT lsn, hash, bytes FROM {table} WHERE lsn > $1 ORDER BY lsn LIMIT $2");
    let parameters = [(&place as _, Type::INT8), (&limit as _, Type::INT8)];
    let rows = connection.client().query_typed(&text, &parameters);
    match rows.await.map_err(DatabaseError::from) {
        Err(DatabaseError::NoTable(_)) => Ok(Vec::new()),
        rows => rows?.iter().map(Row::of).collect(),
    }
}

/// The row in a place.
pub(super) async fn row(
    connection: &Connection,
    segments: Segments,
    lsn: u64,
) -> Result<Option<Row>, DatabaseError> {
    let table = segments.table_of(lsn);
    let lsn = number(lsn).map_err(|error| DatabaseError::Refused(error.to_string()))?;
    let text = format!("SELECT lsn, hash, bytes FROM {table} WHERE lsn = $1");
    let parameters = [(&lsn as _, Type::INT8)];
    let rows = connection.client().query_typed(&text, &parameters);
    match rows.await.map_err(DatabaseError::from) {
        Err(DatabaseError::NoTable(_)) => Ok(None),
        rows => rows?.first().map(Row::of).transpose(),
    }
}

/// The last row of a segment.
pub(super) async fn last(
    connection: &Connection,
    segments: Segments,
    segment: u64,
) -> Result<Option<Row>, DatabaseError> {
    let table = segments.table(segment);
    let text = format!("SELECT lsn, hash, bytes FROM {table} ORDER BY lsn DESC LIMIT 1");
    let rows = connection.client().query_typed(&text, &[]).await?;
    rows.first().map(Row::of).transpose()
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
