//! Schedules: the current price and the one that follows. The portal makes one for a downgrade; a shop may make them by
//! the API.

use crate::core::prelude::*;

impl Subscription {
    pub(crate) fn schedule(&mut self, db: &mut Database, metadata: Metadata) -> Result<Schedule> {
        Refusal::param(
            "from_subscription",
            "This subscription already has a schedule.",
        )
        .when(self.schedule.is_some())?;
        let plan = Schedule {
            head: db.head("sub_sched_"),
            subscription: self.head.id.clone(),
            customer: self.customer.clone(),
            currency: self.currency.clone(),
            phases: vec![self.running_phase()],
            metadata,
            ..Schedule::default()
        };
        self.schedule = Some(plan.head.id.clone());
        db.put(self.clone());
        db.put_and_emit("subscription_schedule.created", &plan);
        Ok(plan)
    }

    pub(super) fn running_schedule(&self, db: &Database) -> Option<Schedule> {
        db.get(self.schedule.as_deref()?).cloned()
    }

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
        db: &mut Database,
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
        db.put_and_emit("subscription_schedule.updated", &plan);
        self.updated(db);
        Ok(plan)
    }

    /// Advances the schedule when a period ends. After its last phase it is released.
    pub(super) fn advance_schedule(&mut self, db: &mut Database) -> Result<()> {
        let Some(id) = &self.schedule else {
            return Ok(());
        };
        let plan: Schedule = db.find(id)?;
        let last = plan.phases.last();
        match last.is_none_or(|last| last.end <= self.period_end) {
            true => self.let_go(db, plan, ScheduleStatus::Released),
            false => db.emit("subscription_schedule.updated", &plan),
        }
        Ok(())
    }

    /// Releases the schedule: the current price stays.
    pub(crate) fn release(&mut self, db: &mut Database) -> Result<()> {
        if let Some(id) = &self.schedule {
            let plan = db.find(id)?;
            self.let_go(db, plan, ScheduleStatus::Released);
        }
        if self.scheduled.take().is_some() {
            db.put(self.clone());
        }
        Ok(())
    }

    /// Cancels the schedule, when the subscription ends.
    pub(super) fn end_schedule(&mut self, db: &mut Database) {
        if let Some(plan) = self.running_schedule(db) {
            self.let_go(db, plan, ScheduleStatus::Canceled);
        }
    }

    fn let_go(&mut self, db: &mut Database, mut plan: Schedule, status: ScheduleStatus) {
        plan.status = status;
        plan.ended_at = Some(db.now);
        self.schedule = None;
        let kind = match status {
            ScheduleStatus::Canceled => "subscription_schedule.canceled",
            _ => "subscription_schedule.released",
        };
        db.put_and_emit(kind, &plan);
    }
}

impl Schedule {
    /// Cancels it, and its subscription with it.
    pub(crate) fn call_off(self, db: &mut Database) -> Result<Self> {
        let message = format!("This schedule is {}.", self.status.word());
        Refusal::invalid(message).when(self.status != ScheduleStatus::Active)?;
        db.find::<Subscription>(&self.subscription)?
            .cancel_now(db)?;
        db.find(&self.head.id)
    }
}
