//! What all commands have in common. A command is a type with an operation's fields, in its own file. It decides on a
//! wallet that exists, that the caller may see, and that has caught up with the clock. Waking, waiting, turns and
//! sending the answer are done for it.

use domain::{Rejection, wallet::Created};

use super::{Caller, Reply, Rules, Turn, WalletState, turn::CatchUp};
use crate::{answer::Error, executor::Task};

pub(crate) trait Command: Send + 'static {
    /// The answer, sent once it is durable.
    type Answer: Send + 'static;

    /// The answer if the wallet is missing or the caller may not see it.
    const ABSENT: Rejection = Rejection::WalletNotFound;

    /// Whether [`Command::run`] itself creates a missing wallet, in the append of its own events.
    const CREATES_WALLET: bool = false;

    /// Whether it only reads: the wallet does not catch up with the clock, nothing is logged, and a wallet that is asleep is
    /// not woken.
    const READ_ONLY: bool = false;

    /// Whether it creates a missing user's wallet.
    fn creates_user_wallet(&self) -> bool {
        false
    }

    /// Does work that has to precede [`Command::run`], as much as fits one turn.
    fn clear(&self, _turn: &mut Turn<'_>) -> Result<CatchUp, Error> {
        Ok(CatchUp::Up)
    }

    /// Decides, and logs the events of the decision.
    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error>;
}

/// A command on its way to a wallet, with its caller and the rules of its request.
pub(crate) struct CommandTask<V: Command> {
    pub(crate) command: V,
    pub(crate) caller: Caller,
    /// How a missing wallet is created.
    pub(crate) created: Option<Box<Created>>,
    pub(crate) rules: Rules,
    pub(crate) reply: Reply<V::Answer>,
}

impl<V: Command> Task for CommandTask<V> {
    fn run(self, wallet: &mut WalletState) -> Option<Self> {
        let mut turn = Turn::new(wallet, &self.rules, self.created.as_deref());
        let ready = turn.prepare(&self.command, self.caller);
        let answer = match ready {
            Ok(CatchUp::Behind) => {
                wallet.hand_over(None);
                return Some(self);
            }
            Ok(CatchUp::Up) => turn.run(self.command),
            Err(error) => Err(error),
        };
        let reply = self.reply;
        // It reveals nothing, so it need not wait until the log is readable.
        if let Err(Error::Unavailable) = answer {
            wallet.hand_over(None);
            reply.send(answer);
            return None;
        }
        wallet.finish(move |durable| reply.send(durable.and(answer)));
        None
    }
}
