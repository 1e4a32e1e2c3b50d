//! What a process does in the database beside the log: it says that it is there, and as the leader it makes segments
//! before they are needed and drops those that snapshots cover. No promise hangs on when this happens.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{
    client::{ANSWER_WITHIN, Connection, Failure, Server, within},
    schema::{self, unsigned},
    segments,
};
use crate::frames::{
    Claimant,
    lease::now,
    trim::{self, MEMBER_FORGOTTEN_AFTER, Needs},
};

/// How often the leader looks whether a segment is needed.
const EVERY: Duration = Duration::from_millis(500);
/// How often a process says that it is there.
const REPORT_EVERY: Duration = Duration::from_secs(2);
/// How often segments are dropped.
const TRIM_EVERY: Duration = Duration::from_secs(60);

/// How far a process has come.
#[derive(Default)]
pub(super) struct Standing {
    /// The last frame that it knows.
    pub head: AtomicU64,
    /// The last frame in its books.
    pub folded: AtomicU64,
    /// Its last opening; 0: it follows.
    pub opened: AtomicU64,
}

/// See the module.
pub(super) struct Housekeeper {
    server: Server,
    cell: i16,
    node: Uuid,
    incarnation: Uuid,
    address: Box<str>,
    standing: Arc<Standing>,
    /// The opening that was noted in the cell.
    noted: u64,
    reported: Option<Instant>,
    trimmed: Option<Instant>,
}

impl Housekeeper {
    pub(super) fn new(
        server: &Server,
        cell: i16,
        claimant: &Claimant,
        standing: Arc<Standing>,
    ) -> Self {
        Self {
            server: server.clone(),
            cell,
            node: Uuid::from_u128(claimant.node),
            incarnation: Uuid::from_u128(claimant.incarnation),
            address: claimant.address.clone(),
            standing,
            noted: 0,
            reported: None,
            trimmed: None,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            sleep(EVERY).await;
            if let Err(failure) = self.work().await {
                tracing::debug!(error = %failure, "The database is not looked after");
            }
        }
    }

    /// Works on one connection until it fails.
    async fn work(&mut self) -> Result<(), Failure> {
        let connection = self.server.connect().await?;
        loop {
            within(ANSWER_WITHIN, self.step(&connection)).await?;
            sleep(EVERY).await;
        }
    }

    async fn step(&mut self, connection: &Connection) -> Result<(), Failure> {
        let is_due = |last: Option<Instant>, every| last.is_none_or(|last| last.elapsed() >= every);
        let opened = self.standing.opened.load(Ordering::Acquire);
        if opened > 0 {
            let segment = segments::of(self.standing.head.load(Ordering::Acquire));
            let ahead = segment.saturating_add(segments::AHEAD);
            segments::make(connection, self.cell, segment, ahead).await?;
            if opened > self.noted {
                self.note_leader(connection, opened).await?;
                self.noted = opened;
            }
            if is_due(self.trimmed, TRIM_EVERY) {
                self.trim(connection).await?;
                self.trimmed = Some(Instant::now());
            }
        }
        if is_due(self.reported, REPORT_EVERY) {
            self.report(connection, opened > 0).await?;
            self.reported = Some(Instant::now());
        }
        Ok(())
    }

    /// Notes where the leader is reached, for those who join: whoever opened later wins.
    async fn note_leader(&self, connection: &Connection, opened: u64) -> Result<(), Failure> {
        let (opened, address) = (signed(opened), &*self.address);
        let parameters = [
            (&self.cell as _, Type::INT2),
            (&opened as _, Type::INT8),
            (&address as _, Type::TEXT),
        ];
        let noted = connection.client().execute_typed(
            "UPDATE scrip.cell SET opened_lsn = $2, leader_address = $3 WHERE cell = $1 AND opened_lsn < $2",
            &parameters,
        );
        noted.await?;
        Ok(())
    }

    async fn report(&self, connection: &Connection, leads: bool) -> Result<(), Failure> {
        let head = signed(self.standing.head.load(Ordering::Acquire));
        let folded = signed(self.standing.folded.load(Ordering::Acquire));
        let (address, version) = (&*self.address, env!("CARGO_PKG_VERSION"));
        let parameters = [
            (&self.incarnation as _, Type::UUID),
            (&self.node as _, Type::UUID),
            (&self.cell as _, Type::INT2),
            (&address as _, Type::TEXT),
            (&version as _, Type::TEXT),
            (&schema::FORMAT as _, Type::INT4),
            (&head as _, Type::INT8),
            (&folded as _, Type::INT8),
            (&leads as _, Type::BOOL),
        ];
        let reported = connection.client().execute_typed(
            "INSERT INTO scrip.member \
             (incarnation, node, cell, address, version, format, head_lsn, folded_lsn, leads, seen) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now()) \
             ON CONFLICT (incarnation) DO UPDATE \
             SET head_lsn = $7, folded_lsn = $8, leads = $9, seen = now()",
            &parameters,
        );
        reported.await?;
        Ok(())
    }

    /// Drops the segments that two snapshots cover and nobody needs, and forgets members that were not seen for long.
    async fn trim(&self, connection: &Connection) -> Result<(), Failure> {
        let client = connection.client();
        let forgotten = MEMBER_FORGOTTEN_AFTER.as_secs_f64();
        client
            .execute_typed(
                "DELETE FROM scrip.member WHERE seen < now() - make_interval(secs => $1)",
                &[(&forgotten as _, Type::FLOAT8)],
            )
            .await?;
        let cell = [(&self.cell as _, Type::INT2)];
        let snapshots = client
            .query_typed(
                "SELECT folded_lsn FROM scrip.snapshot WHERE cell = $1",
                &cell,
            )
            .await?;
        let members = client
            .query_typed("SELECT folded_lsn FROM scrip.member WHERE cell = $1", &cell)
            .await?;
        let lsn = |row: &tokio_postgres::Row| row.try_get(0).map(unsigned);
        let snapshots: Vec<u64> = snapshots.iter().map(lsn).collect::<Result<_, _>>()?;
        let needs = |row| {
            Ok::<_, Failure>(Needs {
                lsn: lsn(row)?.saturating_add(1),
                seen: now(),
            })
        };
        let members: Vec<Needs> = members.iter().map(needs).collect::<Result<_, _>>()?;
        let Some(former) = schema::cell(connection, self.cell).await? else {
            return Ok(());
        };
        let base = trim::base(former.base.lsn, &snapshots, &members, now());
        if base > former.base.lsn {
            schema::move_base(connection, self.cell, base).await?;
        }
        let head = self.standing.head.load(Ordering::Acquire);
        let kept = trim::kept_from(base, head, segments::FRAMES);
        segments::drop_below(connection, self.cell, kept).await
    }
}

/// A number that is never so large that it is none.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
