//! The kinds of notes that payments store in the journal.

use actors::notes::{self, ErasedKind, NoteKey};
use domain::{
    Timestamp,
    id::{OrderId, PriceId, ProjectId},
    text::{CheckoutId, PaymentId},
};
use payments_port::ProviderEvent;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{reconciliation::Reconciliation, unfulfilled::UnfulfilledPayment};

/// All kinds of notes that payments store.
pub const KINDS: &[ErasedKind] = &[
    ErasedKind::of::<EventNote>(),
    ErasedKind::of::<PositionNote>(),
    ErasedKind::of::<UnfulfilledNote>(),
    ErasedKind::of::<ReconciliationNote>(),
    ErasedKind::of::<CheckoutNote>(),
    ErasedKind::of::<DoubledNote>(),
];

actors::note_kinds! {
    /// A provider's event that was acknowledged and has yet to be processed.
    pub struct EventNote: 1, "event", EventKey => ProviderEvent,
        |key, event| *key == EventKey::new(key.project, &event.id);
    pub(crate) struct PositionNote: 6, "position in the list of events", ProjectId => Position;
    pub(crate) struct UnfulfilledNote: 7, "unfulfilled payment", (ProjectId, PaymentId) => UnfulfilledPayment,
        |(_, payment), body| *payment == body.payment;
    pub(crate) struct ReconciliationNote: 8, "reconciliation", ProjectId => Reconciliation;
    pub(crate) struct CheckoutNote: 9, "checkout under a key", ScopedKey => KeyedCheckout;
    pub(crate) struct DoubledNote: 11, "doubled subscription", (ProjectId, [u8; 16]) => ();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// All events up to here were read and processed, by the provider's clock.
    pub(crate) until: Timestamp,
    /// Whether a webhook has ever come.
    pub(crate) webhooks_seen: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyedCheckout {
    pub(crate) price: PriceId,
    pub(crate) quantity: u32,
    pub(crate) order: OrderId,
    pub(crate) checkout: CheckoutId,
    pub(crate) url: String,
    pub(crate) at: Timestamp,
}

/// A project, and a hash of its caller's key.
pub(crate) type ScopedKey = (ProjectId, [u8; 16]);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredEvent {
    pub(crate) key: EventKey,
    pub(crate) content: ProviderEvent,
}

impl StoredEvent {
    pub(crate) fn new(project: ProjectId, content: ProviderEvent) -> Self {
        let key = EventKey::new(project, &content.id);
        Self { key, content }
    }

    pub(crate) fn put(&self) -> persistence::Note {
        notes::put::<EventNote>(&self.key, &self.content)
    }
}

/// The key of an event, unique over all projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// The project whose provider sent it.
    pub project: ProjectId,
    /// Half of the SHA-256 of project and event id: enough against collisions.
    hash: [u8; 16],
}

impl EventKey {
    /// The key of a project's event, from the provider's id of it.
    #[must_use]
    pub fn new(project: ProjectId, event: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(project.0.to_be_bytes());
        digest.update(event.as_bytes());
        let mut hash = [0; 16];
        hash.copy_from_slice(digest.finalize().split_at(16).0);
        Self { project, hash }
    }
}

impl NoteKey for EventKey {
    fn encode(&self) -> Vec<u8> {
        (self.project, self.hash).encode()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (project, hash) = NoteKey::decode(bytes)?;
        Some(Self { project, hash })
    }
}

#[cfg(test)]
mod tests {
    use actors::notes::NoteKind;
    use data_encoding::HEXLOWER;

    use super::*;

    const PROJECT: ProjectId = ProjectId(0x0193_aaaa_bbbb_cccc_dddd_eeee_ffff_0001);
    const EVENT: &str = r#"{"id":"evt_1","kind":"charge.refunded","at":1795000000000,"about":"payment","name":"pi_1"}"#;
    const UNFULFILLED: &str = r#"{"payment":"pi_1","checkout":"cs_1","paid":{"amountCents":900,"payment":"pi_1","invoice":null,"customer":"cus_1","email":null,"receipt":{"provider":"stripe","livemode":true,"receiptUrl":null,"invoiceUrl":null}},"billing":null,"currency":"EUR","paidAt":1795000000000,"reason":"unknown_price","seenAt":1795000000000,"state":"open"}"#;
    const PROOF: &str = r#"{"from":1,"until":2,"beganAt":3,"endedAt":4,"charges":5,"refunds":6,"disputes":7,"mended":8,"differences":0,"sums":[],"found":[]}"#;

    const CHECKOUT: &str = r#"{"price":"price_00000000000000000000000001","quantity":2,"order":"ord_0000000000000000000000000100000000000000000000000002","checkout":"cs_1","url":"https://pay.example/","at":1795000000000}"#;

    /// Reads a note and writes it again with the same bytes.
    fn is_on_the_disk_as<K: NoteKind>(key: &str, body: &str) {
        let key = HEXLOWER.decode(key.as_bytes()).unwrap();
        let body = [b"\x01", body.as_bytes()].concat();
        let (name, read) = notes::read::<K>(&key, &body).unwrap();
        let again = notes::put::<K>(&name, &read);
        assert_eq!((&*again.key, &*again.body.unwrap()), (&*key, &*body));
        // Other keys and bodies are rejected.
        for (key, body) in [
            (key.split_last().unwrap().1, &body[..]),
            (&[&key[..], &[0]].concat(), &body),
            (&key, body.split_last().unwrap().1),
            (&key, b"\x01{}"),
        ] {
            assert!(notes::read::<K>(key, body).is_err(), "{key:?} {body:?}");
        }
    }

    #[test]
    fn each_kind_is_on_the_disk_as_it_always_was() {
        let project = format!("{:032x}", PROJECT.0);
        let event = format!("01{project}a2cec2a04030098c69038791d4d963e3");
        is_on_the_disk_as::<EventNote>(&event, EVENT);
        let position = r#"{"until":1795000000000,"webhooks_seen":true}"#;
        is_on_the_disk_as::<PositionNote>(&format!("06{project}"), position);
        is_on_the_disk_as::<UnfulfilledNote>(&format!("07{project}70695f31"), UNFULFILLED);
        is_on_the_disk_as::<ReconciliationNote>(&format!("08{project}"), PROOF);
        let checkout = format!("09{project}{}", "2a".repeat(16));
        is_on_the_disk_as::<CheckoutNote>(&checkout, CHECKOUT);
        let doubled = format!("0b{project}{}", "2a".repeat(16));
        is_on_the_disk_as::<DoubledNote>(&doubled, "null");
    }
}
