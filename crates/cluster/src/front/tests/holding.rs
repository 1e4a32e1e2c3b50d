//! A request waits for a leader, is done once, and is answered in time, also when the leader fails.

use std::time::Duration;

use axum::body::Bytes;
use scrip_http::connections::Responder as _;
use tokio::{net::TcpListener, sync::Notify, time::Instant};

use super::*;
use crate::front::hold::MAX_HELD;

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
    let request = || axum::http::Request::new(Bytes::new().into());
    let peer = |client: u8| SocketAddr::from(([127, 0, 0, client], 1));
    // Of all places strangers have half, and each of them leaves as many to others as it takes.
    let one = MAX_HELD / 3 + 1;
    let mut waiting = Vec::new();
    for _ in 0..one {
        waiting.push(tokio::spawn(Arc::clone(&front).answer(request(), peer(1))));
    }
    until(|| switch.figures().held == 334).await;
    let begun = Instant::now();
    let refused = Arc::clone(&front).answer(request(), peer(1)).await;
    assert_eq!(
        (refused.status().as_u16(), begun.elapsed()),
        (503, Duration::ZERO)
    );
    waiting.push(tokio::spawn(Arc::clone(&front).answer(request(), peer(2))));
    until(|| switch.figures().held == 335).await;
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
    assert!(
        answer.contains("may or may not have been applied"),
        "{answer}"
    );
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

/// A process that follows this one and believes what a proxy says of its clients.
fn behind_a_proxy(leader: SocketAddr, max_under_way: usize) -> Node {
    let node = Node::with(ForwardSettings {
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        max_under_way,
        ..settings()
    });
    node.switch.elsewhere(origin(leader));
    node
}

/// Asks in the name of a client behind a proxy.
fn of_client(client: u8, head: &str) -> String {
    format!("{head}X-Forwarded-For: 203.0.113.{client}\r\n")
}

/// Whether a request of this client, with this key, is answered.
async fn is_answered(address: SocketAddr, client: u8, path: &str, key: &str) -> bool {
    let head = of_client(client, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n"));
    let rest = format!("Authorization: Bearer {key}\r\nConnection: close\r\n\r\n");
    let answer = ask(address, &format!("{head}{rest}")).await;
    answer.starts_with("HTTP/1.1 200 ")
}

/// Begins requests of each of these clients until one is refused, and keeps those that are answered open. The heads of
/// their answers have come.
async fn hold_all(
    address: SocketAddr,
    clients: std::ops::Range<u8>,
    request: impl Fn(u8) -> String,
) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for client in clients {
        loop {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let head = of_client(client, &request(client));
            stream
                .write_all(format!("{head}\r\n").as_bytes())
                .await
                .unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).await.unwrap();
            if &head != b"HTTP/1.1 200" {
                break;
            }
            open.push(stream);
        }
    }
    open
}

#[tokio::test]
async fn bodies_that_do_not_come_keep_nobody_out() {
    let leader = Node::leading(mirror());
    let node = behind_a_proxy(leader.address, 64);
    // Projects whose keys a leader has vouched for.
    assert!(is_answered(node.address, 77, "/", "pay_sk_1").await);
    // More than is kept: each is passed on while it arrives.
    let head = |client| {
        let head = "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n";
        of_client(client, head)
    };
    let mut slow = Vec::new();
    for client in 1..=12 {
        for claimed in 0..4 {
            let mut stream = TcpStream::connect(node.address).await.unwrap();
            let key = format!("Authorization: Bearer pay_sk_claimed{claimed}\r\n");
            let begun = format!("{}{key}\r\nx", head(client));
            stream.write_all(begun.as_bytes()).await.unwrap();
            slow.push(stream);
        }
    }
    let refused = format!("{}Connection: close\r\n\r\nx", head(1));
    let refused = ask(node.address, &refused).await;
    assert!(is_refusal(&refused, "overloaded"), "{refused}");
    for client in [1, 77] {
        assert!(is_answered(node.address, client, "/small", "pay_sk_x").await);
    }
    let large = "x".repeat(200_000);
    let head = head(77).replace("\r\nContent", "\r\nConnection: close\r\nContent");
    let large = format!("{head}Authorization: Bearer pay_sk_1\r\n\r\n{large}");
    let answer = ask(node.address, &large).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn readers_that_take_nothing_keep_nobody_out() {
    // More than all buffers on the way take.
    let long = Router::new()
        .route("/long", get(|| async { Bytes::from(vec![b'x'; 32 << 20]) }))
        .route("/kept", get(|| async { "x".repeat(50_000) }))
        .fallback(get(|| async { "small" }));
    let leader = Node::leading(long);
    let node = behind_a_proxy(leader.address, 64);
    assert!(is_answered(node.address, 77, "/", "pay_sk_1").await);
    let slow = hold_all(node.address, 1..9, |client| {
        let claimed = format!("Authorization: Bearer pay_sk_claimed{client}\r\n");
        format!("GET /long HTTP/1.1\r\nHost: x\r\n{claimed}")
    });
    let slow = slow.await;
    assert!(
        (2..=4).contains(&slow.len()),
        "half of eight: {}",
        slow.len()
    );
    for _ in 0..64 {
        assert!(is_answered(node.address, 1, "/kept", "pay_sk_x").await);
    }
    assert!(is_answered(node.address, 77, "/long", "pay_sk_1").await);
}

#[tokio::test]
async fn requests_that_take_long_leave_places_to_other_projects_and_clients() {
    let entered = Arc::new(AtomicUsize::new(0));
    let inside = Arc::clone(&entered);
    let slow = async move || {
        inside.fetch_add(1, SeqCst);
        pending::<()>().await;
    };
    let service = Router::new()
        .route("/slow", get(slow))
        .fallback(get(|| async { "small" }));
    let leader = Node::leading(service);
    let node = behind_a_proxy(leader.address, 100);
    assert!(is_answered(node.address, 77, "/", "pay_pk_1").await);
    let mut slow = Vec::new();
    for client in 1..=8 {
        for claimed in 0..25 {
            let mut stream = TcpStream::connect(node.address).await.unwrap();
            let head = of_client(client, "GET /slow HTTP/1.1\r\nHost: x\r\n");
            let key = format!("Authorization: Bearer pay_sk_claimed{claimed}\r\n");
            let request = format!("{head}{key}\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            slow.push(stream);
        }
        let refused = || usize::try_from(node.switch.figures().refused).unwrap();
        until(|| entered.load(SeqCst) + refused() == slow.len()).await;
        let is_first = client == 1;
        assert!(!is_first || is_answered(node.address, 99, "/", "pay_pk_x").await);
    }
    assert!(!is_answered(node.address, 1, "/", "pay_sk_x").await);
    assert!(
        is_answered(node.address, 77, "/", "pay_pk_1").await,
        "a project"
    );
}

#[tokio::test]
async fn streams_of_one_project_keep_nobody_out() {
    let endless = || async {
        let never = futures_util::stream::pending::<Result<&str, Infallible>>();
        (
            [("content-type", "text/event-stream")],
            Body::from_stream(never),
        )
    };
    let leader = Node::leading(Router::new().fallback(get(endless)));
    let node = behind_a_proxy(leader.address, 64);
    let stream =
        |key: &str| format!("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n");
    // Many credentials of one project, as sessions are.
    let sessions = AtomicUsize::new(0);
    let open = hold_all(node.address, 1..11, |_| {
        let session = sessions.fetch_add(1, SeqCst);
        stream(&format!("pay_pk_1.{session}"))
    });
    let open = open.await;
    assert!(open.len() <= 8, "half of sixteen: {}", open.len());
    let other = hold_all(node.address, 99..100, |_| stream("pay_pk_2")).await;
    assert!(!other.is_empty(), "another project's key");
}
