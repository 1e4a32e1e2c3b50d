//! What a client notices of the server itself.

use std::{
    future::{pending, ready},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::routing::{get, post};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::Notify,
    task::JoinHandle,
};

use super::*;

const SETTINGS: ServerSettings = ServerSettings {
    max_connections: 10,
    max_connections_per_client: 10,
    head_timeout_seconds: 60,
    body_timeout_seconds: 1,
    write_timeout_seconds: 20,
};

/// A server of this router, what stops it, and its end.
fn start(router: Router, settings: ServerSettings) -> (SocketAddr, Arc<Notify>, JoinHandle<()>) {
    let socket = reserve("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listen(socket).unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let server = Server::new(listener, router, settings);
    let run = async move {
        server
            .run(async move { stopped.notified().await }, pending())
            .await
    };
    (address, stop, tokio::spawn(run))
}

async fn exchange(address: SocketAddr, request: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = vec![0; 4096];
    let read = stream.read(&mut bytes).await.unwrap();
    (stream, String::from_utf8_lossy(&bytes[..read]).into_owned())
}

#[tokio::test]
async fn a_request_in_flight_is_finished_and_an_idle_connection_is_closed() {
    let (entered, proceed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, go) = (Arc::clone(&entered), Arc::clone(&proceed));
    let router = Router::new().route("/idle", post(|| ready("done"))).route(
        "/slow",
        post(async move || {
            inside.notify_one();
            go.notified().await;
            "done"
        }),
    );
    let (address, stop, end) = start(router, SETTINGS);
    let idle = exchange(
        address,
        "POST /idle HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    );
    let (mut idle, _) = idle.await;
    let slow = tokio::spawn(exchange(
        address,
        "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    ));
    entered.notified().await;
    stop.notify_one();
    assert_eq!(idle.read(&mut [0; 16]).await.unwrap(), 0);
    assert!(TcpStream::connect(address).await.is_err());
    proceed.notify_one();
    let (_, answer) = slow.await.unwrap();
    assert!(answer.ends_with("done"), "{answer}");
    end.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sends_nothing_is_cut_off() {
    let (address, ..) = start(Router::new(), SETTINGS);
    let mut silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(silent.read(&mut [0; 16]).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_times_out() {
    let router = Router::new().route(
        "/",
        post(async |body: Result<axum::body::Bytes, _>| match body {
            Ok(_) => "all of it",
            Err::<_, axum::extract::rejection::BytesRejection>(_) => "cut off",
        }),
    );
    let (address, ..) = start(router, SETTINGS);
    let begun = Instant::now();
    let (mut stream, answer) = exchange(
        address,
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsome",
    )
    .await;
    assert!(answer.ends_with("cut off"), "{answer}");
    assert_eq!(stream.read(&mut [0; 16]).await.unwrap(), 0);
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_body_that_does_not_come() {
    let router = Router::new().route(
        "/",
        post(async |body: Result<axum::body::Bytes, _>| {
            let read = body.map_err(|_: axum::extract::rejection::BytesRejection| ());
            if read.is_ok() { "whole" } else { "cut off" }
        }),
    );
    let settings = ServerSettings {
        body_timeout_seconds: 30,
        ..SETTINGS
    };
    let (address, stop, ended) = start(router, settings);
    let mut open = Vec::new();
    for rest in ["some", ""] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{rest}");
        stream.write_all(request.as_bytes()).await.unwrap();
        open.push(stream);
    }
    // One that has not sent all of its head.
    let mut headless = TcpStream::connect(address).await.unwrap();
    headless.write_all(b"POST / HT").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    stop.notify_one();
    ended.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 1);
    for mut stream in open {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("cut off"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_readers_that_take_nothing_or_drip() {
    // More than the kernel keeps for a reader who does not come.
    let router = Router::new().route("/", get(|| ready("x".repeat(32 << 20))));
    let (address, stop, ended) = start(router, SETTINGS);
    let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let (_unread, _) = exchange(address, request).await;
    let (mut drips, _) = exchange(address, request).await;
    let dripping = tokio::spawn(async move {
        let mut piece = vec![0; 1 << 16];
        while let Ok(1..) = drips.read(&mut piece).await {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    let begun = Instant::now();
    stop.notify_one();
    ended.await.unwrap();
    assert!(begun.elapsed().as_secs() <= 6, "{:?}", begun.elapsed());
    dripping.abort();
}

#[tokio::test(start_paused = true)]
async fn a_body_that_drips_times_out_as_a_whole() {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let router = Router::new().route(
        "/",
        post(async move |body: Result<axum::body::Bytes, _>| {
            let read = body.map_err(|_: axum::extract::rejection::BytesRejection| ());
            sender.send(read.is_ok()).await.unwrap();
        }),
    );
    let (address, ..) = start(router, SETTINGS);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut drip = tokio::time::interval(Duration::from_millis(400));
    let read = loop {
        tokio::select! {
            read = receiver.recv() => break read.unwrap(),
            _ = drip.tick() => stream.write_all(b"x").await.unwrap(),
        }
    };
    assert!(!read);
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_go_on_for_longer_than_a_connection_may_be_idle() {
    let drip = |left: u32| async move {
        tokio::time::sleep(Duration::from_secs(50)).await;
        let left = left.checked_sub(1)?;
        Some((Ok::<_, Infallible>("x"), left))
    };
    let long = move || ready(Body::from_stream(futures_util::stream::unfold(5, drip)));
    let (address, ..) = start(Router::new().route("/", get(long)), SETTINGS);
    let begun = Instant::now();
    let (mut stream, head) = exchange(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    let answer = format!("{head}{rest}");
    assert_eq!(answer.matches("1\r\nx\r\n").count(), 5, "{answer}");
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
    // After the answer the client has the usual time for its next request.
    assert_eq!(
        begun.elapsed().as_secs(),
        6 * 50 + SETTINGS.head_timeout_seconds
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_made_no_faster_than_it_is_read_and_ends_with_its_reader() {
    let (made, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (count, end) = (Arc::clone(&made), Arc::clone(&ended));
    /// Tells of its end when the body is dropped.
    struct Tells(Arc<Notify>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let endless = move || {
        let state = (Arc::clone(&count), Tells(Arc::clone(&end)));
        let events = futures_util::stream::unfold(state, |state| async move {
            state.0.fetch_add(1024, Ordering::Relaxed);
            Some((Ok::<_, Infallible>("x".repeat(1024)), state))
        });
        ready(Body::from_stream(events))
    };
    let (address, ..) = start(Router::new().route("/", get(endless)), SETTINGS);
    let begun = Instant::now();
    let (_unread, _) = exchange(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    ended.notified().await;
    assert_eq!(begun.elapsed().as_secs(), SETTINGS.write_timeout_seconds);
    // What the kernel keeps for a reader who does not come, and no more.
    assert!(made.load(Ordering::Relaxed) < 32 << 20);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_cut_off() {
    // More than the kernel keeps for a reader who does not come.
    let router = Router::new().route("/", get(|| ready("x".repeat(32 << 20))));
    let (address, ..) = start(router, SETTINGS);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let begun = Instant::now();
    // The clock stands while anything is moving, and goes on to the next timer when nothing is.
    tokio::time::sleep(Duration::from_secs(40)).await;
    assert!(begun.elapsed().as_secs() >= 40);
    let mut taken = 0;
    let mut piece = vec![0; 1 << 16];
    // What the kernel has buffered arrives, then the end or a reset.
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        taken += read;
    }
    assert!(taken < 32 << 20, "{taken}");
}

#[tokio::test(start_paused = true)]
async fn requests_that_pile_up_before_a_client_that_does_not_read_are_cut_off() {
    let router = Router::new().route("/", get(|| ready("x".repeat(1 << 20))));
    let (address, ..) = start(router, SETTINGS);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(64);
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(200)).await;
    let mut taken = 0;
    let mut piece = vec![0; 1 << 16];
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        taken += read;
    }
    assert!(taken < 64 << 20, "{taken}");
}

#[tokio::test]
async fn a_client_has_only_so_many_connections() {
    let settings = ServerSettings {
        max_connections_per_client: 3,
        ..SETTINGS
    };
    let (address, ..) = start(Router::new().route("/", get(|| ready("here"))), settings);
    let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(exchange(address, request).await);
    }
    assert!(refused(address, "127.0.0.1").await);
    assert!(!refused(address, "127.0.0.2").await, "another client");
    held.clear();
    // The server notices in its own time.
    while refused(address, "127.0.0.1").await {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_proxy_has_connections_for_all_its_clients() {
    let settings = ServerSettings {
        max_connections_per_client: 1,
        ..SETTINGS
    };
    let socket = reserve("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listen(socket).unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/", get(|| ready("here")));
    let server =
        Server::new(listener, router, settings).trusting(&["127.0.0.2/32".parse().unwrap()]);
    tokio::spawn(server.run(pending(), pending()));
    let mut held = Vec::new();
    for _ in 0..5 {
        let stream = connect(address, "127.0.0.2").await;
        assert!(ask(stream, &mut held).await, "a proxy is not counted");
    }
}

/// Whether a connection from an address is closed without an answer.
async fn refused(server: SocketAddr, from: &str) -> bool {
    !ask(connect(server, from).await, &mut Vec::new()).await
}

async fn connect(server: SocketAddr, from: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(SocketAddr::new(from.parse().unwrap(), 0))
        .unwrap();
    socket.connect(server).await.unwrap()
}

/// Whether a connection is answered; it is held on to.
async fn ask(mut stream: TcpStream, held: &mut Vec<TcpStream>) -> bool {
    let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut bytes = [0; 1024];
    let answered = stream.write_all(request.as_bytes()).await.is_ok()
        && matches!(stream.read(&mut bytes).await, Ok(1..));
    held.push(stream);
    answered
}

#[tokio::test]
async fn stragglers_are_cut_off_in_the_end() {
    let entered = Arc::new(Notify::new());
    let inside = Arc::clone(&entered);
    let router = Router::new().route(
        "/",
        post(async move || {
            inside.notify_one();
            pending::<()>().await;
        }),
    );
    // The server's threads are its own, so that they can end as with its process.
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let socket = reserve("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = {
        let _inside = threads.enter();
        listen(socket).unwrap()
    };
    let address = listener.local_addr().unwrap();
    let server = Server::new(listener, router, SETTINGS);
    let run = threads.spawn(async move { server.run(entered.notified(), ready(())).await });
    let client = tokio::spawn(exchange(
        address,
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    ));
    run.await.unwrap();
    assert!(!client.is_finished(), "its request is still in flight");
    threads.shutdown_background();
    let (_, answer) = client.await.unwrap();
    assert_eq!(answer, "", "the connection is closed without an answer");
}

#[tokio::test]
async fn an_address_in_use_is_noticed_before_anything_is_opened() {
    let listener = listen(reserve("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    assert!(reserve(listener.local_addr().unwrap()).is_err());
}
