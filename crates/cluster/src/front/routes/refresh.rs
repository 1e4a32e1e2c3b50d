//! Keeps the routes as they are: asks the database which cells there are and who leads them, and each leader what its
//! cell has. Once a second, and soon after a request's cell was not known, but never twice at once.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::Ordering::{Acquire, Release},
    },
    time::Duration,
};

use axum::http::{HeaderMap, StatusCode, header, uri::PathAndQuery};
use bytes::Bytes;
use tokio::{
    task::{JoinSet, spawn_blocking},
    time::{Instant, sleep_until, timeout, timeout_at},
};

use super::{
    Neighbours, Routes,
    announcement::{Announcement, CellContents, etag},
    table::{CellLeaders, RoutingTable},
};

/// Where a leader answers with its [`Announcement`].
const ANNOUNCEMENT: &str = "/cluster/routes";
/// From one refresh to the next, where nothing is amiss.
const INTERVAL: Duration = Duration::from_secs(1);
/// From one to the next at least, however much is asked for.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// For the list of the cells.
const LIST_TIMEOUT: Duration = Duration::from_secs(2);
/// In whose name leaders are asked: nobody's.
const NO_CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// What the leader of a cell has answered.
enum Answer {
    /// What was known of the cell holds.
    Same,
    News(CellContents),
}

impl Routes {
    /// Refreshes the routes for ever: to be spawned, once. `list` reads all cells in the database, with the addresses
    /// of their leaders where there are any, the own cell among them; `None`: it cannot be read now. It times out
    /// after 2 s.
    pub async fn keep<L, F>(self, list: L)
    where
        L: Fn() -> F + Send,
        F: Future<Output = Option<CellLeaders>> + Send,
    {
        loop {
            let begun = Instant::now();
            self.refresh(list()).await;
            let after = |pause| begun.checked_add(pause).unwrap_or(begun);
            sleep_until(after(MIN_INTERVAL)).await;
            let wanted = self.0.refreshes.wanted.notified();
            drop(timeout_at(after(INTERVAL), wanted).await);
        }
    }

    async fn refresh(&self, list: impl Future<Output = Option<CellLeaders>>) {
        let refreshes = &self.0.refreshes;
        let number = refreshes.begun.fetch_add(1, Release).saturating_add(1);
        if let Ok(Some(cells)) = timeout(LIST_TIMEOUT, list).await {
            let table = self.0.table.load();
            let changed = table.with_cells(cells, |cell| self.0.forwarder.link(cell));
            if let Some(table) = changed {
                self.replace(table);
                self.changed();
            }
            refreshes.listed.store(number, Release);
        }
        if self.is_several() {
            self.ask_leaders(number).await;
        }
        refreshes.ended.store(number, Release);
        self.progressed();
    }

    /// Asks all at once, and takes each answer as soon as it comes.
    async fn ask_leaders(&self, number: u64) {
        let mut asked = JoinSet::new();
        let leads = self.leads();
        for route in self.0.table.load().cells() {
            let (cell, known) = (route.link.cell, route.announced.as_ref());
            let is_here = leads && cell == self.own().cell;
            if route.leader.is_some() && !is_here {
                let answer = ask(self.neighbours(), cell, known.map(|it| it.version));
                asked.spawn(async move { (cell, answer.await) });
            }
        }
        while let Some(joined) = asked.join_next().await {
            let Ok((cell, Some(answer))) = joined else {
                continue;
            };
            let news = match answer {
                Answer::Same => None,
                Answer::News(contents) => Some(Arc::new(contents)),
            };
            let is_new = news.is_some();
            let table = self.0.table.load().with_answer(cell, number, news);
            self.replace(table);
            match is_new {
                true => self.changed(),
                false => self.progressed(),
            }
        }
    }

    fn replace(&self, table: RoutingTable) {
        let is_several = table.is_several() || self.0.names_others.load(Acquire);
        self.0.table.store(Arc::new(table));
        self.0.is_several.store(is_several, Release);
    }
}

/// Asks the leader of a cell what there is, beside what was known; `None`: it has not answered.
async fn ask(neighbours: Neighbours, cell: i16, known: Option<u64>) -> Option<Answer> {
    let headers = known.map(|version| (header::IF_NONE_MATCH, etag(version)));
    let headers = HeaderMap::from_iter(headers);
    let path = PathAndQuery::from_static(ANNOUNCEMENT);
    let response = match neighbours.get(cell, path, headers, NO_CLIENT).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(cell, %error, "A cell does not say what it has");
            return None;
        }
    };
    if response.status() == StatusCode::NOT_MODIFIED && known.is_some() {
        return Some(Answer::Same);
    }
    let body = response.into_body();
    // There may be tens of thousands.
    match spawn_blocking(move || read(&body, cell, known)).await {
        Ok(Some(answer)) => Some(answer),
        Ok(None) | Err(_) => {
            tracing::debug!(cell, "What a cell says of itself cannot be read");
            None
        }
    }
}

fn read(body: &Bytes, cell: i16, known: Option<u64>) -> Option<Answer> {
    let announcement: Announcement = serde_json::from_slice(body).ok()?;
    if announcement.cell != cell {
        return None;
    }
    Some(match known == Some(announcement.version) {
        true => Answer::Same,
        false => Answer::News(announcement.into()),
    })
}
