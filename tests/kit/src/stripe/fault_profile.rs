//! The faults of the account.

use serde_json::Value;

use super::{FaultProfile, Stripe, WEBHOOK_SECRET, plain_event, signature};

impl Stripe {
    /// Sets all switches.
    pub fn set_faults(&self, settings: FaultProfile) {
        let mut world = self.world.lock();
        let (now, _) = world.time();
        world.account.list_lines(&settings);
        world.injector.switch(settings, now);
    }

    /// Responds to everything with this status, until it is 0 again.
    pub fn away(&self, status: u16) {
        let mut settings = self.world.lock().injector.settings().clone();
        settings.away = status;
        self.set_faults(settings);
    }

    /// Takes the time from a clock, in seconds since the Unix epoch, instead of from the machine.
    pub fn follow(&self, clock: impl Fn() -> i64 + Send + 'static) {
        self.world.lock().clock = Some(Box::new(clock));
    }

    /// An event as its webhook sends it, with its signature header, formatted like the account's.
    pub fn event(&self, id: &str, kind: &str, object: &Value, now: i64) -> (String, String) {
        let mut world = self.world.lock();
        let event = world.injector.event(plain_event(id, kind, object, now));
        let body = world.injector.print(&event);
        let header = signature(WEBHOOK_SECRET, &body, now);
        (body, header)
    }

    /// The event of the `number`th sale of the other product on the account.
    pub fn foreign_event(&self, number: u32, now: i64) -> Option<(String, String)> {
        let world = self.world.lock();
        let body = world.injector.print(&world.injector.foreign_event(number)?);
        let header = signature(WEBHOOK_SECRET, &body, now);
        Some((body, header))
    }
}
