//! Any process takes any request, and has it answered where its project is.

use super::*;

#[tokio::test]
async fn any_process_answers_for_any_project() {
    let (_world, nodes) = World::of_two().await;
    for node in &nodes {
        for cell in [0_u8, 1] {
            let answer = ask_for_project(node.address, 10 + u128::from(cell)).await;
            assert!(is_from(&answer, cell.into()), "{answer}");
            let answer = ask_with_key(node.address, 100 + u64::from(cell)).await;
            assert!(is_from(&answer, cell.into()), "{answer}");
            let answer = get_from(node.address, &format!("/cells/{cell}")).await;
            assert!(is_from(&answer, cell.into()), "{answer}");
        }
        let answer = get_from(node.address, "/lowest").await;
        assert!(is_from(&answer, 0), "{answer}");
        assert!(!answer.contains("saw-scrip"), "{answer}");
    }
    // What any cell can answer stays where it came.
    for (node, cell) in nodes.iter().zip([0, 0, 1, 1]) {
        let answer = get_from(node.address, "/anything").await;
        assert!(is_from(&answer, cell), "{answer}");
    }
    let figures = nodes.map(|node| node.switch.figures());
    assert_eq!(figures.map(|it| it.forwarded), [3, 8, 4, 8]);
    assert_eq!(figures.map(|it| it.not_taken), [0; 4]);
}

#[tokio::test]
async fn a_process_answers_for_itself_where_there_are_several_cells() {
    let (_world, [leader, follower, ..]) = World::of_two().await;
    let answer = get_from(leader.address, "/leaderz").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let answer = get_from(leader.address, "/healthz").await;
    assert!(is_from(&answer, 0), "{answer}");
    let answer = get_from(follower.address, "/leaderz").await;
    assert!(is_refusal(&answer, "unavailable"), "{answer}");
    let answer = get_from(follower.address, "/healthz").await;
    assert!(answer.ends_with("local health"), "{answer}");
}

#[tokio::test]
async fn a_key_that_is_new_is_found_at_once() {
    let (world, nodes) = World::of_two().await;
    for (node, number) in nodes.iter().zip(200..) {
        world.put(1, &[key(number)]);
        let answer = ask_with_key(node.address, number).await;
        assert!(is_from(&answer, 1), "{answer}");
    }
}

#[tokio::test]
async fn a_key_that_nobody_knows_is_refused_where_it_came_after_one_look() {
    let (world, nodes) = World::of_two().await;
    for (node, cell) in nodes.iter().zip([0, 0, 1, 1]) {
        let before = world.lists();
        let answer = ask_with_key(node.address, 999).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
        assert!(answer.ends_with(&format!("unknown in {cell}")), "{answer}");
        assert!(world.lists() > before);
    }
    let answer = get_from(nodes[3].address, "/cells/7").await;
    assert!(is_from(&answer, 1), "{answer}");
}

#[tokio::test]
async fn keys_that_nobody_knows_make_little_work() {
    let (world, nodes) = World::of_two().await;
    let forwarder = Forwarder::new(&SERVER_KEY, settings()).unwrap();
    let (front, switch) = Front::<Router>::new(Router::new(), forwarder, 1, Arc::new(find));
    tokio::spawn(switch.routes().clone().keep(world.list()));
    switch.routes().refreshed().await;
    world.lead(
        1,
        &Node {
            address: nodes[2].address,
            switch,
        },
    );
    let (front, before, begun) = (Arc::new(front), world.lists(), tokio::time::Instant::now());
    for round in 0..10 {
        let mut answers = Vec::new();
        for number in 0..100 {
            let request = axum::http::Request::builder()
                .header("x-key", 1_000 + round * 100 + number)
                .body(axum::body::Bytes::new().into())
                .unwrap();
            let peer = "127.0.0.1:1".parse().unwrap();
            let front = Arc::clone(&front);
            answers.push(tokio::spawn(connections::Responder::answer(
                front, request, peer,
            )));
        }
        for answer in answers {
            assert_eq!(answer.await.unwrap().status(), 401);
        }
    }
    // Ten a second for those, and one a second of each of the five processes.
    let seconds = begun.elapsed().as_secs_f64();
    let lists = (world.lists() - before) as f64;
    assert!(lists >= 10.0, "{lists} lists");
    assert!(
        lists <= seconds * 15.0 + 6.0,
        "{lists} lists in {seconds} s"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cell_that_does_not_answer_costs_others_nothing() {
    let (world, nodes) = World::of_two().await;
    let (_socket, dead) = nowhere();
    for leader in [None, Some(origin(dead))] {
        world.set_leader(2, leader);
        for node in &nodes {
            node.switch.routes().refreshed().await;
            for cell in [0_u8, 1] {
                let begun = tokio::time::Instant::now();
                let answer = ask_with_key(node.address, 100 + u64::from(cell)).await;
                assert!(is_from(&answer, cell.into()), "{answer}");
                assert!(begun.elapsed() < Duration::from_secs(1));
            }
            let answer = ask_with_key(node.address, 999).await;
            assert!(is_refusal(&answer, "unavailable"), "{answer}");
        }
    }
    world.0.lock().unwrap().cells.remove(&2);
    nodes[0].switch.routes().refreshed().await;
    let answer = ask_with_key(nodes[0].address, 999).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn one_cell_alone_makes_nobody_wait_or_look() {
    let world = World::default();
    let nodes = world.cell(0).await;
    for node in &nodes {
        node.switch.routes().refreshed().await;
    }
    let (lists, begun) = (world.lists(), tokio::time::Instant::now());
    for node in &nodes {
        for _ in 0..20 {
            let answer = ask_with_key(node.address, 999).await;
            assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
        }
    }
    // The two look once a second in any case.
    let seconds = usize::try_from(begun.elapsed().as_secs()).unwrap();
    assert!(seconds < 2, "{seconds} s");
    assert!(world.lists() - lists <= 2 * (seconds + 1));
}
