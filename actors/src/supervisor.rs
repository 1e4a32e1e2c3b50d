//! The root supervisor: hears when a wallet's actor ends and has it reloaded if nobody asked for
//! that end.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use crate::registry::Registry;

/// Parent of every wallet's actor.
pub(crate) struct Supervisor;

/// It is only spoken to by supervision.
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
