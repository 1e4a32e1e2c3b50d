//! Standbys of a server.

use std::sync::{PoisonError, atomic::Ordering};

use super::Postgres;
use crate::{
    installation::{INSTALLED, run},
    wait::until,
};

impl Postgres {
    /// Starts a copy of this server that follows its log, and takes connections that only read. Each commit of this
    /// server waits for every standby that is `synchronous`. Returns when the standby is level with it.
    ///
    /// Another rule than that, or a way through a proxy, is a matter of [`Postgres::set`]:
    /// `synchronous_standby_names` here (the standbys are `standby_1` and so on), `primary_conninfo` there.
    #[must_use]
    pub fn add_standby(&self, synchronous: bool) -> Self {
        let number = self.standbys.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("standby_{number}");
        let mut standby = Self::prepare();
        let mut copy = INSTALLED.server("pg_basebackup", &standby.directory);
        copy.arg("--pgdata").arg(standby.data());
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        let here = format!("{}?application_name={name}", self.admin_url("postgres"));
        copy.args(["--dbname", &here]);
        run(&mut copy).unwrap_or_else(|error| panic!("{error}"));
        if synchronous {
            self.wait_for(&name);
        }
        standby.start_first();
        // What the primary waits for came with the copy.
        standby.set("synchronous_standby_names", "");
        let role = if synchronous { "sync" } else { "async" };
        let sql = format!(
            "SELECT state, sync_state FROM pg_stat_replication WHERE application_name = '{name}'"
        );
        until("the standby is level", || {
            (self.psql(&sql) == format!("streaming|{role}")).then_some(())
        });
        standby
    }

    /// Makes all commits wait for this standby from here on.
    fn wait_for(&self, name: &str) {
        let mut names = self
            .synchronous
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        names.push(name.to_owned());
        let all = format!("{} ({})", names.len(), names.join(", "));
        self.set("synchronous_standby_names", &all);
        // The checkpointer publishes whether there is anything to wait for. It does so before it answers.
        self.psql("CHECKPOINT");
    }

    /// Makes a primary of a standby, as an operator does who has lost the primary. Returns when it takes writes.
    pub fn promote(&self) {
        self.psql("SELECT pg_promote(false)");
        until("the standby takes writes", || {
            (self.psql("SELECT pg_is_in_recovery()") == "f").then_some(())
        });
    }
}
