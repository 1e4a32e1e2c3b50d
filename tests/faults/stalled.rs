//! Clients that send half of a request and wait. Nine hundred of them beside a load of deductions: they are cut
//! off, they take little memory, and delay no other client. Prints the figures:
//!
//! ```sh
//! cargo test --release --test faults stalled -- --nocapture
//! ```

use std::time::{Duration, Instant};

use kit::{Background, Server};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::{interval, timeout},
};

const STALLED: usize = 900;
/// Bytes sent of a body that is announced as larger.
const SENT_BYTES: usize = 20 * 1024;
/// Timeout of a webhook's body, and tolerance for a busy machine.
const CUT_OFF_WITHIN: Duration = Duration::from_secs(120);
const LOADERS: usize = 8;
/// Interval of each loader: some 400 deductions per second in all.
const DEDUCTION_EVERY: Duration = Duration::from_millis(20);
/// More than a connection's buffers and the bytes sent of a body.
const MAX_KIB_EACH: u64 = 128;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_connections_are_cut_off_and_delay_no_others() {
    allow_many_files();
    let server = Server::start().await;
    // With a provider, so that a webhook is not refused for want of one.
    server.set_provider(&json!({"kind": "sandbox"})).await;
    server.grant("ann", 1_000_000_000, "grant").await;

    let alone = load(&server, tokio::time::sleep(Duration::from_secs(3))).await;
    let before = resident_kib(&server);
    let mut most = before;
    let (started, mut took) = (Instant::now(), Duration::ZERO);
    let cut_off = async {
        let mut stalled = stall(&server).await;
        while let Some(ended) = stalled.join_next().await {
            ended.unwrap();
            most = most.max(resident_kib(&server));
        }
        took = started.elapsed();
    };
    let beside = load(&server, cut_off).await;

    println!(
        "{STALLED} stalled connections: all cut off after {:.1} s, memory {} MiB before and at most \
         {} MiB; deductions alone p50 {:.2} ms, p99 {:.2} ms; beside them p50 {:.2} ms, p99 {:.2} ms",
        took.as_secs_f64(),
        before / 1024,
        most / 1024,
        alone.at(50),
        alone.at(99),
        beside.at(50),
        beside.at(99),
    );
    assert!(most - before < STALLED as u64 * MAX_KIB_EACH, "{most} KiB");
    // A busy machine is slow without them, too.
    let most = 1000.0 + 10.0 * alone.at(99);
    assert!(beside.at(99) < most, "{} ms", beside.at(99));
}

/// Latencies in milliseconds, sorted.
struct Latencies(Vec<f64>);

impl Latencies {
    fn at(&self, percent: usize) -> f64 {
        self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)]
    }
}

/// Makes deductions until `until` is over; returns their latencies.
async fn load(server: &Server, until: impl Future) -> Latencies {
    let (stop, stopping) = tokio::sync::watch::channel(false);
    let loaders = (0..LOADERS).map(|loader| {
        let client = server.client();
        let (product, stopping) = (server.product().to_owned(), stopping.clone());
        let started = Instant::now();
        Background::spawn("deductions", async move {
            let mut pace = interval(DEDUCTION_EVERY);
            let mut latencies = Vec::new();
            while !*stopping.borrow() {
                pace.tick().await;
                let key = format!("{started:?} {loader} {}", latencies.len());
                let body = json!({
                    "externalUserId": "ann", "productId": product, "amount": 1,
                    "idempotencyKey": key,
                });
                let sent = Instant::now();
                let path = "/api/v1/wallets/external/deduct";
                client.post(path, &body).await.expect(200);
                latencies.push(sent.elapsed().as_secs_f64() * 1000.0);
            }
            latencies
        })
    });
    let loaders: Vec<_> = loaders.collect();
    until.await;
    stop.send_replace(true);
    let mut latencies = Vec::new();
    for loader in loaders {
        latencies.extend(loader.finish(kit::deadline::SOON).await);
    }
    latencies.sort_by(f64::total_cmp);
    Latencies(latencies)
}

/// Sends incomplete webhooks that look like the provider's. Each task ends with its connection.
async fn stall(server: &Server) -> JoinSet<()> {
    let address = server.instance().base().replace("http://", "");
    let head = format!(
        "POST /webhooks/stripe/{} HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\
         Stripe-Signature: t=1,v1={}\r\n\r\n",
        server.project().id,
        "0".repeat(64),
    );
    let sent = [head.into_bytes(), vec![b' '; SENT_BYTES]].concat();
    let mut stalled = JoinSet::new();
    for _ in 0..STALLED {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let sent = sent.clone();
        stalled.spawn(async move {
            stream.write_all(&sent).await.unwrap();
            let mut answer = Vec::new();
            // A reset ends the connection, too.
            let ended = timeout(CUT_OFF_WITHIN, stream.read_to_end(&mut answer)).await;
            assert!(ended.is_ok(), "it is still open");
        });
    }
    stalled
}

/// Raises the limit of open files: the test needs a descriptor per connection, too.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

fn resident_kib(server: &Server) -> u64 {
    let status = format!("/proc/{}/status", server.instance().id());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.unwrap().parse().unwrap()
}
