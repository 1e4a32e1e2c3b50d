//! Faulty receivers: their cost is bounded, and they affect no others.

use std::time::{Duration, Instant};

use kit::receiver::{Receiver, ScriptedResponse};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::{
    deliveries::{ServiceWithEndpoint, created, credited, impatient},
    service::Service,
};

/// A receiver with any behaviour per connection, once it has read something.
async fn wild<F: Future<Output = ()> + Send + 'static>(
    does: impl Fn(TcpStream) -> F + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4096];
            if stream.read(&mut buffer).await.is_ok() {
                tokio::spawn(does(stream));
            }
        }
    });
    url
}

/// The only attempt to send to such a receiver.
async fn attempt(url: &str) -> serde_json::Value {
    let hooked = ServiceWithEndpoint::of(Service::with(impatient).await).await;
    hooked.change(json!({"url": url})).await.expect(200);
    hooked.service.code().await;
    hooked.settled().await;
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"].as_array().unwrap().len(), 1);
    page["deliveries"][0].clone()
}

#[tokio::test]
async fn a_receiver_that_never_answers_has_fifteen_seconds() {
    let url = wild(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    let delivery = attempt(&url.await).await;
    assert_eq!(delivery["status"], "pending");
    let attempt = &delivery["attempts"][0];
    assert_eq!(attempt["statusCode"], serde_json::Value::Null);
    assert_eq!(attempt["error"], "There was no answer within 3 s.");
    assert!(attempt["durationMs"].as_u64().unwrap() >= 3000);
}

#[tokio::test]
async fn a_receiver_that_answers_byte_by_byte_has_no_longer() {
    let url = wild(|mut stream| async move {
        for byte in "HTTP/1.1 200 OK\r\n".bytes().cycle() {
            if stream.write_all(&[byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let delivery = attempt(&url.await).await;
    assert_eq!(delivery["status"], "pending");
    assert_eq!(
        delivery["attempts"][0]["error"],
        "There was no answer within 3 s."
    );
}

#[tokio::test]
async fn an_endless_answer_is_not_read() {
    let written = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&written);
    let url = wild(move |mut stream| {
        let count = std::sync::Arc::clone(&count);
        async move {
            let head = b"HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n";
            drop(stream.write_all(head).await);
            let chunk = [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
            while stream.write_all(&chunk).await.is_ok() {
                count.fetch_add(4096, std::sync::atomic::Ordering::SeqCst);
            }
        }
    });
    let delivery = attempt(&url.await).await;
    assert_eq!(delivery["attempts"][0]["statusCode"], 500);
    let error = delivery["attempts"][0]["error"].as_str().unwrap();
    assert!(
        error.starts_with("It answered 500: xxx") && error.len() < 300,
        "{error}"
    );
    // Only what fits into buffers on the way, not a whole stream.
    let written = written.load(std::sync::atomic::Ordering::SeqCst);
    assert!(written < 16 << 20, "{written} bytes were taken");
}

#[tokio::test]
async fn an_answer_counts_though_its_body_never_ends() {
    let url = wild(|mut stream| async move {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n";
        drop(stream.write_all(head).await);
        std::future::pending::<()>().await;
    });
    let delivery = attempt(&url.await).await;
    assert_eq!(delivery["status"], "succeeded");
}

#[tokio::test]
async fn nonsense_is_no_answer() {
    let url = wild(|mut stream| async move {
        drop(stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").await);
    });
    let delivery = attempt(&url.await).await;
    assert_eq!(
        (&delivery["status"], &delivery["attempts"][0]["statusCode"]),
        (&json!("pending"), &json!(null))
    );
    let error = delivery["attempts"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("No answer: "), "{error}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let hooked = ServiceWithEndpoint::start().await;
    let elsewhere = Receiver::start().await;
    hooked
        .receiver
        .next(ScriptedResponse::Redirect(elsewhere.url.clone()));
    hooked.service.code().await;
    hooked.settled().await;
    assert_eq!(elsewhere.received().len(), 0);
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"][0]["attempts"][0]["statusCode"], 307);
    assert_eq!(page["deliveries"][0]["status"], "pending");
}

#[tokio::test]
async fn dead_endpoints_slow_no_other() {
    let hooked = ServiceWithEndpoint::start().await;
    let mut dead = Vec::new();
    for _ in 0..19 {
        let receiver = Receiver::start().await;
        receiver.always(Some(ScriptedResponse::Silence));
        hooked.add(&receiver.url).await;
        dead.push(receiver);
    }
    for round in 0..20 {
        hooked.grant(&format!("user-{round}"), 1).await;
    }
    hooked.receiver.wait_for(40).await;
    for receiver in dead {
        let attempts = receiver.received().len();
        assert!(
            attempts <= 1,
            "{attempts} at once to one that never took anything"
        );
    }
}

#[tokio::test]
async fn what_the_operator_does_not_allow_any_more_is_not_sent() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked
        .receiver
        .of("ann", Some(ScriptedResponse::Status(500)));
    hooked.grant("ann", 1).await;
    hooked.settled().await;
    drop(hooked.running);
    let again = hooked.service.again(|_| {}).await;
    let (base, webhooks) = (&again.base, &again.webhooks);
    let _running = webhooks.start();
    hooked.service.clock.advance_millis(10_000);
    webhooks.settled().await;
    assert_eq!(hooked.receiver.summaries().len(), 1);
    let project = hooked.service.project.id.to_string();
    let path = format!("/{}/deliveries", hooked.id);
    let page = crate::deliveries::ask((base, &project), reqwest::Method::GET, &path, None).await;
    let page = page.expect(200);
    let error = page["deliveries"][0]["attempts"][1]["error"]
        .as_str()
        .unwrap();
    assert!(error.contains("allow_private_networks"), "{error}");
}

#[tokio::test]
async fn an_endpoint_that_was_down_gets_everything_in_order() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.always(Some(ScriptedResponse::Status(502)));
    let users: Vec<String> = (0..30).map(|number| format!("user-{number}")).collect();
    for amount in 1..=3 {
        for user in &users {
            hooked.grant(user, amount).await;
        }
    }
    hooked.settled().await;
    hooked.pass(6).await;
    let before = hooked.summaries().len();
    assert_eq!(before, 60, "of each wallet the first, twice");
    hooked.receiver.always(None);
    hooked.pass(400).await;
    let deliveries = hooked.summaries().split_off(before);
    assert_eq!(deliveries.len(), 30 * 4);
    for user in &users {
        let of: Vec<_> = deliveries
            .iter()
            .filter(|(_, of, _)| of == user)
            .cloned()
            .collect();
        let expected = [
            created(user),
            credited(user, 1),
            credited(user, 3),
            credited(user, 6),
        ];
        assert_eq!(of, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backlog_is_sent_once_each_and_as_fast_as_it_is_taken() {
    const USERS: usize = 1000;
    let hooked = ServiceWithEndpoint::start().await;
    hooked.change(json!({"active": false})).await.expect(200);
    for number in 0..USERS {
        hooked.grant(&format!("user-{number}"), 1).await;
    }
    let start = Instant::now();
    hooked.change(json!({"active": true})).await.expect(200);
    hooked.settled().await;
    let took = start.elapsed();
    let received = hooked.receiver.received();
    let ids: std::collections::HashSet<_> = received
        .iter()
        .map(|one| one.header("webhook-id"))
        .collect();
    assert_eq!((received.len(), ids.len()), (2 * USERS, 2 * USERS));
    println!("{} deliveries to one endpoint in {took:?}", received.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_endpoint_holds_no_more_than_so_many_wallets_and_misses_none() {
    const USERS: usize = 1400;
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.always(Some(ScriptedResponse::Status(503)));
    for number in 0..USERS {
        hooked.grant(&format!("user-{number}"), 1).await;
    }
    hooked.settled().await;
    let attempts = hooked.summaries().len();
    assert!(
        (1000..1200).contains(&attempts),
        "{attempts} wallets were reached"
    );
    let pending = hooked.service.webhooks.pending();
    assert!(pending < 2400, "{pending} events are held");
    hooked.receiver.always(None);
    hooked.pass(6).await;
    hooked.pass(6).await;
    let deliveries = hooked.summaries().split_off(attempts);
    assert_eq!(deliveries.len(), 2 * USERS);
    for number in 0..USERS {
        let user = format!("user-{number}");
        let of: Vec<_> = deliveries.iter().filter(|(_, of, _)| *of == user).collect();
        assert_eq!(of, [&created(&user), &credited(&user, 1)]);
    }
}
