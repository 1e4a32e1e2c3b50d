//! Other cells of a cluster: an operator signs in at the lowest one, and sees the projects of all.

use axum::http::{HeaderMap, header};
use domain::Timestamp;
use limits::Client;
use operations::cells::Question;
use serde::de::DeserializeOwned;

use super::{
    cookies,
    session::{SessionBinding, ValidSession},
};
use crate::{DashboardState, state::App};

/// Whether a request of this client carries a session that was begun at this process.
#[must_use]
pub fn is_signed_in(app: &DashboardState, headers: &HeaderMap, client: Client) -> bool {
    let host = cookies::host(headers).to_owned();
    let now = app.edge.clock.now();
    cookies::session_name(headers, &app.site).is_some_and(|name| {
        let place = SessionBinding { client, host };
        app.sessions.find(name, &place, now).is_some()
    })
}

/// The session of this name where the lowest cell knows it.
pub(super) async fn find(
    app: &App,
    headers: &HeaderMap,
    name: &str,
    place: &SessionBinding,
    now: Timestamp,
) -> Option<ValidSession> {
    let part = app.cluster.as_ref()?;
    let lowest = part.others().numbers().first().copied();
    let lowest = lowest.filter(|lowest| *lowest < part.cell())?;
    let copied = [header::COOKIE, header::HOST].into_iter().flat_map(|name| {
        headers
            .get_all(&name)
            .iter()
            .map(move |value| (name.clone(), value.clone()))
    });
    let question = Question {
        path: "session".into(),
        headers: copied.collect(),
        client: place.client.address(),
    };
    part.others().ask(lowest, question).await?;
    app.sessions.borrow(name, place, now)
}

/// What each other cell has to say, with its number; `None`: it did not answer.
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
