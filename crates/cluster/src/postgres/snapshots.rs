//! Snapshots of the books, beside the log that they go on with.

use std::{path::Path, time::Duration};

use parking_lot::Mutex;
use persistence::{Error, frames::FramePosition};
use tokio_postgres::{Row, Transaction, types::Type};

use super::{
    chunk_files::ChunkFiles,
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, Server, within},
    schema::{signed, unsigned},
    segments::Segments,
};
use crate::snapshots::{ChunkName, NewSnapshot, SnapshotAdded, SnapshotRows};

/// How long all chunks of a snapshot may take to be marked as used.
const ADD_TIMEOUT: Duration = Duration::from_secs(60);

/// The rows of a cell's snapshots, on a connection of their own, which is reopened whenever it has failed.
pub(super) struct PostgresRows {
    server: Server,
    segments: Segments,
    connection: Mutex<Option<Connection>>,
    /// Where chunks are kept outside the database.
    files: Option<ChunkFiles>,
}

impl PostgresRows {
    /// `files`: the directory for chunks, where the database is not to have them.
    pub(super) fn new(server: Server, segments: Segments, files: Option<&Path>) -> Self {
        Self {
            files: files.map(|directory| ChunkFiles::new(directory, segments.cell())),
            server,
            segments,
            connection: Mutex::default(),
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
        let rows = self.ask(ANSWER_TIMEOUT, async |connection| {
            let rows = connection
                .client()
                .query_typed(
                    "SELECT name, bytes FROM scrip.chunk WHERE cell = $1 AND octet_length(bytes) <= $2",
                    &[(&cell, Type::INT2), (&ChunkFiles::MAX_MARK, Type::INT4)],
                )
                .await?;
            rows.iter().map(chunk).collect::<Result<Vec<_>, _>>()
        })?;
        let marks = rows.into_iter().filter(|(_, row)| ChunkFiles::is_mark(row));
        files.tidy(&marks.collect::<Vec<_>>())
    }

    /// Asks, and takes no answer that the server has warned of: what was written may not be durable.
    pub(super) fn ask<T>(
        &self,
        limit: Duration,
        ask: impl AsyncFnOnce(&mut Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        let mut kept = self.connection.lock();
        let answer = self.server.wait(async {
            let mut connection = match kept.take() {
                Some(connection) if !connection.is_closed() => connection,
                _ => self.server.connect().await?,
            };
            let answer = within(limit, ask(&mut connection)).await?;
            if connection.was_warned() {
                return Err(DatabaseError::Unreachable(
                    "it warned of what it had just written".into(),
                ));
            }
            *kept = Some(connection);
            Ok(answer)
        });
        answer.map_err(Error::from)
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
        let exists = adding
            .query_typed(
                "SELECT to_regclass($1) IS NOT NULL",
                &[(&table, Type::TEXT)],
            )
            .await?;
        if !first::<bool>(&exists)?.unwrap_or(false) {
            return Ok(false);
        }
        let (lsn, hash) = (signed(place.lsn)?, place.hash.as_slice());
        let found = adding
            .query_typed(
                &format!("SELECT 1 FROM {table} WHERE lsn = $1 AND hash = $2"),
                &[(&lsn, Type::INT8), (&hash, Type::BYTEA)],
            )
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
        let taken = adding
            .query_typed(
                "SELECT 1 FROM scrip.snapshot WHERE cell = $1 AND name = $2",
                &[(&cell, Type::INT2), (&new.name, Type::TEXT)],
            )
            .await?;
        if !taken.is_empty() {
            return Ok(SnapshotAdded::NameTaken);
        }
        let base = adding
            .query_typed(
                "SELECT base_lsn, base_hash FROM scrip.cell WHERE cell = $1 FOR SHARE",
                &[(&cell, Type::INT2)],
            )
            .await?;
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
        let chunks = [(&cell as _, Type::INT2), (&names as _, Type::BYTEA_ARRAY)];
        // Locked in the order of their names: two that add snapshots never wait for each other.
        let there = adding
            .query_typed(
                "SELECT 1 FROM scrip.chunk WHERE cell = $1 AND name = ANY($2) ORDER BY name FOR UPDATE",
                &chunks,
            )
            .await?;
        if there.len() != names.len() {
            return Ok(SnapshotAdded::ChunkMissing);
        }
        adding
            .execute_typed(
                "UPDATE scrip.chunk SET used_at = clock_timestamp() WHERE cell = $1 AND name = ANY($2)",
                &chunks,
            )
            .await?;
        let added = adding
            .execute_typed(
                "INSERT INTO scrip.snapshot (cell, name, folded_lsn, folded_hash, manifest) \
                 VALUES ($1, $2, $3, $4, $5) ON CONFLICT (cell, name) DO NOTHING",
                &[
                    (&cell, Type::INT2),
                    (&new.name, Type::TEXT),
                    (&lsn, Type::INT8),
                    (&hash, Type::BYTEA),
                    (&new.manifest, Type::BYTEA),
                ],
            )
            .await?;
        if added != 1 {
            return Ok(SnapshotAdded::NameTaken);
        }
        adding.commit().await?;
        Ok(SnapshotAdded::Added)
    }
}

impl SnapshotRows for PostgresRows {
    fn now(&self) -> Result<i64, Error> {
        self.ask(ANSWER_TIMEOUT, async |connection| {
            let rows = connection
                .client()
                .query_typed(
                    "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
                    &[],
                )
                .await?;
            Ok(first(&rows)?.unwrap_or_default())
        })
    }

    fn use_chunk(&self, name: &ChunkName) -> Result<bool, Error> {
        let (cell, name) = (self.segments.cell(), name.as_slice());
        self.ask(ANSWER_TIMEOUT, async |connection| {
            let used = connection
                .client()
                .execute_typed(
                    "UPDATE scrip.chunk SET used_at = clock_timestamp() WHERE cell = $1 AND name = $2",
                    &[(&cell, Type::INT2), (&name, Type::BYTEA)],
                )
                .await?;
            Ok(used > 0)
        })
    }

    fn put_chunk(&self, name: &ChunkName, bytes: &[u8]) -> Result<(), Error> {
        let mark = self.files.as_ref().map(|files| files.write(name, bytes));
        let mark = mark.transpose()?;
        let bytes = mark.as_deref().unwrap_or(bytes);
        let (cell, name) = (self.segments.cell(), name.as_slice());
        self.ask(ANSWER_TIMEOUT, async |connection| {
            connection
                .client()
                .execute_typed(
                    "INSERT INTO scrip.chunk (cell, name, bytes, used_at) VALUES ($1, $2, $3, clock_timestamp()) \
                     ON CONFLICT (cell, name) DO UPDATE SET bytes = $3, used_at = clock_timestamp()",
                    &[
                        (&cell, Type::INT2),
                        (&name, Type::BYTEA),
                        (&bytes, Type::BYTEA),
                    ],
                )
                .await?;
            Ok(())
        })
    }

    fn chunk(&self, name: &ChunkName) -> Result<Option<Vec<u8>>, Error> {
        let (cell, key) = (self.segments.cell(), name.as_slice());
        let row: Option<Vec<u8>> = self.ask(ANSWER_TIMEOUT, async |connection| {
            let rows = connection
                .client()
                .query_typed(
                    "SELECT bytes FROM scrip.chunk WHERE cell = $1 AND name = $2",
                    &[(&cell, Type::INT2), (&key, Type::BYTEA)],
                )
                .await?;
            first(&rows)
        })?;
        match row {
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
        self.ask(ANSWER_TIMEOUT, async |connection| {
            let rows = connection
                .client()
                .query_typed(
                    "SELECT name, folded_lsn, folded_hash FROM scrip.snapshot WHERE cell = $1",
                    &[(&cell, Type::INT2)],
                )
                .await?;
            rows.iter()
                .map(|row| Ok((row.try_get(0)?, place(row, 1)?)))
                .collect()
        })
    }

    fn manifest(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let cell = self.segments.cell();
        self.ask(ANSWER_TIMEOUT, async |connection| {
            let rows = connection
                .client()
                .query_typed(
                    "SELECT manifest FROM scrip.snapshot WHERE cell = $1 AND name = $2",
                    &[(&cell, Type::INT2), (&name, Type::TEXT)],
                )
                .await?;
            first(&rows)
        })
    }

    fn remove_snapshot(&self, name: &str) -> Result<(), Error> {
        let cell = self.segments.cell();
        self.ask(ANSWER_TIMEOUT, async |connection| {
            connection
                .client()
                .execute_typed(
                    "DELETE FROM scrip.snapshot WHERE cell = $1 AND name = $2",
                    &[(&cell, Type::INT2), (&name, Type::TEXT)],
                )
                .await?;
            Ok(())
        })?;
        self.files.as_ref().map_or(Ok(()), |files| self.tidy(files))
    }

    fn chunks_unused_since(&self, moment: i64) -> Result<Vec<ChunkName>, Error> {
        let cell = self.segments.cell();
        self.ask(ANSWER_TIMEOUT, async |connection| {
            let rows = connection
                .client()
                .query_typed(
                    "SELECT name FROM scrip.chunk \
                     WHERE cell = $1 AND used_at < 'epoch'::timestamptz + $2 * interval '1 microsecond'",
                    &[(&cell, Type::INT2), (&moment, Type::INT8)],
                )
                .await?;
            rows.iter()
                .map(|row| {
                    let name: &[u8] = row.try_get(0)?;
                    Ok(name.try_into().unwrap_or_default())
                })
                .collect()
        })
    }

    fn remove_chunks(&self, names: &[ChunkName], moment: i64) -> Result<u64, Error> {
        let cell = self.segments.cell();
        let names: Vec<&[u8]> = names.iter().map(ChunkName::as_slice).collect();
        let removed = self.ask(ANSWER_TIMEOUT, async |connection| {
            let removed = connection
                .client()
                .query_typed(
                    "DELETE FROM scrip.chunk WHERE cell = $1 AND name = ANY($2) \
                     AND used_at < 'epoch'::timestamptz + $3 * interval '1 microsecond' \
                     RETURNING name, CASE WHEN octet_length(bytes) <= $4 THEN bytes ELSE '' END",
                    &[
                        (&cell, Type::INT2),
                        (&names, Type::BYTEA_ARRAY),
                        (&moment, Type::INT8),
                        (&ChunkFiles::MAX_MARK, Type::INT4),
                    ],
                )
                .await?;
            removed.iter().map(chunk).collect::<Result<Vec<_>, _>>()
        })?;
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

/// The only column of the first row, if there is one.
fn first<T: for<'a> tokio_postgres::types::FromSql<'a>>(
    rows: &[Row],
) -> Result<Option<T>, DatabaseError> {
    let value = rows.first().map(|row| row.try_get(0)).transpose();
    Ok(value?)
}

/// A frame's number and, in the next column, its hash.
fn place(row: &Row, column: usize) -> Result<FramePosition, DatabaseError> {
    let hash: &[u8] = row.try_get(column.saturating_add(1))?;
    Ok(FramePosition {
        lsn: unsigned(row.try_get(column)?),
        hash: hash.try_into().unwrap_or_default(),
    })
}
