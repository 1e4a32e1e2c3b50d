//! A disk that runs full with default settings and a crowd of wallets, each of which every round uses: this is
//! the largest possible checkpoint, and the reserve that the defaults keep free must suffice for it. By
//! default the crowd is small enough for every run of the tests; with `FULL_DISK_WALLETS=1000000` (and
//! `--release`) it is as large as the README promises.

use crate::{
    books::{
        Audit, Record,
        operation::{Item, Operation},
    },
    small_disk::SmallDisk,
};
use kit::{Background, Client, Launch, Server, deadline};
use reqwest::Method;
use serde_json::Value;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Environment variable with the number of wallets.
const VARIABLE: &str = "FULL_DISK_WALLETS";
const WALLETS: usize = 20_000;

const MIB: u64 = 1 << 20;

/// The disk's size without wallets, and what each wallet adds. It must run full only after all wallets were
/// used.
const DISK_BYTES: u64 = 512 * MIB;
const BYTES_A_WALLET: u64 = 2_560;

/// A file that is removed when space is to be freed.
const BALLAST: &str = "ballast";
const BALLAST_BYTES: u64 = 128 * MIB;

/// Items per batch; small enough that all wallets are used before the disk is full.
const ITEMS: usize = 1_000;
const PADDING: usize = 200;

const OPENING_BALANCE: i64 = 1_000_000;

/// Wallets whose whole ledgers are checked, spread over all.
const LOOKED_AT: usize = 100;

/// Concurrent requests while wallets are opened.
const OPENERS: usize = 32;
/// Number of workers, each with one batch in flight.
const WORKERS: usize = 4;

/// How long each of the long steps may take.
const TIMEOUT: Duration = Duration::from_secs(1500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_under_the_defaults_has_room_to_checkpoint_many_wallets() {
    let wallets = std::env::var(VARIABLE).map_or(WALLETS, |text| {
        text.parse()
            .unwrap_or_else(|error| panic!("{VARIABLE}={text}: {error}"))
    });
    let disk = SmallDisk::mount(DISK_BYTES + BYTES_A_WALLET * wallets as u64);
    disk.put(BALLAST, BALLAST_BYTES);
    let launch = Launch::default().through(disk.inside());
    let mut server = Server::launch_at(launch, &disk.path().join("data")).await;
    let crowd = Arc::new(Crowd::new(wallets));

    crowd.open(&server).await;
    crowd.audit(&server, "after the opening", true).await;
    for end in crowd.fill(&server, usize::MAX).await {
        assert_eq!(end, Some("unavailable".into()), "the code of a full disk");
    }
    assert!(
        crowd.batches() > wallets / ITEMS,
        "the disk was full before every wallet was touched"
    );
    folded(&server).await;
    crowd.audit(&server, "while the disk is full", false).await;
    assert!(
        server.terminate().await.success(),
        "a clean end exits with 0"
    );
    server.start_again().await;
    crowd
        .audit(&server, "restarted on a full disk", false)
        .await;
    assert!(
        server.terminate().await.success(),
        "a clean end exits with 0"
    );

    disk.remove(BALLAST);
    server.start_again().await;
    crowd.resend(&server).await;
    let more = crowd.batches() + 2 * WORKERS;
    for end in crowd.fill(&server, more).await {
        assert_eq!(end, None, "nothing is refused any more");
    }
    crowd.audit(&server, "after space was freed", true).await;
    assert!(
        server.terminate().await.success(),
        "a clean end exits with 0"
    );
    server.verify();
}

/// Waits until everything in the log is folded.
async fn folded(server: &Server) {
    deadline::answered("a full disk to fold", TIMEOUT, async || {
        (backlog(server).await == 0).then_some(())
    })
    .await;
}

/// Number of events in the log that are not folded.
async fn backlog(server: &Server) -> u64 {
    let request = server.instance().admin().request(Method::GET, "/metrics");
    let text = request.send().await.unwrap().text().await.unwrap();
    text.lines()
        .find_map(|line| line.strip_prefix("scrip_journal_backlog_events "))
        .expect("the metric is there")
        .parse()
        .unwrap()
}

/// The wallets, and the batches that were sent to them, each to the next few in turn.
struct Crowd {
    wallets: usize,
    /// Whether each batch was answered.
    answered: Mutex<Vec<bool>>,
}

impl Crowd {
    fn new(wallets: usize) -> Self {
        Self {
            wallets,
            answered: Mutex::default(),
        }
    }

    /// Grants every wallet enough for the whole test.
    async fn open(self: &Arc<Self>, server: &Server) {
        let next = Arc::new(AtomicUsize::new(0));
        let openers: Vec<_> = (0..OPENERS)
            .map(|_| {
                let (crowd, next) = (Arc::clone(self), Arc::clone(&next));
                let (client, product) = (server.client(), server.product().to_owned());
                Background::spawn("opening wallets", async move {
                    loop {
                        let wallet = next.fetch_add(1, Ordering::Relaxed);
                        if wallet >= crowd.wallets {
                            return;
                        }
                        let (path, body) = opening(wallet).request(&product, None);
                        let body = body.expect("a grant has a body");
                        client.post(&path, &body).await.expect(200);
                    }
                })
            })
            .collect();
        for opener in openers {
            opener.finish(TIMEOUT).await;
        }
    }

    /// Sends batches until there are `until` of them or one is refused; returns how each worker ended.
    async fn fill(self: &Arc<Self>, server: &Server, until: usize) -> Vec<Option<String>> {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| {
                let crowd = Arc::clone(self);
                let (client, product) = (server.client(), server.product().to_owned());
                Background::spawn("filling the disk", async move {
                    while let Some(batch) = crowd.next(until) {
                        if let Err(code) = crowd.send(&client, &product, batch).await {
                            return Some(code);
                        }
                    }
                    None
                })
            })
            .collect();
        let mut ends = Vec::new();
        for worker in workers {
            ends.push(worker.finish(TIMEOUT).await);
        }
        ends
    }

    /// Sends all unanswered batches again.
    async fn resend(&self, server: &Server) {
        let unanswered: Vec<_> = {
            let answered = self.answered.lock().unwrap();
            (0..answered.len())
                .filter(|&batch| !answered[batch])
                .collect()
        };
        for batch in unanswered {
            let sent = self.send(&server.client(), server.product(), batch).await;
            assert_eq!(sent, Ok(()), "nothing is refused any more");
        }
    }

    fn batches(&self) -> usize {
        self.answered.lock().unwrap().len()
    }

    fn next(&self, until: usize) -> Option<usize> {
        let mut answered = self.answered.lock().unwrap();
        let batch = answered.len();
        (batch < until).then(|| {
            answered.push(false);
            batch
        })
    }

    /// Sends a batch; the error is the code with which it, or one of its items, was refused.
    async fn send(&self, client: &Client, product: &str, batch: usize) -> Result<(), String> {
        let items = self.items(batch).map(|wallet| deduction(batch, wallet));
        let (path, body) = Operation::Batch(items.collect()).request(product, None);
        let body = body.expect("a batch has a body");
        loop {
            let reply = client.post(&path, &body).await;
            let refused = match reply.status {
                200 => refused_item(&reply.body),
                503 => Some(reply.code().to_owned()),
                status => panic!("a batch was answered {status}: {}", reply.body),
            };
            match refused {
                None => break,
                // Folding may lag behind the load for a moment; only the disk counts.
                Some(code) if code == "overloaded" => {}
                Some(code) => return Err(code),
            }
        }
        self.answered.lock().unwrap()[batch] = true;
        Ok(())
    }

    /// The wallets of a batch.
    fn items(&self, batch: usize) -> impl Iterator<Item = usize> {
        let (first, wallets) = (batch * ITEMS, self.wallets);
        (0..ITEMS).map(move |place| (first + place) % wallets)
    }

    /// Checks the whole ledgers of some wallets.
    async fn audit(&self, server: &Server, context: &str, all: bool) {
        let apart = self.wallets / LOOKED_AT;
        let looked_at = |wallet: &usize| wallet.is_multiple_of(apart);
        let answered = self.answered.lock().unwrap().clone();
        let openings = (0..self.wallets)
            .filter(looked_at)
            .map(|wallet| (opening(wallet), true));
        let batches = answered.iter().enumerate().map(|(batch, answered)| {
            let items = self.items(batch).filter(looked_at);
            let items = items.map(|wallet| deduction(batch, wallet)).collect();
            (Operation::Batch(items), *answered)
        });
        let records: Vec<_> = openings
            .chain(batches)
            .map(|(operation, answered)| Record::known(operation, answered))
            .collect();
        let names: Vec<_> = (0..self.wallets).filter(looked_at).map(name).collect();
        let audit = Audit::read(&server.client(), server.product(), &names).await;
        audit.assert(context, &records, |number| all || records[number].answered);
    }
}

fn name(wallet: usize) -> String {
    format!("crowd-{wallet}")
}

fn opening(wallet: usize) -> Operation {
    Operation::Grant(Item {
        wallet: name(wallet),
        amount: OPENING_BALANCE,
        key: format!("opening-{wallet}"),
        padding: 0,
    })
}

fn deduction(batch: usize, wallet: usize) -> Item {
    Item {
        wallet: name(wallet),
        amount: 1,
        key: format!("batch-{batch}-{wallet}"),
        padding: PADDING,
    }
}

/// The code of the first item of a batch that was refused.
fn refused_item(body: &Value) -> Option<String> {
    let results = body["results"].as_array().expect("a batch has results");
    let refused = results.iter().find(|result| !result["error"].is_null())?;
    Some(refused["error"]["code"].as_str().unwrap_or_default().into())
}
