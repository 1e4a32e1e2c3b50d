//! What refunds, cancellations and resumptions have in common. Each is decided and logged before the provider is asked,
//! and its outcome afterwards.

use domain::{
    Rejection,
    history::{Record, RecordKey},
    id::OrderSerial,
    wallet::{
        Archive, Event, Instruction, InstructionDecision, InstructionRecord, SubscriptionAction,
        SubscriptionInstruction, loss::Loss, refund::Refund,
    },
};

use super::{Command, Turn};
use crate::answer::Error;

/// Decides about a refund, a cancellation or a resumption; with `logs`, the request is logged.
pub(crate) struct Instruct<C> {
    pub(crate) command: C,
    pub(crate) logs: bool,
}

pub(crate) trait InstructionCommand: Send + 'static {
    const ABSENT: Rejection = Rejection::WalletNotFound;

    fn lookup(&self) -> RecordKey<'_>;

    fn decide(
        self,
        turn: &Turn<'_>,
        prior: Option<&InstructionRecord>,
    ) -> Result<InstructionDecision, Error>;
}

impl<C: InstructionCommand> Command for Instruct<C> {
    type Answer = InstructionRecord;
    const ABSENT: Rejection = C::ABSENT;

    fn run(self, turn: &mut Turn<'_>) -> Result<InstructionRecord, Error> {
        let prior = turn.prior(self.command.lookup())?;
        let prior = prior.as_ref().and_then(Record::instructed);
        let InstructionDecision { record, events } = self.command.decide(turn, prior)?;
        if self.logs {
            log(turn, events)?;
        }
        Ok(record)
    }
}

impl InstructionCommand for SubscriptionInstruction {
    fn lookup(&self) -> RecordKey<'_> {
        match self.action {
            SubscriptionAction::Cancel { .. } => RecordKey::Cancel(self.key.as_str()),
            SubscriptionAction::Resume => RecordKey::Resume(self.key.as_str()),
        }
    }

    fn decide(
        self,
        turn: &Turn<'_>,
        prior: Option<&InstructionRecord>,
    ) -> Result<InstructionDecision, Error> {
        let wallet = turn.wallet()?;
        Ok(wallet.instruct_subscription(self, prior, turn.now())?)
    }
}

impl InstructionCommand for Refund {
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn lookup(&self) -> RecordKey<'_> {
        RecordKey::Refund(self.key.as_str())
    }

    fn decide(
        self,
        turn: &Turn<'_>,
        prior: Option<&InstructionRecord>,
    ) -> Result<InstructionDecision, Error> {
        let record = turn.prior(RecordKey::Order(self.order))?;
        let archived = archive(record.as_ref());
        Ok(turn.wallet()?.refund(self, prior, archived, turn.now())?)
    }
}

pub(crate) struct LossByRefund {
    pub(crate) order: OrderSerial,
    pub(crate) cents: i64,
}

impl Command for LossByRefund {
    type Answer = Loss;
    const ABSENT: Rejection = Rejection::OrderNotFound;

    fn run(self, turn: &mut Turn<'_>) -> Result<Loss, Error> {
        let record = turn.prior(RecordKey::Order(self.order))?;
        let (archived, now) = (archive(record.as_ref()), turn.now());
        let wallet = turn.wallet()?;
        Ok(wallet.loss_by_refund(self.order, self.cents, archived, now))
    }
}

/// Logs the outcome of an instruction: its record with its new stage.
pub(crate) struct CloseInstruction(pub(crate) InstructionRecord);

impl Command for CloseInstruction {
    type Answer = ();

    fn run(self, turn: &mut Turn<'_>) -> Result<(), Error> {
        let prior = turn.prior(self.0.lookup())?;
        let Some(prior) = prior.as_ref().and_then(Record::instructed) else {
            return Ok(());
        };
        let record = match prior.instruction {
            Instruction::Refund { order, .. } => turn.prior(RecordKey::Order(order))?,
            Instruction::Cancel { .. } | Instruction::Resume { .. } => None,
        };
        let (archived, now) = (archive(record.as_ref()), turn.now());
        let wallet = turn.wallet()?;
        let events = wallet.close_instruction(prior, self.0.stage, archived, now);
        log(turn, events)
    }
}

fn archive(order: Option<&Record>) -> Archive<'_> {
    Archive {
        order: order.and_then(Record::order),
        subscription_over: false,
    }
}

/// Logs the events of a decision, if there are any, as one append.
fn log(turn: &mut Turn<'_>, events: Vec<Event>) -> Result<(), Error> {
    match events.is_empty() {
        true => Ok(()),
        false => turn.together(events),
    }
}
