//! What is common to all that a caller has the provider do. The wallet logs that it is asked for before
//! the provider is asked, and what came of it afterwards, each under the caller's key. Whoever asks again,
//! after a crash or a provider's silence, meets the same name at the provider: it is done once.

use std::sync::Arc;

use actors::InstructionKind;
use catalog::ProjectCatalog;
use data_encoding::HEXLOWER;
use domain::{id::ProjectId, text::IdempotencyKey, wallet::InstructionStage};
use port::{Operation, Provider, Subject};
use sha2::{Digest as _, Sha256};
use tracing::Instrument as _;

use super::{
    Error, Ground,
    places::{OnePlace, Places},
    turns::Turns,
};

/// Instructions that may be under way at once, over all projects.
const AT_ONCE: usize = 256;

/// Where instructions are carried out. Cheap to clone.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) ground: Ground,
    places: Places,
    pub(super) turns: Turns,
}

impl Desk {
    pub(super) fn new(ground: Ground) -> Self {
        Self {
            ground,
            places: Places::new(AT_ONCE),
            turns: Turns::default(),
        }
    }

    /// Carries something out, also when its caller goes away in the middle: so many and no more.
    pub(super) async fn carry_out<T: Send + 'static>(
        &self,
        project: ProjectId,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let place: OnePlace = self.places.take(project).ok_or(actors::Error::Overloaded)?;
        let work = async move {
            let _place = place;
            work.await
        };
        let task = tokio::spawn(work.in_current_span());
        task.await
            .unwrap_or(Err(Error::Wallet(actors::Error::Unavailable)))
    }

    /// Looks at what was just changed, so that the answer shows it. What cannot be seen now is told
    /// later, as everything is.
    pub(super) async fn look(
        &self,
        project: &ProjectCatalog,
        provider: &dyn Provider,
        subject: &Subject,
    ) {
        let looked = self.ground.fulfilment.look(project, provider, subject);
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
