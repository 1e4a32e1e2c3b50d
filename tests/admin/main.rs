//! The admin API over HTTP, against the real binary, a file a kind of object. What it does with a payment provider
//! and with webhooks is in `tests/api/provider` and `tests/api/deliveries`, where Stripe has a double and the test
//! moves the clock.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::panic,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod access;
mod archive;
mod backups;
mod erase;
mod keys;
mod people;
mod prices;
mod products;
mod projects;
mod provider;
mod rate_cards;
mod search;
mod wallets;
mod webhook_health;

use kit::{Client, Reply, Server};
use serde_json::Value;

/// The path of the admin API.
const ADMIN: &str = "/api/admin/v1";

/// Sends a PATCH.
async fn patch(client: &Client, path: &str, body: &Value) -> Reply {
    client.patch(&format!("{ADMIN}{path}"), body).await
}

/// Sends a POST.
async fn post(client: &Client, path: &str, body: &Value) -> Reply {
    client.post(&format!("{ADMIN}{path}"), body).await
}

/// Sends a GET.
async fn get(client: &Client, path: &str) -> Reply {
    client.get(&format!("{ADMIN}{path}")).await
}

/// The path of the server's project.
fn project(server: &Server) -> String {
    format!("/projects/{}", server.project().id)
}

/// The path of the server's product.
fn product(server: &Server) -> String {
    format!("{}/products/{}", project(server), server.product())
}

/// Asserts that a reply refuses this input.
fn assert_invalid(reply: &Reply, param: &str) {
    let body = &reply.body;
    assert_eq!(
        (reply.status, reply.code()),
        (400, "invalid_request"),
        "{body}"
    );
    assert_eq!(body["param"], param, "{body}");
}
