//! What the database holds besides frames: whose it is, and where each log begins and is led.

use persistence::{Error, frames::FramePosition};
use tokio_postgres::{Row, Transaction, types::ToSql};
use uuid::Uuid;

use super::{
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, bytea, int2, int8, within},
    commits::number,
    segments::{ALLOWED_LOG2, Segments},
};

/// The version of the tables, and of what frames may hold.
pub(super) const FORMAT: i32 = 1;
/// Attempts to make what another process makes at the same instant.
const ATTEMPTS: u32 = 5;

const TABLES: &str = "
CREATE SCHEMA IF NOT EXISTS scrip;
CREATE TABLE IF NOT EXISTS scrip.meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  cluster uuid NOT NULL,
  format int NOT NULL,
  key_check bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS scrip.cell (
  cell smallint PRIMARY KEY,
  base_lsn bigint NOT NULL,
  base_hash bytea NOT NULL,
  segment_frames_log2 smallint NOT NULL,
  opened_lsn bigint NOT NULL DEFAULT 0,
  leader_address text NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS scrip.member (
  incarnation uuid PRIMARY KEY,
  node uuid NOT NULL,
  cell smallint NOT NULL,
  joins smallint,
  address text NOT NULL,
  version text NOT NULL,
  format int NOT NULL,
  head_lsn bigint NOT NULL,
  folded_lsn bigint NOT NULL,
  leads boolean NOT NULL,
  seen timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS scrip.snapshot (
  cell smallint NOT NULL,
  name text NOT NULL,
  folded_lsn bigint NOT NULL,
  folded_hash bytea NOT NULL,
  manifest bytea NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (cell, name));
CREATE TABLE IF NOT EXISTS scrip.chunk (
  cell smallint NOT NULL,
  name bytea NOT NULL,
  bytes bytea NOT NULL,
  used_at timestamptz NOT NULL,
  PRIMARY KEY (cell, name));
ALTER TABLE scrip.chunk ALTER bytes SET STORAGE EXTERNAL";

/// A database that processes share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Drawn when the tables were made.
    pub id: Uuid,
    /// The version of the tables, and of what frames may hold.
    pub format: i32,
    /// Shows whether a process has the same server key.
    pub key_check: Vec<u8>,
}

/// One log in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The number that configurations and tables name it by.
    pub number: i16,
    /// The place up to which frames are in snapshots only, or in the directory that was adopted.
    pub base: FramePosition,
    /// How many frames are in one table, as a power of two.
    pub segment_frames_log2: u32,
    /// The number of the last term start that was noted, and where its process is reached. Another may lead by now.
    pub led_since: u64,
    /// See `led_since`; empty before the first.
    pub leader_address: String,
}

/// Reads whose database this is; `None` where nothing was made yet.
pub(super) async fn cluster(connection: &Connection) -> Result<Option<Cluster>, DatabaseError> {
    let sql = "SELECT cluster, format, key_check FROM scrip.meta";
    let rows = match within(ANSWER_TIMEOUT, connection.query(sql, &[])).await {
        Err(DatabaseError::NoTable(_)) => return Ok(None),
        rows => rows?,
    };
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let format: i32 = row.try_get(1)?;
    if format > FORMAT {
        return Err(DatabaseError::Refused(format!(
            "its tables have format {format}, this version of Scrip knows {FORMAT}: use a newer one"
        )));
    }
    Ok(Some(Cluster {
        id: row.try_get(0)?,
        format,
        key_check: row.try_get(2)?,
    }))
}

/// Notes that a newer server key is behind those that were known. Does nothing where another process did.
pub(super) async fn note_key(
    connection: &Connection,
    known: &[u8],
    now: &[u8],
) -> Result<(), DatabaseError> {
    let sql = "UPDATE scrip.meta SET key_check = $2 WHERE key_check = $1";
    let values = [bytea(&known), bytea(&now)];
    let noted = connection.execute(sql, &values);
    within(ANSWER_TIMEOUT, noted).await.map(drop)
}

/// Reads where a log begins and who was said to lead it; `None` where there is none.
pub(super) async fn cell(
    connection: &Connection,
    cell: i16,
) -> Result<Option<Cell>, DatabaseError> {
    let all = cells(connection).await?;
    Ok(all.into_iter().find(|one| one.number == cell))
}

/// The same of all logs.
pub(super) async fn cells(connection: &Connection) -> Result<Vec<Cell>, DatabaseError> {
    let sql = "SELECT base_lsn, base_hash, opened_lsn, leader_address, segment_frames_log2, cell FROM scrip.cell ORDER BY cell";
    let rows = within(ANSWER_TIMEOUT, connection.query(sql, &[])).await?;
    let cell = |row: &Row| {
        let hash: &[u8] = row.try_get(1)?;
        let log2 = u32::try_from(row.try_get::<_, i16>(4)?).unwrap_or(0);
        if !ALLOWED_LOG2.contains(&log2) {
            return Err(DatabaseError::Refused(format!(
                "a segment of 2^{log2} frames: no such log"
            )));
        }
        Ok(Cell {
            number: row.try_get(5)?,
            segment_frames_log2: log2,
            base: FramePosition {
                lsn: unsigned(row.try_get(0)?),
                hash: hash.try_into().unwrap_or_default(),
            },
            led_since: unsigned(row.try_get(2)?),
            leader_address: row.try_get(3)?,
        })
    };
    rows.iter().map(cell).collect()
}

/// Moves the place up to which frames may be in snapshots only to where `choose` says, which is given the present place. It never
/// goes back. Nobody adds a snapshot or announces that it needs frames in that time: that takes a lock on the cell's row.
pub(super) async fn move_base(
    connection: &mut Connection,
    segments: Segments,
    choose: impl AsyncFnOnce(&Transaction<'_>, u64) -> Result<u64, DatabaseError>,
) -> Result<u64, DatabaseError> {
    let cell = segments.cell();
    let moving = connection.client_mut().transaction().await?;
    let sql = "SELECT base_lsn FROM scrip.cell WHERE cell = $1 FOR UPDATE";
    let found = moving.query_typed(sql, &[int2(&cell)]).await?;
    let Some(row) = found.first() else {
        return Ok(0);
    };
    let former = unsigned(row.try_get(0)?);
    let base = choose(&moving, former).await?;
    if base <= former {
        return Ok(former);
    }
    let table = segments.table_of(base);
    let lsn = signed(base)?;
    let sql = format!(
        "UPDATE scrip.cell SET base_lsn = $2, base_hash = f.hash FROM {table} f WHERE cell = $1 AND f.lsn = $2"
    );
    let moved = moving
        .execute_typed(&sql, &[int2(&cell), int8(&lsn)])
        .await?;
    moving.commit().await?;
    Ok(if moved == 1 { base } else { former })
}

/// A number that is never negative.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A frame's number as a column holds it.
pub(super) fn signed(lsn: u64) -> Result<i64, DatabaseError> {
    number(lsn).map_err(|error| DatabaseError::Refused(error.to_string()))
}

/// Makes the tables, and the first log, which goes on behind a place. Of several attempts one succeeds.
pub(super) async fn make(
    connection: &mut Connection,
    segments: Segments,
    base: FramePosition,
    key_check: &[u8],
) -> Result<(), Error> {
    let mut attempt = 0_u32;
    loop {
        attempt += 1;
        let made = make_once(connection, segments, base, key_check);
        match within(ANSWER_TIMEOUT, made).await {
            Ok(()) => return Ok(()),
            Err(DatabaseError::Exists(_)) if attempt < ATTEMPTS => {}
            Err(failure) => return Err(failure.into()),
        }
    }
}

async fn make_once(
    connection: &mut Connection,
    segments: Segments,
    base: FramePosition,
    key_check: &[u8],
) -> Result<(), DatabaseError> {
    let making = connection.client_mut().transaction().await?;
    // A role that may use the schema need not be allowed to make one.
    let exists: bool = making
        .query_one("SELECT to_regnamespace('scrip') IS NOT NULL", &[])
        .await?
        .try_get(0)?;
    let tables = match exists {
        true => TABLES.replace("CREATE SCHEMA IF NOT EXISTS scrip;", ""),
        false => TABLES.to_owned(),
    };
    making.batch_execute(&tables).await?;
    let sql = "INSERT INTO scrip.meta (cluster, format, key_check) VALUES ($1, $2, $3) ON CONFLICT (one) DO NOTHING";
    let values: [&(dyn ToSql + Sync); 3] = [&Uuid::new_v4(), &FORMAT, &key_check];
    making.execute(sql, &values).await?;
    // After the row above: another process that makes a log at the same instant has made the first.
    let is_first: bool = making
        .query_one("SELECT NOT EXISTS (SELECT 1 FROM scrip.cell)", &[])
        .await?
        .try_get(0)?;
    if !is_first {
        return Err(DatabaseError::Exists("there is a log already".into()));
    }
    make_log(&making, segments, base).await?;
    making.commit().await?;
    no_warning(connection)
}

/// Makes a log that goes on, by itself, from a frame of another, once. `false`: the other has no such frame.
pub(super) async fn divide(
    connection: &mut Connection,
    from: Segments,
    segments: Segments,
    base: FramePosition,
) -> Result<bool, DatabaseError> {
    let (table, lsn) = (from.table_of(base.lsn), signed(base.lsn)?);
    let dividing = connection.client_mut().transaction().await?;
    let sql = format!("SELECT 1 FROM {table} WHERE lsn = $1 AND hash = $2");
    let hash = base.hash.as_slice();
    let found = dividing
        .query_typed(&sql, &[int8(&lsn), bytea(&hash)])
        .await;
    let found = match found.map_err(DatabaseError::from) {
        Err(DatabaseError::NoTable(_)) => return Ok(false),
        found => found?,
    };
    if found.is_empty() {
        return Ok(false);
    }
    make_log(&dividing, segments, base).await?;
    dividing.commit().await?;
    no_warning(connection)?;
    Ok(true)
}

/// Makes the row and the first segment of a log behind a place.
async fn make_log(
    making: &Transaction<'_>,
    segments: Segments,
    base: FramePosition,
) -> Result<(), DatabaseError> {
    let lsn = signed(base.lsn)?;
    let segment = segments.of(base.lsn);
    making.batch_execute(&segments.definition(segment)).await?;
    // The row is for the frame that the first one follows.
    let table = segments.table(segment);
    let (hash, log2) = (base.hash.as_slice(), segments.log2());
    let sql = format!("INSERT INTO {table} (lsn, hash, bytes) VALUES ($1, $2, '')");
    making.execute(&sql, &[&lsn, &hash]).await?;
    let sql = "INSERT INTO scrip.cell (cell, base_lsn, base_hash, segment_frames_log2) VALUES ($1, $2, $3, $4)";
    making
        .execute(sql, &[&segments.cell(), &lsn, &hash, &log2])
        .await?;
    Ok(())
}

/// What was committed behind a warning may not be durable.
pub(super) fn no_warning(connection: &Connection) -> Result<(), DatabaseError> {
    if connection.was_warned() {
        return Err(DatabaseError::Unreachable(
            "it warned of what it had just written".into(),
        ));
    }
    Ok(())
}
