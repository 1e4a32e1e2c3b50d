//! Snapshots of the books, beside the log that they go on with.

use std::{path::Path, time::Duration};

use persistence::{Error, frames::FramePosition};
use tokio_postgres::{
    Row, Transaction,
    types::{FromSql, Type},
};

use super::{
    chunk_files::ChunkFiles,
    client::{
        ANSWER_TIMEOUT, Connection, DatabaseError, KeptConnection, Server, Value, bytea, int2,
        int4, int8, text,
    },
    schema::{no_warning, signed, unsigned},
    segments::Segments,
};
use crate::snapshots::{ChunkName, NewSnapshot, SnapshotAdded, SnapshotRows};

/// How long all chunks of a snapshot may take to be marked as used.
const ADD_TIMEOUT: Duration = Duration::from_secs(60);

/// The rows of a cell's snapshots, on a connection of their own, which is reopened whenever it has failed.
pub(super) struct PostgresRows {
    segments: Segments,
    connection: KeptConnection,
    /// Where chunks are kept outside the database.
    files: Option<ChunkFiles>,
}

impl PostgresRows {
    /// `files`: the directory for chunks, where the database is not to have them.
    pub(super) fn new(server: Server, segments: Segments, files: Option<&Path>) -> Self {
        Self {
            files: files.map(|directory| ChunkFiles::new(directory, segments.cell())),
            segments,
            connection: KeptConnection::new(server),
        }
    }

    /// The files that a row of the database names one of.
    fn files(&self) -> Result<&ChunkFiles, Error> {
        self.files.as_ref().ok_or_else(|| {
            Error::Unusable(
                "the snapshots are in a directory that other processes share: set storage.snapshots to it"
                    .into(),
            )
        })
    }

    /// Removes files that no row names any more.
    fn tidy(&self, files: &ChunkFiles) -> Result<(), Error> {
        let cell = self.segments.cell();
        let sql =
            "SELECT name, bytes FROM scrip.chunk WHERE cell = $1 AND octet_length(bytes) <= $2";
        let rows = self.query(sql, &[int2(&cell), int4(&ChunkFiles::MAX_MARK)], chunk)?;
        let marks = rows.into_iter().filter(|(_, row)| ChunkFiles::is_mark(row));
        files.tidy(&marks.collect::<Vec<_>>())
    }

    /// Asks, and takes no answer that the server has warned of: what was written may not be durable.
    pub(super) fn ask<T>(
        &self,
        limit: Duration,
        ask: impl AsyncFnOnce(&mut Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        self.connection.ask(limit, async |connection| {
            let answer = ask(connection).await?;
            no_warning(connection)?;
            Ok(answer)
        })
    }

    fn query<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl Fn(&Row) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, Error> {
        self.ask(ANSWER_TIMEOUT, async |connection| {
            let rows = connection.query(sql, values).await?;
            rows.iter().map(read).collect()
        })
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, Error> {
        self.ask(ANSWER_TIMEOUT, async |connection| {
            connection.execute(sql, values).await
        })
    }

    /// Whether the log has a frame, or begins behind it.
    async fn has(
        &self,
        adding: &Transaction<'_>,
        base: FramePosition,
        place: FramePosition,
    ) -> Result<bool, DatabaseError> {
        if place == base {
            return Ok(true);
        }
        let table = self.segments.table_of(place.lsn);
        let sql = "SELECT to_regclass($1) IS NOT NULL";
        let exists = adding.query_typed(sql, &[text(&table)]).await?;
        if !exists.first().map_or(Ok(false), first::<bool>)? {
            return Ok(false);
        }
        let (lsn, hash) = (signed(place.lsn)?, place.hash.as_slice());
        let sql = format!("SELECT 1 FROM {table} WHERE lsn = $1 AND hash = $2");
        let found = adding
            .query_typed(&sql, &[int8(&lsn), bytea(&hash)])
            .await?;
        Ok(!found.is_empty())
    }

    /// Adds a snapshot, or says why not and leaves everything as it was. The cell's row stays locked until it is added, so
    /// that the log is not trimmed past it before.
    async fn add(
        &self,
        connection: &mut Connection,
        new: &NewSnapshot<'_>,
    ) -> Result<SnapshotAdded, DatabaseError> {
        let cell = self.segments.cell();
        let (lsn, hash) = (signed(new.applied.lsn)?, new.applied.hash.as_slice());
        let adding = connection.client_mut().transaction().await?;
        let sql = "SELECT 1 FROM scrip.snapshot WHERE cell = $1 AND name = $2";
        let named = [int2(&cell), text(&new.name)];
        let taken = adding.query_typed(sql, &named).await?;
        if !taken.is_empty() {
            return Ok(SnapshotAdded::NameTaken);
        }
        let sql = "SELECT base_lsn, base_hash FROM scrip.cell WHERE cell = $1 FOR SHARE";
        let base = adding.query_typed(sql, &[int2(&cell)]).await?;
        let base = match base.first() {
            Some(row) => place(row, 0)?,
            None => return Ok(SnapshotAdded::OtherLog),
        };
        if base.lsn > new.applied.lsn {
            return Ok(SnapshotAdded::Trimmed);
        }
        if !self.has(&adding, base, new.head).await? {
            return Ok(SnapshotAdded::OtherLog);
        }
        let names: Vec<&[u8]> = new.chunks.iter().map(ChunkName::as_slice).collect();
        let chunks = [int2(&cell), (&names, Type::BYTEA_ARRAY)];
        // Locked in the order of their names: two that add snapshots never wait for each other.
        let sql =
            "SELECT 1 FROM scrip.chunk WHERE cell = $1 AND name = ANY($2) ORDER BY name FOR UPDATE";
        let there = adding.query_typed(sql, &chunks).await?;
        if there.len() != names.len() {
            return Ok(SnapshotAdded::ChunkMissing);
        }
        let sql =
            "UPDATE scrip.chunk SET used_at = clock_timestamp() WHERE cell = $1 AND name = ANY($2)";
        adding.execute_typed(sql, &chunks).await?;
        let sql = "INSERT INTO scrip.snapshot (cell, name, folded_lsn, folded_hash, manifest) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT (cell, name) DO NOTHING";
        let [cell, name] = named;
        let values = [cell, name, int8(&lsn), bytea(&hash), bytea(&new.manifest)];
        let added = adding.execute_typed(sql, &values).await?;
        if added != 1 {
            return Ok(SnapshotAdded::NameTaken);
        }
        adding.commit().await?;
        Ok(SnapshotAdded::Added)
    }
}

impl SnapshotRows for PostgresRows {
    fn now(&self) -> Result<i64, Error> {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let now = self.query(sql, &[], first)?;
        Ok(now.first().copied().unwrap_or_default())
    }

    fn use_chunk(&self, name: &ChunkName) -> Result<bool, Error> {
        let (cell, name) = (self.segments.cell(), name.as_slice());
        let sql =
            "UPDATE scrip.chunk SET used_at = clock_timestamp() WHERE cell = $1 AND name = $2";
        Ok(self.execute(sql, &[int2(&cell), bytea(&name)])? > 0)
    }

    fn put_chunk(&self, name: &ChunkName, bytes: &[u8]) -> Result<(), Error> {
        let mark = self.files.as_ref().map(|files| files.write(name, bytes));
        let mark = mark.transpose()?;
        let bytes = mark.as_deref().unwrap_or(bytes);
        let (cell, name) = (self.segments.cell(), name.as_slice());
        let sql = "INSERT INTO scrip.chunk (cell, name, bytes, used_at) VALUES ($1, $2, $3, clock_timestamp()) \
                   ON CONFLICT (cell, name) DO UPDATE SET bytes = $3, used_at = clock_timestamp()";
        self.execute(sql, &[int2(&cell), bytea(&name), bytea(&bytes)])?;
        Ok(())
    }

    fn chunk(&self, name: &ChunkName) -> Result<Option<Vec<u8>>, Error> {
        let (cell, key) = (self.segments.cell(), name.as_slice());
        let sql = "SELECT bytes FROM scrip.chunk WHERE cell = $1 AND name = $2";
        let rows = self.query(sql, &[int2(&cell), bytea(&key)], first::<Vec<u8>>)?;
        match rows.into_iter().next() {
            Some(row) if ChunkFiles::is_mark(&row) => self.files()?.read(name, &row),
            row => Ok(row),
        }
    }

    fn add_snapshot(&self, snapshot: &NewSnapshot<'_>) -> Result<SnapshotAdded, Error> {
        self.ask(ADD_TIMEOUT, async |connection| {
            self.add(connection, snapshot).await
        })
    }

    fn snapshots(&self) -> Result<Vec<(String, FramePosition)>, Error> {
        let cell = self.segments.cell();
        let sql = "SELECT name, folded_lsn, folded_hash FROM scrip.snapshot WHERE cell = $1";
        self.query(sql, &[int2(&cell)], |row| {
            Ok((row.try_get(0)?, place(row, 1)?))
        })
    }

    fn manifest(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let cell = self.segments.cell();
        let sql = "SELECT manifest FROM scrip.snapshot WHERE cell = $1 AND name = $2";
        let rows = self.query(sql, &[int2(&cell), text(&name)], first)?;
        Ok(rows.into_iter().next())
    }

    fn remove_snapshot(&self, name: &str) -> Result<(), Error> {
        let cell = self.segments.cell();
        let sql = "DELETE FROM scrip.snapshot WHERE cell = $1 AND name = $2";
        self.execute(sql, &[int2(&cell), text(&name)])?;
        self.files.as_ref().map_or(Ok(()), |files| self.tidy(files))
    }

    fn chunks_unused_since(&self, moment: i64) -> Result<Vec<ChunkName>, Error> {
        let cell = self.segments.cell();
        let sql = "SELECT name FROM scrip.chunk \
                   WHERE cell = $1 AND used_at < 'epoch'::timestamptz + $2 * interval '1 microsecond'";
        self.query(sql, &[int2(&cell), int8(&moment)], |row| {
            let name: &[u8] = row.try_get(0)?;
            Ok(name.try_into().unwrap_or_default())
        })
    }

    fn remove_chunks(&self, names: &[ChunkName], moment: i64) -> Result<u64, Error> {
        let cell = self.segments.cell();
        let names: Vec<&[u8]> = names.iter().map(ChunkName::as_slice).collect();
        let sql = "DELETE FROM scrip.chunk WHERE cell = $1 AND name = ANY($2) \
                   AND used_at < 'epoch'::timestamptz + $3 * interval '1 microsecond' \
                   RETURNING name, CASE WHEN octet_length(bytes) <= $4 THEN bytes ELSE '' END";
        let names = (&names as _, Type::BYTEA_ARRAY);
        let values = [
            int2(&cell),
            names,
            int8(&moment),
            int4(&ChunkFiles::MAX_MARK),
        ];
        let removed = self.query(sql, &values, chunk)?;
        for (name, row) in removed.iter().filter(|(_, row)| ChunkFiles::is_mark(row)) {
            self.files()?.remove(name, row)?;
        }
        Ok(removed.len() as u64)
    }
}

/// A chunk's name and, in the next column, what is kept of it.
fn chunk(row: &Row) -> Result<(ChunkName, Vec<u8>), DatabaseError> {
    let name: &[u8] = row.try_get(0)?;
    Ok((name.try_into().unwrap_or_default(), row.try_get(1)?))
}

/// The only column of a row.
fn first<T: for<'a> FromSql<'a>>(row: &Row) -> Result<T, DatabaseError> {
    Ok(row.try_get(0)?)
}

/// A frame's number and, in the next column, its hash.
fn place(row: &Row, column: usize) -> Result<FramePosition, DatabaseError> {
    let hash: &[u8] = row.try_get(column.saturating_add(1))?;
    Ok(FramePosition {
        lsn: unsigned(row.try_get(column)?),
        hash: hash.try_into().unwrap_or_default(),
    })
}
