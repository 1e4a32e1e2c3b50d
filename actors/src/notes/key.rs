//! Keys of notes within their kind, as bytes: keys of one project or endpoint sort together.

use domain::{
    id::{ApprovalId, DeliveryId, EndpointId, KeyId, ProjectId, RateCardId, SessionId, UserId},
    text::PaymentId,
};

/// The key of a note within its kind.
pub trait NoteKey: Sized {
    /// The bytes that follow the kind's number in the journal's key.
    fn encode(&self) -> Vec<u8>;

    /// Decodes a key; `None` if the bytes are none.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// A [`NoteKey`] of sixteen bytes, which another may follow in the tuple `(O, N)`.
pub trait NoteOwner: NoteKey {}

macro_rules! ids {
    ($($id:ident),*) => { $(
        impl NoteKey for $id {
            fn encode(&self) -> Vec<u8> {
                self.0.to_be_bytes().into()
            }

            fn decode(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(|bytes| Self(u128::from_be_bytes(bytes)))
            }
        }

        impl NoteOwner for $id {}
    )* };
}

ids!(
    ProjectId, KeyId, EndpointId, DeliveryId, UserId, SessionId, ApprovalId, RateCardId
);

impl<O: NoteOwner, N: NoteKey> NoteKey for (O, N) {
    fn encode(&self) -> Vec<u8> {
        [self.0.encode(), self.1.encode()].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (owner, name) = bytes.split_at_checked(16)?;
        Some((O::decode(owner)?, N::decode(name)?))
    }
}

impl NoteKey for u64 {
    fn encode(&self) -> Vec<u8> {
        self.to_be_bytes().into()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_be_bytes)
    }
}

impl NoteKey for [u8; 16] {
    fn encode(&self) -> Vec<u8> {
        self.to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

impl NoteOwner for [u8; 16] {}

impl NoteKey for String {
    fn encode(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        (!text.is_empty()).then(|| text.to_owned())
    }
}

impl NoteKey for PaymentId {
    fn encode(&self) -> Vec<u8> {
        self.as_str().as_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Self::new(std::str::from_utf8(bytes).ok()?).ok()
    }
}
