//! The account: the sandbox's, with what tests put over it.

use std::{
    collections::HashMap,
    sync::LazyLock,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use sandbox::{
    account::{Account, Reply},
    unkind::{Answer, Form, Request, Unkind},
};
use serde_json::{Map, Value, json};

use super::{Call, Instead, notes};

/// Where its pages are.
const PAGES: &str = "https://pay.example";

pub(super) struct World {
    pub(super) calls: Vec<Call>,
    pub(super) requests: u64,
    /// What Stripe would not have taken.
    pub(super) complaints: Vec<String>,
    /// By path; each is used once.
    pub(super) instead: Vec<(String, Instead)>,
    /// The same for good.
    pub(super) always: Vec<(String, Instead)>,
    pub(super) account: Account,
    /// Fields that objects show other than the account has them, by the objects' identifiers. One that
    /// the account changes is its own again.
    shown: HashMap<String, Map<String, Value>>,
    /// Of which account a key is; `None`: it may not read that. Of all others: the shop's.
    pub(super) accounts: HashMap<String, Option<String>>,
    /// Keeps no calls and no answers: a load would fill the memory.
    pub(super) forgets: bool,
    /// What Stripe does on top of answering.
    pub(super) unkind: Unkind,
    /// Its time; `None`: the machine's.
    pub(super) clock: Option<Clock>,
}

/// Seconds since the Unix epoch.
pub(super) type Clock = Box<dyn Fn() -> i64 + Send>;

impl World {
    pub(super) fn new(forgets: bool) -> Self {
        let mut account = Account::counted(PAGES);
        for note in notes::first() {
            account.keep(note).expect("a note");
        }
        Self {
            forgets,
            account,
            calls: Vec::new(),
            requests: 0,
            complaints: Vec::new(),
            instead: Vec::new(),
            always: Vec::new(),
            shown: HashMap::new(),
            accounts: HashMap::new(),
            unkind: Unkind::default(),
            clock: None,
        }
    }

    /// Seconds since the Unix epoch by the account's clock, and milliseconds since any instant.
    pub(super) fn time(&self) -> (i64, i64) {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let millis = i64::try_from(START.elapsed().as_millis()).unwrap();
        let now = match &self.clock {
            Some(clock) => clock(),
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                i64::try_from(now.as_secs()).unwrap()
            }
        };
        (now, millis)
    }

    /// Answers by whose key it is; with this failure from now on, where there is one to be kept.
    pub(super) fn ask(&mut self, request: &Request<'_>, failure: Option<Answer>) -> Reply {
        let operation = request.operation.filter(|_| !self.forgets);
        let request = Request {
            operation,
            ..*request
        };
        let mut reply = match request.method {
            "GET" => self.account.answer(&request, failure),
            _ => self.change(|account| account.answer(&request, failure)),
        };
        if reply.answer.status < 300 {
            self.show(&mut reply.answer.body);
        }
        if request.path == "/v1/account" {
            match self.accounts.get(request.key) {
                None => reply.answer.body["id"] = json!("acct_of_the_shop"),
                Some(Some(account)) => reply.answer.body["id"] = json!(account),
                Some(None) => reply.answer = denied(),
            }
        }
        reply
    }

    /// Does what is asked, though whoever asks is not told so.
    pub(super) fn done(&mut self, call: &Call, failure: Option<Answer>) {
        let (now, millis) = self.time();
        drop(self.ask(&call.request(now, millis), failure));
    }

    /// Has a buyer do something; the session as it is then.
    pub(super) fn act(
        &mut self,
        session: &str,
        act: impl FnOnce(&mut Account, i64) -> Result<(), String>,
    ) -> Value {
        let (now, _) = self.time();
        let done = self.change(|account| act(account, now));
        done.expect("that can be done with the session");
        self.view(session)
    }

    /// Puts an object into the account, which shows all that it says.
    pub(super) fn put(&mut self, path: &str, said: &Value) {
        let (collection, id) = path.rsplit_once('/').expect("a path of an object");
        let former = self.account.note(id);
        let (now, _) = self.time();
        let note = notes::new(collection, id, former.as_ref(), now);
        self.shown.remove(id);
        self.lay(id, note, said);
    }

    /// Changes fields of an object; as it is then.
    pub(super) fn set(&mut self, path: &str, said: &Value) -> Value {
        let (_, id) = path.rsplit_once('/').expect("a path of an object");
        let note = self.account.note(id).expect("the object is there");
        self.lay(id, note, said);
        self.view(id)
    }

    /// The charge of a payment, where it has one.
    pub(super) fn charge_of(&self, payment: &str) -> Option<String> {
        let note = self.account.note(payment)?;
        note.get("latest_charge")?.as_str().map(Into::into)
    }

    fn lay(&mut self, id: &str, note: Map<String, Value>, said: &Value) {
        let kept = self.account.keep(notes::with(note, said));
        kept.unwrap_or_else(|why| panic!("{id} cannot be kept: {why}"));
        let view = self.account.view(id).unwrap_or_default();
        let shown = self.shown.entry(id.to_owned()).or_default();
        for (name, value) in said.as_object().expect("fields") {
            shown.remove(name);
            if view[name] != *value && !notes::is_whole(name) {
                shown.insert(name.clone(), value.clone());
            }
        }
    }

    fn view(&self, id: &str) -> Value {
        let mut view = self.account.view(id).expect("the object is there");
        self.show(&mut view);
        view
    }

    /// Changes something in the account. What it changes of an object is shown as it is then.
    fn change<T>(&mut self, change: impl FnOnce(&mut Account) -> T) -> T {
        // Events stay as they are, and there may be many.
        let ids = self.shown.keys().filter(|id| !id.starts_with("evt_"));
        let before: Vec<_> = ids
            .filter_map(|id| Some((id.clone(), self.account.view(id)?)))
            .collect();
        let done = change(&mut self.account);
        for (id, before) in before {
            match (self.account.view(&id), self.shown.get_mut(&id)) {
                (Some(after), Some(shown)) => shown.retain(|name, _| after[name] == before[name]),
                _ => drop(self.shown.remove(&id)),
            }
        }
        done
    }

    /// Puts what is shown over all objects in an answer.
    fn show(&self, answer: &mut Value) {
        match answer {
            Value::Array(values) => values.iter_mut().for_each(|value| self.show(value)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|value| self.show(value));
                let id = fields.get("id").and_then(Value::as_str);
                for (name, value) in id.and_then(|id| self.shown.get(id)).into_iter().flatten() {
                    let is_unfolded = |inner: &Value| value.is_string() && inner["id"] == *value;
                    if !fields.get(name).is_some_and(is_unfolded) {
                        fields.insert(name.clone(), value.clone());
                    }
                }
            }
            _ => {}
        }
    }
}

fn denied() -> Answer {
    let error = json!({
        "type": "invalid_request_error", "code": "more_permissions_required",
        "message": "The key may not.",
    });
    let body = json!({ "error": error });
    Answer { status: 403, body }
}

impl Call {
    /// As the account is asked.
    pub(super) fn request(&self, now: i64, millis: i64) -> Request<'_> {
        let form: &Form = &self.form;
        Request {
            method: self.method.as_str(),
            path: &self.path,
            form,
            key: self.key.trim_start_matches("Bearer "),
            operation: Some(self.operation.as_str()).filter(|key| !key.is_empty()),
            now,
            millis,
        }
    }
}
