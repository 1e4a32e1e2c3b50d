//! Delivers webhooks: signed, in order unless told otherwise, tried again when they are not taken.
//! At least once: what was delivered is noted afterwards, so a crash in between delivers it again.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dashmap::DashMap;
use domain::id::ProjectId;
use reqwest::{Url, header::CONTENT_TYPE};
use url::Host;

use super::{
    Error, Keys,
    core::events,
    till::{Failure, Till, Tills},
};
use crate::core::prelude::*;
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

/// Events in somebody's hands; let go of whatever happens to them.
struct Taken {
    till: Arc<Till>,
    ids: BTreeSet<String>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.till.sending.send_modify(|sending| {
            sending.retain(|id| !self.ids.contains(id));
        });
    }
}

/// An event, and who is to hear of it now.
struct Parcel {
    event: Event,
    body: Vec<u8>,
    /// Whether the project's own address is.
    own: bool,
    /// Registered endpoints, as far as they are still there.
    targets: Vec<(String, Option<Endpoint>)>,
}

/// How one event fared.
struct Fared {
    id: String,
    /// Of the event, roughly as it is kept.
    bytes: usize,
    arrived: u32,
    missed: bool,
    /// Which registered endpoints took it.
    told: Vec<(String, bool)>,
}

/// Delivers what is due, and waits for what somebody else delivers just now.
pub(super) async fn deliver(tills: &Arc<Tills>, project: ProjectId) -> Result<(), Error> {
    let tills = Arc::clone(tills);
    // Goes on if the caller goes away, like the books do.
    let task = tokio::spawn(async move { round(&tills, project).await });
    match task.await {
        Ok(outcome) => outcome.map_err(Failure::plain),
        Err(error) => Err(Error::Broken(error.to_string())),
    }
}

async fn round(tills: &Arc<Tills>, project: ProjectId) -> Result<(), Failure> {
    let Some(settings) = tills.world.settings(project) else {
        return Ok(());
    };
    let till = tills.till(project);
    let delay = settings.delay_seconds;
    let hands = Arc::clone(&till);
    let (mut mine, taken, theirs) = tills
        .at(project, move |books: &mut Books| {
            let due = events::due(books, books.now, delay);
            let mut theirs = BTreeSet::new();
            let mut mine: Vec<Parcel> = Vec::new();
            hands.sending.send_modify(|sending| {
                for event in due {
                    if sending.insert(event.head.id.clone()) {
                        let mut unkind = hands.unkind.lock();
                        let told = unkind.event(event.view(books));
                        let body = unkind.print(&told).into_bytes();
                        drop(unkind);
                        let targets = event.targets_due(books.now, delay);
                        let targets = targets.map(|target| {
                            let endpoint = books.get::<Endpoint>(&target.endpoint).cloned();
                            (target.endpoint.clone(), endpoint)
                        });
                        mine.push(Parcel {
                            own: event.is_own_due(books.now, delay),
                            targets: targets.collect(),
                            event,
                            body,
                        });
                    } else {
                        theirs.insert(event.head.id);
                    }
                }
            });
            let ids = mine
                .iter()
                .map(|parcel| parcel.event.head.id.clone())
                .collect();
            Ok((mine, Taken { till: hands, ids }, theirs))
        })
        .await?;
    if settings.shuffle {
        mine.reverse();
    }
    if !mine.is_empty() {
        let wanted = settings.duplicates.saturating_add(1);
        let fared = send_all(tills, project, &mine, wanted).await;
        note(tills, project, fared, wanted).await?;
    }
    drop(taken);
    let mut sending = till.sending.subscribe();
    // The sender lives as long as the till.
    drop(
        sending
            .wait_for(|sending| sending.is_disjoint(&theirs))
            .await,
    );
    Ok(())
}

/// Notes how they fared, in parts that can be saved at once.
async fn note(
    tills: &Arc<Tills>,
    project: ProjectId,
    mut fared: Vec<Fared>,
    wanted: u32,
) -> Result<(), Failure> {
    while !fared.is_empty() {
        let mut bytes: usize = 0;
        let mut count: usize = 0;
        for one in &fared {
            bytes = bytes.saturating_add(one.bytes);
            if count > 0 && bytes > MAX_NOTED_BYTES {
                break;
            }
            count = count.saturating_add(1);
        }
        let later = fared.split_off(count);
        let now_noted = std::mem::replace(&mut fared, later);
        let work = move |books: &mut Books| {
            for one in now_noted {
                let Some(mut event) = books.get::<Event>(&one.id).cloned() else {
                    continue;
                };
                (0..one.arrived).for_each(|_| event.arrived(wanted));
                if one.missed {
                    event.missed(books.now);
                }
                for (endpoint, taken) in &one.told {
                    event.told(endpoint, *taken, books.now);
                }
                books.put(event);
            }
            Ok(())
        };
        tills.at(project, work).await?;
    }
    Ok(())
}

/// Sends each as often as it is still wanted: all of them once, then the copies.
async fn send_all(tills: &Tills, project: ProjectId, events: &[Parcel], wanted: u32) -> Vec<Fared> {
    let url = tills.world.webhook_url(project);
    let Some(Keys {
        webhook_secret: secret,
        ..
    }) = tills.world.keys(project)
    else {
        return Vec::new();
    };
    let mut fared: Vec<Fared> = events
        .iter()
        .map(|parcel| Fared {
            id: parcel.event.head.id.clone(),
            bytes: parcel.body.len(),
            arrived: 0,
            missed: false,
            told: Vec::new(),
        })
        .collect();
    let mut reachable = true;
    for copy in 0..wanted {
        for (parcel, fared) in events.iter().zip(&mut fared) {
            if !parcel.own || copy < parcel.event.delivered || fared.missed {
                continue;
            }
            let answer = if reachable {
                send(tills, &url, &secret, parcel.body.clone()).await
            } else {
                // Nobody is there: the others need not find out one by one.
                Answer::None
            };
            match answer {
                Answer::Taken => fared.arrived = fared.arrived.saturating_add(1),
                Answer::Refused => fared.missed = true,
                Answer::None => {
                    reachable = false;
                    fared.missed = true;
                }
            }
        }
    }
    let mut gone = BTreeSet::new();
    for (parcel, fared) in events.iter().zip(&mut fared) {
        for (id, endpoint) in &parcel.targets {
            let taken = match endpoint {
                // Not there any more, or told to be silent: nobody waits for it.
                None => true,
                Some(endpoint) if !endpoint.enabled => true,
                Some(_) if gone.contains(id) => false,
                Some(endpoint) => match to_endpoint(tills, endpoint, &parcel.body).await {
                    Answer::Taken => true,
                    Answer::Refused => false,
                    Answer::None => {
                        gone.insert(id.clone());
                        false
                    }
                },
            };
            fared.told.push((id.clone(), taken));
        }
    }
    fared
}

async fn to_endpoint(tills: &Tills, endpoint: &Endpoint, body: &[u8]) -> Answer {
    let secret = SigningSecret::new(&endpoint.secret);
    match secret.filter(|_| is_near(tills, &endpoint.url)) {
        Some(secret) => send(tills, &endpoint.url, &secret, body.to_vec()).await,
        None => Answer::None,
    }
}

/// Whether an address is this server's own or, where that is on this machine, on it too: whoever has
/// a sandbox's key must not be able to make this server knock at other doors.
fn is_near(tills: &Tills, url: &str) -> bool {
    let (Ok(url), Ok(own)) = (Url::parse(url), Url::parse(&tills.world.public_url())) else {
        return false;
    };
    if url.host() == own.host() && url.port_or_known_default() == own.port_or_known_default() {
        return true;
    }
    is_loopback(&url) && is_loopback(&own)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

enum Answer {
    Taken,
    Refused,
    None,
}

async fn send(tills: &Tills, url: &str, secret: &SigningSecret, body: Vec<u8>) -> Answer {
    let Some(url) = Url::parse(url).ok() else {
        return Answer::None;
    };
    let Some(http) = tills.lines.to(&url) else {
        return Answer::None;
    };
    let now = tills.world.wall_clock();
    let request = http
        .post(url)
        .header(CONTENT_TYPE, "application/json; charset=utf-8")
        .header(signature::HEADER, signature::sign(secret, &body, now))
        .body(body);
    match request.send().await {
        Ok(answer) if answer.status().is_success() => Answer::Taken,
        Ok(_) => Answer::Refused,
        Err(_) => Answer::None,
    }
}
