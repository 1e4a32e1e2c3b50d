//! The proxy does to connections what its switches say.
#![allow(
    clippy::unwrap_used,
    reason = "a panic in a test is a failed test, which is the point"
)]

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    process::Command,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use postgres_kit::{Proxy, shared};

/// A server that sends back what it receives, and also passes it to the test.
fn echo() -> (SocketAddr, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            thread::spawn(move || {
                let (mut stream, mut bytes) = (stream, [0; 65_536]);
                while let Ok(length @ 1..) = stream.read(&mut bytes) {
                    let bytes = bytes.get(..length).unwrap_or_default();
                    if sender.send(bytes.to_vec()).is_err() || stream.write_all(bytes).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, received)
}

fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(proxy.address()).unwrap()
}

/// Sends `bytes`, and takes as many back.
fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes)?;
    answer(stream, bytes)
}

fn answer(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut back = vec![0; bytes.len()];
    stream.read_exact(&mut back)?;
    assert_eq!(back, bytes);
    Ok(())
}

/// Whether nothing arrives for a while.
fn is_silent(stream: &mut TcpStream) -> bool {
    stream
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let read = stream.read(&mut [0; 1]);
    stream.set_read_timeout(None).unwrap();
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn bytes_pass_whole_and_so_does_the_end() {
    let (server, _received) = echo();
    let proxy = Proxy::to(server);
    let stream = connect(&proxy);
    let bytes: Vec<u8> = (0_u32..1_000_000).flat_map(u32::to_le_bytes).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            (&stream).write_all(&bytes).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        (&stream).read_to_end(&mut back).unwrap();
        assert!(back == bytes);
    });
    assert_eq!(proxy.connections(), 1);
}

#[test]
fn bytes_are_late_but_do_not_hold_up_each_other() {
    let (server, _received) = echo();
    let proxy = Proxy::to(server);
    let mut stream = connect(&proxy);
    exchange(&mut stream, b"soon").unwrap();
    proxy.delay(Duration::from_millis(200), Duration::from_millis(300));
    let begin = Instant::now();
    for _ in 0..10 {
        stream.write_all(b"late").unwrap();
        // Each is read by itself.
        thread::sleep(Duration::from_millis(10));
    }
    answer(&mut stream, &b"late".repeat(10)).unwrap();
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(590), "{took:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn a_cut_resets_what_is_open_and_nothing_else() {
    let (server, received) = echo();
    let proxy = Proxy::to(server);
    let mut streams = [connect(&proxy), connect(&proxy)];
    for stream in &mut streams {
        exchange(stream, b"here").unwrap();
    }
    proxy.cut();
    for stream in &mut streams {
        let error = stream.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    exchange(&mut connect(&proxy), b"again").unwrap();
    assert_eq!(received.iter().take(3).last().unwrap(), b"again");
}

#[test]
fn refused_clients_find_nobody_until_it_is_over() {
    let (server, _received) = echo();
    let proxy = Proxy::to(server);
    let mut open = connect(&proxy);
    exchange(&mut open, b"here").unwrap();
    for _ in 0..3 {
        proxy.refuse(true);
        let error = TcpStream::connect(proxy.address()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        exchange(&mut open, b"still here").unwrap();
        proxy.refuse(false);
        exchange(&mut connect(&proxy), b"again").unwrap();
    }
}

#[test]
fn a_blackhole_holds_everything_and_lets_it_go_on() {
    let (server, received) = echo();
    let proxy = Proxy::to(server);
    let mut open = connect(&proxy);
    exchange(&mut open, b"here").unwrap();
    proxy.blackhole(true);
    let mut new = connect(&proxy);
    for stream in [&mut open, &mut new] {
        stream.write_all(b"held").unwrap();
        assert!(is_silent(stream));
    }
    assert_eq!(received.try_iter().count(), 1);
    proxy.blackhole(false);
    for stream in [&mut open, &mut new] {
        answer(stream, b"held").unwrap();
    }
    // A cut reaches what is held, too.
    proxy.blackhole(true);
    open.write_all(b"held").unwrap();
    proxy.cut();
    assert!(open.read(&mut [0; 1]).is_err());
}

#[test]
fn a_lost_answer_was_asked_and_a_lost_request_was_not() {
    let (server, received) = echo();
    let proxy = Proxy::to(server);
    let reset = |bytes: &[u8]| {
        let error = exchange(&mut connect(&proxy), bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    };
    proxy.lose_next_answer();
    reset(b"done");
    assert_eq!(received.recv().unwrap(), b"done");
    proxy.lose_next_request();
    reset(b"not done");
    assert_eq!(proxy.losses(), 2);

    proxy.lose_next_answer_with(b"INSERT");
    exchange(&mut connect(&proxy), b"SELECT").unwrap();
    reset(b"an INSERT");
    exchange(&mut connect(&proxy), b"INSERT").unwrap();
    let all: Vec<Vec<u8>> = received.try_iter().collect();
    assert_eq!(all, [&b"SELECT"[..], b"an INSERT", b"INSERT"]);
    assert_eq!(proxy.losses(), 3);
}

#[test]
fn a_commit_whose_answer_is_lost_is_in_the_database() {
    let database = shared().create_database();
    let proxy = Proxy::to(shared().address());
    let url = shared().url_through(&proxy, &database);
    let psql = |sql: &str| Command::new("psql").args(["-qc", sql, &url]).output();
    assert!(
        psql("CREATE SCHEMA a CREATE TABLE b (n int)")
            .unwrap()
            .status
            .success()
    );
    let insert = "INSERT INTO a.b VALUES (1)";
    proxy.lose_next_answer_with(b"INSERT 0 ");
    assert!(!psql(insert).unwrap().status.success());
    proxy.lose_next_request_with(b"INSERT INTO");
    assert!(!psql(insert).unwrap().status.success());
    assert_eq!(shared().psql_in(&database, "SELECT count(*) FROM a.b"), "1");
}
