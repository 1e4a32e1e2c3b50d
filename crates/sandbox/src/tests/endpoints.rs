//! Deliveries to registered endpoints, besides the project's own URL.

use super::*;

/// A second shop with scripted answers, and the headers and bodies that it received.
async fn elsewhere(answers: &[u16]) -> (String, mpsc::UnboundedReceiver<(HeaderMap, Bytes)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/there", listener.local_addr().unwrap());
    let (sender, came) = mpsc::unbounded_channel();
    let answers = Arc::new(Mutex::new(VecDeque::from(answers.to_vec())));
    let hook = move |headers: HeaderMap, body: Bytes| {
        let _ = sender.send((headers, body));
        let answer = answers.lock().pop_front().unwrap_or(200);
        std::future::ready(StatusCode::from_u16(answer).unwrap())
    };
    let routes = Router::new().route("/there", post(hook));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (url, came)
}

#[tokio::test]
async fn an_endpoint_gets_its_types_signed_with_its_own_secret() {
    let mut stage = Stage::new().await;
    let (url, mut came) = elsewhere(&[500]).await;
    let form = format!("url={url}&enabled_events[0]=checkout.session.completed");
    let (_, endpoint) = stage.send("webhook_endpoints", &form).await;
    let session = stage.session(credits(), Promotion::None).await;
    stage.act(&session.url.unwrap(), "pay", "").await;
    assert_eq!(stage.sent_kinds(2).await[1], "checkout.session.completed");
    let first = came.recv().await.unwrap();
    assert!(came.try_recv().is_err(), "only what it asked for");
    let list = "events?type=checkout.session.completed";
    assert_eq!(stage.get(list).await["data"][0]["pending_webhooks"], 1);
    // It was not accepted: it is sent again, to that endpoint alone.
    stage.set_clock(START + 2000);
    stage.run().await;
    let (headers, body) = came.recv().await.unwrap();
    let name = |body: &[u8]| {
        let event: serde_json::Value = serde_json::from_slice(body).unwrap();
        event["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(name(&body), name(&first.1));
    stage.silent();
    assert_eq!(stage.get(list).await["data"][0]["pending_webhooks"], 0);
    let secret = endpoint["secret"].as_str().unwrap();
    let verify = |secret: &str| {
        let secrets = [SigningSecret::new(secret).unwrap()];
        let header = headers[signature::HEADER].as_bytes();
        signature::verify(header, &body, &secrets, stage.host.wall_clock()).is_ok()
    };
    assert!(verify(secret) && !verify(SECRET));
    // A disabled endpoint gets nothing.
    let path = format!("webhook_endpoints/{}", endpoint["id"].as_str().unwrap());
    stage.send(&path, "disabled=true").await;
    let session = stage.session(credits(), Promotion::None).await;
    stage.act(&session.url.unwrap(), "expire", "").await;
    assert!(came.try_recv().is_err());
}

#[tokio::test]
async fn the_server_knocks_at_no_strangers_door() {
    let mut stage = Stage::new().await;
    let form = "url=http://192.0.2.1/hook&enabled_events[0]=*";
    stage.send("webhook_endpoints", form).await;
    let session = stage.session(credits(), Promotion::None).await;
    let begun = std::time::Instant::now();
    stage.act(&session.url.unwrap(), "expire", "").await;
    stage.sent_kinds(1).await;
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "nobody was called there"
    );
    let list = "events?type=checkout.session.expired";
    assert_eq!(stage.get(list).await["data"][0]["pending_webhooks"], 1);
}
