//! The ractor side of a wallet: a mailbox around [`WalletState`]. A refusal travels through the
//! reply; an `Err` from here would kill the actor, so there is none but for a state that can no
//! longer be trusted.

use std::sync::Arc;

use domain::id::WalletKey;
use persistence::{Journal, Stored};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{Message, state::WalletState};
use crate::{clock::Clock, registry::Awake};

/// What a wallet needs to wake.
pub(crate) struct Arguments {
    pub(crate) key: WalletKey,
    pub(crate) stored: Option<Stored>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) awake: Arc<Awake>,
}

/// One per awake wallet.
pub(crate) struct WalletActor;

impl Actor for WalletActor {
    type Msg = Message;
    type State = WalletState;
    type Arguments = Arguments;

    async fn pre_start(
        &self,
        _myself: ActorRef<Message>,
        arguments: Arguments,
    ) -> Result<WalletState, ActorProcessingErr> {
        Ok(WalletState::new(arguments))
    }

    async fn handle(
        &self,
        _myself: ActorRef<Message>,
        message: Message,
        state: &mut WalletState,
    ) -> Result<(), ActorProcessingErr> {
        state.handle(message);
        if state.diverged {
            return Err("the journal took nothing more in after memory had changed".into());
        }
        Ok(())
    }
}
