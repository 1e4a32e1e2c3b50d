//! Who changed what, when and from where, through the administration and the dashboard: notes in the
//! journal, a page of entries each. An answered write is in it; one whose answer never left may be
//! missing. It must never hold a secret, nor grow without end.

use std::{collections::VecDeque, sync::Arc};

use actors::Handle;
use axum::{
    extract::{MatchedPath, Request, State},
    http::Method,
    middleware::Next,
    response::Response,
};
use domain::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::{
    http::context::Context,
    payments::notes::{self, AuditPage},
    state::App,
};

/// Entries of a page; each new one writes its page again, which has to fit one append.
const PER_PAGE: usize = 20;
/// Pages that are kept: 100,000 entries.
const PAGES: usize = 5000;
/// For how long a page is kept behind its last entry.
const KEPT_SECONDS: i64 = 366 * 24 * 3600;
/// What somebody typed is cut to so many characters.
const LONGEST: usize = 300;

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in milliseconds.
    pub at: i64,
    /// Who: a session of the dashboard, or the administrator's token.
    pub who: String,
    /// What.
    pub what: String,
    /// From which address.
    pub from: String,
}

/// What a request did, on the way out with its answer.
#[derive(Debug, Clone)]
pub struct Deed {
    /// By whom.
    pub who: String,
    /// In a sentence's words, without secrets.
    pub what: String,
}

/// The log.
pub struct AuditLog {
    handle: Handle,
    pages: Mutex<Pages>,
}

/// Which pages there are, and the one that is written to.
#[derive(Default)]
struct Pages {
    /// Full ones, oldest first, with the instants of their last entries.
    full: VecDeque<(u64, Timestamp)>,
    current: u64,
    entries: Vec<Entry>,
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditLog").finish_non_exhaustive()
    }
}

impl AuditLog {
    /// Finds the pages that were recovered at start.
    ///
    /// # Errors
    ///
    /// [`notes::Error`] where one cannot be read.
    pub fn load(handle: Handle) -> Result<Self, notes::Error> {
        let mut pages = Pages::default();
        for page in notes::audit_pages(&handle, None)? {
            let entries = read(&page.text);
            let next = page.number.saturating_add(1);
            match entries.last() {
                Some(last) if entries.len() >= PER_PAGE => {
                    pages.full.push_back((page.number, Timestamp(last.at)));
                    pages.current = next;
                }
                _ => (pages.current, pages.entries) = (page.number, entries),
            }
        }
        Ok(Self {
            handle,
            pages: Mutex::new(pages),
        })
    }

    /// Adds an entry; returns once it is durable. What is too old goes.
    ///
    /// # Errors
    ///
    /// As of logging a note: nothing was added, or it is not known.
    pub async fn add(&self, entry: Entry) -> Result<(), actors::Error> {
        let mut pages = self.pages.lock().await;
        let now = Timestamp(entry.at);
        let mut entries = pages.entries.clone();
        entries.push(entry);
        let page = AuditPage {
            number: pages.current,
            text: written(&entries),
        };
        let mut notes = vec![page.put()];
        let full = entries.len() >= PER_PAGE;
        let old = now.plus_seconds(-KEPT_SECONDS);
        let excess = pages.full.len().saturating_add(1).saturating_sub(PAGES);
        let gone = pages.full.iter().enumerate();
        let gone = gone
            .take_while(|(place, (_, last))| full && (*place < excess || *last < old))
            .count();
        notes.extend(
            pages
                .full
                .iter()
                .take(gone)
                .map(|(number, _)| AuditPage::forget(*number)),
        );
        self.handle.put_notes(notes).await?;
        pages.full.drain(..gone);
        if full {
            let number = pages.current;
            pages.full.push_back((number, now));
            pages.current = number.saturating_add(1);
            entries.clear();
        }
        pages.entries = entries;
        Ok(())
    }

    /// Entries of a page, newest first, and the number of the page before it. The first to ask for is the
    /// current one, with `None`.
    ///
    /// # Errors
    ///
    /// [`notes::Error`] where the page cannot be read.
    pub async fn page(
        &self,
        number: Option<u64>,
    ) -> Result<(Vec<Entry>, Option<u64>), notes::Error> {
        let pages = self.pages.lock().await;
        let number = number.unwrap_or(pages.current);
        let known = (number == pages.current).then(|| pages.entries.clone());
        let older = pages.full.iter().rev().map(|(number, _)| *number);
        let older = older.clone().find(|older| *older < number);
        drop(pages);
        let mut entries = match known {
            Some(entries) => entries,
            None => self.stored(number).await?,
        };
        entries.reverse();
        Ok((entries, older))
    }

    async fn stored(&self, number: u64) -> Result<Vec<Entry>, notes::Error> {
        let handle = self.handle.clone();
        // What was logged a moment ago is read as well.
        let _ = handle.fold_all().await;
        let found = tokio::task::spawn_blocking(move || notes::audit_pages(&handle, Some(number)));
        let found = found
            .await
            .map_err(|error| notes::Error::Store(persistence::Error::Io(error.to_string())))??;
        Ok(found
            .first()
            .map(|page| read(&page.text))
            .unwrap_or_default())
    }
}

fn written(entries: &[Entry]) -> String {
    let lines = entries
        .iter()
        .filter_map(|entry| serde_json::to_string(entry).ok());
    lines.collect::<Vec<_>>().join("\n")
}

/// A line that cannot be read is left out: it says what happened, and nothing hangs on it.
fn read(text: &str) -> Vec<Entry> {
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Around the dashboard: writes down what an answer says was done.
pub(crate) async fn deeds(State(app): State<App>, request: Request, next: Next) -> Response {
    let context = request.extensions().get::<Context>().cloned();
    let mut response = next.run(request).await;
    let deed = response.extensions_mut().remove::<Deed>();
    if let Some((deed, context)) = deed.zip(context) {
        record(&app, deed, &context).await;
    }
    response
}

/// Around the administration: writes down each write that was done.
pub(crate) async fn writes(State(app): State<App>, request: Request, next: Next) -> Response {
    let reads = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    let context = request.extensions().get::<Context>().cloned();
    // A route that is none has nothing to write down; what its path says may be anything.
    let routed = request.extensions().get::<MatchedPath>().is_some();
    let what = format!("{} {}", request.method(), request.uri().path());
    let response = next.run(request).await;
    if let Some(context) = context.filter(|_| routed && !reads && response.status().is_success()) {
        let who = "administrator's token".into();
        record(&app, Deed { who, what }, &context).await;
    }
    response
}

async fn record(app: &App, Deed { who, what }: Deed, context: &Context) {
    let entry = Entry {
        at: app.clock.now().0,
        who,
        what: what.chars().take(LONGEST).collect(),
        from: context.client.to_string(),
    };
    let app = Arc::clone(app);
    // In a task of its own: a caller who goes away must not keep it from being written.
    let added = tokio::spawn(async move { app.audit.add(entry).await }).await;
    if !matches!(added, Ok(Ok(()))) {
        tracing::error!("What was changed could not be written into the audit log");
    }
}
