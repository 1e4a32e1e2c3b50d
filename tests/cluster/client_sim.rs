//! One client of a cell: it owns a wallet, spends from it through any process, and knows what must be in it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use kit::{Client, Reply, ledger};
use parking_lot::Mutex;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::Method;
use serde_json::json;

/// Credits in a wallet at its beginning: more than a test spends.
pub(crate) const GRANTED: i64 = 1_000_000_000;
/// Without an answer in this time the outcome is unknown.
const ANSWER_WITHIN: Duration = Duration::from_secs(12);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Wallets so far: each client has its own.
static WALLETS: AtomicUsize = AtomicUsize::new(0);

/// What all clients share.
pub(crate) struct Clients {
    /// The processes, by address.
    pub(crate) bases: Vec<String>,
    pub(crate) secret: String,
    pub(crate) product: String,
    pub(crate) stop: AtomicBool,
    /// Processes that clients keep away from, as a load balancer does before a restart.
    pub(crate) avoided: Mutex<Vec<usize>>,
    pub(crate) calls: Mutex<Vec<Call>>,
}

/// One attempt at a change, and how it ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) sent: Instant,
    pub(crate) ended: Instant,
    pub(crate) through: usize,
    pub(crate) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is done.
    Acknowledged,
    /// 503: the same again is right.
    Unavailable,
    /// No server listens at that address.
    Refused,
    /// The connection ended, or no answer came.
    Broken,
}

/// The changes that a client saw acknowledged, to be compared with the books.
pub(crate) struct Account {
    pub(crate) wallet: String,
    /// Keys and amounts of what was acknowledged, in order.
    pub(crate) done: Vec<(String, i64)>,
}

/// See the module.
pub(crate) struct ClientSim {
    clients_state: Arc<Clients>,
    clients: Vec<Client>,
    rng: StdRng,
    account: Account,
    balance: i64,
}

impl ClientSim {
    pub(crate) fn new(clients_state: &Arc<Clients>, number: usize) -> Self {
        let client = |base: &String| Client::new(base, &clients_state.secret);
        Self {
            clients: clients_state.bases.iter().map(client).collect(),
            clients_state: Arc::clone(clients_state),
            rng: StdRng::seed_from_u64(number as u64),
            account: Account {
                wallet: format!("user-{}", WALLETS.fetch_add(1, Ordering::Relaxed)),
                done: Vec::new(),
            },
            balance: 0,
        }
    }

    /// Spends until `stop` is set.
    pub(crate) async fn work(mut self) -> Account {
        let grant = format!("{}-0", self.account.wallet);
        self.change("/api/v1/credit", &grant, GRANTED).await;
        let mut number = 0;
        while !self.clients_state.stop.load(Ordering::Acquire) {
            number += 1;
            let key = format!("{}-{number}", self.account.wallet);
            let amount = -self.rng.random_range(1..=5);
            self.change("/api/v1/wallets/external/deduct", &key, amount)
                .await;
        }
        self.account
    }

    /// Makes a change, by the same request until it is acknowledged, and checks that another process shows it.
    async fn change(&mut self, path: &str, key: &str, delta: i64) {
        let body = json!({
            "externalUserId": self.account.wallet, "productId": self.clients_state.product, "amount": delta.abs(),
            "idempotencyKey": key,
        });
        let after = self.balance + delta;
        let mut was_seen = false;
        loop {
            let through = self.any(None);
            let request = self.clients[through]
                .request(Method::POST, path)
                .json(&body);
            let (sent, answer) = (
                Instant::now(),
                Client::send(request.timeout(ANSWER_WITHIN)).await,
            );
            let end = end(&answer);
            self.clients_state.calls.lock().push(Call {
                sent,
                ended: Instant::now(),
                through,
                end,
            });
            if let (End::Acknowledged, Ok(reply)) = (end, &answer) {
                assert_eq!(
                    reply.body["balance"].as_i64(),
                    Some(after),
                    "{key}: {}",
                    reply.body
                );
                self.balance = after;
                self.account.done.push((key.to_owned(), -delta));
                self.look(through, key, &[after]).await;
                return;
            }
            // It may be done or not; once it was seen to be, it stays so.
            if self.rng.random_ratio(1, 4) {
                let may_be: &[i64] = match was_seen {
                    true => &[after],
                    false => &[self.balance, after],
                };
                let seen = self.look(through, key, may_be).await;
                was_seen |= seen == Some(after);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Reads the balance through another process, as often as it takes: it must be one of these.
    async fn look(&mut self, but_through: usize, key: &str, may_be: &[i64]) -> Option<i64> {
        let path = format!(
            "/api/v1/wallets/external?externalUserId={}",
            self.account.wallet
        );
        loop {
            let through = self.any(Some(but_through));
            let request = self.clients[through].request(Method::GET, &path);
            let sent = Instant::now();
            match Client::send(request.timeout(ANSWER_WITHIN)).await {
                Ok(reply) if reply.status == 404 && may_be.contains(&0) => return None,
                Ok(reply) if reply.status == 200 => {
                    let lines = reply.body["balances"].as_array().unwrap();
                    let mut own = lines
                        .iter()
                        .filter(|line| line["productId"] == *self.clients_state.product);
                    let balance = own.next().and_then(|line| line["balance"].as_i64());
                    let balance = balance.unwrap_or(0);
                    assert!(
                        may_be.contains(&balance),
                        "behind {key}, process {through} showed {balance}, not {may_be:?}, {:?} after it was asked",
                        sent.elapsed()
                    );
                    return Some(balance);
                }
                answer => drop(end(&answer)),
            }
            if may_be.len() > 1 {
                return None;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Any process, but for this one and those that are avoided, as long as there is one.
    fn any(&mut self, but: Option<usize>) -> usize {
        let avoided = self.clients_state.avoided.lock().clone();
        let all = 0..self.clients.len();
        let mut open: Vec<usize> = all.filter(|at| !avoided.contains(at)).collect();
        if open.len() > 1 {
            open.retain(|at| Some(*at) != but);
        }
        open[self.rng.random_range(0..open.len())]
    }
}

/// How an attempt ended; panics where the answer is one that no trouble excuses.
fn end(answer: &Result<Reply, reqwest::Error>) -> End {
    match answer {
        Ok(reply) if reply.status == 200 => End::Acknowledged,
        Ok(reply) if reply.status == 503 => {
            let headers = &reply.headers;
            assert!(headers.contains_key("retry-after"), "{}", reply.body);
            End::Unavailable
        }
        Ok(reply) => panic!("{}: {}", reply.status, reply.body),
        Err(error) if error.is_connect() => End::Refused,
        Err(_) => End::Broken,
    }
}

/// Compares what a client saw acknowledged with what a process shows in the end.
pub(crate) async fn audit(account: &Account, client: &Client, product: &str) {
    let wallet = &account.wallet;
    let mut entries = ledger::entries(client, wallet)
        .await
        .expect("the wallet is there");
    entries.reverse();
    let shown: Vec<(String, i64)> = entries
        .iter()
        .map(|entry| (entry.key.clone().unwrap_or_default(), -entry.delta))
        .collect();
    assert_eq!(
        shown, account.done,
        "each change of {wallet} once, in its order"
    );
    let mut balance = 0;
    for entry in &entries {
        balance += entry.delta;
        assert_eq!(entry.balance_after, balance, "{wallet}: {entry:?}");
    }
    let now = ledger::balance(client, wallet, product).await.unwrap();
    assert_eq!(now.balance, balance, "{wallet}");
}
