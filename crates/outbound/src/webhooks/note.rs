//! The notes about webhooks in the journal: one for each delivery, one for the last response to it, and one for
//! each endpoint with how far the log was read for it. Responses are read only when somebody looks at one, so
//! that they take no memory.

use std::collections::{BTreeMap, HashMap};

use actors::{
    Handle,
    notes::{self, ErasedKind, forget},
};
use domain::id::{DeliveryId, EndpointId};
use persistence::{EventNumber, Note};
use serde::{Deserialize, Serialize};

use super::{delivery::Delivery, summary::ResponseSummary};

/// All kinds of notes about webhooks.
pub const KINDS: &[ErasedKind] = &[
    ErasedKind::of::<DeliveryNote>(),
    ErasedKind::of::<ProgressNote>(),
    ErasedKind::of::<ResponseNote>(),
];

actors::note_kinds! {
    pub(super) struct DeliveryNote: 64, "delivery to a webhook endpoint", (EndpointId, DeliveryId) => Delivery,
        |(_, id), delivery| *id == delivery.id;
    /// How far the log was read for an endpoint.
    pub(super) struct ProgressNote: 65, "progress of a webhook endpoint", EndpointId => Progress;
    /// The last response to a delivery.
    pub(super) struct ResponseNote: 66, "response to a delivery", (EndpointId, DeliveryId) => ResponseSummary;
}

/// The notes of an endpoint from an earlier process.
#[derive(Debug, Default)]
pub(super) struct StoredEndpoint {
    pub(super) progress: Option<Progress>,
    pub(super) deliveries: BTreeMap<DeliveryId, Delivery>,
}

/// How far the log was read for an endpoint: each event up to there was sent, or has a note, or waits behind
/// an event of the same wallet that has one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    pub(super) cursor: EventNumber,
    /// Since when all attempts have failed, in milliseconds since the epoch.
    pub(super) failing_since: Option<i64>,
    /// The part of the log that is being sent again.
    pub(super) replay: Option<Replay>,
}

/// A part of the log to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replay {
    /// Continues behind this number.
    pub(super) cursor: EventNumber,
    /// Ends with this number, included.
    pub(super) end: EventNumber,
    /// Skips events that were recorded and happened before, in milliseconds since the epoch.
    pub(super) since: i64,
}

/// Notes that delete a delivery and its last response.
fn forget_delivery(endpoint: EndpointId, delivery: DeliveryId) -> [Note; 2] {
    let key = (endpoint, delivery);
    [forget::<DeliveryNote>(&key), forget::<ResponseNote>(&key)]
}

/// Deletes the notes of deliveries that are not kept any longer.
pub(super) async fn forget_old(handle: &Handle, endpoint: EndpointId, old: Vec<DeliveryId>) {
    let notes = old.into_iter().flat_map(|id| forget_delivery(endpoint, id));
    if let Err(error) = notes::put_all(handle, notes).await {
        tracing::warn!(%error, %endpoint, "Old webhook deliveries could not be deleted");
    }
}

/// Deletes the notes of an endpoint that was deleted.
pub(super) async fn forget_endpoint(
    handle: &Handle,
    endpoint: EndpointId,
    deliveries: impl IntoIterator<Item = DeliveryId>,
) {
    let notes = deliveries.into_iter();
    let notes = notes.flat_map(|id| forget_delivery(endpoint, id));
    let notes = notes.chain([forget::<ProgressNote>(&endpoint)]);
    if let Err(error) = notes::put_all(handle, notes).await {
        tracing::warn!(%error, %endpoint, "The deliveries of a deleted webhook endpoint could not be deleted; the next start tries again");
    }
}

/// All notes of an earlier process except responses, by endpoint. Called once, at the start.
/// # Errors
/// As [`notes::all`].
pub(super) fn stored(handle: &Handle) -> Result<HashMap<EndpointId, StoredEndpoint>, notes::Error> {
    let mut all: HashMap<EndpointId, StoredEndpoint> = HashMap::new();
    for ((endpoint, id), delivery) in notes::all::<DeliveryNote>(handle)? {
        let record = all.entry(endpoint).or_default();
        record.deliveries.insert(id, delivery);
    }
    for (endpoint, progress) in notes::all::<ProgressNote>(handle)? {
        all.entry(endpoint).or_default().progress = Some(progress);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use actors::notes::NoteKind;
    use domain::{
        Timestamp,
        id::{EventId, WalletKey},
    };

    use super::*;
    use crate::webhooks::delivery::{Attempt, Origin, Status};
    use wire::field::EventType;

    const KEY: (EndpointId, DeliveryId) = (EndpointId(7), DeliveryId(3));

    fn delivery() -> Delivery {
        let attempt = |at, status_code, error: Option<&str>, millis| Attempt {
            at: Timestamp(at),
            status_code,
            error: error.map(Into::into),
            millis,
        };
        Delivery {
            id: DeliveryId(3),
            event: EventId(5 << 64 | 9),
            kind: EventType::named("order.paid").unwrap(),
            wallet: WalletKey([4; 16]),
            origin: Origin::Replay,
            status: Status::Pending,
            attempts: vec![
                attempt(1_795_000_000_000, Some(500), Some("it said \"no\""), 12),
                attempt(1_795_000_005_000, None, None, 0),
            ],
            scheduled: 1,
            next_at: Some(Timestamp(1_795_000_300_000)),
        }
    }

    fn is_on_the_disk_as<K: NoteKind<Body: PartialEq + std::fmt::Debug>>(
        key: &K::Key,
        body: &K::Body,
        expected: &str,
    ) {
        let note = notes::put::<K>(key, body);
        let bytes = note.body.unwrap();
        let text = std::str::from_utf8(&bytes[1..]).unwrap();
        assert_eq!((bytes[0], text), (1, expected));
        let (_, read) = notes::read::<K>(&note.key, &bytes).unwrap();
        assert_eq!(read, *body);
    }

    #[test]
    fn each_kind_is_on_the_disk_as_it_always_was() {
        let json = r#"{"id":"dlv_00000000000000000000000003","event":"evt_0000000000002g000000000009","kind":"order.paid","wallet":"wref_040g2081040g2081040g208104","origin":"replay","status":"pending","attempts":[{"at":1795000000000,"statusCode":500,"error":"it said \"no\"","millis":12},{"at":1795000005000,"statusCode":null,"error":null,"millis":0}],"scheduled":1,"nextAt":1795000300000}"#;
        is_on_the_disk_as::<DeliveryNote>(&KEY, &delivery(), json);
        let response = ResponseSummary {
            at: Timestamp(1_795_000_000_000),
            status_code: 500,
            headers: vec![("server".into(), "a \"b\"".into())],
            body: "no\n".into(),
            is_cut: true,
        };
        let json = r#"{"at":1795000000000,"statusCode":500,"headers":[["server","a \"b\""]],"body":"no\n","isCut":true}"#;
        is_on_the_disk_as::<ResponseNote>(&KEY, &response, json);
        let progress = Progress {
            cursor: 77,
            failing_since: Some(5),
            replay: Some(Replay {
                cursor: 1,
                end: 2,
                since: 3,
            }),
        };
        let json = r#"{"cursor":77,"failingSince":5,"replay":{"cursor":1,"end":2,"since":3}}"#;
        is_on_the_disk_as::<ProgressNote>(&KEY.0, &progress, json);
    }

    #[test]
    fn another_deliverys_body_is_no_deliverys() {
        let note = notes::put::<DeliveryNote>(&(KEY.0, DeliveryId(4)), &delivery());
        assert!(notes::read::<DeliveryNote>(&note.key, &note.body.unwrap()).is_err());
    }
}
