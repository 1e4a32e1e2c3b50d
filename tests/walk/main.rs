//! No credential is answered with a greater one. Every route of both descriptions and every page of the dashboard is
//! requested with every kind of credential, in a world with something of every kind; every answer, event, export,
//! mail, line of the log and figure is searched for codes, keys and addresses that its reader should not see. [`secrets`] has
//! who may see what, as `SECURITY.md` does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must panic, and say why"
)]

mod approvals;
mod bodies;
mod commands;
mod forms;
mod pages;
mod people;
mod requests;
mod secrets;
mod shop;
mod visitors;
mod walk;
mod world;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::{
    secrets::{Secret, SecretKind},
    visitors::Holder,
    walk::Walk,
    world::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn no_credential_is_answered_with_a_greater_one() {
    let mut world = World::create().await;
    let walk = Walk::of(&world);
    approvals::ask(&walk, &world).await;
    requests::read_everything(&walk, &world).await;
    pages::open_everything(&walk, &world).await;
    others(&walk, &world).await;
    requests::send_everything(&walk, &world).await;
    pages::press_what_others_may(&walk, &world).await;
    repeats(&walk, &world).await;
    mails(&walk, &mut world).await;
    commands::ask_everything(&walk, &world).await;
    approvals::answer(&walk, &world).await;
    // Those of before were decided about by the API.
    world.adds_unfulfilled_payments("late", 9).await;
    forms::press_everything(&walk, &world).await;
    for shop in 0..world.shops.len() {
        for event in world.shops[shop].receiver.received() {
            let text = String::from_utf8_lossy(&event.raw).into_owned();
            let what = format!("a delivery of {}", event.body["type"]);
            walk.search_text(&Holder::Receiver(shop), &what, &text);
        }
    }
    let text = world.server.instance().output().join("\n");
    assert!(
        text.contains("DEBUG"),
        "the log is no longer that of every request"
    );
    walk.search_text(&Holder::Stranger, "the log", &text);
    let figures = world.server.figures().await;
    walk.search_text(&Holder::Stranger, "the figures", &figures);
    assert!(world.server.terminate().await.success());
    commands::read_the_data(&walk, world.server.data_dir());
    walk.ends(&world);
}

/// What is asked without a key of the API: documents, health checks, figures, pages for buyers.
async fn others(walk: &Walk, world: &World) {
    let mut paths: Vec<String> = [
        "/",
        "/docs",
        "/llms.txt",
        "/llms-full.txt",
        "/healthz",
        "/readyz",
        "/metrics",
    ]
    .map(str::to_owned)
    .into();
    paths.extend(["/api/openapi.json", "/api/admin/v1/openapi.json"].map(str::to_owned));
    paths.extend(["/checkout/success", "/checkout/cancelled"].map(str::to_owned));
    let buyers = world
        .buyers_pages
        .iter()
        .map(|path| ("a page for buyers", path));
    let all: Vec<_> = paths
        .iter()
        .map(|path| ("another page", path))
        .chain(buyers)
        .collect();
    // A wrong token is answered slowly.
    join_all(world.visitors.iter().map(async |visitor| {
        for (route, path) in &all {
            walk.ask(visitor, route, Method::GET, path, None).await;
        }
    }))
    .await;
}

/// What was done once is asked for again by who did not do it.
async fn repeats(walk: &Walk, world: &World) {
    let shop = &world.shops[0];
    for (kind, old, key) in &shop.rotations {
        for visitor in &world.visitors {
            let own = match visitor.holder {
                Holder::Publishable(0) => *kind == "publishable",
                Holder::Secret(0) => *kind == "secret",
                _ => false,
            };
            let path = format!("/api/v1/wallets/{old}/rotate");
            let body = json!({"idempotencyKey": key});
            let route = "a rotation's repeat";
            let reply = walk
                .ask(visitor, route, Method::POST, &path, Some(&body))
                .await;
            assert_eq!(reply.status == 200, own, "{}: {}", visitor.name, reply.text);
        }
    }
}

/// Mails go to whom they are about.
async fn mails(walk: &Walk, world: &mut World) {
    let publishable = world
        .visitors
        .iter()
        .find(|one| one.holder == Holder::Publishable(0));
    let publishable = publishable.unwrap().clone();
    let addresses: Vec<String> = world.addresses.clone();
    for address in &addresses {
        let body = json!({"email": address});
        let route = "POST /wallets/recover";
        let path = "/api/v1/wallets/recover";
        walk.ask(&publishable, route, Method::POST, path, Some(&body))
            .await
            .expect(202);
    }
    let has_code = |secret: &&Secret| {
        secret.shop == Some(0) && matches!(secret.kind, SecretKind::Code | SecretKind::CodeOfOrder)
    };
    let expected = world
        .secrets
        .iter()
        .filter(has_code)
        .filter_map(|secret| secret.buyer.clone());
    let expected: Vec<String> = expected.collect();
    let mut came = Vec::new();
    while !expected.iter().all(|address| came.contains(address)) {
        let mail = world.mail.next().await;
        let to = mail.to.join(" ");
        let own = world
            .secrets
            .iter()
            .filter(|secret| secret.buyer.as_deref() == Some(&*to));
        let own: Vec<_> = own.map(|secret| secret.text.clone()).collect();
        walk.search_mail(&to, &mail.body(), &own);
        came.extend(mail.to);
    }
}
