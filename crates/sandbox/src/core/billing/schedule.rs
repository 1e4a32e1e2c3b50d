//! Schedules: the current price and the one that follows. The portal makes one for a downgrade; a shop may make them by
//! the API.

use crate::core::prelude::*;

impl Subscription {
    /// Creates a schedule with the current price.
    pub(crate) fn schedule(&mut self, books: &mut Books, metadata: Metadata) -> Result<Schedule> {
        Refusal::param(
            "from_subscription",
            "This subscription already has a schedule.",
        )
        .when(self.schedule.is_some())?;
        let plan = Schedule {
            head: books.head("sub_sched_"),
            subscription: self.head.id.clone(),
            customer: self.customer.clone(),
            currency: self.currency.clone(),
            phases: vec![self.running_phase()],
            metadata,
            ..Schedule::default()
        };
        self.schedule = Some(plan.head.id.clone());
        books.put(self.clone());
        books.put_and_emit("subscription_schedule.created", &plan);
        Ok(plan)
    }

    pub(super) fn running_schedule(&self, books: &Books) -> Option<Schedule> {
        books.get(self.schedule.as_deref()?).cloned()
    }

    /// The current price and period as a phase.
    fn running_phase(&self) -> Phase {
        Phase {
            price: self.item.price.clone(),
            quantity: self.item.quantity,
            start: self.period_start,
            end: self.period_end,
        }
    }

    /// Sets the price that follows the current one.
    pub(crate) fn plan(
        &mut self,
        books: &mut Books,
        mut plan: Schedule,
        next: &Price,
    ) -> Result<Schedule> {
        let message = format!(
            "You cannot update a schedule that is {}.",
            plan.status.word()
        );
        Refusal::invalid(message).when(plan.status != ScheduleStatus::Active)?;
        let interval = next.interval.unwrap_or(self.interval);
        let end = match interval == self.interval {
            true => after(self.anchor, interval, self.cycle.saturating_add(1)),
            false => after(self.period_end, interval, 1),
        };
        let following = Phase {
            price: next.head.id.clone(),
            quantity: self.item.quantity,
            start: self.period_end,
            end,
        };
        plan.phases = vec![self.running_phase(), following];
        self.scheduled = Some(next.head.id.clone());
        books.put_and_emit("subscription_schedule.updated", &plan);
        self.updated(books);
        Ok(plan)
    }

    /// Advances the schedule when a period ends. After its last phase it is released.
    pub(super) fn advance_schedule(&mut self, books: &mut Books) -> Result<()> {
        let Some(id) = &self.schedule else {
            return Ok(());
        };
        let plan: Schedule = books.find(id)?;
        let last = plan.phases.last();
        match last.is_none_or(|last| last.end <= self.period_end) {
            true => self.let_go(books, plan, ScheduleStatus::Released),
            false => books.emit("subscription_schedule.updated", &plan),
        }
        Ok(())
    }

    /// Releases the schedule: the current price stays.
    pub(crate) fn release(&mut self, books: &mut Books) -> Result<()> {
        if let Some(id) = &self.schedule {
            let plan = books.find(id)?;
            self.let_go(books, plan, ScheduleStatus::Released);
        }
        if self.scheduled.take().is_some() {
            books.put(self.clone());
        }
        Ok(())
    }

    /// Cancels the schedule, when the subscription ends.
    pub(super) fn end_schedule(&mut self, books: &mut Books) {
        if let Some(plan) = self.running_schedule(books) {
            self.let_go(books, plan, ScheduleStatus::Canceled);
        }
    }

    fn let_go(&mut self, books: &mut Books, mut plan: Schedule, status: ScheduleStatus) {
        plan.status = status;
        plan.ended_at = Some(books.now);
        self.schedule = None;
        let kind = match status {
            ScheduleStatus::Canceled => "subscription_schedule.canceled",
            _ => "subscription_schedule.released",
        };
        books.put_and_emit(kind, &plan);
    }
}

impl Schedule {
    /// Cancels it, and its subscription with it.
    pub(crate) fn call_off(self, books: &mut Books) -> Result<Self> {
        let message = format!("This schedule is {}.", self.status.word());
        Refusal::invalid(message).when(self.status != ScheduleStatus::Active)?;
        books
            .find::<Subscription>(&self.subscription)?
            .cancel_now(books)?;
        books.find(&self.head.id)
    }
}
