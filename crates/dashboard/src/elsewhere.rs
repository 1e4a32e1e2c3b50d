//! Other cells of a cluster: an operator signs in at the lowest one, and sees the projects of all.

use axum::http::{HeaderMap, header};
use domain::{Timestamp, id::UserId};
use identity::{Authority, ValidSession};
use scrip_http::limits::Client;
use serde::de::DeserializeOwned;

use super::cookies;
use crate::{DashboardState, state::App};

/// Who has the session that a request carries, which was begun at this process, and what they may do now.
#[must_use]
pub fn signed_in(app: &DashboardState, headers: &HeaderMap) -> Option<Authority> {
    let people = &app.edge.people;
    let name = cookies::session_name(headers, &app.site)?;
    let now = app.edge.clock.now();
    people.authority(&people.sessions.find(name, cookies::host(headers), now)?)
}

/// What a user may do now, as the cell that keeps users knows, asked by another; `None`: nothing any more.
#[must_use]
pub fn authority_here(app: &DashboardState, user: &str) -> Option<Authority> {
    let user: UserId = user.parse().ok()?;
    app.edge.people.user(user).ok()?.authority()
}

/// The session of this name where the lowest cell knows it.
pub(super) async fn find(
    app: &App,
    headers: &HeaderMap,
    name: &str,
    client: Client,
    now: Timestamp,
) -> Option<ValidSession> {
    let part = app.cluster.as_ref()?;
    let lowest = part.lowest()?;
    let copied = [header::COOKIE, header::HOST].into_iter().flat_map(|name| {
        headers
            .get_all(&name)
            .iter()
            .map(move |value| (name.clone(), value.clone()))
    });
    let asked = part.ask(lowest, "session", copied.collect(), client.address());
    let authority: Authority = asked.await?;
    let host = cookies::host(headers);
    app.edge.people.sessions.borrow(name, host, authority, now)
}

/// The answer of each other cell, with its number; `None`: it did not answer.
pub(super) async fn asked<T: DeserializeOwned>(
    app: &App,
    client: Client,
    path: &str,
) -> Vec<(i16, Option<T>)> {
    match &app.cluster {
        Some(part) => part.ask_others(path, client.address()).await,
        None => Vec::new(),
    }
}
