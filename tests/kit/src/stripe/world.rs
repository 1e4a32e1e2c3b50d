//! The account: the sandbox's, with the objects and responses that tests set.

use std::{
    collections::HashMap,
    sync::LazyLock,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use sandbox::{
    account::{Account, SandboxReply},
    fault_profile::{Answer, FaultInjector, Parameters, Request},
};
use serde_json::{Map, Value, json};

use super::{Call, Override, notes};

/// Base address of its pages.
const PAGES: &str = "https://pay.example";

pub(super) struct Host {
    pub(super) calls: Vec<Call>,
    pub(super) requests: u64,
    /// Requests that Stripe would not have accepted.
    pub(super) complaints: Vec<String>,
    /// Responses by path; each is used once.
    pub(super) instead: Vec<(String, Override)>,
    /// Responses by path that stay.
    pub(super) always: Vec<(String, Override)>,
    pub(super) account: Account,
    /// Fields that objects show differently from what the account has, by object id. A field that the account
    /// changes shows its own value again.
    shown: HashMap<String, Map<String, Value>>,
    /// The account of a key; `None`: the key may not read it. All other keys belong to the shop's account.
    pub(super) accounts: HashMap<String, Option<String>>,
    /// Whether to record neither requests nor responses, which would fill the memory under load.
    pub(super) forgets: bool,
    /// Stripe's behaviour beyond responses.
    pub(super) injector: FaultInjector,
    /// The clock; `None`: the machine's.
    pub(super) clock: Option<Clock>,
}

/// Seconds since the Unix epoch.
pub(super) type Clock = Box<dyn Fn() -> i64 + Send>;

impl Host {
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
            injector: FaultInjector::default(),
            clock: None,
        }
    }

    /// Seconds since the Unix epoch by the account's clock, and milliseconds since some instant.
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

    /// Responds for the key's account; with this failure, stored under the idempotency key, if there is one.
    pub(super) fn ask(&mut self, request: &Request<'_>, failure: Option<Answer>) -> SandboxReply {
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

    /// Carries out a request whose client does not see the response.
    pub(super) fn answer_unseen(&mut self, call: &Call, failure: Option<Answer>) {
        let (now, millis) = self.time();
        drop(self.ask(&call.request(now, millis), failure));
    }

    /// Makes a buyer do something; returns the session.
    pub(super) fn act(
        &mut self,
        session: &str,
        act: impl FnOnce(&mut Account, i64) -> Result<(), String>,
    ) -> Value {
        let (now, _) = self.time();
        let outcome = self.change(|account| act(account, now));
        outcome.expect("that can be done with the session");
        self.view(session)
    }

    /// Puts an object into the account, which shows all that it says.
    pub(super) fn put(&mut self, path: &str, fields: &Value) {
        let (collection, id) = path.rsplit_once('/').expect("a path of an object");
        let former = self.account.note(id);
        let (now, _) = self.time();
        let note = notes::new(collection, id, former.as_ref(), now);
        self.shown.remove(id);
        self.lay(id, note, fields);
    }

    /// Changes fields of an object; returns the object with them.
    pub(super) fn set(&mut self, path: &str, fields: &Value) -> Value {
        let (_, id) = path.rsplit_once('/').expect("a path of an object");
        let note = self.account.note(id).expect("the object is there");
        self.lay(id, note, fields);
        self.view(id)
    }

    /// The charge of a payment, where it has one.
    pub(super) fn charge_of(&self, payment: &str) -> Option<String> {
        let note = self.account.note(payment)?;
        note.get("latest_charge")?.as_str().map(Into::into)
    }

    fn lay(&mut self, id: &str, note: Map<String, Value>, fields: &Value) {
        let stored = self.account.keep(notes::with(note, fields));
        stored.unwrap_or_else(|why| panic!("{id} cannot be kept: {why}"));
        let view = self.account.view(id).unwrap_or_default();
        let shown = self.shown.entry(id.to_owned()).or_default();
        for (name, value) in fields.as_object().expect("fields") {
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
        let outcome = change(&mut self.account);
        for (id, before) in before {
            match (self.account.view(&id), self.shown.get_mut(&id)) {
                (Some(after), Some(shown)) => shown.retain(|name, _| after[name] == before[name]),
                _ => drop(self.shown.remove(&id)),
            }
        }
        outcome
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
        let form: &Parameters = &self.form;
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
