//! The log in PostgreSQL beside the log on this machine's disk, the database's own work included: what a deduction
//! takes near it and a millisecond or two away, what a snapshot that somebody holds does to it, what a follower costs,
//! and how long nobody answers when the leader is killed or stopped.

use std::{
    thread,
    time::{Duration, Instant},
};

use postgres_kit::{Postgres, Proxy};

use super::{
    Bench, Setup,
    client::Client,
    error::{Context, Error, Result},
    format::{median, thousands},
    load::Wallets,
    process::processor_time,
    report::Target,
    rounds::{Series, percentiles},
    server::{ADMIN_TOKEN, Server},
    stop,
};

/// Wallets that deductions are spread over.
const WALLETS: u64 = 10_000;
/// The same on every process.
const SERVER_KEY: &str = "abababababababababababababababababababababababababababababababab";
/// How often the leader is killed, and how often it is stopped.
const FAIL_OVERS: usize = 20;
/// Nobody waits longer than this for a fail-over.
const TIMEOUT: Duration = Duration::from_secs(60);
/// A session that holds a snapshot until it is ended.
const SNAPSHOT: &str =
    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class; SELECT pg_sleep(600)";
const END_SNAPSHOT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
    WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()";

/// The settings of a process whose log is in this database.
fn settings(url: &str, pipeline: usize) -> [(&'static str, String); 3] {
    [
        ("SCRIP_STORAGE_URL", url.to_owned()),
        ("SCRIP_STORAGE_PIPELINE", pipeline.to_string()),
        ("SCRIP_SERVER_KEY", SERVER_KEY.to_owned()),
    ]
}

impl Bench {
    pub(crate) fn cluster(&mut self) -> Result<()> {
        let database = Postgres::start();
        let near = database.url(&database.create_database());
        let disk = self.funded("cluster-disk", &[], WALLETS)?;
        let postgres = self.funded("cluster", &settings(&near, 4), WALLETS)?;
        for connections in [1, 64, 256, 1024] {
            self.beside_disk(connections, false, &disk, &postgres)?;
        }
        self.beside_disk(64, true, &disk, &postgres)?;
        disk.server.terminate()?;
        self.with_snapshot(&database, &postgres)?;
        self.with_follower(&near, &postgres)?;
        for delay in [1, 2] {
            self.with_delay(&database, delay, &postgres)?;
        }
        postgres.server.terminate()?;
        self.fail_overs(&database)
    }

    /// One round of deductions, single or in batches.
    fn deductions(
        &self,
        setup: &Setup,
        connections: usize,
        in_batches: bool,
        series: &mut Series,
    ) -> Result<()> {
        let template = match in_batches {
            true => setup.project.batch(),
            false => setup.project.deduct(),
        };
        let wallets = Wallets::Random(WALLETS);
        let load = self.load(&setup.server, template, connections, wallets);
        self.round(&load, &setup.server, series).map(drop)
    }

    fn beside_disk(
        &mut self,
        connections: usize,
        in_batches: bool,
        disk: &Setup,
        postgres: &Setup,
    ) -> Result<()> {
        let kind = if in_batches { "batches" } else { "single" };
        let name = format!("{kind}, {connections} connections");
        let mut on_disk = Series::new(format!("{name}: on the disk"))?;
        let mut in_postgres = Series::new(format!("{name}: in PostgreSQL"))?;
        for _ in 0..self.args.rounds() {
            self.deductions(disk, connections, in_batches, &mut on_disk)?;
            self.deductions(postgres, connections, in_batches, &mut in_postgres)?;
        }
        on_disk.report(&mut self.report);
        in_postgres.report(&mut self.report);
        let ratio = in_postgres.rate_beside(&on_disk);
        let name = format!("{name}: in PostgreSQL / on the disk");
        self.report.value(name, ratio, "");
        Ok(())
    }

    /// A dump, a long report or a forgotten session holds a snapshot: rows that change would pile up behind it.
    fn with_snapshot(&mut self, database: &Postgres, postgres: &Setup) -> Result<()> {
        let rounds = |name: &str| {
            let mut series = Series::new(name)?;
            for _ in 0..self.args.rounds() {
                self.deductions(postgres, 64, false, &mut series)?;
            }
            Ok::<_, Error>(series)
        };
        let before = rounds("no snapshot")?;
        let during = thread::scope(|scope| {
            let session = scope.spawn(|| database.try_psql("postgres", SNAPSHOT));
            let during = rounds("a snapshot is held");
            database.psql(END_SNAPSHOT);
            drop(session.join());
            during
        })?;
        let name = "single, 64 connections, while a snapshot is held / before";
        let ratio = during.rate_beside(&before);
        self.report.add(name, ratio, "", Target::AtLeast(0.8));
        let before = thousands(before.rate());
        self.report.note(format!("{before}/s before"));
        Ok(())
    }

    /// One more process reads the log, on the same machine.
    fn with_follower(&mut self, url: &str, postgres: &Setup) -> Result<()> {
        let started = Instant::now();
        let data = self.folder.path().join("cluster-follower");
        let mut follower = self.server(&data, &settings(url, 4))?;
        follower.ready()?;
        // The leader writes a frame twice a second.
        until("a follower that has read all of the log", || {
            let lag = follower.gauge("scrip_cluster_lag_frames");
            lag.is_ok_and(|lag| lag <= 2).then_some(())
        })?;
        let frames = follower.gauge("scrip_cluster_head_frame")? as f64;
        let report = &mut self.report;
        let name = "a new process with an empty directory, until it has all";
        report.value(name, started.elapsed().as_secs_f64(), "s");
        report.note(format!("{} frames, of up to 60 KB", thousands(frames)));
        let (used, started) = (processor_time(follower.pid())?, Instant::now());
        let mut series = Series::new("single, 256 connections, with a follower beside it")?;
        for _ in 0..self.args.rounds() {
            self.deductions(postgres, 256, false, &mut series)?;
        }
        let used = processor_time(follower.pid())?.saturating_sub(used);
        let share = used.as_secs_f64() / started.elapsed().as_secs_f64();
        series.report(&mut self.report);
        let name = "what the follower takes of a processor";
        self.report.value(name, share, "");
        Ok(())
    }

    fn with_delay(&mut self, database: &Postgres, millis: u64, near: &Setup) -> Result<()> {
        let proxy = Proxy::to(database.address());
        for pipeline in [1, 4] {
            let url = database.url_through(&proxy, &database.create_database());
            let data = format!("cluster-{millis}-{pipeline}");
            let far = self.funded(&data, &settings(&url, pipeline), WALLETS)?;
            proxy.delay(Duration::from_millis(millis), Duration::ZERO);
            for connections in [1, 64, 256, 1024] {
                let name = format!(
                    "single, {connections} connections, {millis} ms away, {pipeline} under way"
                );
                let mut nearby = Series::new("without a delay")?;
                let mut away = Series::new(&name)?;
                for _ in 0..self.args.rounds() {
                    self.deductions(near, connections, false, &mut nearby)?;
                    self.deductions(&far, connections, false, &mut away)?;
                }
                let report = &mut self.report;
                report.value(format!("{name} / beside"), away.rate_beside(&nearby), "");
                let (rate, latency) = (thousands(away.rate()), percentiles(away.latency()));
                report.note(format!("{rate}/s, {latency}"));
            }
            proxy.delay(Duration::ZERO, Duration::ZERO);
            far.server.terminate()?;
        }
        Ok(())
    }

    /// Kills the leader of three processes again and again, then stops it again and again.
    fn fail_overs(&mut self, database: &Postgres) -> Result<()> {
        let url = database.url(&database.create_database());
        let env = settings(&url, 4);
        let mut processes = Vec::new();
        for name in ["cluster-1", "cluster-2", "cluster-3"] {
            processes.push((name, self.server(&self.folder.path().join(name), &env)?));
        }
        let times = if self.args.quick { 3 } else { FAIL_OVERS };
        for (end, limit, is_kill) in [("killed", 10.0, true), ("stopped in order", 1.0, false)] {
            let mut seconds = Vec::new();
            for _ in 0..times {
                let (name, leader) = processes.remove(leader(&processes)?);
                for (_, other) in &mut processes {
                    other.ready()?;
                }
                let (_, other) = processes.first().context("another process")?;
                let client = Client::new(self.runtime.handle(), other.address(), ADMIN_TOKEN);
                let started = Instant::now();
                match is_kill {
                    true => leader.kill()?,
                    false => leader.terminate().map(drop)?,
                }
                // Only a leader answers it.
                until("an answer", || {
                    client.is_ok("/api/admin/v1/projects").then_some(())
                })?;
                seconds.push(started.elapsed().as_secs_f64());
                processes.push((name, self.server(&self.folder.path().join(name), &env)?));
            }
            let report = &mut self.report;
            let name = format!("time without service, leader {end}");
            let p50 = median(seconds.iter().copied());
            report.value(format!("{name}: p50"), p50, "s");
            let worst = seconds.iter().copied().fold(0.0, f64::max);
            let name = format!("{name}: worst of {times}");
            report.add(name, worst, "s", Target::AtMost(limit));
        }
        Ok(())
    }
}

/// Which of the processes leads; waits until one does.
fn leader(processes: &[(&str, Server)]) -> Result<usize> {
    let leads = |(_, process): &(&str, Server)| process.admin().is_ok("/leaderz");
    until("a leader", || processes.iter().position(leads))
}

fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> Result<T> {
    let started = Instant::now();
    loop {
        if let Some(value) = look() {
            return Ok(value);
        }
        stop::check()?;
        if started.elapsed() > TIMEOUT {
            return Err(Error(format!("no {what} within {TIMEOUT:?}")));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
