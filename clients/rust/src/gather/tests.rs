//! The gatherer by itself, in virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic in a test is a failed test, which is the point"
)]

use super::*;
use crate::{credits::Deduct, wallets::Wallet};
use serde_json::{Value, json};
use std::{collections::BTreeMap, iter};
use tokio::{sync::mpsc, task::JoinHandle};

/// A request that the test answers.
struct TestRequest {
    keys: Vec<String>,
    is_batch: bool,
    reply: oneshot::Sender<Outcome<Vec<Outcome<u64>>>>,
}

impl TestRequest {
    /// Answers each item with its position, but those with these keys.
    fn answer(self, refused: &[(&str, ErrorKind)]) {
        let of = |(at, key): (usize, &String)| {
            let found = refused.iter().find(|(name, _)| name == key);
            found.map_or(Ok(at as u64), |(_, refusal)| Err(refusal.clone()))
        };
        let _ = self
            .reply
            .send(Ok(self.keys.iter().enumerate().map(of).collect()));
    }

    fn fail(self, failure: &ErrorKind) {
        let _ = self.reply.send(Err(failure.clone()));
    }
}

struct Double {
    asked: mpsc::UnboundedSender<TestRequest>,
    opened: Mutex<Vec<String>>,
}

impl Double {
    async fn ask(&self, keys: Vec<String>, is_batch: bool) -> Outcome<Vec<Outcome<u64>>> {
        let (reply, answer) = oneshot::channel();
        let _ = self.asked.send(TestRequest {
            keys,
            is_batch,
            reply,
        });
        match answer.await {
            Ok(outcome) => outcome,
            Err(_) => std::future::pending().await,
        }
    }
}

fn key_of(body: &Value) -> String {
    body["idempotencyKey"].as_str().unwrap().to_owned()
}

impl Endpoint for Double {
    type Answer = u64;

    async fn single(&self, call: &Call) -> Outcome<u64> {
        let key = call.key.clone().unwrap();
        self.ask(vec![key], false).await?.remove(0)
    }

    async fn batch(&self, items: &[&str]) -> Outcome<Vec<Outcome<u64>>> {
        let keys = items
            .iter()
            .map(|item| key_of(&serde_json::from_str(item).unwrap()));
        self.ask(keys.collect(), true).await
    }

    async fn open_wallet(&self, user: &str) -> Result<(), Error> {
        self.opened.lock().unwrap().push(user.to_owned());
        Ok(())
    }
}

struct Bench {
    gatherer: Arc<Gatherer<Double>>,
    asked: mpsc::UnboundedReceiver<TestRequest>,
}

type Running = JoinHandle<Result<u64, Error>>;

fn item(wallet: &Wallet, deduct: &Deduct, key: &str) -> Item {
    let call = wallet.post("deduct").body(deduct).unwrap();
    Item::of_wallet(wallet, call.with("idempotencyKey", key).keyed()).unwrap()
}

impl Bench {
    fn new() -> Self {
        let (sender, asked) = mpsc::unbounded_channel();
        let double = Double {
            asked: sender,
            opened: Mutex::default(),
        };
        let gatherer = Arc::new(Gatherer::new(double, 3, Duration::from_secs(15)));
        Self { gatherer, asked }
    }

    fn spawn(&self, item: Item) -> Running {
        let gatherer = Arc::clone(&self.gatherer);
        tokio::spawn(async move { gatherer.call(item).await })
    }

    /// Deducts under this key, from a user of the key's first letter.
    fn call(&self, key: &str) -> Running {
        let user = key.chars().next().unwrap();
        self.spawn(item(&Wallet::external(user), &Deduct::new(1), key))
    }

    fn calls<const N: usize>(&self, keys: [&str; N]) -> [Running; N] {
        keys.map(|key| self.call(key))
    }

    /// The requests that are made now.
    async fn asked(&mut self) -> Vec<TestRequest> {
        wait(1).await;
        iter::from_fn(|| self.asked.try_recv().ok()).collect()
    }

    /// Their keys: `a b` is a batch.
    async fn sent(&mut self) -> Vec<String> {
        let asked = self.asked().await;
        asked.iter().map(|each| each.keys.join(" ")).collect()
    }

    /// Takes up both places, so that what comes next is gathered.
    async fn busy(&mut self) -> [TestRequest; 2] {
        let mut under_way = Vec::new();
        for key in ["y", "z"] {
            self.call(key);
            under_way.extend(self.asked().await);
        }
        under_way
            .try_into()
            .unwrap_or_else(|_| panic!("two requests"))
    }
}

async fn wait(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

fn refusal(status: u16, code: &str, param: Option<&str>) -> ErrorKind {
    let mut body = ErrorBody::new(code, "", status);
    body.param = param.map(str::to_owned);
    ErrorKind::Refused(Box::new(body))
}

fn offline() -> ErrorKind {
    ErrorKind::unanswered("no network")
}

async fn failure(call: Running) -> (u16, Option<String>) {
    let error = call.await.unwrap().unwrap_err();
    (
        error.kind().status(),
        error.idempotency_key().map(str::to_owned),
    )
}

#[tokio::test(start_paused = true)]
async fn it_is_sent_at_once_where_nothing_is_under_way_and_with_others_where_requests_are() {
    let mut bench = Bench::new();
    let lone = bench.call("a1");
    let [asked] = bench.asked().await.try_into().unwrap_or_else(|_| panic!());
    assert!(!asked.is_batch);
    asked.answer(&[]);
    assert_eq!(lone.await.unwrap().unwrap(), 0);

    let [one, _other] = bench.busy().await;
    let [a, b, c] = bench.calls(["a", "b", "c"]);
    assert!(bench.sent().await.is_empty());
    one.answer(&[]);
    let batch = bench.asked().await.remove(0);
    assert_eq!(
        (batch.keys.join(" ").as_str(), batch.is_batch),
        ("a b c", true)
    );
    batch.answer(&[("b", refusal(402, "insufficient_credits", None))]);
    assert_eq!(
        (a.await.unwrap().unwrap(), c.await.unwrap().unwrap()),
        (0, 2)
    );
    assert_eq!(failure(b).await, (402, Some("b".into())));
}

#[tokio::test(start_paused = true)]
async fn a_batch_has_a_thousand_items_at_most_and_half_a_mebibyte() {
    let mut bench = Bench::new();
    let user = |at: u32| Wallet::external(format!("user {at}"));
    for at in 0..1_001 {
        bench.spawn(item(&user(at), &Deduct::new(1), "key"));
    }
    let first = bench.asked().await;
    assert_eq!(
        first.iter().map(|each| each.keys.len()).collect::<Vec<_>>(),
        [MAX_ITEMS, 1]
    );
    let noted = Deduct::new(1).meta(json!({"note": "x".repeat(4_000)}));
    for at in 0..200 {
        bench.spawn(item(&user(2_000 + at), &noted, "key"));
    }
    for each in first {
        each.answer(&[]);
    }
    let next = bench.asked().await;
    assert!(
        (120..130).contains(&next[0].keys.len()),
        "{}",
        next[0].keys.len()
    );
}

#[tokio::test(start_paused = true)]
async fn the_order_within_a_wallet_holds_and_keeps_nobody_else() {
    let mut bench = Bench::new();
    bench.call("a1");
    let one = bench.asked().await.remove(0);
    bench.calls(["a2", "b1", "a3"]);
    assert_eq!(bench.sent().await, ["b1"]);
    one.fail(&offline());
    // It comes again before those behind it.
    assert!(bench.sent().await.is_empty());
    wait(100).await;
    assert_eq!(bench.sent().await, ["a1 a2 a3"]);

    let mut bench = Bench::new();
    for code in [
        "OLIVE-0000-1111-2222",
        "olive-oooo-IlLi-2222",
        "OLIVE 0000 1111 2222.",
    ] {
        bench.spawn(item(
            &Wallet::code(code),
            &Deduct::new(1).product("prod_1"),
            code,
        ));
    }
    assert_eq!(bench.sent().await.len(), 1);
    assert_eq!(bench.gatherer.queues().calls, 3);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_future_takes_nothing_along() {
    let mut bench = Bench::new();
    let [one, _other] = bench.busy().await;
    let [_a1, a2, _a3, b1] = bench.calls(["a1", "a2", "a3", "b1"]);
    wait(1).await;
    a2.abort();
    wait(1).await;
    one.answer(&[]);
    let batch = bench.asked().await.remove(0);
    assert_eq!(batch.keys, ["a1", "a3", "b1"]);
    b1.abort();
    wait(1).await;
    assert!(!batch.reply.is_closed());
    batch.fail(&refusal(429, "rate_limited", None));
    // While it waits for a retry it holds its wallet up, and no longer.
    wait(1).await;
    let b2 = bench.call("b2");
    assert_eq!(bench.sent().await, ["b2"]);
    b2.abort();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_waits_for_ends_and_frees_its_wallets() {
    let mut bench = Bench::new();
    let calls = bench.calls(["a", "b"]);
    let batch = bench.asked().await.remove(0);
    for call in calls {
        call.abort();
    }
    wait(1).await;
    assert!(batch.reply.is_closed());
    let again = bench.call("a2");
    bench
        .asked()
        .await
        .remove(0)
        .fail(&refusal(429, "rate_limited", None));
    wait(1).await;
    bench.call("a3");
    assert!(bench.sent().await.is_empty());
    // It would have come again.
    again.abort();
    assert_eq!(bench.sent().await, ["a3"]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_passes_is_tried_again_three_times_under_the_same_keys() {
    for trouble in [
        offline(),
        refusal(503, "unavailable", None),
        refusal(429, "rate_limited", None),
    ] {
        let mut bench = Bench::new();
        let calls = bench.calls(["a", "b"]);
        let mut sent = Vec::new();
        for _ in 0..8 {
            for asked in bench.asked().await {
                sent.extend(asked.keys.clone());
                asked.fail(&trouble);
            }
            wait(1_000).await;
        }
        sent.sort();
        assert_eq!(sent, ["a", "a", "a", "a", "b", "b", "b", "b"]);
        for (call, key) in calls.into_iter().zip(["a", "b"]) {
            assert_eq!(failure(call).await, (trouble.status(), Some(key.into())));
        }
    }
    let mut bench = Bench::new();
    let [_, b] = bench.calls(["a", "b"]);
    bench
        .asked()
        .await
        .remove(0)
        .answer(&[("b", refusal(503, "overloaded", None))]);
    wait(200).await;
    let again = bench.asked().await.remove(0);
    assert_eq!(again.keys, ["b"], "of one item alone");
    again.fail(&refusal(401, "invalid_api_key", None));
    assert_eq!(failure(b).await.0, 401, "what stays is not");
}

#[tokio::test(start_paused = true)]
async fn what_has_no_answer_in_time_fails_alone_also_where_it_was_not_sent() {
    let mut bench = Bench::new();
    let mut under_way = bench.busy().await.into_iter();
    let early = bench.call("a1");
    wait(14_000).await;
    let late = bench.calls(["a2", "b1"]);
    // Those that hang end with the last who waits for them, and are sent again.
    let mut sent = Vec::new();
    while !early.is_finished() {
        wait(500).await;
        sent.extend(bench.asked().await);
    }
    assert!(under_way.all(|each| each.reply.is_closed()));
    assert_eq!(failure(early).await.1.as_deref(), Some("a1"));
    assert!(sent.iter().any(|each| each.keys.contains(&"y".to_owned())));
    drop(late);
}

#[tokio::test(start_paused = true)]
async fn an_ill_formed_item_fails_alone() {
    let mut bench = Bench::new();
    let [_, b, _] = bench.calls(["a", "b", "c"]);
    let named = refusal(400, "invalid_request", Some("items[1].externalUserId"));
    bench.asked().await.remove(0).fail(&named);
    let [alone, others] = bench.asked().await.try_into().unwrap_or_else(|_| panic!());
    assert_eq!((alone.keys.join(" "), alone.is_batch), ("b".into(), false));
    assert_eq!(
        (others.keys.join(" "), others.is_batch),
        ("a c".into(), true)
    );
    alone.fail(&refusal(400, "invalid_request", Some("externalUserId")));
    assert_eq!(failure(b).await, (400, Some("b".into())));
    others.fail(&refusal(400, "invalid_request", None));
    let mut singles = bench.sent().await;
    singles.sort();
    assert_eq!(singles, ["a", "c"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_batch_would_be_refused_for_goes_by_itself() {
    let mut bench = Bench::new();
    let _under_way = bench.busy().await;
    let ann = Wallet::external("ann");
    for (wallet, deduct) in [
        (&ann, Deduct::new(0)),
        (&ann, Deduct::new(1 << 53)),
        (&ann, Deduct::new(1).meta(json!([1]))),
        (
            &ann,
            Deduct::new(1).meta(json!({"note": "x".repeat(20_000)})),
        ),
        (&Wallet::external(""), Deduct::new(1)),
        (&Wallet::external("a\n"), Deduct::new(1)),
        (&Wallet::external("ä".repeat(256)), Deduct::new(1)),
        (&Wallet::code("OLIVE-0000-0000-0000"), Deduct::new(1)),
    ] {
        bench.spawn(item(wallet, &deduct, "key"));
        let asked = bench.asked().await;
        assert_eq!((asked.len(), asked[0].is_batch), (1, false), "{deduct:?}");
        asked.into_iter().for_each(|each| each.answer(&[]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_too_large_is_halved() {
    let mut bench = Bench::new();
    let [a, ..] = bench.calls(["a", "b", "c", "d"]);
    let problem = String::new();
    let too_large = ErrorKind::Unreadable {
        status: 413,
        problem,
    };
    bench.asked().await.remove(0).fail(&too_large);
    let halves = bench.asked().await;
    assert_eq!(
        halves
            .iter()
            .map(|each| each.keys.len())
            .collect::<Vec<_>>(),
        [2, 2]
    );
    for half in halves {
        half.fail(&too_large);
    }
    let mut quarters = bench.asked().await;
    assert_eq!(quarters[0].keys, ["a"]);
    quarters.remove(0).fail(&too_large);
    assert_eq!(failure(a).await.0, 413);
}

#[tokio::test(start_paused = true)]
async fn an_older_server_is_asked_one_by_one_for_a_minute() {
    for status in [404, 405] {
        let mut bench = Bench::new();
        let _calls = bench.calls(["a1", "a2", "b"]);
        bench
            .asked()
            .await
            .remove(0)
            .fail(&refusal(status, "route_not_found", None));
        let singles = bench.asked().await;
        assert!(singles.iter().all(|each| !each.is_batch));
        assert!(!bench.gatherer.is_open());
        for each in singles {
            each.answer(&[]);
        }
        assert_eq!(bench.sent().await, ["a2"]);
        wait(60_000).await;
        assert!(bench.gatherer.is_open());
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_user_gets_a_wallet_once() {
    let mut bench = Bench::new();
    let [a, b] = bench.calls(["a", "b"]);
    let lacking = refusal(404, "wallet_not_found", None);
    bench
        .asked()
        .await
        .remove(0)
        .answer(&[("a", lacking.clone())]);
    let again = bench.asked().await.remove(0);
    assert_eq!(again.keys, ["a"]);
    again.fail(&lacking);
    assert_eq!((failure(a).await.0, b.await.unwrap().unwrap()), (404, 1));
    assert_eq!(*bench.gatherer.endpoint.opened.lock().unwrap(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn more_than_a_client_remembers_is_refused_and_forgotten_with_its_callers() {
    let mut bench = Bench::new();
    let _under_way = bench.busy().await;
    let noted = Deduct::new(1).meta(json!({"note": "x".repeat(15_000)}));
    let count = MAX_WAITING_BYTES / 30_000;
    let calls: Vec<_> = (0..count)
        .map(|_| bench.spawn(item(&Wallet::external("a"), &noted, "key")))
        .collect();
    wait(1).await;
    let (refused, waiting): (Vec<_>, Vec<_>) = calls.into_iter().partition(Running::is_finished);
    assert!(!refused.is_empty() && !waiting.is_empty());
    for call in refused {
        assert_eq!(failure(call).await, (503, Some("key".into())));
    }
    waiting.iter().for_each(JoinHandle::abort);
    wait(1).await;
    assert_eq!(bench.gatherer.queues().calls, 2);
}

#[tokio::test(start_paused = true)]
async fn it_closes_once_all_have_their_answers() {
    let mut bench = Bench::new();
    let under_way = bench.busy().await;
    let call = bench.call("a");
    wait(1).await;
    let gatherer = Arc::clone(&bench.gatherer);
    let closed = tokio::spawn(async move { gatherer.close().await });
    for each in under_way {
        each.answer(&[]);
    }
    let last = bench.asked().await.remove(0);
    assert!(!closed.is_finished() && !bench.gatherer.is_open());
    last.answer(&[]);
    closed.await.unwrap();
    assert_eq!(call.await.unwrap().unwrap(), 0);
    bench.gatherer.close().await;
}

#[test]
fn a_runtime_that_ends_keeps_nobody_on_another_one() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let mut runtime = || builder.enable_time().start_paused(true).build().unwrap();
    let (one, other) = (runtime(), runtime());
    let mut bench = Bench::new();
    let [first, _second] = one.block_on(bench.busy());
    let calls = other.block_on(async {
        let calls = bench.calls(["a1", "b1"]);
        assert!(bench.sent().await.is_empty());
        calls
    });
    // A request on the first runtime, with calls of the other.
    first.answer(&[]);
    let batch = one.block_on(bench.asked()).remove(0);
    assert_eq!(batch.keys, ["a1", "b1"]);
    let waiting = other.block_on(async {
        let waiting = bench.calls(["c1"]);
        assert!(bench.sent().await.is_empty());
        waiting
    });
    drop(one);
    other.block_on(async {
        bench.asked().await.remove(0).answer(&[]);
        wait(100).await;
        for each in bench.asked().await {
            each.answer(&[]);
        }
        for call in calls.into_iter().chain(waiting) {
            assert!(call.await.unwrap().is_ok());
        }
    });
}

/// A server that does things once for each key, and answers badly.
struct Model {
    chance: Arc<Mutex<u64>>,
    applied: Mutex<BTreeMap<String, Vec<String>>>,
    under_way: Mutex<Vec<String>>,
    has_batches: bool,
}

/// A number below 100, always the same for a seed.
fn next(chance: &Mutex<u64>) -> u64 {
    let mut state = chance.lock().unwrap();
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % 100
}

impl Model {
    async fn ask(&self, bodies: Vec<Value>, is_batch: bool) -> Outcome<Vec<Outcome<u64>>> {
        let text = |body: &Value, name: &str| body[name].as_str().unwrap().to_owned();
        let users: Vec<_> = bodies
            .iter()
            .map(|body| text(body, "externalUserId"))
            .collect();
        let _guard = UnderWay::new(self, users);
        match next(&self.chance) {
            0..3 => std::future::pending().await,
            ms => wait(ms * 3).await,
        }
        let luck = next(&self.chance);
        let odd = bodies.iter().position(|body| body["meta"]["odd"] == 1);
        if is_batch && !self.has_batches {
            return Err(refusal(404, "route_not_found", None));
        } else if bodies.len() > 8 {
            return Err(refusal(413, "body_too_large", None));
        } else if let Some(at) = odd {
            let param = if is_batch {
                format!("items[{at}].meta")
            } else {
                "meta".into()
            };
            return Err(refusal(400, "invalid_request", Some(&param)));
        } else if luck < 10 {
            return Err(refusal(429, "rate_limited", None));
        } else if luck < 20 {
            return Err(offline());
        }
        let mut applied = self.applied.lock().unwrap();
        let apply = |body: &Value| {
            let keys = applied.entry(text(body, "externalUserId")).or_default();
            let key = text(body, "idempotencyKey");
            if !keys.contains(&key) {
                keys.push(key);
            }
            Ok(keys.len() as u64)
        };
        let results = bodies.iter().map(apply).collect();
        // The answer may be lost though it was done.
        if luck < 40 {
            Err(offline())
        } else {
            Ok(results)
        }
    }
}

/// The wallets of a request. None may be in two.
struct UnderWay<'a>(&'a Model, Vec<String>);

impl<'a> UnderWay<'a> {
    fn new(model: &'a Model, mut users: Vec<String>) -> Self {
        users.dedup();
        let mut under_way = model.under_way.lock().unwrap();
        assert!(users.iter().all(|user| !under_way.contains(user)));
        under_way.extend(users.clone());
        drop(under_way);
        Self(model, users)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut under_way = self.0.under_way.lock().unwrap();
        under_way.retain(|user| !self.1.contains(user));
    }
}

impl Endpoint for Model {
    type Answer = u64;

    async fn single(&self, call: &Call) -> Outcome<u64> {
        self.ask(vec![call.body.clone().into()], false)
            .await?
            .remove(0)
    }

    async fn batch(&self, items: &[&str]) -> Outcome<Vec<Outcome<u64>>> {
        let bodies = items.iter().map(|item| serde_json::from_str(item).unwrap());
        self.ask(bodies.collect(), true).await
    }

    async fn open_wallet(&self, _user: &str) -> Result<(), Error> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn each_is_done_once_and_in_order_in_every_kind_of_trouble() {
    for seed in 1..=150 {
        let chance = Arc::new(Mutex::new(seed));
        let model = Model {
            chance: Arc::clone(&chance),
            applied: Mutex::default(),
            under_way: Mutex::default(),
            has_batches: seed % 10 > 0,
        };
        let gatherer = Arc::new(Gatherer::new(model, 3, Duration::from_secs(2)));
        let mut calls = Vec::new();
        for at in 0..60 {
            let is_odd = next(&chance) < 5;
            let user = Wallet::external(format!("user {}", next(&chance) % 8));
            let deduct = Deduct::new(1).meta(json!({"odd": u8::from(is_odd)}));
            let key = format!("{at:02}");
            let item = item(&user, &deduct, &key);
            let gatherer = Arc::clone(&gatherer);
            let patience = match next(&chance) {
                luck @ 0..10 => Duration::from_millis(luck * 100),
                _ => Duration::from_secs(3_600),
            };
            let call = async move { tokio::time::timeout(patience, gatherer.call(item)).await };
            calls.push((key, is_odd, tokio::spawn(call)));
            if next(&chance) < 50 {
                wait(next(&chance)).await;
            }
        }
        gatherer.close().await;
        let applied = gatherer.endpoint.applied.lock().unwrap().clone();
        let all: Vec<_> = applied.values().flatten().collect();
        for (key, is_odd, call) in calls {
            match call.await.unwrap() {
                Ok(Ok(_)) => assert!(all.contains(&&key), "seed {seed}"),
                Ok(Err(error)) if error.kind().status() == 400 => assert!(is_odd, "seed {seed}"),
                Ok(Err(_)) | Err(_) => {}
            }
        }
        for keys in applied.values() {
            assert!(keys.is_sorted(), "seed {seed}: {keys:?}");
        }
        wait(1).await;
        let queues = gatherer.queues();
        assert_eq!((queues.bytes, queues.requests), (0, 0), "seed {seed}");
    }
}
