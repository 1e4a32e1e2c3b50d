//! The walk itself: it sends requests, searches the answers, and reports what should not have been shown.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use kit::client::unled_http;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

use crate::{
    secrets::{Secret, SecretKind, codes, keys},
    visitors::{Holder, Visitor},
    world::World,
};

/// Before the route of a form: the page that its answer leads to.
pub(crate) const BEHIND_A_FORM: &str = "the page behind ";
/// Routes that make a code, a key or a token, which is shown once to the caller.
const MAKES: [&str; 13] = [
    "POST /wallets",
    "POST /wallets/{code}/rotate",
    "POST /sessions",
    "POST /projects",
    "POST /projects/{projectId}/keys",
    "POST /projects/{projectId}/webhooks",
    "POST /projects/{projectId}/webhooks/{webhookId}/rotate-secret",
    "POST /projects/{projectId}/wallets/{walletRef}/replace-code",
    "the page behind POST /dashboard",
    "the page behind POST /dashboard/projects/{project}/keys",
    "the page behind POST /dashboard/projects/{project}/webhooks",
    "the page behind POST /dashboard/projects/{project}/webhooks/{webhook}",
    "the page behind POST /dashboard/projects/{project}/approvals/{approval}/{answer}",
];
/// Routes that refuse every visitor in this world, and why.
const UNANSWERED: [(&str, &str); 14] = [
    ("POST /dashboard/sign-in", "all are signed in"),
    ("POST /dashboard/invitation", "all have accepted theirs"),
    (
        "POST /dashboard/people/{user}/identity",
        "there is no identity provider",
    ),
    (
        "POST /dashboard/projects/{project}/unfulfilled-payments/{payment}/dismiss",
        "who sees the button has assigned it",
    ),
    (
        "POST /dashboard/projects/{project}/unfulfilled-payments/{payment}/refund",
        "who sees the button has assigned it",
    ),
    (
        "POST /dashboard/projects/{project}/wallets/{wallet}/subscription",
        "it was ended by the API",
    ),
    (
        "POST /dashboard/projects/{project}/mails/resume",
        "the mail server knows all addresses",
    ),
    ("POST /dashboard/system", "no directory is set for backups"),
    ("POST /cluster/hand-over", "there is no cluster"),
    ("POST /cluster/split", "there is no cluster"),
    ("POST /backups", "no directory is set for them"),
    (
        "POST /projects/{projectId}/provider/subscriptions",
        "nothing ran before",
    ),
    (
        "GET /dashboard/sign-in/oidc",
        "there is no identity provider",
    ),
    (
        "GET /dashboard/sign-in/oidc/callback",
        "there is no identity provider",
    ),
];

/// An answer as text.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// What was learnt on the way.
#[derive(Default)]
struct Notes {
    secrets: Vec<Secret>,
    /// What was seen that should not have been, and by whom.
    findings: BTreeMap<String, Vec<String>>,
    /// What was seen that may be.
    seen: BTreeMap<SecretKind, BTreeSet<String>>,
    /// Routes that made a code or a key.
    made: BTreeSet<&'static str>,
    /// Whether a visitor was answered by a route.
    routes: BTreeMap<String, bool>,
}

pub(crate) struct Walk {
    http: reqwest::Client,
    base: String,
    asked: Cell<u32>,
    notes: RefCell<Notes>,
}

impl Walk {
    pub(crate) fn of(world: &World) -> Self {
        Self {
            http: unled_http(),
            base: world.server.instance().base().to_owned(),
            asked: Cell::new(0),
            notes: RefCell::new(Notes {
                secrets: world.secrets.clone(),
                ..Notes::default()
            }),
        }
    }

    /// From now on this is searched for, too.
    pub(crate) fn learn(&self, secret: Secret) {
        self.notes.borrow_mut().secrets.push(secret);
    }

    /// The same for something that was shown once to its creator.
    pub(crate) fn learn_once(&self, what: &str, text: &str) {
        let is_known = self.notes.borrow().secrets.iter().any(|it| it.text == text);
        if !is_known {
            self.learn(Secret::new(SecretKind::ShownOnce, what, text, None));
        }
    }

    /// Asks with JSON or without a body, and searches the answer.
    pub(crate) async fn ask(
        &self,
        visitor: &Visitor,
        route: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Answer {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let (request, sent) = match body {
            Some(body) => (request.json(body), body.to_string()),
            None => (request, String::new()),
        };
        self.send(visitor, route, request, &format!("{path}\n{sent}"))
            .await
    }

    /// Sends a form as a page of the dashboard does, and searches the answer.
    pub(crate) async fn press(
        &self,
        visitor: &Visitor,
        route: &str,
        path: &str,
        form: &[(&str, &str)],
    ) -> Answer {
        let sent = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self.http.post(format!("{}{path}", self.base));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let text = format!("{path}\n{form:?}");
        self.send(visitor, route, request.body(sent), &text).await
    }

    async fn send(
        &self,
        visitor: &Visitor,
        route: &str,
        request: RequestBuilder,
        sent: &str,
    ) -> Answer {
        self.asked.set(self.asked.get() + 1);
        // Each comes from an address of its own, so that no limit is reached.
        let [_, a, b, c] = self.asked.get().to_be_bytes();
        let request = request.header("x-forwarded-for", format!("10.{a}.{b}.{c}"));
        let response = visitor.sign(request).send().await;
        let response = response.unwrap_or_else(|error| panic!("{route}: {error:?}"));
        let status = response.status().as_u16();
        assert!(
            status < 500 || status == 502,
            "{} {route}: {status}",
            visitor.name
        );
        assert_ne!(status, 429, "{} {route}", visitor.name);
        let headers = format!("{:?}", response.headers());
        let location = response.headers().get("location");
        let location = location.map(|to| to.to_str().unwrap().to_owned());
        let text = match route.ends_with("/stream") && status == 200 {
            true => first_event(response).await,
            false => String::from_utf8_lossy(&response.bytes().await.unwrap()).into_owned(),
        };
        let is_answered = status < 400;
        *self
            .notes
            .borrow_mut()
            .routes
            .entry(route.to_owned())
            .or_default() |= is_answered;
        let known = format!("{sent}\n{}", visitor.code.as_deref().unwrap_or_default());
        let place = sent.lines().next().unwrap_or_default();
        let who = format!("{}: {route} ({place}, {status})", visitor.name);
        self.search(
            &visitor.holder,
            route,
            &who,
            &format!("{headers}\n{text}"),
            &known,
        );
        if route != "another page" {
            self.search_unknown(
                &visitor.holder,
                route,
                &who,
                &format!("{headers}\n{text}"),
                &known,
            );
        }
        Answer {
            status,
            location,
            text,
        }
    }

    /// Searches what a holder gets without a request.
    pub(crate) fn search_text(&self, holder: &Holder, what: &str, text: &str) {
        self.search_answer(holder, what, text, "");
    }

    /// Searches an answer to what the holder sent.
    pub(crate) fn search_answer(&self, holder: &Holder, what: &str, text: &str, sent: &str) {
        self.search(holder, what, what, text, sent);
        self.search_unknown(holder, what, what, text, sent);
    }

    /// Searches a mail, which may hold only what is its reader's own.
    pub(crate) fn search_mail(&self, to: &str, text: &str, own: &[String]) {
        let what = format!("a mail to {to}");
        let notes = &mut *self.notes.borrow_mut();
        for secret in notes.secrets.iter().filter(|it| has(text, &it.text)) {
            match own.contains(&secret.text) {
                true => drop(
                    notes
                        .seen
                        .entry(secret.kind)
                        .or_default()
                        .insert(what.clone()),
                ),
                false => find(&mut notes.findings, &secret.what, &what),
            }
        }
    }

    fn search(&self, holder: &Holder, route: &str, who: &str, text: &str, sent: &str) {
        let notes = &mut *self.notes.borrow_mut();
        for secret in &notes.secrets {
            if !has(text, &secret.text) || has(sent, &secret.text) {
                continue;
            }
            match secret.is_for(holder, route) {
                true => drop(
                    notes
                        .seen
                        .entry(secret.kind)
                        .or_default()
                        .insert(format!("{holder:?}")),
                ),
                false => find(&mut notes.findings, &secret.what, who),
            }
        }
    }

    /// Looks for codes and keys that were unknown before.
    fn search_unknown(&self, holder: &Holder, route: &str, who: &str, text: &str, sent: &str) {
        let notes = &mut *self.notes.borrow_mut();
        let known =
            |word: &&str| sent.contains(*word) || notes.secrets.iter().any(|it| it.text == *word);
        let has_code = !codes(text).iter().all(known);
        let has_key = !keys(text).iter().all(known);
        let sees_codes = matches!(holder, Holder::Secret(_) | Holder::Receiver(_))
            || (0..2).any(|shop| holder.sees_secrets_of(shop));
        let makes = MAKES.iter().find(|it| **it == route);
        if let Some(makes) = makes.filter(|_| has_code || has_key) {
            notes.made.insert(makes);
            return;
        }
        if has_code && !sees_codes {
            find(&mut notes.findings, "a code that was made on the way", who);
        }
        if has_key {
            find(&mut notes.findings, "a key that was made on the way", who);
        }
    }

    /// Fails with all that was seen by whom it is not for, and where the walk itself has seen too little.
    pub(crate) fn ends(&self, world: &World) {
        let notes = self.notes.borrow();
        let lines = notes.findings.iter().map(|(what, who)| {
            let first: Vec<_> = who.iter().take(12).cloned().collect();
            format!("{what} ({} times)\n    {}", who.len(), first.join("\n    "))
        });
        let lines: Vec<_> = lines.collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
        // A search that misses a secret that its holder surely sees is wrong.
        for secret in &world.secrets {
            let is_hidden = secret.kind == SecretKind::ShownOnce;
            assert!(
                is_hidden || notes.seen.contains_key(&secret.kind),
                "no holder was shown {}",
                secret.what
            );
        }
        let mut quiet: Vec<_> = notes
            .routes
            .iter()
            .filter(|(_, answered)| !**answered)
            .collect();
        quiet.retain(|(route, _)| !UNANSWERED.iter().any(|(it, _)| it == route));
        assert!(quiet.is_empty(), "no visitor was answered: {quiet:?}");
        let unmade: Vec<_> = MAKES
            .iter()
            .filter(|it| !notes.made.contains(**it))
            .collect();
        assert!(unmade.is_empty(), "these made nothing: {unmade:?}");
    }
}

fn find(findings: &mut BTreeMap<String, Vec<String>>, what: &str, who: &str) {
    findings
        .entry(what.to_owned())
        .or_default()
        .push(who.to_owned());
}

/// Whether a text has a part. Compiled for speed, as it looks for much in much.
fn has(text: &str, part: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}

/// The first event of a stream, which has no end.
async fn first_event(mut response: Response) -> String {
    let mut text = String::new();
    while !text.contains("\n\n") {
        let Some(chunk) = response.chunk().await.unwrap() else {
            break;
        };
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    text
}
