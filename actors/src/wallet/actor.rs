//! The ractor side of a wallet: a mailbox, and the parent who hears when it fails. The state itself
//! lies where callers can see whether it is at rest (`registry::Awake`): a command to a wallet at
//! rest is run by whoever brings it, without a detour through this mailbox and the scheduler; all
//! others queue up here. Either way one command runs at a time.
//!
//! A refusal travels through the reply; an `Err` from here kills the actor, so there is none but for
//! a state that can no longer be trusted.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::Message;
use crate::registry::Awake;

/// One per awake wallet.
pub(crate) struct WalletActor;

impl Actor for WalletActor {
    type Msg = Message;
    type State = Arc<Awake>;
    type Arguments = Arc<Awake>;

    async fn pre_start(
        &self,
        _myself: ActorRef<Message>,
        awake: Arc<Awake>,
    ) -> Result<Arc<Awake>, ActorProcessingErr> {
        Ok(awake)
    }

    async fn handle(
        &self,
        _myself: ActorRef<Message>,
        message: Message,
        awake: &mut Arc<Awake>,
    ) -> Result<(), ActorProcessingErr> {
        awake.turn(message).map_err(Into::into)
    }
}
