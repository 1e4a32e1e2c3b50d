//! What a client notices of the server itself.

use std::{
    future::{pending, ready},
    sync::Arc,
};

use axum::routing::post;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::Notify,
    task::JoinHandle,
};

use super::*;

const HTTP: Http = Http {
    workers: 0,
    max_connections: 10,
    head_timeout_seconds: 60,
    body_timeout_seconds: 1,
    max_body_bytes: 8192,
    max_batch_body_bytes: 8192,
};

/// A server of this router, what stops it, and its end.
fn start(router: Router, http: Http) -> (SocketAddr, Arc<Notify>, JoinHandle<()>) {
    let socket = reserve("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listen(socket).unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let server = Server::new(listener, router, http);
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
    let (address, stop, end) = start(router, HTTP);
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
    let (address, ..) = start(Router::new(), HTTP);
    let mut silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(silent.read(&mut [0; 16]).await.unwrap(), 0);
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
    let listener = listen(reserve("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(listener, router, HTTP);
    let client = tokio::spawn(exchange(
        address,
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
    ));
    server.run(entered.notified(), ready(())).await;
    client.abort();
}

#[tokio::test]
async fn an_address_in_use_is_noticed_before_anything_is_opened() {
    let listener = listen(reserve("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    assert!(reserve(listener.local_addr().unwrap()).is_err());
}
