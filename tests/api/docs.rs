//! `/docs` and `/llms.txt`: the documentation as a browser and a language model read it.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;

use crate::{
    client::plain_http,
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
        !policy.contains("script-src") && !policy.contains("http"),
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
            // Nothing is loaded except pictures of this server, and no script runs.
            for refused in [
                "<script",
                "<link",
                "<iframe",
                "@import",
                "url(",
                " onclick=",
            ] {
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
        "/docs/errors/",
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
