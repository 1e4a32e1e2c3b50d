//! Ten thousand streams of balances: the memory and the bytes that each takes while nothing happens, and what they
//! cost the deductions beside them, on other wallets and on their own.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{
    Bench, Setup,
    error::{Context, Error, Result},
    format::{median, thousands},
    load::{Wallets, user},
    process::{processor_time, resident},
    report::Target,
    rounds::Series,
};

const STREAMS: u64 = 10_000;
const CONNECTIONS: usize = 64;
/// Two comment lines come in it.
const IDLE: Duration = Duration::from_secs(31);
const TIMEOUT: Duration = Duration::from_secs(30);

impl Bench {
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
        let setup = self.funded("streams", &env, 2 * streams)?;
        self.idle_streams(&setup, streams)?;
        let mut alone = Series::new("deductions without streams, 64 connections")?;
        let mut beside = Series::new("the same beside streams of other wallets")?;
        let mut streamed = Series::new("the same on wallets that are streamed")?;
        // The load is on the first half of the wallets.
        let wallets = Wallets::Random(streams);
        let load = self.load(&setup.server, setup.project.deduct(), CONNECTIONS, wallets);
        for _ in 0..self.args.rounds() {
            self.round(&load, &setup.server, &mut alone)?;
            for (first, series) in [(streams, &mut beside), (0, &mut streamed)] {
                let open = open(&setup, first, streams)?;
                self.round(&load, &setup.server, series)?;
                drop(open);
                setup.server.checkpointed()?;
            }
        }
        let report = &mut self.report;
        for series in [&alone, &beside, &streamed] {
            series.report(report);
        }
        let name = "deductions, beside streams of other wallets / without";
        report.add(name, beside.rate_beside(&alone), "", Target::AtLeast(0.95));
        setup.server.terminate().map(drop)
    }

    /// What streams take while nothing happens.
    fn idle_streams(&mut self, setup: &Setup, streams: u64) -> Result<()> {
        let server = setup.server.pid();
        let before = resident(server)?;
        let mut open = open(setup, streams, streams)?;
        let memory = resident(server)?.saturating_sub(before) as f64 / streams as f64;
        let used = processor_time(server)?;
        std::thread::sleep(IDLE);
        let used = processor_time(server)?.saturating_sub(used).as_secs_f64();
        let mut sent = Vec::new();
        for stream in open.iter_mut().take(100) {
            stream.set_nonblocking(true)?;
            sent.push(stream.read(&mut [0; 4096]).unwrap_or(0) as f64);
        }
        let report = &mut self.report;
        let name = format!("{} idle streams: memory of each", thousands(streams as f64));
        report.add(name, memory / 1e3, "KB", Target::AtMost(32.0));
        let sent = median(sent) * 60.0 / IDLE.as_secs_f64();
        let name = "an idle stream: bytes sent in a minute";
        report.add(name, sent, "", Target::AtMost(100.0));
        let used = used * 1e3 / IDLE.as_secs_f64();
        report.value("idle streams: processor time", used, "ms/s");
        Ok(())
    }
}

/// Opens a stream of each of these wallets, and reads its first event.
fn open(setup: &Setup, first: u64, number: u64) -> Result<Vec<TcpStream>> {
    let started = Instant::now();
    let mut streams = Vec::new();
    for wallet in first..first + number {
        let stream = TcpStream::connect(setup.server.address());
        let mut stream = stream.context("a stream's connection")?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let head = format!(
            "GET /api/v1/wallets/external/stream?externalUserId={} HTTP/1.1\r\nHost: x\r\n\
             Authorization: Bearer {}\r\n\r\n",
            user(wallet),
            setup.project.secret
        );
        let sent = stream.write_all(head.as_bytes());
        sent.context("a stream's request")?;
        streams.push(stream);
    }
    for stream in &mut streams {
        read_event(stream)?;
    }
    let took = started.elapsed().as_secs_f64();
    eprintln!("streams: {number} opened in {took:.1} s");
    Ok(streams)
}

fn read_event(stream: &mut TcpStream) -> Result<()> {
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while !text.contains("event: balance") {
        let read = stream.read(&mut buffer).context("a stream's first event")?;
        if read == 0 || text.len() > 4096 {
            return Err(Error(format!("this is no stream: {text}")));
        }
        let bytes = buffer.get(..read).unwrap_or_default();
        text.push_str(&String::from_utf8_lossy(bytes));
    }
    Ok(())
}

/// Raises the limit of open files: both this process and the server need one per connection.
fn allow_many_files() -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).context("descriptors")
}
