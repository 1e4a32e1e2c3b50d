//! A project goes to another cell, or a cell gets another leader, while clients ask.

use tokio::time::Instant;

use super::{super::streams::once, *};

fn asking(address: SocketAddr, request: String) -> tokio::task::JoinHandle<String> {
    tokio::spawn(async move { ask(address, &request).await })
}

#[tokio::test]
async fn a_project_goes_to_another_cell_while_all_processes_are_asked() {
    let (world, nodes) = World::of_two().await;
    for (from, to) in [(0, 1), (1, 0)] {
        let mut clients = Vec::new();
        for node in &nodes {
            let address = node.address;
            clients.push(tokio::spawn(async move {
                for round in 0.. {
                    let body = format!("body {round} of {address}");
                    let answer = ask(address, &post_to_project(10, &body)).await;
                    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
                    assert!(answer.ends_with(&format!("|{body}")), "{answer}");
                    if is_from(&answer, to) {
                        return round;
                    }
                }
                0
            }));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        world.moves(project(10), from, to);
        for client in clients {
            assert!(client.await.unwrap() > 0);
        }
    }
    let unknown = nodes.map(|node| node.switch.figures().unknown);
    assert_eq!(unknown, [0; 4]);
}

#[tokio::test]
async fn requests_wait_while_nobody_leads_the_cell_that_a_project_went_to() {
    let (world, nodes) = World::of_two().await;
    let new = [world.node(2), world.node(2)];
    for node in nodes.iter().chain(&new) {
        node.switch.routes().refreshed().await;
    }
    world.moves(project(10), 0, 2);
    let all = || nodes.iter().chain(&new);
    let answers = all().map(|node| asking(node.address, post_to_project(10, "moved")));
    let answers = answers.collect::<Vec<_>>();
    until(|| all().all(|node| node.switch.figures().held == 1)).await;
    world.lead(2, &new[1]);
    for answer in answers {
        let answer = answer.await.unwrap();
        assert!(
            is_from(&answer, 2) && answer.ends_with("|moved"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_large_body_waits_whole_for_the_new_leader_of_another_cell() {
    let (world, nodes) = World::of_two().await;
    let (_socket, dead) = nowhere();
    world.set_leader(1, Some(origin(dead)));
    nodes[0].switch.routes().refreshed().await;
    let body = "x".repeat(60_000);
    let answer = asking(nodes[0].address, post_to_project(11, &body));
    until(|| nodes[0].switch.figures().not_taken > 0).await;
    world.lead(1, &nodes[3]);
    let answer = answer.await.unwrap();
    assert!(is_from(&answer, 1) && answer.ends_with(&format!("|{body}")));
}

#[tokio::test]
async fn what_a_cell_refuses_because_its_project_has_just_left_is_done_by_the_next() {
    let (world, nodes) = World::of_two().await;
    // Let in by the front, and refused by a service that looks later.
    let late = world.clone();
    let service = Router::new().fallback(async move || {
        late.moves(project(10), 0, 1);
        StatusCode::NOT_FOUND
    });
    world.lead_with(0, &nodes[0], service);
    let answer = ask(nodes[2].address, &post_to_project(10, "once")).await;
    assert!(is_from(&answer, 1) && answer.ends_with("|once"), "{answer}");
    assert_eq!(nodes[2].switch.figures().not_taken, 1);
    // Its own client has to ask again: its body is gone.
    world.moves(project(10), 1, 0);
    let answer = ask(nodes[0].address, &post_to_project(10, "twice")).await;
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
    let answer = ask(nodes[0].address, &post_to_project(10, "twice")).await;
    assert!(is_from(&answer, 1), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_project_that_went_to_another_cell_is_ended_and_found_there() {
    let (world, nodes) = World::of_two().await;
    let (send, body) = pieces();
    world.lead_with(0, &nodes[0], once(body));
    let begin = async |node: &Node| {
        let mut stream = TcpStream::connect(node.address).await.unwrap();
        let request = b"GET /projects/10 HTTP/1.1\r\nHost: x\r\n\r\n";
        stream.write_all(request).await.unwrap();
        stream
    };
    let mut stream = begin(&nodes[3]).await;
    send.send("data: 1\n\n").unwrap();
    read_until(&mut stream, "data: 1\n\n").await;
    let begun = Instant::now();
    world.moves(project(10), 0, 1);
    read_until(&mut stream, "0\r\n\r\n").await;
    assert!((5..8).contains(&begun.elapsed().as_secs()));
    let (next, body) = pieces();
    world.lead_with(1, &nodes[2], once(body));
    let mut stream = begin(&nodes[1]).await;
    next.send("data: 2\n\n").unwrap();
    read_until(&mut stream, "data: 2\n\n").await;
    // Nor does it outlive the leader of another cell.
    let begun = Instant::now();
    world.set_leader(1, None);
    read_until(&mut stream, "0\r\n\r\n").await;
    assert!((5..8).contains(&begun.elapsed().as_secs()));
}

#[tokio::test]
async fn an_address_that_a_process_of_another_cell_has_by_now_is_not_taken_for_the_former_one() {
    let (world, nodes) = World::of_two().await;
    // Cell 1's leader is said to be where cell 0's is.
    world.set_leader(1, Some(origin(nodes[0].address)));
    nodes[1].switch.routes().refreshed().await;
    let answer = asking(nodes[1].address, post_to_project(11, "there"));
    until(|| nodes[1].switch.figures().not_taken > 0).await;
    world.lead(1, &nodes[2]);
    let answer = answer.await.unwrap();
    assert!(
        is_from(&answer, 1) && answer.ends_with("|there"),
        "{answer}"
    );
    // Nor its own.
    world.set_leader(1, Some(origin(nodes[1].address)));
    nodes[1].switch.routes().refreshed().await;
    let answer = asking(nodes[1].address, post_to_project(11, "again"));
    until(|| nodes[1].switch.figures().not_taken > 1).await;
    world.lead(1, &nodes[2]);
    assert!(is_from(&answer.await.unwrap(), 1));
}
