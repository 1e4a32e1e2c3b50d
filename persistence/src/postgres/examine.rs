//! What an operator wants to know of a database that processes share: who leads, who follows, how far they are, and
//! whether the server keeps what it acknowledges. It only reads, but for [`Examiner::raise_format`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{
    Server,
    client::{ANSWER_WITHIN, Connection, DatabaseError, within},
    rows::{self, kept},
    schema::{self, FORMAT, unsigned},
    segments::{SEGMENT_FRAMES_LOG2, Segments},
};
use crate::{
    error::Error,
    frames::term::{LeadershipItem, said},
};

/// A member that was not seen for this long does not count as being there. It reports every 2 s.
const PRESENT_WITHIN: Duration = Duration::from_secs(10);
/// A member that lags by more frames is far behind: at full load it is some ten seconds.
const FAR_BEHIND: u64 = 1 << SEGMENT_FRAMES_LOG2;
/// A snapshot is made every hour.
const SNAPSHOT_WITHIN: Duration = Duration::from_secs(3 * 3600);

/// A cluster as its database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterState {
    /// Drawn when the tables were made.
    pub id: Uuid,
    /// The version of the tables, and of what frames may hold.
    pub format: i32,
    /// Who leads; `None`: nobody, as far as can be seen.
    pub leader: Option<LeaderState>,
    /// The processes that were seen lately, the leader first.
    pub members: Vec<MemberState>,
    /// The place up to which frames may be in snapshots only.
    pub base: u64,
    /// The number of the last frame.
    pub head: u64,
    /// Tables that the log lies in, with those made ahead.
    pub segments: u64,
    /// Their size in bytes, with indices.
    pub log_bytes: u64,
    /// The newest first.
    pub snapshots: Vec<SnapshotState>,
}

/// Who leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderState {
    /// Where the other processes reach it.
    pub address: String,
    /// The number of its last opening.
    pub since: u64,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberState {
    /// Where the others reach it.
    pub address: String,
    /// Of Scrip.
    pub version: String,
    /// The newest format that it reads.
    pub format: i32,
    /// The last frame that it has read or written.
    pub head: u64,
    /// The last frame in its books.
    pub folded: u64,
    /// Whether it said that it leads.
    pub leads: bool,
    /// How long ago it was seen.
    pub seen: Duration,
}

/// A copy of the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotState {
    /// Its name.
    pub name: String,
    /// The last frame in it.
    pub folded: u64,
    /// How long ago it was made.
    pub age: Duration,
}

/// What the database server promises, and how it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseState {
    /// Such as "15.18 (Debian 15.18-0+deb12u1)".
    pub version: String,
    /// Whether the connection to it is encrypted.
    pub tls: bool,
    /// Standbys that are connected.
    pub standbys: u64,
    /// Whether commits wait for a standby.
    pub synchronous: bool,
    /// Age of the oldest transaction id in the database, in transactions.
    pub transaction_age: u64,
    /// How far its clock is ahead of this machine's, in milliseconds.
    pub clock_ahead_ms: i64,
}

impl MemberState {
    /// Whether it was seen just now.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.seen <= PRESENT_WITHIN
    }
}

impl ClusterState {
    /// Frames that a member has not read yet.
    #[must_use]
    pub fn lag(&self, member: &MemberState) -> u64 {
        self.head.saturating_sub(member.head)
    }

    /// Processes that are there and do not lead.
    #[must_use]
    pub fn followers(&self) -> usize {
        // A former run of the leader may have been there a moment ago.
        let leads = |address: &str| {
            let leader = self.leader.as_ref();
            leader.is_some_and(|leader| leader.address == address)
        };
        let present = self.members.iter().filter(|member| member.is_present());
        present.filter(|member| !leads(&member.address)).count()
    }

    /// How long ago the newest snapshot was made.
    #[must_use]
    pub fn snapshot_age(&self) -> Option<Duration> {
        self.snapshots.iter().map(|snapshot| snapshot.age).min()
    }

    /// Whether a member is the one that leads.
    #[must_use]
    pub fn leads(&self, member: &MemberState) -> bool {
        let leader = self.leader.as_ref();
        member.leads && leader.is_some_and(|leader| leader.address == member.address)
    }

    /// What is wrong, a sentence for each.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.leader.is_none() {
            all.push("Nobody leads: no request that changes anything is answered.".to_owned());
        } else if self.followers() == 0 {
            all.push("Nobody follows: if the leader is lost, nobody takes over.".to_owned());
        }
        for member in self.members.iter().filter(|member| member.is_present()) {
            let lag = self.lag(member);
            if lag > FAR_BEHIND {
                let address = &member.address;
                all.push(format!("{address} is {lag} frames behind."));
            }
        }
        match self.snapshot_age() {
            None => all.push(
                "There is no snapshot yet: the log cannot be trimmed, and a new process reads all of it."
                    .to_owned(),
            ),
            Some(age) if age > SNAPSHOT_WITHIN => all.push(format!(
                "The newest snapshot is {} hours old: the log grows.",
                age.as_secs().div_euclid(3600)
            )),
            Some(_) => {}
        }
        let present = self.members.iter().filter(|member| member.is_present());
        let mut versions: Vec<&str> = present.map(|member| &*member.version).collect();
        versions.sort_unstable();
        versions.dedup();
        if versions.len() > 1 {
            let versions = versions.join(", ");
            all.push(format!(
                "The processes have different versions: {versions}."
            ));
        }
        all
    }
}

/// What became of [`Examiner::raise_format`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raised {
    /// The format was this one already, and this version knows no newer one.
    Newest(i32),
    /// It was raised to this one.
    To(i32),
    /// These processes, by address, do not read the newer one.
    TooOld(Vec<String>),
}

/// Reads the state of a cluster, on a connection that it keeps. Blocks: not for threads that may not wait.
pub struct Examiner {
    server: Server,
    cell: i16,
    connection: Mutex<Option<Connection>>,
}

impl std::fmt::Debug for Examiner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Examiner")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl Examiner {
    /// Of one cell of a database. Connects when it is asked.
    #[must_use]
    pub const fn new(server: Server, cell: i16) -> Self {
        Self {
            server,
            cell,
            connection: Mutex::new(None),
        }
    }

    /// The cluster; `None` where the database has none.
    ///
    /// # Errors
    ///
    /// [`Error::Unreachable`] when the database does not answer, [`Error::Unusable`] when it refuses,
    /// [`Error::Damaged`] when the last frame cannot be read.
    pub fn cluster(&self) -> Result<Option<ClusterState>, Error> {
        let seen = self.ask(async |connection| look(connection, self.cell).await)?;
        let Some((mut state, last)) = seen else {
            return Ok(None);
        };
        // Who has closed the log may have been seen a moment ago.
        if let Some(last) = last.map(kept).transpose()?
            && !last.bytes.is_empty()
            && let Some(LeadershipItem::Closed(_)) = said(&last.bytes)?
        {
            state.leader = None;
        }
        Ok(Some(state))
    }

    /// The database server.
    ///
    /// # Errors
    ///
    /// [`Error::Unreachable`] when it does not answer, [`Error::Unusable`] when it refuses, or would lose what it
    /// acknowledges.
    pub fn database(&self) -> Result<DatabaseState, Error> {
        self.ask(database)
    }

    /// Lets frames hold what the newest format that this version knows allows, once every member seen reads it.
    ///
    /// # Errors
    ///
    /// As for [`Examiner::cluster`], and [`Error::Unusable`] where the database has no cluster.
    pub fn raise_format(&self) -> Result<Raised, Error> {
        let state = self.cluster()?;
        let state =
            state.ok_or_else(|| Error::Unusable("the database has no cluster yet".into()))?;
        if state.format >= FORMAT {
            return Ok(Raised::Newest(state.format));
        }
        let old = state.members.iter().filter(|member| member.format < FORMAT);
        let old: Vec<String> = old.map(|member| member.address.clone()).collect();
        if !old.is_empty() {
            return Ok(Raised::TooOld(old));
        }
        self.ask(async |connection| {
            let raise = "UPDATE scrip.meta SET format = $1 WHERE format < $1";
            let raised = connection
                .client()
                .execute_typed(raise, &[(&FORMAT, Type::INT4)])
                .await;
            Ok(raised?)
        })?;
        Ok(Raised::To(FORMAT))
    }

    fn ask<T>(
        &self,
        ask: impl AsyncFn(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, Error> {
        let mut kept = self.connection.lock();
        let answer = self.server.wait(async {
            let connection = match kept.take() {
                Some(connection) if !connection.is_closed() => connection,
                _ => self.server.connect().await?,
            };
            let answer = within(ANSWER_WITHIN, ask(&connection)).await;
            // One that failed may still be busy.
            if answer.is_ok() {
                *kept = Some(connection);
            }
            answer
        });
        answer.map_err(Error::from)
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
    let format = connection
        .client()
        .query_one("SELECT format FROM scrip.meta", &[])
        .await?
        .try_get(0)?;
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
        format,
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

async fn members(connection: &Connection, cell: i16) -> Result<Vec<MemberState>, DatabaseError> {
    let parameters = [(&cell as _, Type::INT2)];
    let rows = connection.client().query_typed(
        "SELECT address, version, format, head_lsn, folded_lsn, leads, \
         extract(epoch FROM now() - seen)::float8 FROM scrip.member WHERE cell = $1 ORDER BY leads DESC, address, seen DESC",
        &parameters,
    );
    let member = |row: &tokio_postgres::Row| {
        Ok(MemberState {
            address: row.try_get(0)?,
            version: row.try_get(1)?,
            format: row.try_get(2)?,
            head: unsigned(row.try_get(3)?),
            folded: unsigned(row.try_get(4)?),
            leads: row.try_get(5)?,
            seen: seconds(row.try_get(6)?),
        })
    };
    rows.await?.iter().map(member).collect()
}

async fn snapshots(
    connection: &Connection,
    cell: i16,
) -> Result<Vec<SnapshotState>, DatabaseError> {
    let parameters = [(&cell as _, Type::INT2)];
    let rows = connection.client().query_typed(
        "SELECT name, folded_lsn, extract(epoch FROM now() - made_at)::float8 FROM scrip.snapshot \
         WHERE cell = $1 ORDER BY made_at DESC",
        &parameters,
    );
    let snapshot = |row: &tokio_postgres::Row| {
        Ok(SnapshotState {
            name: row.try_get(0)?,
            folded: unsigned(row.try_get(1)?),
            age: seconds(row.try_get(2)?),
        })
    };
    rows.await?.iter().map(snapshot).collect()
}

async fn database(connection: &Connection) -> Result<DatabaseState, DatabaseError> {
    let before = wall_clock_ms();
    let row = connection
        .client()
        .query_one(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            &[],
        )
        .await?;
    // The answer was made some time between.
    let here = before.saturating_add(wall_clock_ms()).div_euclid(2);
    let there: i64 = row.try_get(0)?;
    // Without the right to see more, a role still sees that there are standbys, and what commits wait for.
    let row = connection
        .client()
        .query_one(
            "SELECT current_setting('server_version'), \
             coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false), \
             (SELECT count(*) FROM pg_stat_replication WHERE application_name IS DISTINCT FROM 'pg_basebackup'), \
             current_setting('synchronous_standby_names') <> '', \
             (SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database())",
            &[],
        )
        .await?;
    Ok(DatabaseState {
        version: row.try_get(0)?,
        tls: row.try_get(1)?,
        standbys: unsigned(row.try_get(2)?),
        synchronous: row.try_get(3)?,
        transaction_age: unsigned(row.try_get(4)?),
        clock_ahead_ms: there.saturating_sub(here),
    })
}

fn wall_clock_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    i64::try_from(millis).unwrap_or(i64::MAX)
}

/// A time that the database has counted; never negative.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(address: &str, head: u64, leads: bool) -> MemberState {
        MemberState {
            address: address.into(),
            version: "1.0.0".into(),
            format: 1,
            head,
            folded: head,
            leads,
            seen: Duration::from_secs(1),
        }
    }

    fn healthy() -> ClusterState {
        ClusterState {
            id: Uuid::nil(),
            format: 1,
            leader: Some(LeaderState {
                address: "http://a".into(),
                since: 7,
            }),
            members: vec![
                member("http://a", 100_000, true),
                member("http://b", 99_000, false),
            ],
            base: 1,
            head: 100_000,
            segments: 9,
            log_bytes: 0,
            snapshots: vec![SnapshotState {
                name: "s".into(),
                folded: 9,
                age: Duration::from_secs(3600),
            }],
        }
    }

    #[test]
    fn a_cluster_in_order_has_no_problems() {
        assert_eq!(healthy().problems(), Vec::<String>::new());
        assert_eq!(healthy().followers(), 1);
    }

    #[test]
    fn what_is_wrong_is_said_in_a_sentence_each() {
        let said = |change: &dyn Fn(&mut ClusterState)| {
            let mut state = healthy();
            change(&mut state);
            state.problems().join("|")
        };
        assert!(said(&|it| it.leader = None).starts_with("Nobody leads"));
        let gone = said(&|it| it.members[1].seen = Duration::from_secs(11));
        assert!(gone.starts_with("Nobody follows"), "{gone}");
        let behind = said(&|it| it.members[1].head = 1);
        assert_eq!(behind, "http://b is 99999 frames behind.");
        assert!(said(&|it| it.snapshots.clear()).contains("no snapshot"));
        let old = said(&|it| it.snapshots[0].age = Duration::from_secs(4 * 3600));
        assert!(old.contains("4 hours old"), "{old}");
        let mixed = said(&|it| it.members[1].version = "1.1.0".into());
        assert!(mixed.contains("1.0.0, 1.1.0"), "{mixed}");
    }
}
