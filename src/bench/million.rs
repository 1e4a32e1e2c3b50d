//! A million wallets: what they take in memory while they sleep, and how soon the server is back
//! with ten million entries, a million of them not folded.

use std::{
    path::Path,
    time::{Duration, Instant},
};

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
    stop,
};

/// How long a server's memory must not have changed much, to be called settled.
const STILL: Duration = Duration::from_secs(15);
/// How long to wait for that; wallets fall asleep after a minute.
const SETTLE_WITHIN: Duration = Duration::from_secs(240);

impl Bench {
    /// The suite of a million wallets.
    pub(super) fn million(&mut self) -> Result<()> {
        let data = self.place.data("million");
        let wallets = self.args.count(1_000_000);
        let threads = self.args.load_threads;
        let mut server = Server::real(&data, &[])?;
        server.ready()?;
        let project = Project::create(&server)?;
        eprintln!("million: creating {wallets} wallets");
        let rate = every(
            &server,
            threads,
            &project.credit(),
            Wallets::EachOnce(0, wallets),
        )?;
        self.report
            .add("wallets created over HTTP", rate, "/s", Target::None);
        eprintln!("million: touching each once");
        every(
            &server,
            threads,
            &project.deduct(),
            Wallets::EachOnce(0, wallets),
        )?;
        self.memory(&mut server, wallets)?;

        let left = self.args.count(10_000_000) - 3 * wallets;
        eprintln!("million: {left} more entries");
        every_in_batches(&server, threads, &project, left, wallets)?;
        folded(&mut server)?;
        let took = server.terminate()?;
        self.report.add(
            "SIGTERM, all folded: until ended",
            took.as_secs_f64(),
            "s",
            Target::None,
        );
        self.restarts(&data, &project, wallets)?;
        let used = disk_use(&data)? as f64 / 1e6;
        self.report.add(
            format!("disk, {wallets} wallets, 10 entries each"),
            used,
            "MB",
            Target::None,
        );
        Ok(())
    }

    fn memory(&mut self, server: &mut Server, wallets: u64) -> Result<()> {
        let busy = proc::resident(server.pid())? as f64 / 1e6;
        eprintln!("million: {busy:.0} MB in use; waiting for the wallets to fall asleep");
        let settled = settled_memory(server)? as f64 / 1e6;
        let idle = format!(
            "{} wallets, idle: resident memory",
            thousands(wallets as f64)
        );
        self.report.add(
            "resident memory right after the load",
            busy,
            "MB",
            Target::None,
        );
        self.report.add(idle, settled, "MB", Target::AtMost(300.0));
        Ok(())
    }

    /// Restarts after a kill and after a clean end, each with a million entries that were not
    /// folded when it happened.
    fn restarts(&mut self, data: &Path, project: &Project, wallets: u64) -> Result<()> {
        let unfolded = self.args.count(1_000_000);
        for kill in [true, false] {
            let how = if kill { "kill -9" } else { "SIGTERM" };
            eprintln!("million: {unfolded} entries that are not folded, then {how}");
            let mut server = Server::real(data, &never_fold())?;
            server.ready()?;
            let threads = self.args.load_threads;
            every_in_batches(&server, threads, project, unfolded, wallets)?;
            let backlog = backlog(&server)?;
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
                self.report.add(name, took, "s", Target::None);
            }
            // As an operator would start it, with every default.
            let mut server = Server::real(data, &[])?;
            let took = server.ready()?.as_secs_f64();
            let name = format!("ready after {how}, {} unfolded", thousands(backlog as f64));
            self.report.add(name, took, "s", Target::AtMost(10.0));
            folded(&mut server)?;
            server.terminate()?;
        }
        Ok(())
    }
}

/// Settings under which nothing is folded while the log is filled.
fn never_fold() -> [(&'static str, String); 3] {
    [
        ("SCRIP_JOURNAL_CHECKPOINT_ENTRIES", "100000000".into()),
        ("SCRIP_JOURNAL_CHECKPOINT_INTERVAL_MS", "3600000".into()),
        ("SCRIP_JOURNAL_BACKLOG_LIMIT", "200000000".into()),
    ]
}

/// Deducts so many times from any of the wallets.
pub(super) fn every_in_batches(
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

/// Waits until memory does not change any more.
fn settled_memory(server: &mut Server) -> Result<u64> {
    let begun = Instant::now();
    server.quiet()?;
    let (mut since, mut reference) = (Instant::now(), proc::resident(server.pid())?);
    loop {
        std::thread::sleep(Duration::from_millis(500));
        stop::check()?;
        let now = proc::resident(server.pid())?;
        if now.abs_diff(reference) > 2 << 20 {
            (since, reference) = (Instant::now(), now);
        }
        let asleep = awake(server)? == 0 && since.elapsed() >= STILL;
        if asleep || begun.elapsed() >= SETTLE_WITHIN {
            return Ok(now);
        }
    }
}

/// Waits until nothing is left to fold.
fn folded(server: &mut Server) -> Result<()> {
    while backlog(server)? > 0 {
        stop::check()?;
        std::thread::sleep(Duration::from_millis(50));
    }
    server.quiet().map(drop)
}

fn awake(server: &Server) -> Result<u64> {
    gauge(server, "scrip_wallets_awake ")
}

fn backlog(server: &Server) -> Result<u64> {
    gauge(server, "scrip_journal_backlog_events ")
}

fn gauge(server: &Server, name: &str) -> Result<u64> {
    let metrics = server.admin().get("/metrics")?;
    metrics
        .body
        .lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
        .ok_or_else(|| Error(format!("/metrics ({}) has no {name}", metrics.status)))
}
