//! Cards on file and automatic top-ups.

use domain::{
    Quantity, Timestamp,
    terms::Terms,
    text::{CardId, ExternalUserId},
    top_up::{Ceiling, SavedCard, TopUp, TopUpAttempt, TopUpState},
    wallet::{
        Owner, Wallet,
        top_up::{SetEmail, SetTopUp},
    },
};

use super::{Command, Turn, read::view};
use crate::answer::{Error, WalletView};

/// A wallet's automatic top-up as of now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct TopUpDetail {
    pub top_up: TopUp,
    pub state: TopUpState,
    /// The ceiling that a needed attempt waits for.
    pub ceiling: Option<Ceiling>,
    pub next_attempt_at: Option<Timestamp>,
    pub charged_this_month: i64,
    pub attempts_today: i64,
}

impl TopUpDetail {
    pub(super) fn of(wallet: &Wallet, now: Timestamp) -> Self {
        let top_up = wallet.top_up().cloned().unwrap_or_default();
        let at = wallet.date(now);
        let (state, ceiling) = top_up.state(wallet.watched_credits().unwrap_or_default(), at);
        Self {
            state,
            ceiling,
            next_attempt_at: top_up.next_attempt_at(at),
            charged_this_month: top_up.charged_this_month(at),
            attempts_today: top_up.attempts_today(at),
            top_up,
        }
    }
}

/// An attempt whose outcome is not known, with all that its charge needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct OpenAttempt {
    pub attempt: TopUpAttempt,
    /// What it buys; `None` once its order has left the wallet.
    pub terms: Option<Terms>,
    pub quantity: Quantity,
    pub user: Option<ExternalUserId>,
    /// Whether the buyer still wants it.
    pub is_wanted: bool,
}

impl Command for SetTopUp {
    type Answer = TopUpDetail;

    fn run(self, turn: &mut Turn<'_>) -> Result<TopUpDetail, Error> {
        let (now, charge_now) = (turn.now(), self.charge_now);
        if let Some(change) = turn.wallet()?.set_top_up(self, now)? {
            turn.change(change)?;
        }
        // To watch other credits is no use of any.
        turn.update_watched();
        if charge_now {
            turn.step_top_up()?;
        }
        Ok(TopUpDetail::of(turn.wallet()?, now))
    }
}

pub(crate) struct ReadTopUp;

impl Command for ReadTopUp {
    type Answer = TopUpDetail;

    fn run(self, turn: &mut Turn<'_>) -> Result<TopUpDetail, Error> {
        Ok(TopUpDetail::of(turn.wallet()?, turn.now()))
    }
}

/// Reads it for a list, with its wallet.
pub(crate) struct ListTopUp;

impl Command for ListTopUp {
    type Answer = (WalletView, TopUpDetail);
    const READ_ONLY: bool = true;

    fn run(self, turn: &mut Turn<'_>) -> Result<(WalletView, TopUpDetail), Error> {
        let (wallet, _) = turn.caught_up()?;
        let now = turn.now();
        Ok((view(&wallet, now), TopUpDetail::of(&wallet, now)))
    }
}

/// Decides what is due, unless nothing is sold, and answers the attempt that is open then.
pub(crate) struct FindAttempt {
    pub(crate) sells: bool,
}

impl Command for FindAttempt {
    type Answer = Option<OpenAttempt>;

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<OpenAttempt>, Error> {
        if self.sells && turn.wallet()?.needs_top_up(None, turn.now()) {
            turn.step_top_up()?;
        }
        let wallet = turn.wallet()?;
        let top_up = wallet.top_up();
        let open = top_up.and_then(|top_up| Some((top_up.open.clone()?, top_up.is_wanted())));
        Ok(open.map(|(attempt, is_wanted)| {
            let order = wallet.order(attempt.order);
            OpenAttempt {
                terms: order.map(|order| order.terms.clone()),
                quantity: order.map_or(Quantity::ONE, |order| order.quantity),
                user: match &wallet.owner {
                    Owner::External(user) => Some(user.clone()),
                    Owner::Code { .. } | Owner::Order => None,
                },
                is_wanted,
                attempt,
            }
        }))
    }
}

/// Puts a card on file.
pub(crate) struct SaveCard(pub(crate) SavedCard);

impl Command for SaveCard {
    /// The card that it replaced.
    type Answer = Option<SavedCard>;

    fn creates_user_wallet(&self) -> bool {
        true
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<Option<SavedCard>, Error> {
        let wallet = turn.wallet()?;
        let former = card(wallet).filter(|former| former.id != self.0.id);
        let changes = wallet.save_card(self.0);
        let replaced = former.filter(|_| !changes.is_empty());
        for change in changes {
            turn.change(change)?;
        }
        Ok(replaced)
    }
}

/// Forgets the card on file, or only if it is this one.
pub(crate) struct RemoveCard(pub(crate) Option<CardId>);

impl Command for RemoveCard {
    type Answer = ();

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let wallet = turn.wallet()?;
        let on_file = card(wallet).map(|card| card.id);
        if self.0.is_some() && self.0 != on_file {
            return Ok(());
        }
        for change in wallet.remove_card() {
            turn.change(change)?;
        }
        Ok(())
    }
}

impl Command for SetEmail {
    type Answer = ();

    fn creates_user_wallet(&self) -> bool {
        true
    }

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        match turn.wallet()?.set_email(self) {
            Some(change) => turn.change(change),
            None => Ok(()),
        }
    }
}

fn card(wallet: &Wallet) -> Option<SavedCard> {
    wallet.top_up()?.card.clone()
}
