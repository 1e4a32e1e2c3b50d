//! What an operator wants to know of a database that processes share: who leads, who follows, how far they are, and
//! whether the server keeps what it acknowledges. It only reads, but for [`Examiner::raise_format`].

use std::time::Duration;

use domain::Timestamp;
use persistence::{
    Error,
    frames::{LeadershipItem, parse_leadership},
};
use tokio_postgres::Row;

use super::{
    Server,
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, KeptConnection, int2, int4},
    rows::{self, kept},
    schema::{self, FORMAT, unsigned},
    segments::Segments,
    state::{CellState, ClusterState, DatabaseState, LeaderState, MemberState, SnapshotState},
};

/// What became of [`Examiner::raise_format`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raised {
    /// The format was this one already, and this version knows no newer one.
    Newest(i32),
    To(i32),
    /// These processes, by address, do not read the newer one.
    TooOld(Vec<String>),
}

/// Reads the state of a cluster, on a connection that it keeps. Blocks: not for threads that may not wait.
pub struct Examiner {
    connection: KeptConnection,
    cell: i16,
}

impl Examiner {
    /// Of one cell of a database. Connects when it is asked.
    pub const fn new(server: Server, cell: i16) -> Self {
        Self {
            connection: KeptConnection::new(server),
            cell,
        }
    }

    /// The cluster, as far as its cell goes; while that does not exist yet, the one that its processes follow.
    /// `None` where the database has neither.
    /// # Errors
    /// [`Error::Unreachable`] when the database does not answer, [`Error::Unusable`] when it refuses,
    /// [`Error::Damaged`] when the last frame cannot be read.
    pub fn cluster(&self) -> Result<Option<ClusterState>, Error> {
        match self.cluster_of(self.cell)? {
            Some(state) => Ok(Some(state)),
            None => match self.ask(async |connection| followed(connection, self.cell).await)? {
                Some(cell) => self.cluster_of(cell),
                None => Ok(None),
            },
        }
    }

    /// All cells, by their numbers; none where the database has no cluster. One short query.
    /// # Errors
    /// [`Error::Unreachable`] when the database does not answer, [`Error::Unusable`] when it refuses.
    pub fn cells(&self) -> Result<Vec<CellState>, Error> {
        let cells = self.ask(async |connection| match schema::cells(connection).await {
            Err(DatabaseError::NoTable(_)) => Ok(Vec::new()),
            cells => cells,
        })?;
        let state = |cell: schema::Cell| CellState {
            cell: cell.number,
            leader: Some(cell.leader_address).filter(|address| !address.is_empty()),
            base: cell.base.lsn,
        };
        Ok(cells.into_iter().map(state).collect())
    }

    /// The cluster, as far as a cell goes; `None` where the database does not have it.
    /// # Errors
    /// As for [`Examiner::cluster`].
    pub fn cluster_of(&self, cell: i16) -> Result<Option<ClusterState>, Error> {
        let seen = self.ask(async |connection| look(connection, cell).await)?;
        let Some((mut state, last)) = seen else {
            return Ok(None);
        };
        // Who has closed the log may have been seen a moment ago.
        if let Some(last) = last.map(kept).transpose()?
            && !last.bytes.is_empty()
            && let Some(LeadershipItem::Resignation(_)) = parse_leadership(&last.bytes)?
        {
            state.leader = None;
        }
        Ok(Some(state))
    }

    /// The database server, whose clock is compared with this machine's.
    /// # Errors
    /// [`Error::Unreachable`] when it does not answer, [`Error::Unusable`] when it refuses, or would lose what it
    /// acknowledges.
    pub fn database(&self, clock: &dyn Fn() -> Timestamp) -> Result<DatabaseState, Error> {
        self.ask(async |connection| database(connection, clock).await)
    }

    /// Lets frames hold what the newest format that this version knows allows, once every member seen reads it.
    /// # Errors
    /// As for [`Examiner::cluster`], and [`Error::Unusable`] where the database has no cluster.
    pub fn raise_format(&self) -> Result<Raised, Error> {
        let state = self.cluster()?;
        let state =
            state.ok_or_else(|| Error::Unusable("the database has no cluster yet".into()))?;
        if state.format >= FORMAT {
            return Ok(Raised::Newest(state.format));
        }
        // Of all cells: they have one format.
        let old = self.ask(async |connection| {
            let sql = "SELECT address FROM scrip.member WHERE format < $1 ORDER BY address";
            let rows = connection.query(sql, &[int4(&FORMAT)]).await?;
            let old: Result<Vec<String>, _> = rows.iter().map(|row| row.try_get(0)).collect();
            Ok(old?)
        })?;
        if !old.is_empty() {
            return Ok(Raised::TooOld(old));
        }
        let sql = "UPDATE scrip.meta SET format = $1 WHERE format < $1";
        self.ask(async |connection| connection.execute(sql, &[int4(&FORMAT)]).await)?;
        Ok(Raised::To(FORMAT))
    }

    fn ask<T>(
        &self,
        ask: impl AsyncFnOnce(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        let ask = async |connection: &mut Connection| ask(connection).await;
        self.connection.ask(ANSWER_TIMEOUT, ask)
    }
}

async fn look(
    connection: &Connection,
    number: i16,
) -> Result<Option<(ClusterState, Option<rows::Row>)>, DatabaseError> {
    let Some(cluster) = schema::cluster(connection).await? else {
        return Ok(None);
    };
    let Some(cell) = schema::cell(connection, number).await? else {
        return Ok(None);
    };
    let log = Segments::new(number, cell.segment_frames_log2);
    let tables = log.all(connection).await?;
    let mut last = None;
    for segment in tables.numbers.iter().rev() {
        last = rows::last(connection, log, *segment).await?;
        if last.is_some() {
            break;
        }
    }
    let mut state = ClusterState {
        id: cluster.id,
        cell: number,
        format: cluster.format,
        leader: None,
        members: members(connection, number).await?,
        base: cell.base.lsn,
        head: last.as_ref().map_or(cell.base.lsn, rows::Row::lsn),
        segments: u64::try_from(tables.numbers.len()).unwrap_or(u64::MAX),
        log_bytes: tables.bytes,
        snapshots: snapshots(connection, number).await?,
    };
    let leads =
        |of: &&MemberState| of.leads && of.is_present() && of.address == cell.leader_address;
    state.leader = state.members.iter().find(leads).map(|_| LeaderState {
        address: cell.leader_address,
        since: cell.led_since,
    });
    Ok(Some((state, last)))
}

/// The log that processes follow which are to become a cell.
async fn followed(connection: &Connection, cell: i16) -> Result<Option<i16>, DatabaseError> {
    let sql = "SELECT cell FROM scrip.member WHERE joins = $1 ORDER BY seen DESC LIMIT 1";
    match connection.query(sql, &[int2(&cell)]).await {
        Err(DatabaseError::NoTable(_)) => Ok(None),
        rows => Ok(rows?.first().map(|row| row.try_get(0)).transpose()?),
    }
}

async fn members(connection: &Connection, cell: i16) -> Result<Vec<MemberState>, DatabaseError> {
    let sql = "SELECT address, version, format, head_lsn, folded_lsn, leads, joins, \
               extract(epoch FROM now() - seen)::float8 FROM scrip.member WHERE cell = $1 \
               ORDER BY leads DESC, address, seen DESC";
    let rows = connection.query(sql, &[int2(&cell)]).await?;
    let member = |row: &Row| {
        Ok(MemberState {
            address: row.try_get(0)?,
            version: row.try_get(1)?,
            format: row.try_get(2)?,
            head: unsigned(row.try_get(3)?),
            applied: unsigned(row.try_get(4)?),
            leads: row.try_get(5)?,
            joins: row.try_get(6)?,
            seen: seconds(row.try_get(7)?),
        })
    };
    rows.iter().map(member).collect()
}

async fn snapshots(
    connection: &Connection,
    cell: i16,
) -> Result<Vec<SnapshotState>, DatabaseError> {
    let sql = "SELECT name, folded_lsn, extract(epoch FROM now() - made_at)::float8 FROM scrip.snapshot \
               WHERE cell = $1 ORDER BY made_at DESC";
    let rows = connection.query(sql, &[int2(&cell)]).await?;
    let snapshot = |row: &Row| {
        Ok(SnapshotState {
            name: row.try_get(0)?,
            applied: unsigned(row.try_get(1)?),
            age: seconds(row.try_get(2)?),
        })
    };
    rows.iter().map(snapshot).collect()
}

async fn database(
    connection: &Connection,
    clock: &dyn Fn() -> Timestamp,
) -> Result<DatabaseState, DatabaseError> {
    let client = connection.client();
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let before = clock().0;
    let row = client.query_one(sql, &[]).await?;
    // The answer was made some time between.
    let here = before.saturating_add(clock().0).div_euclid(2);
    let there: i64 = row.try_get(0)?;
    // Without the right to see more, a role still sees that there are standbys, and what commits wait for.
    let sql = "SELECT current_setting('server_version'), \
         coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false), \
         (SELECT count(*) FROM pg_stat_replication WHERE application_name IS DISTINCT FROM 'pg_basebackup'), \
         current_setting('synchronous_standby_names') <> '', \
         (SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database())";
    let row = client.query_one(sql, &[]).await?;
    Ok(DatabaseState {
        version: row.try_get(0)?,
        tls: row.try_get(1)?,
        standbys: unsigned(row.try_get(2)?),
        synchronous: row.try_get(3)?,
        transaction_age: unsigned(row.try_get(4)?),
        clock_ahead_ms: there.saturating_sub(here),
    })
}

/// A time that the database has counted; never negative.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}
