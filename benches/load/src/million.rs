//! A million wallets: how much memory they take while asleep, and how soon the server is back with ten million
//! entries, a million of them in no checkpoint.

use std::time::Duration;

use super::{
    Bench, Setup,
    error::{Error, Result},
    folder::disk_use,
    format::thousands,
    process::{resident, steady_memory},
    project::Project,
    report::Target,
};

/// Number of wallets that the entries outside of checkpoints are in.
const AWAKE: u64 = 10_000;
/// How long to wait for steady memory; wallets fall asleep after a minute.
const TIMEOUT: Duration = Duration::from_secs(240);

impl Bench {
    /// The suite of a million wallets.
    pub(crate) fn million(&mut self) -> Result<()> {
        let wallets = self.args.count(1_000_000);
        let setup = self.start("million", &[])?;
        let rate = self.fund(&setup, wallets)?;
        self.report.value("wallets created over HTTP", rate, "/s");
        eprintln!("million: touching each once");
        let rate = self.deduct_in_order(&setup, wallets, 1)?;
        let name = "sleeping wallets woken by a deduction, in batches";
        self.report.value(name, rate, "/s");
        self.memory(&setup, wallets)?;

        // With the entries before this and a million after a restart, there are ten per wallet.
        eprintln!("million: seven more entries for each");
        self.deduct_in_order(&setup, wallets, 7)?;
        let Setup { server, project } = setup;
        server.checkpointed()?;
        let took = server.terminate()?.as_secs_f64();
        let name = "SIGTERM, all in a checkpoint: until ended";
        self.report.value(name, took, "s");
        self.restarts(&project, wallets)?;
        let used = disk_use(&self.folder.path().join("million"))? as f64 / 1e6;
        let name = format!("disk, {wallets} wallets, 10 entries each");
        self.report.value(name, used, "MB");
        Ok(())
    }

    fn memory(&mut self, setup: &Setup, wallets: u64) -> Result<()> {
        let server = &setup.server;
        let busy = resident(server.pid())? as f64 / 1e6;
        eprintln!("million: {busy:.0} MB in use; waiting for the wallets to fall asleep");
        server.idle()?;
        let is_asleep = || Ok(server.gauge("scrip_wallets_awake ")? == 0);
        let idle = steady_memory(server.pid(), TIMEOUT, is_asleep)? as f64 / 1e6;
        let report = &mut self.report;
        report.value("resident memory right after the load", busy, "MB");
        let wallets = thousands(wallets as f64);
        let name = format!("{wallets} wallets, idle: resident memory");
        report.add(name, idle, "MB", Target::AtMost(300.0));
        Ok(())
    }

    /// Restarts the server after a kill and after a clean end, each with a million entries in no checkpoint.
    fn restarts(&mut self, project: &Project, wallets: u64) -> Result<()> {
        let data = self.folder.path().join("million");
        let entries = self.args.count(1_000_000);
        let no_checkpoints = [
            ("SCRIP_JOURNAL_CHECKPOINT_ENTRIES", "100000000".into()),
            ("SCRIP_JOURNAL_CHECKPOINT_INTERVAL_MS", "3600000".into()),
            ("SCRIP_JOURNAL_BACKLOG_LIMIT", "200000000".into()),
        ];
        for is_kill in [true, false] {
            let how = if is_kill { "kill -9" } else { "SIGTERM" };
            eprintln!("million: {entries} entries in no checkpoint, then {how}");
            let mut setup = Setup {
                server: self.server(&data, &no_checkpoints)?,
                project: project.clone(),
            };
            setup.server.ready()?;
            // A wallet stays awake until its entries are in a checkpoint: use no more than may be awake.
            self.send_batches(&setup, entries, wallets.min(AWAKE))?;
            let backlog = setup.server.backlog()?;
            if backlog < entries {
                return Err(Error(format!(
                    "only {backlog} of {entries} entries are in no checkpoint"
                )));
            }
            let unsaved = format!("{} entries in no checkpoint", thousands(backlog as f64));
            if is_kill {
                setup.server.kill()?;
            } else {
                let took = setup.server.terminate()?.as_secs_f64();
                let name = format!("SIGTERM, {unsaved}: until ended");
                self.report.value(name, took, "s");
            }
            // With default settings, as an operator would start it.
            let mut server = self.server(&data, &[])?;
            let took = server.ready()?.as_secs_f64();
            let name = format!("ready after {how}, {unsaved}");
            self.report.add(name, took, "s", Target::AtMost(10.0));
            server.checkpointed()?;
            server.terminate()?;
        }
        Ok(())
    }
}
