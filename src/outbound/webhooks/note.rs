//! What of deliveries is kept in the journal: a note for each, one for what was answered to it last, and one
//! for each endpoint that says how far the log was read for it. Answers are read only when somebody looks
//! at one: no memory is spent on them. As with all notes, what cannot be read is an error that names it.
//!
//! A key is the kind's number, the endpoint, and the delivery; a body is a version and JSON. Numbers below
//! [`FIRST_KIND`] are those of payments.

use std::collections::{BTreeMap, HashMap};

use actors::Handle;
use data_encoding::HEXLOWER;
use domain::{
    Timestamp,
    id::{DeliveryId, EndpointId, WalletKey},
};
use payments::notes::FIRST_FOREIGN_KIND as FIRST_KIND;
use persistence::{Note, NoticeNumber};
use serde::{Deserialize, Serialize};

use super::{
    delivery::{Attempt, Delivery, Origin, Status},
    said::Said,
};
use crate::http::field::EventType;

const DELIVERY: u8 = FIRST_KIND;
const PROGRESS: u8 = FIRST_KIND.saturating_add(1);
const SAID: u8 = FIRST_KIND.saturating_add(2);
const VERSION: u8 = 1;

/// Notes cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One of them: what it is and why.
    #[error("the note {key} (of a webhook endpoint) cannot be read: {why}")]
    Unreadable {
        /// In hexadecimal digits.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// The journal.
    #[error(transparent)]
    Store(#[from] persistence::Error),
}

/// What an earlier process kept of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) progress: Option<Progress>,
    pub(super) deliveries: BTreeMap<DeliveryId, Delivery>,
}

/// How far the log was read for an endpoint: what lies up to there was sent, or has a note, or waits behind
/// one of its wallet that has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    pub(super) cursor: NoticeNumber,
    /// Since when nothing but failures; in milliseconds.
    pub(super) failing_since: Option<i64>,
    /// What is sent again.
    pub(super) replay: Option<Replay>,
}

/// A part of the log to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replay {
    /// It goes on behind this one.
    pub(super) cursor: NoticeNumber,
    /// With this one it ends.
    pub(super) end: NoticeNumber,
    /// Nothing that happened before; in milliseconds.
    pub(super) since: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    event: String,
    kind: String,
    wallet: String,
    replay: bool,
    outcome: Outcome,
    attempts: Vec<Tried>,
    next: Option<i64>,
    /// Where it is not how many attempts there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheduled: Option<usize>,
}

/// When, status, what went wrong, and how many milliseconds it took.
type Tried = (i64, Option<u16>, Option<Box<str>>, u32);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SaidBody {
    at: i64,
    status: u16,
    headers: Vec<(Box<str>, Box<str>)>,
    body: Box<str>,
    cut: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Pending,
    Succeeded,
    Failed,
}

fn key(kind: u8, endpoint: EndpointId, delivery: Option<DeliveryId>) -> Box<[u8]> {
    let mut key = vec![kind];
    key.extend_from_slice(&endpoint.0.to_be_bytes());
    key.extend(delivery.into_iter().flat_map(|id| id.0.to_be_bytes()));
    key.into()
}

fn put(key: Box<[u8]>, body: &impl Serialize) -> Note {
    let mut bytes = vec![VERSION];
    // Texts and numbers: nothing in it can fail to be JSON.
    bytes.extend(serde_json::to_vec(body).unwrap_or_default());
    Note {
        key,
        body: Some(bytes.into()),
    }
}

/// A delivery as the journal takes it.
pub(super) fn put_delivery(endpoint: EndpointId, delivery: &Delivery) -> Note {
    let attempts = delivery.attempts.iter();
    let body = Body {
        event: delivery.event.to_string(),
        kind: delivery.kind.as_str().into(),
        wallet: HEXLOWER.encode(&delivery.wallet.0),
        replay: delivery.origin == Origin::Replay,
        outcome: match delivery.status {
            Status::Pending => Outcome::Pending,
            Status::Succeeded => Outcome::Succeeded,
            Status::Failed => Outcome::Failed,
        },
        attempts: attempts
            .map(|it| (it.at.0, it.status_code, it.error.clone(), it.millis))
            .collect(),
        next: delivery.next_at.map(|at| at.0),
        scheduled: Some(delivery.scheduled).filter(|count| *count != delivery.attempts.len()),
    };
    put(key(DELIVERY, endpoint, Some(delivery.id)), &body)
}

/// How far the log was read, as the journal takes it.
pub(super) fn put_progress(endpoint: EndpointId, progress: &Progress) -> Note {
    put(key(PROGRESS, endpoint, None), progress)
}

/// What was answered last, as the journal takes it.
pub(super) fn put_said(endpoint: EndpointId, delivery: DeliveryId, said: &Said) -> Note {
    let body = SaidBody {
        at: said.at.0,
        status: said.status_code,
        headers: said.headers.clone(),
        body: said.body.clone(),
        cut: said.is_cut,
    };
    put(key(SAID, endpoint, Some(delivery)), &body)
}

/// What the journal is asked to forget a delivery by, with what was answered.
pub(super) fn forget_delivery(endpoint: EndpointId, delivery: DeliveryId) -> [Note; 2] {
    [DELIVERY, SAID].map(|kind| Note {
        key: key(kind, endpoint, Some(delivery)),
        body: None,
    })
}

/// What was answered to a delivery last, as far as that is folded.
///
/// # Errors
///
/// As [`stored`].
pub(super) fn said(
    handle: &Handle,
    endpoint: EndpointId,
    delivery: DeliveryId,
) -> Result<Option<Said>, Error> {
    let kept = handle.notes(&key(SAID, endpoint, Some(delivery)))?;
    let Some((key, body)) = kept.into_iter().next() else {
        return Ok(None);
    };
    match read(&key, &body).map_err(|why| unreadable(&key, why))? {
        Read::Said(said) => Ok(Some(said)),
        Read::Delivery(..) | Read::Progress(..) => Ok(None),
    }
}

/// The same of how far the log was read.
pub(super) fn forget_progress(endpoint: EndpointId) -> Note {
    Note {
        key: key(PROGRESS, endpoint, None),
        body: None,
    }
}

/// All that an earlier process kept, by endpoint. Called once, at the start.
///
/// # Errors
///
/// [`Error::Unreadable`] for the first note that cannot be read, [`Error::Store`] where the journal
/// cannot be.
pub(super) fn stored(handle: &Handle) -> Result<HashMap<EndpointId, Kept>, Error> {
    let mut all: HashMap<EndpointId, Kept> = HashMap::new();
    for kind in (FIRST_KIND..=u8::MAX).filter(|kind| *kind != SAID) {
        for (key, body) in handle.notes(&[kind])? {
            match read(&key, &body).map_err(|why| unreadable(&key, why))? {
                Read::Delivery(endpoint, delivery) => {
                    let kept = all.entry(endpoint).or_default();
                    kept.deliveries.insert(delivery.id, delivery);
                }
                Read::Progress(endpoint, progress) => {
                    all.entry(endpoint).or_default().progress = Some(progress);
                }
                Read::Said(_) => {}
            }
        }
    }
    Ok(all)
}

/// Whether notes can all be read: a sentence for each of ours that cannot. For `scrip verify`.
pub fn verify<'a>(notes: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Vec<String> {
    let ours = notes.into_iter();
    let ours = ours.filter(|(key, _)| key.first().is_some_and(|kind| *kind >= FIRST_KIND));
    let read = ours.map(|(key, body)| read(key, body).map_err(|why| unreadable(key, why)));
    read.filter_map(|read| read.err().map(|error| error.to_string()))
        .collect()
}

fn unreadable(key: &[u8], why: String) -> Error {
    Error::Unreadable {
        key: HEXLOWER.encode(key),
        why,
    }
}

enum Read {
    Delivery(EndpointId, Delivery),
    Said(Said),
    Progress(EndpointId, Progress),
}

/// Or why it is none.
fn read(key: &[u8], body: &[u8]) -> Result<Read, String> {
    let malformed = || "its key is not formed as its kind's are".to_owned();
    let (kind, rest) = key.split_first().ok_or_else(malformed)?;
    let (endpoint, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
    let endpoint = EndpointId(u128::from_be_bytes(*endpoint));
    let (version, body) = body.split_first().ok_or("it is empty")?;
    if *version != VERSION {
        let why = format!("its version is {version}, and this release reads {VERSION}");
        return Err(why);
    }
    match *kind {
        DELIVERY => {
            let id = <[u8; 16]>::try_from(rest).map_err(|_| malformed())?;
            let delivery = delivery(DeliveryId(u128::from_be_bytes(id)), body)?;
            Ok(Read::Delivery(endpoint, delivery))
        }
        SAID if rest.len() == 16 => {
            let said: SaidBody = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            Ok(Read::Said(Said {
                at: Timestamp(said.at),
                status_code: said.status,
                headers: said.headers,
                body: said.body,
                is_cut: said.cut,
            }))
        }
        PROGRESS if rest.is_empty() => {
            let progress = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            Ok(Read::Progress(endpoint, progress))
        }
        PROGRESS | SAID => Err(malformed()),
        _ => Err("this release knows no such kind; a later one may have written it".into()),
    }
}

fn delivery(id: DeliveryId, body: &[u8]) -> Result<Delivery, String> {
    let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let wallet = HEXLOWER.decode(body.wallet.as_bytes());
    let wallet = wallet.ok().and_then(|wallet| wallet.try_into().ok());
    let kind = EventType::named(&body.kind);
    let scheduled = body.scheduled.unwrap_or(body.attempts.len());
    let attempts = body.attempts.into_iter();
    Ok(Delivery {
        id,
        event: body.event.parse().map_err(|_| "its event is none")?,
        kind: kind.ok_or("this release knows no such kind of event")?,
        wallet: WalletKey(wallet.ok_or("its wallet is none")?),
        origin: if body.replay {
            Origin::Replay
        } else {
            Origin::Live
        },
        status: match body.outcome {
            Outcome::Pending => Status::Pending,
            Outcome::Succeeded => Status::Succeeded,
            Outcome::Failed => Status::Failed,
        },
        attempts: attempts
            .map(|(at, status_code, error, millis)| Attempt {
                at: Timestamp(at),
                status_code,
                error,
                millis,
            })
            .collect(),
        scheduled,
        next_at: body.next.map(Timestamp),
    })
}

#[cfg(test)]
mod tests;
