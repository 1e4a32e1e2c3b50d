//! Processes ask each other, and nobody else can.

use axum::http::uri::PathAndQuery;

use super::*;
use crate::front::Unreached;

const PATH: PathAndQuery = PathAndQuery::from_static("/cluster/routes");

#[tokio::test]
async fn a_process_asks_the_leader_of_another_cell() {
    let (world, nodes) = World::of_two().await;
    let client = "203.0.113.9:1".parse().unwrap();
    for node in &nodes[..2] {
        let neighbours = node.switch.routes().neighbours();
        assert_eq!(neighbours.leaders(), [(1, Some(origin(nodes[2].address)))]);
        let answer = neighbours
            .get(1, PATH, HeaderMap::new(), client)
            .await
            .unwrap();
        let reported: Announcement = serde_json::from_slice(answer.body()).unwrap();
        assert_eq!(reported, world.announcement(1));
        // Its service gets the client and the headers.
        let path = PathAndQuery::from_static("/any?x=1");
        let headers = HeaderMap::from_iter([("accept".parse().unwrap(), "x/y".parse().unwrap())]);
        let answer = neighbours.get(1, path, headers, client).await.unwrap();
        assert_eq!(answer.headers()["saw-accept"], "x/y");
        assert_eq!(answer.body(), "GET /any?x=1|203.0.113.9|");
    }
    let neighbours = nodes[0].switch.routes().neighbours();
    let nobody = neighbours.get(7, PATH, HeaderMap::new(), client).await;
    assert_eq!(nobody.err(), Some(Unreached::NoLeader));
    world.set_leader(1, Some(origin(nodes[3].address)));
    nodes[0].switch.routes().refreshed().await;
    let follower = neighbours.get(1, PATH, HeaderMap::new(), client).await;
    assert_eq!(follower.err(), Some(Unreached::NotLeading));
    let (_socket, dead) = nowhere();
    world.set_leader(1, Some(origin(dead)));
    nodes[0].switch.routes().refreshed().await;
    let gone = neighbours.get(1, PATH, HeaderMap::new(), client).await;
    assert_eq!(gone.err(), Some(Unreached::NoAnswer));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_late_or_too_long_is_none() {
    let (world, nodes) = World::of_two().await;
    let service = Router::new()
        .route("/late", get(pending::<()>))
        .route("/long", get(|| async { vec![0_u8; (16 << 20) + 1] }));
    world.lead_with(1, &nodes[2], service);
    let neighbours = nodes[0].switch.routes().neighbours();
    let client = "203.0.113.9:1".parse().unwrap();
    for path in ["/late", "/long"] {
        let path = PathAndQuery::from_static(path);
        let answer = neighbours.get(1, path, HeaderMap::new(), client).await;
        assert_eq!(answer.err(), Some(Unreached::NoAnswer));
    }
}

#[tokio::test]
async fn clients_do_not_reach_what_processes_ask_each_other() {
    let (_world, nodes) = World::of_two().await;
    for node in &nodes {
        for headers in [
            "",
            "scrip-forwarded: 127.0.0.1:1 00ff\r\n",
            "scrip-forwarded: 127.0.0.1:1 00ff\r\nscrip-cell: 0\r\n",
        ] {
            let request = format!(
                "GET /cluster/routes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n"
            );
            let answer = ask(node.address, &request).await;
            assert!(
                answer.ends_with("GET /cluster/routes|127.0.0.1|"),
                "{answer}"
            );
        }
    }
}
