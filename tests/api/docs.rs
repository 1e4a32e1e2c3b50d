//! `/docs` and `/llms.txt`: the documentation as a browser and a language model read it.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Method, header::HeaderValue};

use crate::{
    client::{Client, plain_http, unled_http},
    service::{Service, assert_refused, header},
};

/// A page as it was served.
struct Page {
    kind: String,
    text: String,
}

async fn open(service: &Service, path: &str) -> Page {
    let url = format!("{}{path}", service.base);
    let answer = plain_http().get(url).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    let named = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    let kind = named("content-type");
    let policy = named("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
    assert!(
        policy.contains("script-src 'self';") && !policy.contains("http"),
        "{path}: {policy}"
    );
    assert_eq!(named("x-content-type-options"), "nosniff", "{path}");
    let bytes = answer.bytes().await.unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Page { kind, text }
}

/// The values of an attribute of any tag. In text, `<` is escaped, so only tags match.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let opening = format!(" {name}=\"");
    let tags = page
        .split('<')
        .skip(1)
        .filter_map(|part| Some(part.split_once('>')?.0));
    let values = tags.filter_map(|tag| tag.split_once(&opening)?.1.split_once('"'));
    values.map(|(value, _)| value).collect()
}

/// The page and anchor that a link leads to, if it is on this server.
fn target(from: &str, link: &str) -> Option<(String, String)> {
    if link.contains("://") {
        return None;
    }
    let link = link.replace("&amp;", "&");
    let base = url::Url::parse(&format!("http://docs{from}")).unwrap();
    let to = base.join(&link).unwrap();
    Some((
        to.path().to_owned(),
        to.fragment().unwrap_or_default().to_owned(),
    ))
}

#[tokio::test]
async fn every_link_and_anchor_of_the_served_pages_leads_somewhere() {
    let service = Service::start().await;
    let (mut pages, mut waiting) = (BTreeMap::new(), vec!["/docs".to_owned()]);
    let mut anchors = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let page = match path.as_str() {
            "/api/openapi.json" => continue,
            path => open(&service, path).await,
        };
        if page.kind == "text/html; charset=utf-8" {
            // Nothing is loaded except pictures, the script and the icon of this server.
            for refused in ["<script>", "<iframe", "@import", "url(", " onclick="] {
                assert!(!page.text.contains(refused), "{path}: {refused}");
            }
            for source in attributes(&page.text, "src") {
                let (picture, _) = target(&path, source).expect("of this server");
                waiting.push(picture);
            }
            for link in attributes(&page.text, "href") {
                let Some((to, anchor)) = target(&path, link) else {
                    continue;
                };
                waiting.push(to.clone());
                anchors.insert((path.clone(), to, anchor));
            }
        }
        pages.insert(path, page);
    }
    for (from, to, anchor) in anchors.iter().filter(|(.., anchor)| !anchor.is_empty()) {
        let ids = attributes(&pages[to].text, "id");
        assert!(
            ids.contains(&anchor.as_str()),
            "{from}: {to}#{anchor} is not there"
        );
    }
    for known in [
        "/docs/errors",
        "/docs/quick-start",
        "/docs/readme",
        "/docs/checkout.png",
        "/docs/config.toml",
        "/docs/api",
        "/docs/admin",
        "/docs/page.js",
        "/docs/icon.svg",
    ] {
        assert!(pages.contains_key(known), "{known}");
    }
    assert_eq!(pages["/docs/checkout.png"].kind, "image/png");
}

#[tokio::test]
async fn a_refusal_leads_to_its_explanation() {
    let service = Service::start().await;
    let refused = service.publishable.get("/api/v1/orders").await;
    assert_refused(&refused, 403, "secret_key_required");
    let docs = refused.body["docs"].as_str().unwrap();
    let (path, anchor) = docs.split_once('#').unwrap();
    let page = open(&service, path).await;
    assert!(page.text.contains(&format!("id=\"{anchor}\"")), "{docs}");
}

#[tokio::test]
async fn language_models_find_all_of_it() {
    let service = Service::start().await;
    let index = open(&service, "/llms.txt").await;
    assert_eq!(index.kind, "text/plain; charset=utf-8");
    let lines: Vec<_> = index.text.lines().collect();
    // By the llms.txt convention: a title, a description, then lists of links.
    assert_eq!(lines[0], "# Scrip");
    assert!(lines[2].starts_with("> "), "{}", lines[2]);
    assert!(lines.contains(&"## Optional"));
    let links = lines.iter().filter_map(|line| {
        line.strip_prefix("- [")?
            .split_once("](")?
            .1
            .split_once(')')
    });
    let links: Vec<_> = links.map(|(link, _)| link).collect();
    assert!(links.len() > 15, "{links:?}");
    for link in links {
        let page = open(&service, link).await;
        assert_eq!(page.kind, "text/markdown; charset=utf-8", "{link}");
        assert!(page.text.starts_with("# "), "{link}");
    }
    let full = open(&service, "/llms-full.txt").await.text;
    for title in ["# Quick start", "# Errors", "# Webhooks", "# Going live"] {
        assert!(full.contains(&format!("\n{title}")), "{title}");
    }
}

#[tokio::test]
async fn what_is_no_page_is_not_found() {
    let service = Service::start().await;
    for path in [
        "/docs/nothing",
        "/docs/../config.toml",
        "/docs/%2e%2e/Cargo.toml",
        "/docs/%ff",
    ] {
        let reply = service.anonymous(Method::GET, path).await;
        assert_refused(&reply, 404, "route_not_found");
    }
    let reply = service.anonymous(Method::POST, "/docs/errors").await;
    assert_refused(&reply, 405, "method_not_allowed");
    assert!(header(&reply, "allow").unwrap().contains("GET"));
}

#[tokio::test]
async fn a_program_without_the_clients_packages_says_what_makes_them() {
    let service = Service::start().await;
    let path = "/packages/scrip-wallet-react.tgz";
    let reply = service.anonymous(Method::GET, path).await;
    assert_refused(&reply, 404, "route_not_found");
    let message = reply.body["message"].as_str().unwrap();
    assert!(message.contains("scripts/pack-clients"), "{message}");
}

#[tokio::test]
async fn a_browser_gets_a_page_where_there_is_none_and_is_led_past_a_slash() {
    let service = Service::start().await;
    let url = format!("{}/docs/nothing", service.base);
    let accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    let reply = plain_http()
        .get(url)
        .header("accept", accept)
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), 404);
    let text = reply.text().await.unwrap();
    assert!(text.contains("Page not found") && text.contains("href=\"/docs/quick-start\""));
    let slash = format!("{}/docs/errors/", service.base);
    let reply = unled_http().get(slash).send().await.unwrap();
    assert_eq!(
        (reply.status().as_u16(), &reply.headers()["location"]),
        (308, &HeaderValue::from_static("/docs/errors"))
    );
    let start = open(&service, "/docs/").await.text;
    let place = |text: &str| start.find(text).expect(text);
    assert!(place("class=\"first\" href=\"/docs/quick-start\"") < place("<h2>Build</h2><ul class"));
}

/// The samples by curl of the API's reference, as they are printed: no server refuses one as malformed.
#[tokio::test]
async fn every_sample_of_the_reference_is_a_valid_request() {
    let service = Service::start().await;
    let page = open(&service, "/docs/api").await.text;
    let page = page
        .replace("&quot;", "\"")
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&");
    let samples: Vec<_> = page.split("<code>curl ").skip(1).collect();
    assert!(samples.len() > 30, "{}", samples.len());
    for sample in samples {
        let (sample, _) = sample.split_once("</code>").unwrap();
        let (method, rest) = sample.split_once("\"$SCRIP_URL").unwrap();
        let method = method.trim().strip_prefix("-X ").unwrap_or("GET");
        let (path, rest) = rest.split_once('"').unwrap();
        if path.contains("/stream") {
            continue;
        }
        let body = rest
            .split_once("-d '")
            .map(|(_, body)| body.trim_end_matches('\''));
        let body = body.map(|body| serde_json::from_str::<serde_json::Value>(body).expect(sample));
        let request = service.secret.request(method.parse().unwrap(), path);
        let request = match &body {
            Some(body) => request.json(body),
            None => request,
        };
        let reply = Client::send(request).await.unwrap();
        let code = reply.body["code"].as_str().unwrap_or_default();
        let malformed = [
            "invalid_request",
            "conflicting_wallet",
            "route_not_found",
            "method_not_allowed",
        ];
        assert!(!malformed.contains(&code), "{sample}: {}", reply.body);
    }
}
