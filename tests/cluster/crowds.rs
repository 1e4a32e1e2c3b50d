//! One project's readers, and strangers who send slowly, at a process that follows: others are answered there.

use kit::{Client, Project, events::Events, launch::ADMIN_TOKEN};
use reqwest::Method;
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::members::Cluster;

/// Of which 32 may be under way to the leader: 8 streams, 4 bodies that are passed on, 20 others.
const CONNECTIONS: &str = "96";

/// Opens a stream with a new session of the project's user, in the name of a client behind a proxy.
async fn stream(base: &str, project: &Project, client: u8) -> Option<Events> {
    let body = json!({"externalUserId": "u"});
    let server = Client::new(base, &project.secret);
    let session = server.post("/api/v1/sessions", &body).await.expect(200);
    let session = session["token"].as_str().unwrap().to_owned();
    let of_session = Client::new(base, &session);
    let request = of_session.request(Method::GET, "/api/v1/wallets/external/stream");
    let request = request.header("x-forwarded-for", format!("203.0.113.{client}"));
    Events::send(request).await.ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_one_project_and_slow_senders_shut_out_no_others() {
    let cell = Cluster::with(|launch| {
        let launch = launch.env("SCRIP_TRUSTED_PROXIES", "127.0.0.0/8");
        launch.env("SCRIP_HTTP_MAX_CONNECTIONS_PER_CLIENT", CONNECTIONS)
    })
    .await;
    let follower = cell.other_than(cell.leader().await);
    let other = Project::create(&cell.client(follower, ADMIN_TOKEN)).await;
    let base = cell.members[follower].base();

    let mut open = Vec::new();
    for client in 1..=10 {
        open.extend(stream(&base, &cell.project, client).await);
    }
    assert!((1..=4).contains(&open.len()), "half of 8: {}", open.len());
    let mut streamed = stream(&base, &other, 99)
        .await
        .expect("another project's stream");
    assert!(streamed.event().await.is_some());

    let mut slow = Vec::new();
    for client in 1..=40 {
        let address = base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /dashboard/sign-in HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.{client}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2000000\r\n\r\ne"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let victim = Client::new(&base, &other.secret);
    let grant = json!({"externalUserId": "u", "amount": 5, "productId": other.product, "idempotencyKey": "k"});
    victim.post("/api/v1/credit", &grant).await.expect(200);
    let page = victim.get("/dashboard/sign-in").await;
    assert_eq!(page.status, 200, "a caller without a key");
}
