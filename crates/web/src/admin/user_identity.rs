//! Who a user is at an identity provider, as the admin API has it.

use identity::BoundIdentity;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::field::{IssuerText, SubjectText, line};

/// Who a user is at an identity provider.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserIdentity)]
pub(super) struct Identity {
    /// The provider's address.
    issuer: String,
    /// The provider's name for the user.
    subject: String,
}

/// The identity that a user is to be bound to.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserIdentityToBind)]
pub(super) struct IdentityToBind {
    /// The provider's address, exactly as its discovery document has it.
    issuer: IssuerText,
    /// The provider's name for the user, which no other user is bound to.
    subject: SubjectText,
}

impl Identity {
    pub(super) fn of(bound: &BoundIdentity) -> Self {
        Self {
            issuer: bound.issuer.clone(),
            subject: bound.subject.clone(),
        }
    }
}

impl From<IdentityToBind> for BoundIdentity {
    fn from(identity: IdentityToBind) -> Self {
        Self {
            issuer: line(identity.issuer),
            subject: line(identity.subject),
        }
    }
}
