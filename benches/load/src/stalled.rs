//! Nine hundred clients that send half of a webhook's body and wait, beside deductions: what they cost the
//! deductions and the memory until they are cut off.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{
    Bench,
    child::Server,
    error::{Context, Error, Result},
    format::{median, thousands},
    load::{Load, Outcome, Wallets},
    proc::resident,
    project::{PROJECTS, Project},
    report::Target,
    series::Series,
};

/// Stalled connections: fewer than one client address may have.
const STALLED: usize = 900;
/// Bytes sent of a body, and its announced length.
const SENT_BYTES: usize = 20 * 1024;
const SAID_BYTES: usize = 500_000;
/// Timeout of a webhook's body, and some tolerance.
const CUT_OFF_WITHIN: Duration = Duration::from_secs(30);
const WALLETS: u64 = 10_000;
const CONNECTIONS: usize = 64;

impl Bench {
    /// The suite of stalled clients.
    pub(crate) fn stalled(&mut self) -> Result<()> {
        allow_many_files()?;
        let (mut server, project) = self.start("stalled", &[])?;
        // A webhook of a project without a provider is refused before its body is read.
        let sandbox = json!({"provider": {"kind": "sandbox"}});
        let path = format!("{PROJECTS}/{}", project.id);
        server.admin().patch(&path, &sandbox)?;
        eprintln!("stalled: funding {WALLETS} wallets");
        project.fund(&server, self.args.load_threads, WALLETS)?;
        server.folded()?;
        let (mut alone, mut beside) = (Series::new()?, Series::new()?);
        let (mut memory, mut cut_off) = (Vec::new(), Vec::new());
        for round in 1..=self.args.rounds() {
            alone.add(&self.any_wallet(&server, &project)?)?;
            server.folded()?;
            let before = resident(server.pid())?;
            let started = Instant::now();
            let stalled = stall(server.address(), &project.id)?;
            let most = resident(server.pid())?.saturating_sub(before);
            memory.push(most as f64 / 1e6);
            beside.add(&self.any_wallet(&server, &project)?)?;
            for stream in stalled {
                wait_for_end(stream)?;
            }
            cut_off.push(started.elapsed().as_secs_f64());
            eprintln!(
                "stalled round {round}: {} and {} deductions/s",
                thousands(alone.rates.last().copied().unwrap_or(0.0)),
                thousands(beside.rates.last().copied().unwrap_or(0.0)),
            );
            server.folded()?;
        }
        let report = &mut self.report;
        for (series, name) in [
            (&alone, "deductions alone, 64 connections"),
            (&beside, "the same beside 900 stalled connections"),
        ] {
            let rate = series.rate();
            report.value(name, rate, "/s");
            let at = |percent| series.latency.value_at_percentile(percent) as f64 / 1e6;
            report.note(format!("p50 {:.2} ms, p99 {:.2} ms", at(50.0), at(99.0)));
        }
        let ratio = beside.rate() / alone.rate().max(1e-9);
        let name = "deductions, beside stalled connections / alone";
        report.add(name, ratio, "", Target::AtLeast(0.9, None));
        let memory = median(memory);
        report.value("900 stalled connections: memory", memory, "MB");
        report.note(format!("{:.0} KB each", memory * 1e3 / STALLED as f64));
        let name = "900 stalled connections: all cut off after";
        report.value(name, median(cut_off), "s");
        server.terminate().map(drop)
    }

    fn any_wallet(&self, server: &Server, project: &Project) -> Result<Outcome> {
        let template = project.deduct();
        let load = Load {
            server: server.address(),
            connections: CONNECTIONS,
            threads: self.args.load_threads,
            template: &template,
            wallets: Wallets::Random(WALLETS),
            rate: None,
            patient: false,
            warm_up: self.args.warm_up(),
            // While they stall: no longer than the body's timeout.
            length: self.args.round().min(Duration::from_secs(8)),
        };
        load.run()
    }
}

/// Raises the limit of open files: both this process and the server need one per connection.
pub(crate) fn allow_many_files() -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).context("descriptors")
}

/// Sends halves of webhooks that look like a provider's.
fn stall(server: SocketAddr, project: &str) -> Result<Vec<TcpStream>> {
    let head = format!(
        "POST /webhooks/stripe/{project} HTTP/1.1\r\nHost: x\r\nContent-Length: {SAID_BYTES}\r\n\
         Stripe-Signature: t=1,v1={}\r\n\r\n",
        "0".repeat(64),
    );
    let sent = [head.into_bytes(), vec![b' '; SENT_BYTES]].concat();
    let mut stalled = Vec::with_capacity(STALLED);
    for _ in 0..STALLED {
        let mut stream = TcpStream::connect(server).context("a stalled connection")?;
        stream.set_read_timeout(Some(CUT_OFF_WITHIN))?;
        stream.write_all(&sent).context("half of a body")?;
        stalled.push(stream);
    }
    Ok(stalled)
}

fn wait_for_end(mut stream: TcpStream) -> Result<()> {
    match stream.read_to_end(&mut Vec::new()) {
        // A reset ends the connection, too.
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) => Err(Error(format!(
            "a stalled connection is still open: {error}"
        ))),
    }
}
