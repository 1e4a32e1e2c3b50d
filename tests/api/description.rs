//! `/api/openapi.json` and `/docs`

use std::path::Path;

use reqwest::Method;
use serde_json::json;

use crate::service::{Service, header};

#[tokio::test]
async fn the_description_needs_no_key_and_is_the_committed_one() {
    let service = Service::start().await;
    let reply = service.anonymous(Method::GET, "/api/openapi.json").await;
    assert_eq!(header(&reply, "content-type"), Some("application/json"));
    let document = reply.expect(200);
    assert_eq!(document["servers"], json!([{ "url": "/api/v1" }]));
    // A change of the interface shows up as a change of this file, or it was not intended.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi/api.json");
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        committed == format!("{}\n", serde_json::to_string_pretty(&document).unwrap()),
        "docs/openapi/api.json is not what is served. If that is meant: \
         cargo run -- openapi > docs/openapi/api.json"
    );
}

#[tokio::test]
async fn the_page_for_people_loads_nothing() {
    let service = Service::start().await;
    let reply = service.anonymous(Method::GET, "/docs").await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        header(&reply, "content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(
        header(&reply, "content-security-policy")
            .unwrap()
            .starts_with("default-src 'none'")
    );
}
