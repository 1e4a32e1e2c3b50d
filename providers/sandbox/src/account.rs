//! One account as a value: what a server of it would answer, without a server, a clock or anything that
//! is kept. The sandbox is this behind a till for each project; tests hold one in their hands. Nothing
//! happens in it by itself.

use std::collections::BTreeMap;

use serde_json::Map;

use crate::{
    core::{
        checkout::{self, Action, Buyer},
        ids::Ids,
        operations::{self, Call, Instead},
        prelude::*,
    },
    unkind::{Request, Unkindness},
};

/// An account and all that is in it.
pub struct Account(Books);

/// What comes of a request.
#[derive(Debug)]
pub struct Reply {
    /// What is answered.
    pub answer: Answer,
    /// Whether it was done before under the same key.
    pub is_replayed: bool,
    /// Why it is refused, unless that came of looking at what there is: the request itself is wrong.
    pub fault: Option<String>,
}

impl Account {
    /// Nothing is in it. Its pages are below this address, without a slash at its end; identifiers are
    /// counted, from 1 for each kind; nothing that happens makes an event.
    #[must_use]
    pub fn counted(base: &str) -> Self {
        let ids = Ids::Counted(BTreeMap::new(), String::new());
        let mut books = Books::new(base.into(), 0, ids);
        books.most_events = 0;
        Self(books)
    }

    /// Shows invoices' lines as these settings say.
    pub fn list_lines(&mut self, settings: &Unkindness) {
        self.0.listing = settings.listing();
    }

    /// Answers a request as Stripe does; with the same failure for a day, where one is to be kept.
    pub fn answer(&mut self, request: &Request<'_>, failure: Option<Answer>) -> Reply {
        let instead = failure.map(|answer| Instead {
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
            Ok(done) => Reply {
                answer: done.answer,
                is_replayed: done.is_replayed,
                fault: None,
            },
            Err(refusal) => Reply {
                fault: (!refusal.is_outcome()).then(|| refusal.message.clone()),
                answer: refusal.into(),
                is_replayed: false,
            },
        }
    }

    /// The buyer of a session pays by card; or, where the money is on its way, it comes.
    ///
    /// # Errors
    ///
    /// Why that cannot be, in words.
    pub fn pay(&mut self, session: &str, email: &str, now: i64) -> Result<(), String> {
        match self.act(session, Action::Settle, email, now) {
            // Nobody is done there yet.
            Err(_) => self.act(session, Action::Pay, email, now),
            settled => settled,
        }
    }

    /// The buyer of a session is done, and the money is on its way.
    ///
    /// # Errors
    ///
    /// Those of [`Self::pay`].
    pub fn pay_later(&mut self, session: &str, email: &str, now: i64) -> Result<(), String> {
        self.act(session, Action::PayLater, email, now)
    }

    /// It does not come.
    ///
    /// # Errors
    ///
    /// Those of [`Self::pay`].
    pub fn fail(&mut self, session: &str, now: i64) -> Result<(), String> {
        self.act(session, Action::Fail, "", now)
    }

    /// Whatever has this identifier, as callers see it.
    #[must_use]
    pub fn view(&self, id: &str) -> Option<Value> {
        self.0.view(id)
    }

    /// The same as it is kept, which is another shape.
    #[must_use]
    pub fn note(&self, id: &str) -> Option<Map<String, Value>> {
        let note = self.0.note(id)?;
        serde_json::from_str(&note.text()).ok()
    }

    /// Puts an object into the account, as it is kept; one without a number, `n`, is the newest.
    ///
    /// # Errors
    ///
    /// Why it is none, in words.
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
