//! A million wallets: how much memory they take while asleep, and how soon the server is back with ten million
//! entries, a million of them not folded.

use std::{path::Path, time::Duration};

use super::{
    Bench,
    child::Server,
    error::{Error, Result},
    format::thousands,
    load::Wallets,
    place::disk_use,
    proc,
    project::{BATCH, Project, every},
    report::Target,
};

/// Number of wallets that the unfolded entries are in.
const AWAKE: u64 = 10_000;
/// How long to wait for settled memory; wallets fall asleep after a minute.
const SETTLE_WITHIN: Duration = Duration::from_secs(240);

impl Bench {
    /// The suite of a million wallets.
    pub(crate) fn million(&mut self) -> Result<()> {
        let data = self.place.data("million");
        let wallets = self.args.count(1_000_000);
        let threads = self.args.load_threads;
        let (mut server, project) = self.start("million", &[])?;
        eprintln!("million: creating {wallets} wallets");
        let rate = every(
            &server,
            threads,
            &project.credit(),
            Wallets::InOrder { wallets, times: 1 },
        )?;
        self.report.value("wallets created over HTTP", rate, "/s");
        eprintln!("million: touching each once");
        let rate = in_order(&server, threads, &project, wallets, 1)?;
        self.report.value(
            "sleeping wallets woken by a deduction, in batches",
            rate,
            "/s",
        );
        self.memory(&mut server, wallets)?;

        // With the entries before this and a million after a restart, there are ten per wallet.
        eprintln!("million: seven more entries for each");
        in_order(&server, threads, &project, wallets, 7)?;
        server.folded()?;
        let took = server.terminate()?;
        self.report
            .value("SIGTERM, all folded: until ended", took.as_secs_f64(), "s");
        self.restarts(&data, &project, wallets)?;
        let used = disk_use(&data)? as f64 / 1e6;
        self.report.value(
            format!("disk, {wallets} wallets, 10 entries each"),
            used,
            "MB",
        );
        Ok(())
    }

    fn memory(&mut self, server: &mut Server, wallets: u64) -> Result<()> {
        let busy = proc::resident(server.pid())? as f64 / 1e6;
        eprintln!("million: {busy:.0} MB in use; waiting for the wallets to fall asleep");
        server.quiet()?;
        let asleep = || Ok(server.gauge("scrip_wallets_awake ")? == 0);
        let settled = proc::settled_memory(server.pid(), SETTLE_WITHIN, asleep)? as f64 / 1e6;
        let idle = format!(
            "{} wallets, idle: resident memory",
            thousands(wallets as f64)
        );
        self.report
            .value("resident memory right after the load", busy, "MB");
        self.report.add(idle, settled, "MB", Target::AtMost(300.0));
        Ok(())
    }

    /// Restarts the server after a kill and after a clean end, each with a million unfolded entries.
    fn restarts(&mut self, data: &Path, project: &Project, wallets: u64) -> Result<()> {
        let unfolded = self.args.count(1_000_000);
        for kill in [true, false] {
            let how = if kill { "kill -9" } else { "SIGTERM" };
            eprintln!("million: {unfolded} entries that are not folded, then {how}");
            let mut server = self.server(data, &never_fold())?;
            server.ready()?;
            let threads = self.args.load_threads;
            // A wallet stays awake until it is folded: use no more than may be awake.
            every_in_batches(&server, threads, project, unfolded, wallets.min(AWAKE))?;
            let backlog = server.backlog()?;
            if backlog < unfolded {
                return Err(Error(format!(
                    "only {backlog} of {unfolded} entries are unfolded"
                )));
            }
            if kill {
                server.kill()?;
            } else {
                let took = server.terminate()?.as_secs_f64();
                let name = format!(
                    "SIGTERM, {} entries unfolded: until ended",
                    thousands(backlog as f64)
                );
                self.report.value(name, took, "s");
            }
            // With default settings, as an operator would start it.
            let mut server = self.server(data, &[])?;
            let took = server.ready()?.as_secs_f64();
            let name = format!("ready after {how}, {} unfolded", thousands(backlog as f64));
            self.report.add(name, took, "s", Target::AtMost(10.0));
            server.folded()?;
            server.terminate()?;
        }
        Ok(())
    }
}

/// Makes `times` deductions from each wallet in turn; returns deductions per second.
fn in_order(
    server: &Server,
    threads: usize,
    project: &Project,
    wallets: u64,
    times: u64,
) -> Result<f64> {
    let order = Wallets::InOrder { wallets, times };
    Ok(every(server, threads, &project.batch(), order)? * BATCH as f64)
}

/// Settings with which nothing is folded while the log is filled.
fn never_fold() -> [(&'static str, String); 3] {
    [
        ("SCRIP_JOURNAL_CHECKPOINT_ENTRIES", "100000000".into()),
        ("SCRIP_JOURNAL_CHECKPOINT_INTERVAL_MS", "3600000".into()),
        ("SCRIP_JOURNAL_BACKLOG_LIMIT", "200000000".into()),
    ]
}

/// Makes this many deductions in batches, each from a random wallet.
pub(crate) fn every_in_batches(
    server: &Server,
    threads: usize,
    project: &Project,
    items: u64,
    wallets: u64,
) -> Result<f64> {
    let batch = BATCH as u64;
    let items = items.div_ceil(batch) * batch;
    let requests = every(
        server,
        threads,
        &project.batch(),
        Wallets::Count { items, wallets },
    )?;
    Ok(requests * batch as f64)
}
