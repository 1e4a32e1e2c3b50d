//! Who a client is: what a process of the cluster says, and nobody else.

use super::*;

/// A request with these headers.
fn with(headers: &str) -> String {
    format!("GET /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n")
}

#[tokio::test]
async fn the_leader_knows_who_the_client_is() {
    let leader = Node::leading(mirror());
    let node = Node::with(ForwardSettings {
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        ..settings()
    });
    node.switch.elsewhere(origin(leader.address));
    for (chain, client) in [
        ("203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9, 127.0.0.2", "203.0.113.9"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::"),
    ] {
        let answer = ask(
            node.address,
            &with(&format!("X-Forwarded-For: {chain}\r\n")),
        )
        .await;
        assert!(answer.ends_with(&format!("|{client}|")), "{answer}");
        assert!(
            !answer.contains("saw-x-forwarded-for") && !answer.contains("scrip-"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_client_cannot_claim_another_address() {
    let leader = Node::leading(mirror());
    let node = Node::following(leader.address);
    let forged = "scrip-forwarded: 203.0.113.9:1 00ff\r\nX-Forwarded-For: 203.0.113.9\r\n";
    let answer = ask(node.address, &with(forged)).await;
    assert!(answer.ends_with("|127.0.0.1|"), "{answer}");
    assert!(!answer.contains("203.0.113.9"), "{answer}");
    // To the leader itself: what proxies say is for its service to judge, as ever.
    let answer = ask(leader.address, &with(forged)).await;
    assert!(answer.ends_with("|127.0.0.1|"), "{answer}");
    assert!(!answer.contains("saw-scrip-forwarded"), "{answer}");
    assert!(
        answer.contains("saw-x-forwarded-for: 203.0.113.9"),
        "{answer}"
    );
    // Nor by having the front's own word taken off.
    let answer = ask(
        node.address,
        "GET /p HTTP/1.1\r\nHost: x\r\nConnection: close, scrip-forwarded, x-forwarded-for\r\n\
         X-Forwarded-For: 203.0.113.9\r\n\r\n",
    )
    .await;
    assert!(
        answer.ends_with("|127.0.0.1|") && !answer.contains("203.0.113.9"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_process_with_another_key_is_a_client_like_any_other() {
    let leader = Node::leading(mirror());
    let stranger = ForwardSettings {
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        ..settings()
    };
    let forwarder = Forwarder::new(&[8; 32], stranger).unwrap();
    let (front, switch) = Front::<Router>::new(Router::new(), forwarder, 0, Arc::new(|_, _| None));
    switch.elsewhere(origin(leader.address));
    let answer = ask(
        serve(front, None),
        &with("X-Forwarded-For: 203.0.113.9\r\n"),
    )
    .await;
    assert!(answer.ends_with("|127.0.0.1|"), "{answer}");
}

#[tokio::test]
async fn a_client_cannot_have_a_request_refused_as_if_another_process_had_sent_it() {
    let leader = Node::leading(mirror());
    let node = Node::following(leader.address);
    let answer = ask(
        node.address,
        &with("scrip-not-leading: true\r\nscrip-forwarded: x\r\n"),
    )
    .await;
    assert!(answer.ends_with("GET /p|127.0.0.1|"), "{answer}");
    assert!(!answer.contains("scrip-"), "{answer}");
}
