//! Delivers webhooks: signed, in order unless told otherwise, tried again when they are not taken.
//! At least once: what was delivered is noted afterwards, so a crash in between delivers it again.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dashmap::DashMap;
use domain::id::ProjectId;
use reqwest::{Url, header::CONTENT_TYPE};
use url::Host;

use super::{
    Error,
    core::{events, prelude::*},
    till::{Failure, Till, Tills},
};
use stripe::{
    connect::Kind,
    signature::{self, SigningSecret},
};

const TIMEOUT: Duration = Duration::from_secs(10);
/// Events that are noted in one go.
const MAX_NOTED_BYTES: usize = 24_000;

/// Connections to where webhooks go, one for each kind of address.
#[derive(Default)]
pub(super) struct Lines(DashMap<Kind, reqwest::Client>);

impl Lines {
    fn to(&self, url: &Url) -> Option<reqwest::Client> {
        let kind = Kind::of(url);
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

/// Where an event goes, and how what comes there is signed; without a secret nothing is sent.
struct Address {
    url: String,
    secret: Option<SigningSecret>,
}

/// An event on its way to somebody.
struct Delivery {
    event: String,
    /// `None`: the project itself.
    endpoint: Option<String>,
    /// `None`: it is not there any more, or told to be silent, so nobody waits for it.
    address: Option<Address>,
    body: Arc<str>,
    copies: u32,
    /// Which copies were taken.
    taken: Vec<bool>,
}

/// Delivers what is due, after what somebody else delivers just now.
pub(super) async fn deliver(tills: &Arc<Tills>, project: ProjectId) -> Result<(), Error> {
    let tills = Arc::clone(tills);
    // Goes on if the caller goes away, like the books do.
    let task = tokio::spawn(async move {
        let till = tills.till(project);
        let _turn = till.courier.lock().await;
        round(&tills, &till, project).await
    });
    match task.await {
        Ok(outcome) => outcome.map_err(Failure::plain),
        Err(error) => Err(Error::Broken(error.to_string())),
    }
}

async fn round(tills: &Arc<Tills>, till: &Arc<Till>, project: ProjectId) -> Result<(), Failure> {
    let world = Arc::clone(&tills.world);
    let Some((settings, keys)) = world.settings(project).zip(world.keys(project)) else {
        return Ok(());
    };
    let delay = settings.delay_seconds;
    let copies = settings.duplicates.saturating_add(1);
    let address = move |books: &Books, endpoint: Option<&String>| {
        let Some(id) = endpoint else {
            let secret = Some(keys.webhook_secret.clone());
            let url = world.webhook_url(project);
            return Some(Address { url, secret });
        };
        let endpoint: &Endpoint = books.get(id).filter(|one: &&Endpoint| one.enabled)?;
        let url = endpoint.url.clone();
        let secret = SigningSecret::new(&endpoint.secret);
        let secret = secret.filter(|_| is_near(&world.public_url(), &url));
        Some(Address { url, secret })
    };
    let hands = Arc::clone(till);
    let work = move |books: &mut Books| {
        let mut due = Vec::new();
        for event in events::due(books, delay) {
            let mut unkind = hands.unkind.lock();
            let told = unkind.event(event.view(books));
            let body: Arc<str> = unkind.print(&told).into();
            due.extend(event.targets_due(books.now, delay).map(|target| Delivery {
                event: event.head.id.clone(),
                endpoint: target.endpoint.clone(),
                address: address(books, target.endpoint.as_ref()),
                body: Arc::clone(&body),
                copies: match target.endpoint {
                    None => copies.saturating_sub(event.delivered),
                    Some(_) => 1,
                },
                taken: Vec::new(),
            }));
        }
        Ok(due)
    };
    let mut due = tills.at(project, work).await?;
    if settings.shuffle {
        due.reverse();
    }
    send_all(tills, &mut due, copies).await;
    note(tills, project, due, copies).await
}

/// Notes how they fared, in parts that can be saved at once.
async fn note(
    tills: &Arc<Tills>,
    project: ProjectId,
    mut fared: Vec<Delivery>,
    copies: u32,
) -> Result<(), Failure> {
    while !fared.is_empty() {
        let mut bytes: usize = 0;
        let fitting = fared.iter().take_while(|delivery| {
            bytes = bytes.saturating_add(delivery.body.len());
            bytes <= MAX_NOTED_BYTES
        });
        let later = fared.split_off(fitting.count().max(1));
        let now_noted = std::mem::replace(&mut fared, later);
        let work = move |books: &mut Books| {
            for Delivery {
                event,
                endpoint,
                taken,
                ..
            } in now_noted
            {
                // It may have made room for others.
                if let Some(mut event) = books.get::<Event>(&event).cloned() {
                    for taken in taken {
                        event.told(endpoint.as_deref(), taken, copies, books.now);
                    }
                    books.put(event);
                }
            }
            Ok(())
        };
        tills.at(project, work).await?;
    }
    Ok(())
}

/// Sends each as often as it is still wanted: all of them once, then the project's own copies.
async fn send_all(tills: &Tills, due: &mut [Delivery], copies: u32) {
    let mut gone = BTreeSet::new();
    for copy in 0..copies {
        for delivery in &mut *due {
            if copy >= delivery.copies || delivery.taken.contains(&false) {
                continue;
            }
            let taken = match &delivery.address {
                None => true,
                // Nobody is there: the others need not find out one by one.
                Some(_) if gone.contains(&delivery.endpoint) => false,
                Some(address) => {
                    let taken = send(tills, address, delivery.body.to_string()).await;
                    taken.unwrap_or_else(|| {
                        gone.insert(delivery.endpoint.clone());
                        false
                    })
                }
            };
            delivery.taken.push(taken);
        }
    }
}

/// Whether an address is this server's own or, where that is on this machine, on it too: whoever has
/// a sandbox's key must not be able to make this server knock at other doors.
fn is_near(own: &str, url: &str) -> bool {
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

/// Whether it was taken; `None`: nobody answers there.
async fn send(tills: &Tills, to: &Address, body: String) -> Option<bool> {
    let secret = to.secret.as_ref()?;
    let url = Url::parse(&to.url).ok()?;
    let http = tills.lines.to(&url)?;
    let now = tills.world.wall_clock();
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
