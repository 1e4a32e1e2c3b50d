//! What a process does in the database beside the log: it says that it is there, and as the leader it makes segments
//! before they are needed and drops those that snapshots cover. No promise hangs on when this happens.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use persistence::frames::lease::now;
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout},
};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{
    client::{
        ANSWER_TIMEOUT, Connection, DatabaseError, Server, Value, int2, int4, int8, text, within,
    },
    schema::{self, unsigned},
    segments::Segments,
};
use crate::{
    term::Claimant,
    trim::{self, MEMBER_TIMEOUT, Needs},
};

/// How often the leader looks whether a segment is needed.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How often a process says that it is there.
const REPORT_INTERVAL: Duration = Duration::from_secs(2);
/// How often segments are dropped.
const TRIM_INTERVAL: Duration = Duration::from_secs(10);

/// How far a process has come.
#[derive(Debug, Default)]
pub struct Standing {
    /// The last frame that it knows.
    pub(super) head: AtomicU64,
    /// The last frame in its books.
    pub(super) applied: AtomicU64,
    /// Its last term start; 0: it follows.
    pub(super) opened: AtomicU64,
    /// Openings so far.
    pub(super) term_starts: AtomicU64,
    /// Called at each: others look for who leads.
    pub(super) has_opened: Notify,
}

impl Standing {
    /// A log is followed from here on: how far it goes is not known yet.
    pub(super) fn begin(&self) {
        self.head.store(0, Ordering::Release);
        self.applied.store(0, Ordering::Release);
    }

    /// The last frame that the process knows.
    pub fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// The last frame in its books.
    pub fn applied(&self) -> u64 {
        self.applied.load(Ordering::Acquire)
    }

    /// How often it has opened the log: once to lead, and once for each connection to the database that it lost since.
    pub fn term_starts(&self) -> u64 {
        self.term_starts.load(Ordering::Acquire)
    }
}

/// Who a process is to the others.
#[derive(Clone)]
pub(super) struct Identity {
    pub node: Uuid,
    /// Drawn at each start.
    pub incarnation: Uuid,
    pub address: Box<str>,
    /// The cell that it is to become; `None`: it belongs to the one whose log it follows.
    pub joins: Option<i16>,
}

impl Identity {
    pub(super) fn of(claimant: &Claimant, joins: Option<i16>) -> Self {
        Self {
            node: Uuid::from_u128(claimant.node),
            incarnation: Uuid::from_u128(claimant.incarnation),
            address: claimant.address.clone(),
            joins,
        }
    }

    /// Says how far it has come, while the log is not trimmed.
    pub(super) async fn announce(
        &self,
        connection: &mut Connection,
        cell: i16,
        standing: &Standing,
    ) -> Result<(), DatabaseError> {
        let saying = connection.client_mut().transaction().await?;
        let sql = "SELECT 1 FROM scrip.cell WHERE cell = $1 FOR SHARE";
        saying.query_typed(sql, &[int2(&cell)]).await?;
        let row = MemberRow::new(self, cell, standing);
        saying.execute_typed(REPORT, &row.parameters()).await?;
        saying.commit().await?;
        Ok(())
    }
}

const REPORT: &str = "INSERT INTO scrip.member \
    (incarnation, node, cell, address, version, format, head_lsn, folded_lsn, leads, joins, seen) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now()) \
    ON CONFLICT (incarnation) DO UPDATE \
    SET cell = $3, head_lsn = $7, folded_lsn = $8, leads = $9, joins = $10, seen = now()";

/// What [`REPORT`] says.
struct MemberRow<'a> {
    identity: &'a Identity,
    cell: i16,
    address: &'a str,
    version: &'static str,
    head: i64,
    applied: i64,
    leads: bool,
}

impl<'a> MemberRow<'a> {
    fn new(identity: &'a Identity, cell: i16, standing: &Standing) -> Self {
        Self {
            identity,
            cell,
            address: &identity.address,
            version: env!("CARGO_PKG_VERSION"),
            head: signed(standing.head.load(Ordering::Acquire)),
            applied: signed(standing.applied.load(Ordering::Acquire)),
            leads: standing.opened.load(Ordering::Acquire) > 0,
        }
    }

    fn parameters(&self) -> [Value<'_>; 10] {
        [
            (&self.identity.incarnation, Type::UUID),
            (&self.identity.node, Type::UUID),
            int2(&self.cell),
            text(&self.address),
            text(&self.version),
            int4(&schema::FORMAT),
            int8(&self.head),
            int8(&self.applied),
            (&self.leads, Type::BOOL),
            (&self.identity.joins, Type::INT2),
        ]
    }
}

/// See the module.
pub(super) struct Housekeeper {
    server: Server,
    segments: Segments,
    identity: Identity,
    standing: Arc<Standing>,
    /// The term start that was noted in the cell.
    noted: u64,
    reported: Option<Instant>,
    trimmed: Option<Instant>,
}

impl Housekeeper {
    pub(super) fn new(
        server: &Server,
        segments: Segments,
        identity: Identity,
        standing: Arc<Standing>,
    ) -> Self {
        Self {
            server: server.clone(),
            segments,
            identity,
            standing,
            noted: 0,
            reported: None,
            trimmed: None,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            sleep(POLL_INTERVAL).await;
            if let Err(failure) = self.work().await {
                tracing::debug!(error = %failure, "The database is not looked after");
            }
        }
    }

    /// Works on one connection until it fails.
    async fn work(&mut self) -> Result<(), DatabaseError> {
        let mut connection = self.server.connect().await?;
        loop {
            within(ANSWER_TIMEOUT, self.step(&mut connection)).await?;
            drop(timeout(POLL_INTERVAL, self.standing.has_opened.notified()).await);
        }
    }

    async fn step(&mut self, connection: &mut Connection) -> Result<(), DatabaseError> {
        let is_due = |last: Option<Instant>, every| last.is_none_or(|last| last.elapsed() >= every);
        let opened = self.standing.opened.load(Ordering::Acquire);
        if opened > 0 {
            let head = self.standing.head.load(Ordering::Acquire);
            self.segments.make_ahead(connection, head).await?;
            if opened > self.noted {
                self.note_leader(connection, opened).await?;
                self.noted = opened;
            }
            if is_due(self.trimmed, TRIM_INTERVAL) {
                self.trim(connection).await?;
                self.trimmed = Some(Instant::now());
            }
        }
        if is_due(self.reported, REPORT_INTERVAL) {
            self.report(connection).await?;
            self.reported = Some(Instant::now());
        }
        Ok(())
    }

    /// Notes where the leader is reached, for those who join: the later term wins.
    async fn note_leader(&self, connection: &Connection, opened: u64) -> Result<(), DatabaseError> {
        let (opened, address) = (signed(opened), &*self.identity.address);
        let cell = self.segments.cell();
        let sql = "UPDATE scrip.cell SET opened_lsn = $2, leader_address = $3 WHERE cell = $1 AND opened_lsn < $2";
        let values = [int2(&cell), int8(&opened), text(&address)];
        connection.execute(sql, &values).await.map(drop)
    }

    async fn report(&self, connection: &Connection) -> Result<(), DatabaseError> {
        let row = MemberRow::new(&self.identity, self.segments.cell(), &self.standing);
        connection
            .execute(REPORT, &row.parameters())
            .await
            .map(drop)
    }

    /// Drops the segments that two snapshots cover and no member needs, and forgets members that were not seen for long.
    async fn trim(&self, connection: &mut Connection) -> Result<(), DatabaseError> {
        let forgotten = MEMBER_TIMEOUT.as_secs_f64();
        // While this waits for a lock, others should not wait behind it.
        let limit = "SET lock_timeout = '1s'";
        connection.client().batch_execute(limit).await?;
        let sql = "DELETE FROM scrip.member WHERE seen < now() - make_interval(secs => $1)";
        connection
            .execute(sql, &[(&forgotten, Type::FLOAT8)])
            .await?;
        let cell = self.segments.cell();
        let base = schema::move_base(connection, self.segments, async |moving, former| {
            let sql = "SELECT folded_lsn FROM scrip.snapshot WHERE cell = $1";
            let snapshots = moving.query_typed(sql, &[int2(&cell)]).await?;
            // A process that is to become another cell looks at its last frame again: it may be the one where the log divides.
            let sql =
                "SELECT folded_lsn - (joins IS NOT NULL)::int FROM scrip.member WHERE cell = $1";
            let members = moving.query_typed(sql, &[int2(&cell)]).await?;
            let lsn = |row: &tokio_postgres::Row| row.try_get(0).map(unsigned);
            let snapshots: Vec<u64> = snapshots.iter().map(lsn).collect::<Result<_, _>>()?;
            let needs = |row| {
                Ok::<_, DatabaseError>(Needs {
                    lsn: lsn(row)?.saturating_add(1),
                    seen: now(),
                })
            };
            let members: Vec<Needs> = members.iter().map(needs).collect::<Result<_, _>>()?;
            Ok(trim::base(former, &snapshots, &members, now()))
        })
        .await?;
        let head = self.standing.head.load(Ordering::Acquire);
        let kept = trim::kept_from(base, head, self.segments.frames());
        self.segments.drop_below(connection, kept).await
    }
}

/// A number that is never so large that it is none.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
