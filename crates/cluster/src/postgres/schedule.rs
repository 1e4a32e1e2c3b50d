//! Snapshots are made by themselves: by a follower, so that no request waits for it; by the leader where there is none. Two that
//! are made at a time do no harm, so who makes one is only decided by the members' rows.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use domain::Timestamp;
use persistence::{Error, SledJournal, StopSignal, backup::SnapshotOrder};
use uuid::Uuid;

use super::{
    client::{ANSWER_TIMEOUT, Connection, DatabaseError, int2, int8},
    log::PostgresFrames,
    schema::unsigned,
    snapshots::PostgresRows,
};
use crate::snapshots::DatabaseRepository;

/// How often it looks whether a snapshot is due.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// How long after one that failed the next is tried.
const BACKOFF: Duration = Duration::from_secs(60);
/// Snapshots that are kept: the log is trimmed up to the older one.
const KEPT: usize = 2;
/// A follower that has not read so many of the newest frames does not make one; nor one whose own books are being made,
/// which has read none.
const MAX_LAG: i64 = 16_384;
/// The leader makes one where the follower that should is late by this factor.
const OVERDUE: u32 = 3;

/// See the module.
pub(super) struct Schedule {
    pub(super) rows: Arc<PostgresRows>,
    pub(super) frames: Arc<PostgresFrames>,
    pub(super) journal: Weak<SledJournal>,
    /// How old the newest may become.
    pub(super) every: Duration,
}

/// The snapshots that there are, and who is to make the next.
struct Look {
    /// The time by the database's clock.
    now: Timestamp,
    /// The same as a name.
    name: String,
    newest: Option<Newest>,
    /// The follower who is to; `None`: there is none.
    follower: Option<Uuid>,
}

struct Newest {
    applied: u64,
    age: Duration,
}

impl Schedule {
    pub(super) fn run(self, stop: &StopSignal) {
        let mut next = Instant::now();
        while !stop.wait() {
            if Instant::now() < next {
                continue;
            }
            let pause = match self.look() {
                Ok(Some(order)) => match self.make(&order) {
                    Ok(()) => POLL_INTERVAL,
                    Err(_) if stop.is_stopped() => return,
                    Err(error) => {
                        tracing::warn!(%error, snapshot.name = order.name, "A snapshot of the books failed: the next is tried soon");
                        BACKOFF
                    }
                },
                Ok(None) => POLL_INTERVAL,
                Err(error) => {
                    tracing::debug!(%error, "The snapshots cannot be looked at");
                    POLL_INTERVAL
                }
            };
            let now = Instant::now();
            next = now.checked_add(pause.min(self.every)).unwrap_or(now);
        }
    }

    /// The snapshot that this process is to make now, if so.
    fn look(&self) -> Result<Option<SnapshotOrder>, Error> {
        let cell = self.frames.segments().cell();
        let look = self.rows.ask(ANSWER_TIMEOUT, async |connection| {
            look(connection, cell).await
        })?;
        let applied = self.frames.applied();
        let is_due = match &look.newest {
            // As long as nothing is applied, the log has everything.
            None => applied > 0,
            Some(newest) => newest.age >= self.every && newest.applied < applied,
        };
        let own = self.frames.identity().incarnation;
        let leads = self.frames.has_opened();
        let is_overdue = look.newest.is_some_and(|newest| {
            let limit = self.every.saturating_mul(OVERDUE);
            newest.age >= limit.max(BACKOFF)
        });
        let is_own = match look.follower {
            Some(follower) => follower == own || (leads && is_overdue),
            None => leads,
        };
        let order = || SnapshotOrder {
            name: format!("{}-{:08x}", look.name, own.as_fields().0),
            made_at: look.now,
            keep: Some(KEPT),
        };
        Ok((is_due && is_own).then(order))
    }

    fn make(&self, order: &SnapshotOrder) -> Result<(), Error> {
        let Some(journal) = self.journal.upgrade() else {
            return Ok(());
        };
        let began = Instant::now();
        let repository = DatabaseRepository::new(Arc::clone(&self.rows) as _);
        let made = journal.snapshot(&repository, order, &|_| true)?;
        tracing::info!(
            snapshot.name = made.name,
            snapshot.bytes = made.moved.bytes,
            snapshot.new_bytes = made.moved.new_bytes,
            snapshot.seconds = began.elapsed().as_secs(),
            "A snapshot of the books was made"
        );
        Ok(())
    }
}

async fn look(connection: &Connection, cell: i16) -> Result<Look, DatabaseError> {
    let sql = "WITH there AS (\
           SELECT incarnation, head_lsn, leads FROM scrip.member \
           WHERE cell = $1 AND joins IS NULL AND seen > now() - interval '10 seconds'), \
         newest AS (\
           SELECT folded_lsn, extract(epoch FROM now() - made_at)::float8 AS age FROM scrip.snapshot \
           WHERE cell = $1 ORDER BY folded_lsn DESC LIMIT 1) \
         SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD-HH24MISS'), \
           (SELECT folded_lsn FROM newest), (SELECT age FROM newest), \
           (SELECT incarnation FROM there \
            WHERE NOT leads AND head_lsn > 0 AND head_lsn + $2 >= (SELECT max(head_lsn) FROM there) \
            ORDER BY incarnation LIMIT 1), \
           (extract(epoch FROM now()) * 1000)::bigint";
    let rows = connection
        .query(sql, &[int2(&cell), int8(&MAX_LAG)])
        .await?;
    let none = || DatabaseError::Unreachable("no answer".into());
    let row = rows.first().ok_or_else(none)?;
    let newest = match (row.try_get(1)?, row.try_get::<_, Option<f64>>(2)?) {
        (Some(applied), Some(age)) => Some(Newest {
            applied: unsigned(applied),
            age: Duration::try_from_secs_f64(age).unwrap_or_default(),
        }),
        _ => None,
    };
    Ok(Look {
        now: Timestamp(row.try_get(4)?),
        name: row.try_get(0)?,
        newest,
        follower: row.try_get(3)?,
    })
}
