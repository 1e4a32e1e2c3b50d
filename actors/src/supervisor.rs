//! The root supervisor: has a wallet reloaded when its actor fails.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use crate::registry::Registry;

/// Parent of every wallet's actor.
pub(crate) struct Supervisor;

/// The supervisor's message type without values: it gets only supervision events.
pub(crate) enum Never {}

impl Actor for Supervisor {
    type Msg = Never;
    type State = Arc<Registry>;
    type Arguments = Arc<Registry>;

    async fn pre_start(
        &self,
        _myself: ActorRef<Never>,
        registry: Arc<Registry>,
    ) -> Result<Arc<Registry>, ActorProcessingErr> {
        Ok(registry)
    }

    async fn handle_supervisor_evt(
        &self,
        _myself: ActorRef<Never>,
        event: SupervisionEvent,
        registry: &mut Arc<Registry>,
    ) -> Result<(), ActorProcessingErr> {
        if let SupervisionEvent::ActorFailed(actor, _) = event {
            registry.reload(actor.get_id());
        }
        Ok(())
    }
}
