//! What refunds, cancellations and resumptions have in common. The wallet logs the request before the provider is
//! asked, and the outcome afterwards, both under the caller's key. A retry uses the same operation name at the
//! provider, so it is done once.

use catalog::ProjectCatalog;
use data_encoding::HEXLOWER;
use domain::{text::IdempotencyKey, wallet::InstructionStage};
use payments_port::{ObjectRef, Operation};
use sha2::{Digest as _, Sha256};

use super::{Error, Payments, project_account::ProjectAccount};

#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct KeyedResult<T> {
    pub after: T,
    pub replayed: bool,
}

impl Payments {
    /// Fetches a changed object, so that the answer shows the change. If that fails, an event brings it later.
    pub(super) async fn refresh_quietly(&self, account: ProjectAccount<'_>, subject: &ObjectRef) {
        let refreshed = self.0.context.fulfilment.refresh(account, subject);
        if let Err(error) = refreshed.await {
            tracing::warn!(%error, ?subject, "An object that a caller changed at the payment provider cannot be fetched yet");
        }
    }
}

/// The operation's name at the provider, beginning with its kind: stable across restarts and restored backups.
pub(super) fn operation(
    kind: &str,
    project: &ProjectCatalog,
    about: &str,
    key: &IdempotencyKey,
) -> Result<Operation, Error> {
    let mut digest = Sha256::new();
    digest.update(project.project.id.0.to_be_bytes());
    digest.update(about.as_bytes());
    // A separator: neither names nor keys contain a NUL.
    digest.update([0]);
    digest.update(key.as_str().as_bytes());
    let hash = digest.finalize();
    let (hash, _) = hash.split_at(16);
    let name = format!("{kind}/{}", HEXLOWER.encode(hash));
    Operation::new(name).ok_or(Error::Defect("an operation's name is invalid"))
}

/// The instruction's stage after the provider's answer; `None` if the outcome is unknown.
pub(super) fn stage<T>(answer: &Result<T, payments_port::Error>) -> Option<InstructionStage> {
    match answer {
        Ok(_) => Some(InstructionStage::Done),
        Err(error) if error.nothing_was_done() => Some(InstructionStage::REFUSED),
        Err(_) => None,
    }
}
