//! What every verb has in common. A verb is a type that carries its fields, and one file here: what it
//! answers, and how that comes about at a wallet that is there, that the caller may see, and that is up
//! to date. Waking, waiting, turns, logging and answering are not its business.

use domain::{Rejection, wallet::Created};

use super::{Caller, Reply, Rules, Turn, WalletState, turn::Caught};
use crate::{answer::Error, turnstile::Errand};

/// Something that a wallet can be asked.
pub(crate) trait Verb: Send + 'static {
    /// What whoever asks is told, once it is durable.
    type Answer: Send + 'static;

    /// What is not found where there is no wallet, or none that the caller may see.
    const ABSENT: Rejection = Rejection::WalletNotFound;

    /// Whether [`Verb::run`] itself makes the wallet that is not there, together with what it decides.
    const CREATES_ALONG: bool = false;

    /// What makes the wallet, should there be none.
    fn creates(&self) -> Option<&Created> {
        None
    }

    /// Does what has to be done before it can be decided, as far as one turn goes.
    fn clear(&self, _turn: &mut Turn<'_>) -> Result<Caught, Error> {
        Ok(Caught::Up)
    }

    /// Decides, and has what was decided logged.
    fn run(self, turn: &mut Turn<'_>) -> Result<Self::Answer, Error>;
}

/// A verb on its way to a wallet, and the conditions under which it was sent.
pub(crate) struct Asked<V: Verb> {
    pub(crate) verb: V,
    pub(crate) caller: Caller,
    pub(crate) rules: Rules,
    pub(crate) reply: Reply<V::Answer>,
}

impl<V: Verb> Errand for Asked<V> {
    fn run(self, wallet: &mut WalletState) -> Option<Self> {
        let mut turn = Turn::new(wallet, &self.rules);
        let ready = turn.prepare(&self.verb, self.caller);
        let answer = match ready {
            Ok(Caught::Behind) => {
                wallet.hand_over(None);
                return Some(self);
            }
            Ok(Caught::Up) => self.verb.run(&mut turn),
            Err(error) => Err(error),
        };
        let reply = self.reply;
        wallet.finish(move |durable| reply.send(durable.and(answer)));
        None
    }
}
