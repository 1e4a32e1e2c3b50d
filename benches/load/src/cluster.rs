//! The log in PostgreSQL beside the log on this machine's disk, the database's own work included: what a deduction
//! takes near it and a millisecond or two away, what a snapshot that somebody holds does to it, what a follower costs,
//! and how long nobody answers when the leader is killed or stopped.

mod cells;

use std::{
    thread,
    time::{Duration, Instant},
};

use postgres_kit::{Postgres, Proxy};

use super::{
    Bench,
    child::{ADMIN_TOKEN, Server},
    client::Client,
    error::{Context, Error, Needed, Result},
    format::{median, thousands},
    http::{Series, Shape},
    load::{Template, Wallets},
    proc,
    project::{BATCH, Project},
    report::Target,
};

/// Wallets that deductions are spread over.
const WALLETS: u64 = 10_000;
/// The same on every process.
const SERVER_KEY: &str = "abababababababababababababababababababababababababababababababab";
/// How often the leader is killed, and how often it is stopped.
const FAIL_OVERS: usize = 20;
/// The same in a short run.
const FEW_FAIL_OVERS: usize = 3;
/// Nobody waits longer than this for a fail-over.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The settings of a process whose log is in this database.
fn settings(url: &str, pipeline: usize) -> Vec<(&'static str, String)> {
    vec![
        ("SCRIP_STORAGE_URL", url.to_owned()),
        ("SCRIP_STORAGE_PIPELINE", pipeline.to_string()),
        ("SCRIP_SERVER_KEY", SERVER_KEY.to_owned()),
    ]
}

/// A server with funded wallets, and its deductions.
struct Measured {
    name: &'static str,
    server: Server,
    project: Project,
}

impl Bench {
    /// The suite of a cluster.
    pub(crate) fn cluster(&mut self) -> Result<()> {
        let database = Postgres::start();
        let near = database.url(&database.create_database());
        let mut disk = self.measured("on the disk", "cluster-disk", &[])?;
        let mut postgres = self.measured("in PostgreSQL", "cluster", &settings(&near, 4))?;
        for (kind, connections) in [
            ("single", 1),
            ("single", 64),
            ("single", 256),
            ("single", 1024),
            ("batch", 64),
        ] {
            self.beside(kind, connections, &mut disk, &mut postgres)?;
        }
        self.with_a_snapshot_held(&database, &mut postgres)?;
        self.with_a_follower(&near, &mut postgres)?;
        disk.server.terminate().map(drop)?;
        for delay in [1, 2] {
            self.further_away(&database, delay, &mut postgres)?;
        }
        postgres.server.terminate().map(drop)?;
        self.two_cells(&database)?;
        self.fail_overs(&database)
    }

    fn measured(&self, name: &'static str, data: &str, env: &[(&str, String)]) -> Result<Measured> {
        let (mut server, project) = self.start(data, env)?;
        eprintln!("cluster: funding {WALLETS} wallets {name}");
        project.fund(&server, self.args.load_threads, WALLETS)?;
        server.quiet()?;
        Ok(Measured {
            name,
            server,
            project,
        })
    }

    /// Rounds of one load on two servers in turns; returns the two series.
    fn in_turns(
        &mut self,
        kind: &'static str,
        connections: usize,
        all: [&mut Measured; 2],
    ) -> Result<[Series; 2]> {
        let [one, other] = all;
        let mut series = [
            Series::new(one.name, Wallets::Random(WALLETS))?,
            Series::new(other.name, Wallets::Random(WALLETS))?,
        ];
        for round in 1..=self.args.rounds() {
            let [first, second] = &mut series;
            for (measured, series) in [(&mut *one, first), (&mut *other, second)] {
                let template = template(kind, &measured.project);
                let shape = Shape {
                    kind,
                    connections,
                    template: &template,
                };
                self.round(&shape, round, series, &mut measured.server)?;
            }
        }
        Ok(series)
    }

    fn beside(
        &mut self,
        kind: &'static str,
        connections: usize,
        disk: &mut Measured,
        postgres: &mut Measured,
    ) -> Result<()> {
        let [on_disk, in_postgres] = self.in_turns(kind, connections, [disk, postgres])?;
        let load = match kind {
            "batch" => format!("batches of {BATCH}, {connections} connections"),
            _ => format!("single, {connections} connections"),
        };
        let report = &mut self.report;
        for series in [&on_disk, &in_postgres] {
            report.value(format!("{load}: {}", series.name), series.rate(), "/s");
            report.note(series.percentiles());
        }
        let ratio = in_postgres.rate() / on_disk.rate().max(1e-9);
        report.value(format!("{load}: in PostgreSQL / on the disk"), ratio, "");
        Ok(())
    }

    /// A dump, a long report or a forgotten session holds a snapshot: rows that change would pile up behind it.
    fn with_a_snapshot_held(&mut self, database: &Postgres, postgres: &mut Measured) -> Result<()> {
        let rates = |bench: &mut Self, name: &'static str, postgres: &mut Measured| {
            let mut series = Series::new(name, Wallets::Random(WALLETS))?;
            let template = template("single", &postgres.project);
            let shape = Shape {
                kind: "single",
                connections: 64,
                template: &template,
            };
            for round in 1..=bench.args.rounds() {
                bench.round(&shape, round, &mut series, &mut postgres.server)?;
            }
            Ok::<_, Error>(series.rate())
        };
        let before = rates(self, "no snapshot", postgres)?;
        let during = thread::scope(|scope| {
            let held = scope.spawn(|| {
                // Ended by the server when this is over.
                database.try_psql(
                    "postgres",
                    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class; SELECT pg_sleep(600)",
                )
            });
            let during = rates(self, "a snapshot is held", postgres);
            database.psql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' \
                 AND pid <> pg_backend_pid()",
            );
            drop(held.join());
            during
        })?;
        self.report.add(
            "single, 64 connections, while a snapshot is held / before".to_owned(),
            during / before.max(1e-9),
            "",
            Target::AtLeast(0.8, None),
        );
        self.report.note(format!("{}/s before", thousands(before)));
        Ok(())
    }

    /// One more process reads the log and folds it, on the same machine.
    fn with_a_follower(&mut self, url: &str, postgres: &mut Measured) -> Result<()> {
        let name = "with a follower";
        let began = Instant::now();
        let follower = self.server(&self.place.data("cluster-follower"), &settings(url, 4))?;
        follows(&follower)?;
        // The leader writes a frame twice a second.
        while follower
            .gauge("scrip_cluster_lag_frames")
            .unwrap_or(u64::MAX)
            > 2
        {
            check_timeout(began, "a follower that has read all of the log")?;
        }
        let frames = follower.gauge("scrip_cluster_head_frame")? as f64;
        let report = &mut self.report;
        report.value(
            "a new process with an empty directory, until it has all".to_owned(),
            began.elapsed().as_secs_f64(),
            "s",
        );
        report.note(format!("{} frames, of up to 60 KB", thousands(frames)));
        let busy = proc::processor_time(follower.pid())?;
        let started = Instant::now();
        let mut series = Series::new(name, Wallets::Random(WALLETS))?;
        let template = template("single", &postgres.project);
        let shape = Shape {
            kind: "single",
            connections: 256,
            template: &template,
        };
        for round in 1..=self.args.rounds() {
            self.round(&shape, round, &mut series, &mut postgres.server)?;
        }
        let share = proc::processor_time(follower.pid())?
            .saturating_sub(busy)
            .as_secs_f64()
            / started.elapsed().as_secs_f64().max(1e-9);
        let report = &mut self.report;
        report.value(
            "single, 256 connections, with a follower beside it".to_owned(),
            series.rate(),
            "/s",
        );
        report.note(series.percentiles());
        report.value(
            "what the follower takes of a processor".to_owned(),
            share,
            "",
        );
        drop(follower);
        Ok(())
    }

    fn further_away(
        &mut self,
        database: &Postgres,
        millis: u64,
        near: &mut Measured,
    ) -> Result<()> {
        let proxy = Proxy::to(database.address());
        let url = database.url_through(&proxy, &database.create_database());
        for pipeline in [1, 4] {
            let data = format!("cluster-{millis}-{pipeline}");
            let url = match pipeline {
                1 => database.url_through(&proxy, &database.create_database()),
                _ => url.clone(),
            };
            let mut far = self.measured("further away", &data, &settings(&url, pipeline))?;
            proxy.delay(Duration::from_millis(millis), Duration::ZERO);
            for connections in [1, 64, 256, 1024] {
                let [near, far] = self.in_turns("single", connections, [near, &mut far])?;
                let name = format!(
                    "single, {connections} connections, {millis} ms away, {pipeline} under way"
                );
                self.report.value(
                    format!("{name} / beside"),
                    far.rate() / near.rate().max(1e-9),
                    "",
                );
                self.report.note(format!(
                    "{}/s, {}",
                    thousands(far.rate()),
                    far.percentiles()
                ));
            }
            proxy.delay(Duration::ZERO, Duration::ZERO);
            far.server.terminate().map(drop)?;
        }
        Ok(())
    }

    /// Kills the leader of three processes again and again, then stops it again and again.
    fn fail_overs(&mut self, database: &Postgres) -> Result<()> {
        let url = database.url(&database.create_database());
        let env = settings(&url, 4);
        let mut processes = Vec::new();
        for name in ["cluster-1", "cluster-2", "cluster-3"] {
            processes.push((name, self.server(&self.place.data(name), &env)?));
        }
        for (way, target, is_kill) in [
            ("killed", Target::AtMost(10.0), true),
            ("stopped in order", Target::AtMost(1.0), false),
        ] {
            let mut away = Vec::new();
            let times = match self.args.quick {
                true => FEW_FAIL_OVERS,
                false => FAIL_OVERS,
            };
            for _ in 0..times {
                let (name, leader) = processes.remove(leader(&processes)?);
                for (_, other) in &processes {
                    follows(other)?;
                }
                let witness = processes.first().map(|(_, other)| other.address());
                let witness = witness.needed("another process")?;
                let began = Instant::now();
                match is_kill {
                    true => leader.kill()?,
                    false => leader.terminate().map(drop)?,
                }
                answers_again(&Client::new(witness, ADMIN_TOKEN), began)?;
                away.push(began.elapsed().as_secs_f64());
                processes.push((name, self.server(&self.place.data(name), &env)?));
            }
            let report = &mut self.report;
            report.value(
                format!("time without service, leader {way}: p50"),
                median(away.iter().copied()),
                "s",
            );
            let worst = away.iter().copied().fold(0.0, f64::max);
            report.add(
                format!("time without service, leader {way}: worst of {times}"),
                worst,
                "s",
                target,
            );
        }
        Ok(())
    }
}

fn template(kind: &str, project: &Project) -> Template {
    match kind {
        "batch" => project.batch(),
        _ => project.deduct(),
    }
}

/// Which of the processes leads; waits until one does.
fn leader(processes: &[(&str, Server)]) -> Result<usize> {
    let started = Instant::now();
    loop {
        for (index, (_, process)) in processes.iter().enumerate() {
            let reply = process.admin().get("/leaderz");
            if reply.is_ok_and(|reply| reply.status == 200) {
                return Ok(index);
            }
        }
        check_timeout(started, "a leader")?;
    }
}

/// Waits until this process leads.
fn leads(process: &Server) -> Result<()> {
    says(process, "/leaderz", "a leader")
}

/// Waits until a process follows.
fn follows(process: &Server) -> Result<()> {
    says(process, "/readyz", "a follower")
}

/// Waits until a process says so of itself.
fn says(process: &Server, path: &str, what: &str) -> Result<()> {
    let started = Instant::now();
    let is_so = || {
        process
            .admin()
            .get(path)
            .is_ok_and(|reply| reply.status == 200)
    };
    while !is_so() {
        check_timeout(started, what)?;
    }
    Ok(())
}

/// Asks until a request that only a leader answers is answered.
fn answers_again(client: &Client, since: Instant) -> Result<()> {
    while !client
        .get("/api/admin/v1/projects")
        .is_ok_and(|reply| reply.status == 200)
    {
        check_timeout(since, "an answer")?;
    }
    Ok(())
}

fn check_timeout(since: Instant, what: &str) -> Result<()> {
    super::stop::check()?;
    if since.elapsed() > TIMEOUT {
        return Err(Error(format!("no {what} within {} s", TIMEOUT.as_secs()))).context("cluster");
    }
    thread::sleep(Duration::from_millis(2));
    Ok(())
}
