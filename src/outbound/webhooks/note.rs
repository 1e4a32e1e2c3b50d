//! What of deliveries is kept in the journal: a note for each, and one for each endpoint that says how far
//! the log was read for it. As with all notes, what cannot be read is an error that names it.
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

use super::delivery::{Attempt, Delivery, Origin, Status};
use crate::http::field::EventType;

const DELIVERY: u8 = FIRST_KIND;
const PROGRESS: u8 = FIRST_KIND.saturating_add(1);
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

/// What the journal is asked to forget a delivery by.
pub(super) fn forget_delivery(endpoint: EndpointId, delivery: DeliveryId) -> Note {
    Note {
        key: key(DELIVERY, endpoint, Some(delivery)),
        body: None,
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
    for kind in FIRST_KIND..=u8::MAX {
        for (key, body) in handle.notes(&[kind])? {
            match read(&key, &body).map_err(|why| unreadable(&key, why))? {
                Read::Delivery(endpoint, delivery) => {
                    let kept = all.entry(endpoint).or_default();
                    kept.deliveries.insert(delivery.id, delivery);
                }
                Read::Progress(endpoint, progress) => {
                    all.entry(endpoint).or_default().progress = Some(progress);
                }
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
        PROGRESS if rest.is_empty() => {
            let progress = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            Ok(Read::Progress(endpoint, progress))
        }
        PROGRESS => Err(malformed()),
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
mod tests {
    use domain::id::EventId;

    use super::*;

    const ENDPOINT: EndpointId = EndpointId(7);

    fn delivery() -> Delivery {
        Delivery {
            id: DeliveryId(3),
            event: EventId(5 << 64 | 9),
            kind: EventType::named("order.paid").unwrap(),
            wallet: WalletKey([4; 16]),
            origin: Origin::Replay,
            status: Status::Pending,
            attempts: vec![
                Attempt {
                    at: Timestamp(1_795_000_000_000),
                    status_code: Some(500),
                    error: Some("it said \"no\"".into()),
                    millis: 12,
                },
                Attempt {
                    at: Timestamp(1_795_000_005_000),
                    status_code: None,
                    error: None,
                    millis: 0,
                },
            ],
            scheduled: 2,
            next_at: Some(Timestamp(1_795_000_300_000)),
        }
    }

    fn bytes(note: &Note) -> (&[u8], &[u8]) {
        (&note.key, note.body.as_deref().unwrap())
    }

    #[test]
    fn what_is_kept_reads_back() {
        let note = put_delivery(ENDPOINT, &delivery());
        let (key, body) = bytes(&note);
        let Ok(Read::Delivery(ENDPOINT, read_back)) = read(key, body) else {
            panic!("it does not read back")
        };
        assert_eq!(read_back, delivery());
        let by_hand = Delivery {
            scheduled: 1,
            ..delivery()
        };
        let note = put_delivery(ENDPOINT, &by_hand);
        let (key, body) = bytes(&note);
        let Ok(Read::Delivery(ENDPOINT, read_back)) = read(key, body) else {
            panic!("it does not read back")
        };
        assert_eq!(read_back, by_hand);
        let progress = Progress {
            cursor: 77,
            failing_since: Some(5),
            replay: Some(Replay {
                cursor: 1,
                end: 2,
                since: 3,
            }),
        };
        let note = put_progress(ENDPOINT, &progress);
        let (key, body) = bytes(&note);
        let Ok(Read::Progress(ENDPOINT, read_back)) = read(key, body) else {
            panic!("it does not read back")
        };
        assert_eq!(read_back, progress);
        assert_eq!(verify([(key, body)]), Vec::<String>::new());
    }

    #[test]
    fn notes_are_written_as_ever() {
        let note = put_delivery(ENDPOINT, &delivery());
        let (key, body) = bytes(&note);
        assert_eq!(HEXLOWER.encode(key), format!("40{:032x}{:032x}", 7, 3));
        let text = std::str::from_utf8(&body[1..]).unwrap();
        let expected = r#"{"event":"evt_0000000000002g000000000009","kind":"order.paid","wallet":"04040404040404040404040404040404","replay":true,"outcome":"pending","attempts":[[1795000000000,500,"it said \"no\"",12],[1795000005000,null,null,0]],"next":1795000300000}"#;
        assert_eq!((body[0], text), (1, expected));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let note = put_delivery(ENDPOINT, &delivery());
        let (key, body) = bytes(&note);
        let unknown = [&[200], &key[1..]].concat();
        let later = [&[2], &body[1..]].concat();
        for (key, body) in [
            (&unknown[..], body),
            (key, &later[..]),
            (key, &[1]),
            (key, &[]),
            (&key[..20], body),
        ] {
            let problems = verify([(key, body)]);
            assert_eq!(problems.len(), 1);
            assert!(problems[0].contains(&HEXLOWER.encode(key)), "{problems:?}");
        }
        assert_eq!(verify([(&[1, 2][..], &[][..])]), Vec::<String>::new());
    }
}
