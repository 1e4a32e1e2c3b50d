//! Where a wallet's automatic top-up stands, and what its turn is to do about it.

use serde::{Deserialize, Serialize};

use super::{
    COOL_DOWN_SECONDS, FRESH_CARD_SECONDS, MAX_FAILURES, REFUND_COOL_DOWN_SECONDS,
    attempt::{AttemptOutcome, Suspension, TopUpAttempt, TopUpChange},
    card::{Decline, DeclineKind, OwnCode, SavedCard},
    rule::TopUpRule,
};
use crate::{
    Quantity,
    id::{OrderSerial, ProductId},
    time::{DAY_SECONDS, Period, Span, Timestamp},
};

/// What a calendar window counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Window {
    ends_at: Timestamp,
    sum: i64,
}

impl Window {
    /// The count of the window that an instant is in.
    fn at(self, period: Period, at: Timestamp) -> Self {
        if at < self.ends_at {
            return self;
        }
        let span = period.span(at).unwrap_or(Span::ALWAYS);
        Self {
            ends_at: span.end,
            sum: 0,
        }
    }

    const fn plus(self, more: i64) -> Self {
        Self {
            sum: self.sum.saturating_add(more),
            ..self
        }
    }
}

/// A wallet's card on file and automatic top-up; behind one pointer, because few wallets have any.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TopUp {
    /// The card on file.
    pub card: Option<SavedCard>,
    /// The rule, while it is switched on.
    pub rule: Option<TopUpRule>,
    /// Why nothing is charged.
    pub suspended: Option<Suspension>,
    /// The attempt whose outcome is not known.
    pub open: Option<TopUpAttempt>,
    attempts: u64,
    failures: u32,
    /// The last failure, until an attempt succeeds.
    pub last_decline: Option<Decline>,
    not_before: Timestamp,
    /// When a needed attempt is decided, without a further use.
    waits_until: Option<Timestamp>,
    /// A top-up was refunded: the threshold has to be reached and crossed again.
    must_recover: bool,
    month: Window,
    day: Window,
}

/// What a wallet's turn is to do about its top-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopUpStep {
    /// Place an order of this quantity and log the attempt.
    Begin(Quantity, TopUpAttempt),
    /// Log this change.
    Note(TopUpChange),
}

/// Where a top-up is listed, so that it is found without reading its wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TopUpPlace {
    /// When somebody has to look at it: [`Self::OPEN`] for an open attempt, else when a needed attempt is due.
    pub due_at: Option<Timestamp>,
    /// Whether it is suspended.
    pub suspended: bool,
}

impl TopUpPlace {
    /// When an open attempt is due: before all that is not open yet.
    pub const OPEN: Timestamp = Timestamp(0);
}

/// Where a top-up stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub enum TopUpState {
    Armed,
    Charging,
    CoolingDown,
    ActionRequired,
    Suspended,
    Off,
}

impl TopUpState {
    /// What an interface calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Armed => "armed",
            Self::Charging => "charging",
            Self::CoolingDown => "cooling_down",
            Self::ActionRequired => "action_required",
            Self::Suspended => "suspended",
            Self::Off => "off",
        }
    }
}

/// Which ceiling a needed attempt would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceiling {
    /// Charges of a month.
    Monthly,
    /// Attempts of a day.
    Daily,
}

impl TopUp {
    /// What a turn is to do, if anything, where this much of the rule's credits can be spent.
    pub fn step(&self, available: i64, order: OrderSerial, at: Timestamp) -> Option<TopUpStep> {
        let rule = self.ready_rule()?;
        if available >= rule.threshold || self.must_recover {
            return self
                .waits_until
                .map(|_| TopUpStep::Note(TopUpChange::Waits(None)));
        }
        let (quantity, cents) = rule.purchase(available)?;
        let until = self
            .not_before
            .max(self.ceiling(rule, cents, at).map_or(at, |(_, until)| until));
        if until > at {
            let is_noted = self.waits_until == Some(until);
            return (!is_noted).then_some(TopUpStep::Note(TopUpChange::Waits(Some(until))));
        }
        let card = self.card.as_ref()?;
        let attempt = TopUpAttempt {
            number: self.attempts.checked_add(1)?,
            order,
            cents,
            card: card.id.clone(),
            customer: card.customer.clone(),
            at,
        };
        Some(TopUpStep::Begin(quantity, attempt))
    }

    /// Whether it is switched on and not suspended.
    pub const fn is_on(&self) -> bool {
        self.rule.is_some() && self.suspended.is_none()
    }

    fn ready_rule(&self) -> Option<&TopUpRule> {
        let is_ready = self.suspended.is_none() && self.open.is_none() && self.card.is_some();
        self.rule.as_ref().filter(|_| is_ready)
    }

    /// The ceiling that a charge would pass, and until when.
    fn ceiling(&self, rule: &TopUpRule, cents: i64, at: Timestamp) -> Option<(Ceiling, Timestamp)> {
        let month = self.month.at(Period::Monthly, at);
        if month.plus(cents).sum > rule.monthly_limit_cents {
            return Some((Ceiling::Monthly, month.ends_at));
        }
        let day = self.day.at(Period::Daily, at);
        (day.plus(1).sum > rule.max_per_day.into()).then_some((Ceiling::Daily, day.ends_at))
    }

    /// Where it stands, and the ceiling that it waits for.
    pub fn state(&self, available: i64, at: Timestamp) -> (TopUpState, Option<Ceiling>) {
        if self.open.is_some() {
            return (TopUpState::Charging, None);
        }
        let Some(rule) = &self.rule else {
            return (TopUpState::Off, None);
        };
        match &self.suspended {
            Some(Suspension::ActionRequired(_)) => return (TopUpState::ActionRequired, None),
            Some(_) => return (TopUpState::Suspended, None),
            None => {}
        }
        let waits = self.waits_until.is_some_and(|until| at < until);
        let ceiling = waits.then(|| self.ceiling(rule, rule.purchase(available)?.1, at));
        let ceiling = ceiling.flatten().map(|(ceiling, _)| ceiling);
        match waits || at < self.not_before {
            true => (TopUpState::CoolingDown, ceiling),
            false => (TopUpState::Armed, None),
        }
    }

    /// When a needed attempt is decided by itself.
    pub(crate) fn retries_at(&self) -> Option<Timestamp> {
        self.ready_rule().and(self.waits_until)
    }

    /// When the next attempt may be decided, if that is later than now.
    pub fn next_attempt_at(&self, at: Timestamp) -> Option<Timestamp> {
        self.ready_rule()?;
        let next = self.waits_until.unwrap_or(self.not_before);
        (next > at).then_some(next)
    }

    /// What attempts of this month charged or may yet charge, in the currency's minor unit.
    pub fn charged_this_month(&self, at: Timestamp) -> i64 {
        self.month.at(Period::Monthly, at).sum
    }

    /// The attempts of this day.
    pub fn attempts_today(&self, at: Timestamp) -> i64 {
        self.day.at(Period::Daily, at).sum
    }

    pub(crate) fn due_at(&self) -> Option<Timestamp> {
        match &self.open {
            Some(_) => Some(TopUpPlace::OPEN),
            None => self.retries_at(),
        }
    }

    /// Whether an open attempt is still what the buyer wants: not switched off, suspended, or by another card by now.
    pub fn is_wanted(&self) -> bool {
        let cards = self.open.as_ref().zip(self.card.as_ref());
        self.is_on() && cards.is_some_and(|(open, card)| open.card == card.id)
    }

    /// What suspends it after a failure that leaves it to the wallet.
    pub(crate) fn suspension_by(&self, kind: DeclineKind) -> Option<Suspension> {
        let failures = self.failures.saturating_add(1);
        match kind {
            DeclineKind::Final | DeclineKind::ActionRequired => Some(Suspension::CardUnusable),
            DeclineKind::Retryable if failures >= MAX_FAILURES => Some(Suspension::Declined),
            DeclineKind::Retryable => None,
        }
    }

    /// Whether a needed attempt, which had to wait, is due.
    pub fn is_due(&self, at: Timestamp) -> bool {
        self.waits_until.is_some_and(|until| until <= at)
    }

    /// Whether a payment by the buyer or another card lifts what suspends it.
    pub const fn is_lifted_by_payment(&self) -> bool {
        matches!(
            self.suspended,
            Some(
                Suspension::Declined
                    | Suspension::CardUnusable
                    | Suspension::ActionRequired(_)
                    | Suspension::Disputed
            )
        )
    }

    /// Whether another card lifts what suspends it.
    pub const fn is_lifted_by_card(&self) -> bool {
        self.is_lifted_by_payment() || matches!(self.suspended, Some(Suspension::CardMissing))
    }

    /// Whether a card was entered so recently that who asks proved by it that it is theirs.
    pub fn has_fresh_card(&self, now: Timestamp) -> bool {
        let card = self.card.as_ref();
        card.is_some_and(|card| now < card.saved_at.plus_seconds(FRESH_CARD_SECONDS))
    }

    /// Applies a change as of `at`; `false` if it does not fit.
    #[must_use]
    pub(crate) fn apply(&mut self, change: TopUpChange, at: Timestamp) -> bool {
        match change {
            TopUpChange::CardSaved(card) => self.card = Some(card),
            TopUpChange::CardRemoved => self.card = None,
            TopUpChange::Set(rule) => {
                self.rule = rule.map(|rule| *rule);
                self.clear_failures();
                self.waits_until = None;
                self.must_recover = false;
            }
            TopUpChange::Begun(attempt) => return self.begin(attempt),
            TopUpChange::Ended(number, outcome) => return self.end(number, outcome, at),
            TopUpChange::Charged(cents) if cents < 0 => return false,
            TopUpChange::Charged(cents) => {
                self.month = self.month.at(Period::Monthly, at).plus(cents);
            }
            TopUpChange::Waits(until) => self.waits_until = until,
            TopUpChange::Suspended(reason) => {
                self.suspended = Some(reason);
                self.waits_until = None;
            }
            TopUpChange::Resumed => {
                self.clear_failures();
                // What was needed meanwhile is decided without a further use, which may be refused.
                self.waits_until = Some(self.not_before);
            }
        }
        true
    }

    fn clear_failures(&mut self) {
        self.suspended = None;
        self.failures = 0;
        self.last_decline = None;
    }

    fn begin(&mut self, attempt: TopUpAttempt) -> bool {
        let is_next = self.attempts.checked_add(1) == Some(attempt.number);
        if self.open.is_some() || !is_next || attempt.cents < 0 {
            return false;
        }
        self.attempts = attempt.number;
        self.month = self
            .month
            .at(Period::Monthly, attempt.at)
            .plus(attempt.cents);
        self.day = self.day.at(Period::Daily, attempt.at).plus(1);
        self.waits_until = None;
        self.open = Some(attempt);
        true
    }

    fn end(&mut self, number: u64, outcome: AttemptOutcome, at: Timestamp) -> bool {
        let Some(attempt) = self.open.take_if(|open| open.number == number) else {
            return false;
        };
        match outcome {
            AttemptOutcome::Succeeded => {
                self.failures = 0;
                self.last_decline = None;
                self.not_before = self.not_before.max(at.plus_seconds(COOL_DOWN_SECONDS));
            }
            AttemptOutcome::Failed(decline) => {
                let of_month = Period::Monthly.span(attempt.at).unwrap_or(Span::ALWAYS);
                if of_month.end == self.month.ends_at {
                    self.month = self.month.plus(attempt.cents.saturating_neg());
                }
                // Of what was never asked for, nobody said no.
                let is_asked = !decline.code.is(OwnCode::NeverCharged);
                self.failures = self.failures.saturating_add(is_asked.into());
                self.last_decline = Some(decline);
                let doubled = COOL_DOWN_SECONDS.checked_shl(self.failures);
                let wait = doubled.map_or(DAY_SECONDS, |wait| {
                    wait.clamp(COOL_DOWN_SECONDS, DAY_SECONDS)
                });
                self.not_before = self.not_before.max(at.plus_seconds(wait));
                self.waits_until = Some(self.not_before);
            }
        }
        true
    }

    /// An order of its credits was refunded: an hour, and until the threshold is crossed again, nothing is charged.
    pub(crate) fn refunded(&mut self, available: i64, at: Timestamp) {
        let pause = at.plus_seconds(REFUND_COOL_DOWN_SECONDS);
        self.not_before = self.not_before.max(pause);
        self.waits_until = None;
        self.must_recover = self
            .rule
            .as_ref()
            .is_some_and(|rule| available < rule.threshold);
    }

    /// Notes that this much can be spent: whether a refunded top-up has recovered.
    pub(crate) fn observe(&mut self, available: i64) {
        if let Some(rule) = &self.rule {
            self.must_recover &= available < rule.threshold;
        }
    }

    /// The product whose credits the rule watches.
    pub fn product(&self) -> Option<ProductId> {
        self.rule.as_ref().map(|rule| rule.terms.fills)
    }

    /// What is broken about it, in a plain sentence.
    pub(crate) fn fault(&self) -> Option<String> {
        let open = self.open.as_ref();
        let is_sound = open.is_none_or(|open| open.number == self.attempts && open.cents >= 0)
            && (self.month.sum >= 0 && self.day.sum >= 0)
            && self.rule.as_ref().is_none_or(|rule| rule.check().is_ok());
        (!is_sound).then(|| "its automatic top-up contradicts itself".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_and_a_rule_take_little_memory_beside_their_texts() {
        assert!(size_of::<TopUp>() <= 496, "{}", size_of::<TopUp>());
    }
}
