//! Delivers webhooks: signed, in order unless shuffled, and retried. A delivery is recorded afterwards, so a crash in
//! between repeats it.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dashmap::DashMap;
use domain::id::ProjectId;
use reqwest::{Url, header::CONTENT_TYPE};
use scrip_http::client::AddressKind;
use url::Host;

use super::{
    Error,
    core::{events, prelude::*},
    store::{Failure, ProjectState, Store},
};
use stripe::signature::{self, SigningSecret};

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_NOTED_BYTES: usize = 24_000;

#[derive(Default)]
pub(super) struct WebhookClients(DashMap<AddressKind, reqwest::Client>);

impl WebhookClients {
    fn to(&self, url: &Url) -> Option<reqwest::Client> {
        let kind = AddressKind::of(url);
        if let Some(client) = self.0.get(&kind) {
            return Some(client.clone());
        }
        let builder = kind.client().timeout(TIMEOUT);
        let name = concat!("scrip-sandbox/", env!("CARGO_PKG_VERSION"));
        let client = builder.user_agent(name).build().ok()?;
        self.0.insert(kind, client.clone());
        Some(client)
    }
}

/// The URL of a target, and its signing secret; without one nothing is sent.
struct Address {
    url: String,
    secret: Option<SigningSecret>,
}

struct Delivery {
    event: String,
    /// The webhook endpoint; `None` for the project itself.
    endpoint: Option<String>,
    /// `None` if the endpoint was deleted or disabled: the event counts as accepted.
    address: Option<Address>,
    body: Arc<str>,
    copies: u32,
    /// Whether each sent copy was accepted.
    accepted: Vec<bool>,
}

/// Delivers what is due, after a running delivery.
pub(super) async fn deliver(store: &Arc<Store>, project: ProjectId) -> Result<(), Error> {
    let store = Arc::clone(store);
    // Continues if the caller disconnects.
    let task = tokio::spawn(async move {
        let project_state = store.project_state(project);
        let _turn = project_state.delivering.lock().await;
        round(&store, &project_state, project).await
    });
    match task.await {
        Ok(outcome) => outcome.map_err(Failure::plain),
        Err(error) => Err(Error::Broken(error.to_string())),
    }
}

async fn round(
    store: &Arc<Store>,
    project_state: &Arc<ProjectState>,
    project: ProjectId,
) -> Result<(), Failure> {
    let host = Arc::clone(&store.host);
    let Some((settings, keys)) = host.settings(project).zip(host.keys(project)) else {
        return Ok(());
    };
    let delay = settings.delay_seconds;
    let copies = settings.duplicates.saturating_add(1);
    let address = move |db: &Database, endpoint: Option<&String>| {
        let Some(id) = endpoint else {
            let secret = Some(keys.webhook_secret.clone());
            let url = host.webhook_url(project);
            return Some(Address { url, secret });
        };
        let endpoint: &Endpoint = db.get(id).filter(|one: &&Endpoint| one.enabled)?;
        let url = endpoint.url.clone();
        let secret = SigningSecret::new(&endpoint.secret);
        let secret = secret.filter(|_| is_allowed_target(&host.public_url(), &url));
        Some(Address { url, secret })
    };
    let state = Arc::clone(project_state);
    let work = move |db: &mut Database| {
        let mut due = Vec::new();
        for event in events::due(db, delay) {
            let mut injector = state.injector.lock();
            let view = injector.event(event.view(db));
            let body: Arc<str> = injector.print(&view).into();
            due.extend(event.targets_due(db.now, delay).map(|target| Delivery {
                event: event.head.id.clone(),
                endpoint: target.endpoint.clone(),
                address: address(db, target.endpoint.as_ref()),
                body: Arc::clone(&body),
                copies: match target.endpoint {
                    None => copies.saturating_sub(event.delivered),
                    Some(_) => 1,
                },
                accepted: Vec::new(),
            }));
        }
        Ok(due)
    };
    let mut due = store.at(project, work).await?;
    if settings.shuffle {
        due.reverse();
    }
    send_all(store, &mut due, copies).await;
    note(store, project, due, copies).await
}

/// Records the results, in portions that fit one save.
async fn note(
    store: &Arc<Store>,
    project: ProjectId,
    mut deliveries: Vec<Delivery>,
    copies: u32,
) -> Result<(), Failure> {
    while !deliveries.is_empty() {
        let mut bytes: usize = 0;
        let fitting = deliveries.iter().take_while(|delivery| {
            bytes += delivery.body.len();
            bytes <= MAX_NOTED_BYTES
        });
        let later = deliveries.split_off(fitting.count().max(1));
        let portion = std::mem::replace(&mut deliveries, later);
        let work = move |db: &mut Database| {
            for Delivery {
                event,
                endpoint,
                accepted,
                ..
            } in portion
            {
                // The event may have been dropped to make room for others.
                if let Some(mut event) = db.get::<Event>(&event).cloned() {
                    for accepted in accepted {
                        event.record_delivery(endpoint.as_deref(), accepted, copies, db.now);
                    }
                    db.put(event);
                }
            }
            Ok(())
        };
        store.at(project, work).await?;
    }
    Ok(())
}

/// Sends each delivery once, then further copies for the project itself.
async fn send_all(store: &Store, due: &mut [Delivery], copies: u32) {
    let mut gone = BTreeSet::new();
    for copy in 0..copies {
        for delivery in &mut *due {
            if copy >= delivery.copies || delivery.accepted.contains(&false) {
                continue;
            }
            let accepted = match &delivery.address {
                None => true,
                // No answer: the other deliveries need not try.
                Some(_) if gone.contains(&delivery.endpoint) => false,
                Some(address) => {
                    let accepted = send(store, address, delivery.body.to_string()).await;
                    accepted.unwrap_or_else(|| {
                        gone.insert(delivery.endpoint.clone());
                        false
                    })
                }
            };
            delivery.accepted.push(accepted);
        }
    }
}

/// Whether a URL is this server's own, or also on loopback as this server: the holder of a sandbox's key must not be
/// able to call other hosts.
fn is_allowed_target(own: &str, url: &str) -> bool {
    let (Ok(url), Ok(own)) = (Url::parse(url), Url::parse(own)) else {
        return false;
    };
    let place = |url: &Url| {
        (
            url.host_str().map(str::to_owned),
            url.port_or_known_default(),
        )
    };
    place(&url) == place(&own) || is_loopback(&url) && is_loopback(&own)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Sends one webhook and returns whether it was accepted; `None` without an answer.
async fn send(store: &Store, to: &Address, body: String) -> Option<bool> {
    let secret = to.secret.as_ref()?;
    let url = Url::parse(&to.url).ok()?;
    let http = store.clients.to(&url)?;
    let now = store.host.wall_clock();
    let request = http
        .post(url)
        .header(CONTENT_TYPE, "application/json; charset=utf-8")
        .header(
            signature::HEADER,
            signature::sign(secret, body.as_bytes(), now),
        )
        .body(body);
    let answer = request.send().await.ok()?;
    Some(answer.status().is_success())
}
