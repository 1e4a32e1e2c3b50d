//! A request waits for a leader, is done once, and is answered in time whatever happens to the leader.

use std::time::Duration;

use connections::Responder as _;
use tokio::{net::TcpListener, sync::Notify, time::Instant};

use super::*;
use crate::hold::HELD_AT_ONCE;

fn asking(address: SocketAddr, request: String) -> tokio::task::JoinHandle<String> {
    tokio::spawn(async move { ask(address, &request).await })
}

#[tokio::test]
async fn a_request_waits_until_somebody_leads() {
    let (leader, node) = (Node::leading(mirror()), Node::start());
    let answer = asking(node.address, post("to another"));
    until(|| node.switch.figures().held == 1).await;
    node.switch.elsewhere(origin(leader.address));
    assert!(answer.await.unwrap().ends_with("|to another"));

    node.switch.unknown();
    let answer = asking(node.address, post("here"));
    until(|| node.switch.figures().held == 1).await;
    node.switch.here(mirror());
    assert!(answer.await.unwrap().ends_with("|here"));
    assert_eq!(node.switch.figures().held, 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_takes_is_refused_after_a_while() {
    let node = Node::start();
    let begun = Instant::now();
    let answer = ask(node.address, &post("body")).await;
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
    assert_eq!(begun.elapsed().as_secs(), 8);
    // A page of the shop may read why.
    let page = "GET /api/v1/x HTTP/1.1\r\nHost: x\r\nOrigin: https://shop.example\r\nConnection: close\r\n\r\n";
    let answer = ask(node.address, page).await;
    assert!(
        answer.contains("\r\naccess-control-allow-origin: *\r\n"),
        "{answer}"
    );
    assert_eq!(node.switch.figures().refused, 2);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_requests_wait() {
    let (front, switch) = front(settings());
    let front = Arc::new(front);
    let request = || axum::http::Request::new(axum::body::Bytes::new().into());
    let peer = "127.0.0.1:1".parse().unwrap();
    let mut waiting = Vec::new();
    for _ in 0..HELD_AT_ONCE {
        waiting.push(tokio::spawn(Arc::clone(&front).answer(request(), peer)));
    }
    until(|| switch.figures().held == 1_000).await;
    let begun = Instant::now();
    let refused = Arc::clone(&front).answer(request(), peer).await;
    assert_eq!(
        (refused.status().as_u16(), begun.elapsed()),
        (503, Duration::ZERO)
    );
    switch.here(mirror());
    for answer in waiting {
        assert_eq!(answer.await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn what_a_process_that_does_not_lead_was_sent_is_done_once_by_the_one_that_does() {
    let (service, count) = counting();
    let (old, new) = (Node::start(), Node::leading(service));
    let node = Node::following(old.address);
    let answer = asking(node.address, post("once"));
    until(|| node.switch.figures().not_taken > 0).await;
    assert_eq!(count.load(SeqCst), 0);
    node.switch.elsewhere(origin(new.address));
    let answer = answer.await.unwrap();
    assert!(answer.ends_with("POST /p|127.0.0.1|once"), "{answer}");
    assert!(!answer.contains("scrip-not-leading"), "{answer}");
    assert_eq!(count.load(SeqCst), 1);
}

#[tokio::test]
async fn a_batch_that_was_not_taken_is_sent_again_whole() {
    let old = Node::start();
    let node = Node::with(ForwardSettings {
        max_kept_body_bytes: 2 << 20,
        ..settings()
    });
    node.switch.elsewhere(origin(old.address));
    let batch = "x".repeat(1 << 20);
    let answer = asking(node.address, post(&batch));
    until(|| node.switch.figures().not_taken > 1).await;
    old.switch.here(mirror());
    assert!(answer.await.unwrap().ends_with(&format!("|{batch}")));
    assert_eq!(node.switch.figures().unknown, 0);
}

#[tokio::test]
async fn a_leader_that_is_not_ready_yet_is_asked_again() {
    let (leader, (service, count)) = (Node::start(), counting());
    let node = Node::following(leader.address);
    let answer = asking(node.address, post("once"));
    until(|| node.switch.figures().not_taken > 0).await;
    leader.switch.here(service);
    assert!(answer.await.unwrap().ends_with("|once"));
    assert_eq!(count.load(SeqCst), 1);
}

#[tokio::test]
async fn what_could_not_be_sent_is_done_here_when_this_process_comes_to_lead() {
    let (_socket, dead) = nowhere();
    let node = Node::following(dead);
    let answer = asking(node.address, post("kept"));
    until(|| node.switch.figures().not_taken > 0).await;
    node.switch.here(mirror());
    let answer = answer.await.unwrap();
    assert!(answer.ends_with("POST /p|127.0.0.1|kept"), "{answer}");
    assert!(answer.contains("\r\nsaw-content-length: 4\r\n"), "{answer}");
}

#[tokio::test]
async fn what_a_leader_may_have_done_is_not_sent_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let node = Node::following(listener.local_addr().unwrap());
    let answer = asking(node.address, post("perhaps"));
    let (mut stream, _) = listener.accept().await.unwrap();
    read_until(&mut stream, "perhaps").await;
    drop(stream);
    let answer = answer.await.unwrap();
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
    assert!(answer.contains("may or may not have been done"), "{answer}");
    let figures = node.switch.figures();
    assert_eq!((figures.unknown, figures.not_taken), (1, 0));
    let again = tokio::time::timeout(Duration::from_millis(200), listener.accept());
    assert!(again.await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_does_not_answer_is_waited_for_so_long() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let node = Node::following(listener.local_addr().unwrap());
    let begun = Instant::now();
    let answer = asking(node.address, post("first"));
    let (mut stream, _) = listener.accept().await.unwrap();
    read_until(&mut stream, "first").await;
    let answer = answer.await.unwrap();
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
    assert_eq!(begun.elapsed().as_secs(), 30);

    // Less long where another leads by now.
    let (begun, answer) = (Instant::now(), asking(node.address, post("second")));
    let (mut stream, _) = listener.accept().await.unwrap();
    read_until(&mut stream, "second").await;
    node.switch.unknown();
    let answer = answer.await.unwrap();
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn a_leader_that_answers_late_is_believed() {
    let (entered, proceed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, go) = (Arc::clone(&entered), Arc::clone(&proceed));
    let slow = Router::new().fallback(async move || {
        inside.notify_one();
        go.notified().await;
        "done"
    });
    let leader = Node::leading(slow);
    let node = Node::following(leader.address);
    let answer = asking(node.address, post("body"));
    entered.notified().await;
    node.switch.unknown();
    proceed.notify_one();
    assert!(answer.await.unwrap().ends_with("done"));
}

#[tokio::test(start_paused = true)]
async fn a_request_goes_no_further_than_one_process() {
    let (third, count) = counting();
    let third = Node::leading(third);
    let second = Node::following(third.address);
    let first = Node::following(second.address);
    let begun = Instant::now();
    let answer = ask(first.address, &post("body")).await;
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
    assert_eq!(begun.elapsed().as_secs(), 8);
    assert_eq!(count.load(SeqCst), 0);
    // Nor does one that takes itself for the leader go round.
    let alone = Node::start();
    alone.switch.elsewhere(origin(alone.address));
    let answer = ask(alone.address, &post("body")).await;
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
}

#[tokio::test]
async fn only_so_many_requests_are_under_way() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let node = Node::with(ForwardSettings {
        max_under_way: 1,
        ..settings()
    });
    node.switch
        .elsewhere(origin(listener.local_addr().unwrap()));
    let first = asking(node.address, post("first"));
    let (mut stream, _) = listener.accept().await.unwrap();
    read_until(&mut stream, "first").await;
    let second = ask(node.address, &post("second")).await;
    assert!(is_refusal(&second, "overloaded"), "{second}");
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
        .await
        .unwrap();
    assert!(first.await.unwrap().ends_with("done"));
}

/// Asks in the name of a client behind a proxy.
fn of_client(client: u8, head: &str) -> String {
    format!("{head}X-Forwarded-For: 203.0.113.{client}\r\n")
}

#[tokio::test]
async fn bodies_that_do_not_come_keep_nobody_out() {
    let leader = Node::leading(mirror());
    let node = Node::with(ForwardSettings {
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        max_under_way: 32,
        ..settings()
    });
    node.switch.elsewhere(origin(leader.address));
    // More than is kept: each is passed on while it arrives.
    let head = of_client(
        1,
        "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n",
    );
    let mut slow = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(node.address).await.unwrap();
        let begun = format!("{head}\r\nx");
        stream.write_all(begun.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let refused = ask(node.address, &format!("{head}Connection: close\r\n\r\nx")).await;
    assert!(is_refusal(&refused, "overloaded"), "{refused}");
    for client in [1, 2] {
        let small = of_client(client, "GET /small HTTP/1.1\r\nHost: x\r\n");
        let answer = ask(node.address, &format!("{small}Connection: close\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[tokio::test]
async fn streams_of_one_key_keep_nobody_out() {
    let endless = || async {
        let never = futures_util::stream::pending::<Result<&str, Infallible>>();
        (
            [("content-type", "text/event-stream")],
            Body::from_stream(never),
        )
    };
    let leader = Node::leading(Router::new().fallback(get(endless)));
    let node = Node::with(ForwardSettings {
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        max_under_way: 64,
        ..settings()
    });
    node.switch.elsewhere(origin(leader.address));
    let stream = |key: &str, client: u8| {
        let head = of_client(client, "GET /stream HTTP/1.1\r\nHost: x\r\n");
        let request = format!("{head}Authorization: Bearer {key}\r\n\r\n");
        async move {
            let mut stream = TcpStream::connect(node.address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).await.unwrap();
            let is_open = &head == b"HTTP/1.1 200";
            (is_open, stream)
        }
    };
    let mut open = Vec::new();
    for client in 1..=10 {
        loop {
            let (is_open, stream) = stream("pay_pk_a", client).await;
            if !is_open {
                break;
            }
            open.push(stream);
        }
    }
    assert!(open.len() <= 8, "half of sixteen: {}", open.len());
    assert!(stream("pay_pk_b", 99).await.0, "another project's key");
}
