//! What is common to all that a caller has the provider do. The wallet logs that it is asked for before
//! the provider is asked, and what came of it afterwards, each under the caller's key. Whoever asks again,
//! after a crash or a provider's silence, meets the same name at the provider: it is done once.

use std::sync::Arc;

use actors::InstructionKind;
use catalog::ProjectCatalog;
use data_encoding::HEXLOWER;
use domain::{text::IdempotencyKey, wallet::InstructionStage};
use port::{ObjectRef, Operation, Provider};
use sha2::{Digest as _, Sha256};

use super::{Error, Payments};

impl Payments {
    /// Looks at what was just changed, so that the answer shows it. What cannot be seen now is told
    /// later, as everything is.
    pub(super) async fn look_after(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        subject: &ObjectRef,
    ) {
        let looked = self.0.context.fulfilment.look(project, provider, subject);
        if let Err(error) = looked.await {
            tracing::warn!(%error, ?subject, "What a caller had done cannot be looked at yet");
        }
    }
}

/// Names what is done under a key: the same after a restart, and after a backup was put back.
pub(super) fn operation(
    kind: InstructionKind,
    project: &Arc<ProjectCatalog>,
    about: &str,
    key: &IdempotencyKey,
) -> Result<Operation, Error> {
    let mut digest = Sha256::new();
    digest.update(project.project.id.0.to_be_bytes());
    digest.update(about.as_bytes());
    // Neither names nor keys have one.
    digest.update([0]);
    digest.update(key.as_str().as_bytes());
    let hash = digest.finalize();
    let (hash, _) = hash.split_at(16);
    let name = format!("{}/{}", kind.as_str(), HEXLOWER.encode(hash));
    Operation::new(name).ok_or(Error::Defect("an operation has no name"))
}

/// What the provider's answer means for what it was asked; `None`: nobody knows.
pub(super) fn stage<T>(answer: &Result<T, port::Error>) -> Option<InstructionStage> {
    match answer {
        Ok(_) => Some(InstructionStage::Done),
        Err(error) if error.is_a_no() => Some(InstructionStage::Refused),
        Err(_) => None,
    }
}
