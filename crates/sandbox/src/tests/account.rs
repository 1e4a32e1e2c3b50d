//! One account as a value, for tests: it answers like a server, without a server, a clock or storage.

use std::collections::BTreeMap;

use serde_json::Map;

use crate::{
    core::{
        checkout::{self, Action, Buyer},
        ids::Ids,
        operations::{self, Call, InjectedFailure},
        prelude::*,
    },
    fault_profile::{FaultProfile, Request},
};

/// An account with all its objects.
pub struct Account(Database);

/// The outcome of a request.
#[derive(Debug)]
pub struct SandboxReply {
    /// The answer to the caller.
    pub answer: Answer,
    /// Whether it repeats the answer to an earlier request with the same idempotency key.
    pub is_replayed: bool,
    /// What is wrong with the request itself; `None` also for a refusal by the account's state.
    pub fault: Option<String>,
}

impl Ids {
    /// Skips the number of an existing counted id.
    fn pass_over(&mut self, id: &str) {
        let prefix = id.trim_end_matches(|last: char| last.is_ascii_digit());
        let number: Option<u64> = id.strip_prefix(prefix).and_then(|text| text.parse().ok());
        if let (Self::Counted(counts, _), Some(number)) = (self, number) {
            let count = counts.entry(prefix.to_owned()).or_default();
            *count = number.max(*count);
        }
    }
}

impl Account {
    /// An empty account. Its pages are below `base`, a URL without a trailing slash; ids are counted from 1 for
    /// each kind; no events are made.
    #[must_use]
    pub fn counted(base: &str) -> Self {
        let ids = Ids::Counted(BTreeMap::new(), String::new());
        let mut db = Database::new(base.into(), 0, ids);
        db.most_events = 0;
        Self(db)
    }

    /// Shows invoices' lines by these settings.
    pub fn list_lines(&mut self, settings: &FaultProfile) {
        self.0.listing = settings.listing();
    }

    /// Answers a request as Stripe does, or with `failure`, which its idempotency key keeps for a day.
    pub fn answer(&mut self, request: &Request<'_>, failure: Option<Answer>) -> SandboxReply {
        let instead = failure.map(|answer| InjectedFailure {
            answer,
            is_kept: true,
        });
        let (method, key) = (request.method, request.operation);
        let path = request.path.trim_start_matches("/v1/");
        self.0.now = request.now;
        let done = Params::new(request.form.clone()).and_then(|params| {
            let call = Call {
                method,
                path,
                params: &params,
                key,
                instead,
            };
            operations::answer(&mut self.0, call)
        });
        drop(self.0.take_changes());
        match done {
            Ok(done) => SandboxReply {
                answer: done.answer,
                is_replayed: done.is_replayed,
                fault: None,
            },
            Err(refusal) => SandboxReply {
                fault: (!refusal.is_outcome()).then(|| refusal.message.clone()),
                answer: refusal.into(),
                is_replayed: false,
            },
        }
    }

    /// Pays a session by card, or completes its pending payment.
    /// # Errors
    /// Why that is not possible, in words.
    pub fn pay(&mut self, session: &str, email: &str, now: i64) -> Result<(), String> {
        match self.act(session, Action::Settle, email, now) {
            // The session is not complete yet.
            Err(_) => self.act(session, Action::Pay, email, now),
            settled => settled,
        }
    }

    /// Completes a session with a pending payment.
    /// # Errors
    /// Those of [`Self::pay`].
    pub fn pay_later(&mut self, session: &str, email: &str, now: i64) -> Result<(), String> {
        self.act(session, Action::PayLater, email, now)
    }

    /// Fails the pending payment of a session.
    /// # Errors
    /// Those of [`Self::pay`].
    pub fn fail(&mut self, session: &str, now: i64) -> Result<(), String> {
        self.act(session, Action::Fail, "", now)
    }

    /// The object with this id, as callers see it.
    #[must_use]
    pub fn view(&self, id: &str) -> Option<Value> {
        self.0.view(id)
    }

    /// The object with this id in its stored shape.
    #[must_use]
    pub fn note(&self, id: &str) -> Option<Map<String, Value>> {
        let note = self.0.note(id)?;
        serde_json::from_str(&note.text()).ok()
    }

    /// Puts an object in its stored shape into the account; one without a number, `n`, is the newest.
    /// # Errors
    /// Why it is not a valid object, in words.
    pub fn keep(&mut self, mut note: Map<String, Value>) -> Result<(), String> {
        let id = note.get("id").and_then(Value::as_str);
        let id = id.unwrap_or_default().to_owned();
        self.0.ids.pass_over(&id);
        if !note.contains_key("n") {
            note.insert("n".into(), self.0.head_of(id).n.into());
        }
        let note: Note =
            serde_json::from_value(Value::Object(note)).map_err(|error| error.to_string())?;
        note.restore(&mut self.0);
        Ok(())
    }

    fn act(&mut self, session: &str, action: Action, email: &str, now: i64) -> Result<(), String> {
        let buyer = Buyer {
            email: Some(email.to_owned()).filter(|email| !email.is_empty()),
            ..Buyer::default()
        };
        self.0.now = now;
        let done = checkout::act(&mut self.0, session, action, &buyer);
        drop(self.0.take_changes());
        done.map(drop).map_err(|refusal| refusal.message)
    }
}
