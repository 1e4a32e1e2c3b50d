//! The database that has the log: whether it answers, keeps what it acknowledges, and has followers and snapshots.

use std::time::Duration;

use actors::clock::{Clock as _, SystemClock};
use cluster::postgres::{ClusterState, DatabaseState, Examiner, Server};

use super::Finding;
use crate::config::Config;

const CHECK: &str = "database";
const CLUSTER: &str = "cluster";
/// Older transaction ids force a vacuum of all tables; at 2,000 million the server stops.
const OLD_TRANSACTIONS: u64 = 1_000_000_000;
/// Clocks that differ by more make time leap at a fail-over.
const CLOCKS_WITHIN_MS: u64 = 1_000;
/// A snapshot is made every hour.
const SNAPSHOT_WITHIN: Duration = Duration::from_secs(3 * 3600);

/// Nothing where the log is in the data directory.
pub(super) fn examine(config: &Config) -> Vec<Finding> {
    let Some(url) = &config.storage.url else {
        return Vec::new();
    };
    let unusable = |error: persistence::Error| {
        let advice = "Correct storage.url, or the database: no request is answered without it";
        vec![Finding::failure(CHECK, error.to_string(), advice)]
    };
    let examiner = match Server::parse(url.expose()) {
        Ok(server) => Examiner::new(server, config.cluster.cell),
        Err(error) => return unusable(error),
    };
    let clock = SystemClock::new();
    let state = match examiner.database(&|| clock.wall()) {
        Ok(state) => state,
        Err(error) => return unusable(error),
    };
    let mut findings = database(&state);
    findings.extend(match examiner.cluster() {
        Ok(Some(state)) => cluster(&state),
        Ok(None) => vec![Finding::ok(CLUSTER, "none yet: the first start makes it")],
        Err(error) => unusable(error),
    });
    findings
}

fn database(state: &DatabaseState) -> Vec<Finding> {
    let tls = if state.tls { "TLS" } else { "no TLS" };
    let mut all = vec![Finding::ok(
        CHECK,
        format!(
            "PostgreSQL {} answers ({tls}); fsync, full_page_writes and synchronous_commit are on",
            state.version
        ),
    )];
    all.push(match (state.standbys, state.synchronous) {
        (0, false) => Finding::warning(
            "standby",
            "the database has no standby that is seen",
            "Add a synchronous one, unless its disk is replicated below it: a lost machine would lose what was acknowledged",
        ),
        (0, true) => Finding::failure(
            "standby",
            "synchronous_standby_names is set and no standby is connected",
            "Bring it back or take it out of the setting: every commit waits for it",
        ),
        (_, false) => Finding::failure(
            "standby",
            "a standby is connected and none is synchronous",
            "Set synchronous_standby_names: a fail-over would lose acknowledged deductions",
        ),
        (count, true) => Finding::ok(
            "standby",
            format!("{count} connected, and commits wait for one"),
        ),
    });
    if state.transaction_age > OLD_TRANSACTIONS {
        all.push(Finding::warning(
            "transactions",
            format!(
                "the oldest transaction id is {} million transactions old",
                state.transaction_age.div_euclid(1_000_000)
            ),
            "Look for what keeps VACUUM from freezing: long transactions, unused replication slots",
        ));
    }
    let apart = state.clock_ahead_ms.unsigned_abs();
    all.push(if apart > CLOCKS_WITHIN_MS {
        Finding::warning(
            "database clock",
            format!("it differs from this machine's by {apart} ms"),
            "Synchronize both (chrony, systemd-timesyncd)",
        )
    } else {
        Finding::ok(
            "database clock",
            format!("within {CLOCKS_WITHIN_MS} ms of this machine's"),
        )
    });
    all
}

fn cluster(state: &ClusterState) -> Vec<Finding> {
    let present = state.members.iter().filter(|member| member.is_present());
    let present = present.count();
    let mut all = Vec::new();
    all.push(match (&state.leader, present) {
        (None, _) => Finding::warning(
            CLUSTER,
            "no process leads",
            "Start a process; `scrip cluster status` shows who was there",
        ),
        (Some(_), 0 | 1) => Finding::warning(
            CLUSTER,
            "only one process is there",
            "Start a second one on another machine: there is none to take over",
        ),
        (Some(leader), count) => Finding::ok(
            CLUSTER,
            format!("{count} processes, {} leads", leader.address),
        ),
    });
    all.push(match state.snapshot_age() {
        None => Finding::warning(
            "snapshots",
            "there is none yet",
            "It is made within the hour; until then the log grows, and a new process reads all of it",
        ),
        Some(age) if age > SNAPSHOT_WITHIN => Finding::warning(
            "snapshots",
            format!("the newest is {} hours old", age.as_secs().div_euclid(3600)),
            "The processes' logs say why there is no newer one; until then the log grows",
        ),
        Some(age) => Finding::ok(
            "snapshots",
            format!(
                "the newest is {} minutes old",
                age.as_secs().div_euclid(60)
            ),
        ),
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::Status;

    fn state() -> DatabaseState {
        DatabaseState {
            version: "15.18".into(),
            tls: true,
            standbys: 1,
            synchronous: true,
            transaction_age: 5,
            clock_ahead_ms: -900,
        }
    }

    #[test]
    fn a_database_in_order_is_no_reason_to_worry() {
        let all = database(&state());
        assert!(all.iter().all(|of| of.status == Status::Ok), "{all:?}");
    }

    #[test]
    fn old_transactions_and_a_wrong_clock_are_warned_of() {
        let all = database(&DatabaseState {
            transaction_age: 1_200_000_000,
            clock_ahead_ms: -1_001,
            ..state()
        });
        let warned = all.iter().filter(|of| of.status == Status::Warning);
        let warned: Vec<&str> = warned.map(|of| of.check).collect();
        assert_eq!(warned, ["transactions", "database clock"]);
    }

    #[test]
    fn a_synchronous_standby_that_is_gone_is_a_failure() {
        let all = database(&DatabaseState {
            standbys: 0,
            ..state()
        });
        assert!(all.iter().any(|of| of.status == Status::Failure), "{all:?}");
    }
}
