//! Ten thousand streams of balances: the memory and the bytes that each takes while nothing happens, and what they
//! cost the deductions beside them, on other wallets and on their own.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use super::{
    Bench,
    child::Server,
    error::{Context, Error, Result},
    format::{median, thousands},
    load::{Load, Outcome, Wallets, user},
    proc::{processor_time, resident},
    project::Project,
    report::Target,
    series::Series,
    stalled::allow_many_files,
};

const STREAMS: u64 = 10_000;
const CONNECTIONS: usize = 64;
/// Two comment lines come in it.
const IDLE: Duration = Duration::from_secs(31);
const FIRST_EVENT_WITHIN: Duration = Duration::from_secs(30);

/// What streams take while nothing happens.
struct Idle {
    bytes: f64,
    sent: f64,
    processor: f64,
}

impl Bench {
    /// The suite of streams.
    pub(crate) fn streams(&mut self) -> Result<()> {
        allow_many_files()?;
        let streams = self.args.count(STREAMS);
        let env = [
            ("SCRIP_HTTP_MAX_CONNECTIONS_PER_CLIENT", "20000".to_owned()),
            // One project has half of all streams.
            ("SCRIP_HTTP_MAX_CONNECTIONS", "48000".to_owned()),
            ("SCRIP_LIMITS_STREAMS", (3 * STREAMS).to_string()),
            // Otherwise wallets that fall asleep are counted as memory that streams give back.
            ("SCRIP_ACTORS_IDLE_SECONDS", "3600".to_owned()),
            ("SCRIP_ACTORS_MAX_AWAKE", "40000".to_owned()),
        ];
        let (mut server, project) = self.start("streams", &env)?;
        eprintln!("streams: funding {} wallets", 2 * streams);
        project.fund(&server, self.args.load_threads, 2 * streams)?;
        server.folded()?;
        // The load is on the first half of the wallets.
        let idle = self.idle(&server, &project, streams)?;
        let [mut alone, mut beside, mut streamed] =
            [Series::new()?, Series::new()?, Series::new()?];
        for round in 1..=self.args.rounds() {
            alone.add(&self.deducted_from(&server, &project, streams)?)?;
            server.folded()?;
            for (first, series) in [(streams, &mut beside), (0, &mut streamed)] {
                let open = open(&server, &project, first, streams)?;
                series.add(&self.deducted_from(&server, &project, streams)?)?;
                drop(open);
                server.folded()?;
            }
            eprintln!(
                "streams round {round}: {}, {} and {} deductions/s",
                thousands(alone.rates.last().copied().unwrap_or(0.0)),
                thousands(beside.rates.last().copied().unwrap_or(0.0)),
                thousands(streamed.rates.last().copied().unwrap_or(0.0)),
            );
        }
        let report = &mut self.report;
        let name = format!("{} idle streams: memory of each", thousands(streams as f64));
        report.add(name, idle.bytes / 1e3, "KB", Target::AtMost(32.0));
        report.add(
            "an idle stream: bytes sent in a minute",
            idle.sent,
            "",
            Target::AtMost(100.0),
        );
        report.value("idle streams: processor time", idle.processor * 1e3, "ms/s");
        for (series, name) in [
            (&alone, "deductions without streams, 64 connections"),
            (&beside, "the same beside streams of other wallets"),
            (&streamed, "the same on wallets that are streamed"),
        ] {
            report.value(name, series.rate(), "/s");
            let at = |percent| series.latency.value_at_percentile(percent) as f64 / 1e6;
            report.note(format!("p50 {:.2} ms, p99 {:.2} ms", at(50.0), at(99.0)));
        }
        let ratio = beside.rate() / alone.rate().max(1e-9);
        let name = "deductions, beside streams of other wallets / without";
        report.add(name, ratio, "", Target::AtLeast(0.95, None));
        server.terminate().map(drop)
    }

    fn idle(&self, server: &Server, project: &Project, streams: u64) -> Result<Idle> {
        let before = resident(server.pid())?;
        let mut open = open(server, project, streams, streams)?;
        let with = resident(server.pid())?;
        let used = processor_time(server.pid())?;
        thread::sleep(IDLE);
        let used = processor_time(server.pid())?.saturating_sub(used);
        let mut sent = Vec::new();
        for stream in open.iter_mut().take(100) {
            stream.set_nonblocking(true)?;
            sent.push(stream.read(&mut [0; 4096]).unwrap_or(0) as f64);
        }
        Ok(Idle {
            bytes: with.saturating_sub(before) as f64 / streams as f64,
            sent: median(sent) * 60.0 / IDLE.as_secs_f64(),
            processor: used.as_secs_f64() / IDLE.as_secs_f64(),
        })
    }

    fn deducted_from(&self, server: &Server, project: &Project, wallets: u64) -> Result<Outcome> {
        let template = project.deduct();
        let load = Load {
            server: server.address(),
            connections: CONNECTIONS,
            threads: self.args.load_threads,
            template: &template,
            wallets: Wallets::Random(wallets),
            rate: None,
            patient: false,
            warm_up: self.args.warm_up(),
            length: self.args.round(),
        };
        load.run()
    }
}

/// Opens a stream of each of these wallets, and reads its first event.
fn open(server: &Server, project: &Project, first: u64, number: u64) -> Result<Vec<TcpStream>> {
    let started = Instant::now();
    let mut streams = Vec::new();
    for wallet in first..first + number {
        streams.push(ask(server.address(), &project.secret, &user(wallet))?);
    }
    for stream in &mut streams {
        read_event(stream)?;
    }
    eprintln!(
        "streams: {number} opened in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    Ok(streams)
}

fn ask(server: SocketAddr, secret: &str, user: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(server).context("a stream's connection")?;
    stream.set_read_timeout(Some(FIRST_EVENT_WITHIN))?;
    let head = format!(
        "GET /api/v1/wallets/external/stream?externalUserId={user} HTTP/1.1\r\nHost: x\r\n\
         Authorization: Bearer {secret}\r\n\r\n"
    );
    stream
        .write_all(head.as_bytes())
        .context("a stream's request")?;
    Ok(stream)
}

fn read_event(stream: &mut TcpStream) -> Result<()> {
    let (mut seen, mut buffer) = (String::new(), [0; 4096]);
    while !seen.contains("event: balance") {
        let read = stream.read(&mut buffer).context("a stream's first event")?;
        if read == 0 || seen.len() > 4096 {
            return Err(Error(format!("this is no stream: {seen}")));
        }
        seen.push_str(&String::from_utf8_lossy(
            buffer.get(..read).unwrap_or_default(),
        ));
    }
    Ok(())
}
