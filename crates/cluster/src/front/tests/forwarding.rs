//! A request and its answer arrive as they were sent.

use axum::{
    http::{StatusCode, header},
    response::IntoResponse as _,
};
use rustls::RootCertStore;
use scrip_http::connections;

use super::*;

#[tokio::test]
async fn who_leads_answers_itself() {
    let leader = Node::leading(mirror());
    let answer = ask(leader.address, &post("body")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.ends_with("POST /p|127.0.0.1|body"), "{answer}");
    assert_eq!(
        leader.switch.figures(),
        crate::front::FrontFigures::default()
    );
}

#[tokio::test]
async fn a_request_reaches_the_leader_as_it_was_sent() {
    let leader = Node::leading(mirror());
    let node = Node::following(leader.address);
    let request = "PATCH /a%2Fb//c?x=%20y&x HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer k\r\n\
                   Cookie: a=b\r\nAccept-Encoding: gzip\r\nX-Twice: 1\r\nX-Twice: 2\r\nTE: trailers\r\n\
                   X-Hop: 1\r\nConnection: close, X-Hop\r\nContent-Length: 4\r\n\r\nbody";
    let answer = ask(node.address, request).await;
    assert!(
        answer.ends_with("PATCH /a%2Fb//c?x=%20y&x|127.0.0.1|body"),
        "{answer}"
    );
    for line in [
        "saw-host: shop.example",
        "saw-authorization: Bearer k",
        "saw-cookie: a=b",
        "saw-accept-encoding: gzip",
        "saw-x-twice: 1",
        "saw-x-twice: 2",
        "saw-content-length: 4",
    ] {
        assert!(
            answer.contains(&format!("\r\n{line}\r\n")),
            "{line}: {answer}"
        );
    }
    for name in [
        "saw-te",
        "saw-x-hop",
        "saw-connection",
        "saw-scrip",
        "saw-x-forwarded",
    ] {
        assert!(!answer.contains(name), "{name}: {answer}");
    }
    assert_eq!(node.switch.figures().forwarded, 1);
}

#[tokio::test]
async fn odd_requests_are_passed_on_too() {
    let leader = Node::leading(mirror());
    let node = Node::following(leader.address);
    let chunked = "POST /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let answer = ask(node.address, chunked).await;
    assert!(answer.ends_with("POST /c|127.0.0.1|abcde"), "{answer}");
    let absolute =
        "GET http://elsewhere.example/p?q HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answer = ask(node.address, absolute).await;
    assert!(answer.ends_with("GET /p?q|127.0.0.1|"), "{answer}");
    let star = "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answer = ask(node.address, star).await;
    assert!(answer.ends_with("OPTIONS *|127.0.0.1|"), "{answer}");
    let connect =
        "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nConnection: close\r\n\r\n";
    let answer = ask(node.address, connect).await;
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
    let old = ask(node.address, "GET /old HTTP/1.0\r\n\r\n").await;
    assert!(
        old.starts_with("HTTP/1.0 200 ") && old.ends_with("GET /old|127.0.0.1|"),
        "{old}"
    );
}

#[tokio::test]
async fn a_client_that_expects_100_continue_gets_it() {
    let leader = Node::leading(mirror());
    let node = Node::following(leader.address);
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    read_until(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n").await;
    stream.write_all(b"body").await.unwrap();
    read_until(&mut stream, "|body").await;
}

#[tokio::test]
async fn an_answer_reaches_the_client_as_it_was_sent() {
    let service = Router::new()
        .route(
            "/full",
            get(|| async {
                let headers = [
                    ("set-cookie", "a=1"),
                    ("set-cookie", "b=2"),
                    ("location", "/elsewhere"),
                    ("content-encoding", "gzip"),
                    ("x-hop", "1"),
                    ("keep-alive", "timeout=1"),
                    ("proxy-authenticate", "Basic"),
                    ("scrip-forwarded", "127.0.0.1:1 00"),
                ];
                let mut response = (StatusCode::FOUND, "not really gzip").into_response();
                for (name, value) in headers {
                    let name = header::HeaderName::from_static(name);
                    response.headers_mut().append(name, value.parse().unwrap());
                }
                response
            }),
        )
        .route("/empty", get(|| async { StatusCode::NO_CONTENT }))
        .route(
            "/same",
            get(|| async { (StatusCode::NOT_MODIFIED, [("etag", "\"1\"")]) }),
        );
    let leader = Node::leading(service);
    let node = Node::following(leader.address);
    let answer = get_from(node.address, "/full").await;
    assert!(answer.starts_with("HTTP/1.1 302 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\nnot really gzip"), "{answer}");
    for line in [
        "set-cookie: a=1",
        "set-cookie: b=2",
        "location: /elsewhere",
        "content-encoding: gzip",
    ] {
        assert!(
            answer.contains(&format!("\r\n{line}\r\n")),
            "{line}: {answer}"
        );
    }
    for name in ["scrip-", "keep-alive", "proxy-"] {
        assert!(!answer.contains(name), "{name}: {answer}");
    }
    let head = "HEAD /full HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answer = ask(node.address, head).await;
    assert!(
        answer.contains("\r\ncontent-length: 15\r\n") && answer.ends_with("\r\n\r\n"),
        "{answer}"
    );
    let answer = get_from(node.address, "/empty").await;
    assert!(
        answer.starts_with("HTTP/1.1 204 ") && answer.ends_with("\r\n\r\n"),
        "{answer}"
    );
    let answer = get_from(node.address, "/same").await;
    assert!(
        answer.starts_with("HTTP/1.1 304 ") && answer.ends_with("\r\n\r\n"),
        "{answer}"
    );
    assert!(answer.contains("\r\netag: \"1\"\r\n"), "{answer}");
}

#[tokio::test]
async fn a_process_answers_for_itself_what_is_asked_about_it() {
    let leader = Node::leading(mirror());
    let node = Node::start();
    for tell in [None, Some(origin(leader.address))] {
        if let Some(leader) = tell {
            node.switch.elsewhere(leader);
        }
        for (path, text) in [
            ("/healthz", "local health"),
            ("/readyz", "local readiness"),
            ("/metrics", "local metrics"),
        ] {
            let answer = get_from(node.address, path).await;
            assert!(answer.ends_with(text), "{answer}");
        }
        let answer = get_from(node.address, "/leaderz").await;
        assert!(is_refusal(&answer, "unavailable"), "{answer}");
    }
    let answer = get_from(leader.address, "/leaderz").await;
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(r#"{"status":"leading"}"#),
        "{answer}"
    );
    for path in ["/healthz", "/readyz", "/metrics"] {
        let answer = get_from(leader.address, path).await;
        assert!(
            answer.ends_with(&format!("GET {path}|127.0.0.1|")),
            "{answer}"
        );
    }
    leader.switch.unknown();
    let answer = get_from(leader.address, "/leaderz").await;
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
}

#[tokio::test]
async fn a_connection_is_answered_by_the_service_of_the_time() {
    let node = Node::start();
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    for text in ["first", "second", "third"] {
        node.switch
            .here(Router::new().route("/", get(move || async move { text })));
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        read_until(&mut stream, text).await;
    }
}

#[tokio::test]
async fn a_leader_that_speaks_tls_is_trusted_by_its_authority_alone() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let files = connections::tls::Files {
        cert: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let mut authorities = RootCertStore::empty();
    authorities.add(made.cert.der().clone()).unwrap();
    let (leading, switch) = front(settings());
    switch.here(mirror());
    let leader = serve(leading, Some(Arc::new(Tls::open(files).unwrap())));
    let leader: Origin = format!("https://{leader}").parse().unwrap();
    let trusting = crate::front::tls::trusting(authorities).unwrap();
    let node = Node::with(ForwardSettings {
        tls: Some(trusting),
        ..settings()
    });
    node.switch.elsewhere(leader.clone());
    let answer = ask(node.address, &post("body")).await;
    assert!(answer.ends_with("POST /p|127.0.0.1|body"), "{answer}");

    let stranger = Node::start();
    stranger.switch.elsewhere(leader);
    let answer = tokio::spawn({
        let address = stranger.address;
        async move { ask(address, &post("body")).await }
    });
    until(|| stranger.switch.figures().not_taken > 0).await;
    stranger.switch.here(mirror());
    assert!(answer.await.unwrap().ends_with("POST /p|127.0.0.1|body"));
}
