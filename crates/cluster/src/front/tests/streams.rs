//! Bodies go through piece by piece, and end when their reader does.

use axum::http::header;
use http_body_util::BodyExt as _;
use tokio::{sync::Notify, time::Instant};

use super::*;

const EVENTS: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/event-stream")];

/// A service that answers one request with this body.
pub(super) fn once(body: Body) -> Router {
    let body = Arc::new(std::sync::Mutex::new(Some(body)));
    Router::new().fallback(async move || (EVENTS, body.lock().unwrap().take().unwrap()))
}

#[tokio::test]
async fn events_are_passed_on_as_they_come() {
    let (send, body) = pieces();
    let leader = Node::leading(once(body));
    let node = Node::following(leader.address);
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    for event in ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"] {
        send.send(event).unwrap();
        read_until(&mut stream, event).await;
    }
    drop(send);
    read_until(&mut stream, "0\r\n\r\n").await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_leader_that_no_longer_leads_is_ended() {
    let (send, body) = pieces();
    let leader = Node::leading(once(body));
    let node = Node::following(leader.address);
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    send.send("data: 1\n\n").unwrap();
    read_until(&mut stream, "data: 1\n\n").await;
    // A leader that comes back at once keeps its streams.
    node.switch.unknown();
    node.switch.elsewhere(origin(leader.address));
    send.send("data: 2\n\n").unwrap();
    read_until(&mut stream, "data: 2\n\n").await;
    let begun = Instant::now();
    node.switch.unknown();
    read_until(&mut stream, "0\r\n\r\n").await;
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn the_leader_notices_when_a_client_leaves() {
    struct Tells(Arc<Notify>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (entered, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, end) = (Arc::clone(&entered), Arc::clone(&ended));
    let slow = Router::new().fallback(async move || {
        let _tells = Tells(Arc::clone(&end));
        inside.notify_one();
        pending::<()>().await;
    });
    let leader = Node::leading(slow);
    let node = Node::following(leader.address);
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    entered.notified().await;
    drop(stream);
    ended.notified().await;
}

#[tokio::test]
async fn a_stream_ends_at_the_leader_when_its_reader_leaves() {
    let (send, body) = pieces();
    let leader = Node::leading(once(body));
    let node = Node::following(leader.address);
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    send.send("data: 1\n\n").unwrap();
    read_until(&mut stream, "data: 1\n\n").await;
    drop(stream);
    send.closed().await;
}

/// A service that counts the bytes of bodies as they arrive.
fn sink() -> (Router, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let service = Router::new().fallback(async move |request: Request| {
        let mut body = request.into_body();
        while let Some(Ok(frame)) = body.frame().await {
            seen.fetch_add(frame.data_ref().map_or(0, |data| data.len()), SeqCst);
        }
        "all of it"
    });
    (service, count)
}

#[tokio::test]
async fn a_large_body_is_not_kept() {
    const HALF: usize = 4 << 20;
    let (service, count) = sink();
    let leader = Node::leading(service);
    let node = Node::following(leader.address);
    let half = vec![b'x'; HALF];
    let declared = format!("Content-Length: {}\r\n", 2 * HALF);
    for length in [declared.as_str(), "Transfer-Encoding: chunked\r\n"] {
        count.store(0, SeqCst);
        let mut stream = TcpStream::connect(node.address).await.unwrap();
        let head = format!("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{length}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let chunked = length.starts_with('T');
        for sent in [HALF, 2 * HALF] {
            if chunked {
                stream
                    .write_all(format!("{HALF:x}\r\n").as_bytes())
                    .await
                    .unwrap();
            }
            stream.write_all(&half).await.unwrap();
            if chunked {
                stream.write_all(b"\r\n").await.unwrap();
            }
            until(|| count.load(SeqCst) == sent).await;
        }
        if chunked {
            stream.write_all(b"0\r\n\r\n").await.unwrap();
        }
        read_until(&mut stream, "all of it").await;
    }
}

#[tokio::test]
async fn a_large_body_that_could_not_be_sent_is_refused() {
    let old = Node::start();
    let node = Node::following(old.address);
    let answer = ask(node.address, &post(&"x".repeat(70_000))).await;
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_off_is_never_done() {
    let (service, count) = counting();
    let leader = Node::leading(service);
    let node = Node::following(leader.address);
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    let half = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf";
    stream.write_all(half.as_bytes()).await.unwrap();
    read_until(&mut stream, "\"invalid_request\"").await;
    assert_eq!(count.load(SeqCst), 0);
}
