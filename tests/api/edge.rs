//! What every response has, also for unknown routes.

use reqwest::Method;

use crate::{
    client::Client,
    service::{Service, assert_refused, header},
};

#[tokio::test]
async fn every_answer_has_an_id_of_its_own() {
    let service = Service::start().await;
    let mut ids = std::collections::BTreeSet::new();
    for path in [
        "/api/v1/me",
        "/api/v1/nothing",
        "/healthz",
        "/docs",
        "/nothing",
        "/metrics",
    ] {
        let reply = service.secret.get(path).await;
        let id = header(&reply, "x-request-id")
            .unwrap_or_else(|| panic!("{path}"))
            .to_owned();
        assert!(id.starts_with("req_") && id.len() == 30, "{id}");
        assert!(ids.insert(id), "{path}");
    }
}

#[tokio::test]
async fn unknown_routes_answer_in_json_with_and_without_a_key() {
    let service = Service::start().await;
    for path in [
        "/",
        "/nothing",
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v1/nothing",
        "/api/v2/me",
    ] {
        assert_refused(&service.secret.get(path).await, 404, "route_not_found");
        assert_refused(
            &service.anonymous(Method::GET, path).await,
            404,
            "route_not_found",
        );
    }
}

#[tokio::test]
async fn a_wrong_method_is_answered_with_the_right_ones() {
    let service = Service::start().await;
    for (method, path, allowed) in [
        (Method::DELETE, "/api/v1/me", "GET"),
        (Method::PUT, "/api/v1/wallets", "POST"),
        (Method::POST, "/healthz", "GET"),
        (Method::GET, "/api/v1/credit", "POST"),
    ] {
        let reply = Client::send(service.secret.request(method, path))
            .await
            .unwrap();
        assert_refused(&reply, 405, "method_not_allowed");
        assert!(header(&reply, "allow").unwrap().contains(allowed), "{path}");
    }
}

#[tokio::test]
async fn a_refusal_is_json_and_says_how_long_it_is() {
    let service = Service::start().await;
    let reply = service.secret.get("/api/v1/nothing").await;
    assert_eq!(header(&reply, "content-type"), Some("application/json"));
    let length: usize = header(&reply, "content-length").unwrap().parse().unwrap();
    assert_eq!(length, serde_json::to_string(&reply.body).unwrap().len());
}
