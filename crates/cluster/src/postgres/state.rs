//! The state of a cluster and of its database, as an operator sees it, and what is wrong with it.

use std::time::Duration;

use uuid::Uuid;

use super::segments::SEGMENT_FRAMES_LOG2;

/// A member that was not seen for this long does not count as being there. It reports every 2 s.
const PRESENCE_TIMEOUT: Duration = Duration::from_secs(10);
/// A member that lags by more frames is far behind: at full load it is some ten seconds.
const FAR_BEHIND: u64 = 1 << SEGMENT_FRAMES_LOG2;
/// A snapshot is made every hour.
const MAX_SNAPSHOT_AGE: Duration = Duration::from_secs(3 * 3600);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterState {
    /// Drawn when the tables were made.
    pub id: Uuid,
    /// The number of the log that the rest is about.
    pub cell: i16,
    /// The version of the tables, and of what frames may hold.
    pub format: i32,
    /// The leader; `None`: none is visible.
    pub leader: Option<LeaderState>,
    /// The processes that were seen lately, the leader first.
    pub members: Vec<MemberState>,
    /// The place up to which frames may be in snapshots only.
    pub base: u64,
    /// The number of the last frame.
    pub head: u64,
    /// Tables that the log is in, with those made ahead.
    pub segments: u64,
    /// Their size in bytes, with indices.
    pub log_bytes: u64,
    /// The newest first.
    pub snapshots: Vec<SnapshotState>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellState {
    /// The number that configurations and tables name it by.
    pub cell: i16,
    /// Where the process is reached that was noted as its leader last; `None`: it was never led.
    pub leader: Option<String>,
    /// The place up to which frames may be in snapshots only, or in another cell's log.
    pub base: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderState {
    /// Where the other processes reach it.
    pub address: String,
    /// The number of its last term start.
    pub since: u64,
}

/// A process that was seen lately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberState {
    /// Where the others reach it.
    pub address: String,
    /// The version of Scrip that it runs.
    pub version: String,
    /// The newest format that it reads.
    pub format: i32,
    /// The last frame that it has read or written.
    pub head: u64,
    /// The last frame in its books.
    pub applied: u64,
    /// Whether it said that it leads.
    pub leads: bool,
    /// The cell that it is to become: it follows this log until that leaves it, and never leads it. `None`: it belongs here.
    pub joins: Option<i16>,
    /// How long ago it was seen.
    pub seen: Duration,
}

/// A copy of the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotState {
    /// The name that it was made under.
    pub name: String,
    /// The last frame in it.
    pub applied: u64,
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
    pub fn is_present(&self) -> bool {
        self.seen <= PRESENCE_TIMEOUT
    }
}

impl ClusterState {
    /// Frames that a member has not read yet.
    pub fn lag(&self, member: &MemberState) -> u64 {
        self.head.saturating_sub(member.head)
    }

    /// Processes that are there, do not lead, and could.
    pub fn followers(&self) -> usize {
        // A former run of the leader may have been there a moment ago.
        let leads = |address: &str| {
            let leader = self.leader.as_ref();
            leader.is_some_and(|leader| leader.address == address)
        };
        let belongs = |member: &&MemberState| member.is_present() && member.joins.is_none();
        let members = self.members.iter().filter(belongs);
        members.filter(|member| !leads(&member.address)).count()
    }

    /// How long ago the newest snapshot was made.
    pub fn snapshot_age(&self) -> Option<Duration> {
        self.snapshots.iter().map(|snapshot| snapshot.age).min()
    }

    pub fn leads(&self, member: &MemberState) -> bool {
        let leader = self.leader.as_ref();
        member.leads && leader.is_some_and(|leader| leader.address == member.address)
    }

    /// What is wrong, a sentence for each.
    pub fn problems(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.leader.is_none() {
            all.push("Nobody leads: no request that changes anything is answered.".to_owned());
        } else if self.followers() == 0 {
            all.push("No follower: if the leader is lost, no process takes over.".to_owned());
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
            Some(age) if age > MAX_SNAPSHOT_AGE => all.push(format!(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn member(address: &str, head: u64, leads: bool) -> MemberState {
        MemberState {
            address: address.into(),
            version: "1.0.0".into(),
            format: 1,
            head,
            applied: head,
            leads,
            joins: None,
            seen: Duration::from_secs(1),
        }
    }

    fn healthy() -> ClusterState {
        ClusterState {
            id: Uuid::nil(),
            cell: 0,
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
                applied: 9,
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
        assert!(gone.starts_with("No follower"), "{gone}");
        let joins = said(&|it| it.members[1].joins = Some(1));
        assert!(joins.starts_with("No follower"), "{joins}");
        let behind = said(&|it| it.members[1].head = 1);
        assert_eq!(behind, "http://b is 99999 frames behind.");
        assert!(said(&|it| it.snapshots.clear()).contains("no snapshot"));
        let old = said(&|it| it.snapshots[0].age = Duration::from_secs(4 * 3600));
        assert!(old.contains("4 hours old"), "{old}");
        let mixed = said(&|it| it.members[1].version = "1.1.0".into());
        assert!(mixed.contains("1.0.0, 1.1.0"), "{mixed}");
    }
}
