//! What makes the account as unkind as Stripe, switch by switch.

use serde_json::{Value, json};

use super::{Stripe, Unkindness, WEBHOOK_SECRET, plain_event, signature};

impl Stripe {
    /// Switches to these settings.
    pub fn unkind(&self, settings: Unkindness) {
        let mut world = self.world.lock();
        let (now, _) = world.time();
        world.unkind.switch(settings, now);
    }

    /// Changes some of the settings.
    fn change(&self, change: impl FnOnce(&mut Unkindness)) {
        let mut settings = self.world.lock().unkind.settings().clone();
        change(&mut settings);
        self.unkind(settings);
    }

    /// Takes a permission from the shop's key, such as `rak_dispute_read`.
    pub fn deny(&self, permission: &str) {
        self.change(|settings| {
            settings.denied.insert(permission.into());
        });
    }

    /// Gives it back.
    pub fn allow(&self, permission: &str) {
        self.change(|settings| {
            settings.denied.remove(permission);
        });
    }

    /// Lists events of these types so many seconds after they happened; none: each by another time up
    /// to that. By the clock that it follows.
    pub fn lag_events(&self, seconds: u32, types: &[&str]) {
        self.change(|settings| {
            settings.events_late_seconds = seconds;
            settings.late_types = types.iter().map(|&kind| kind.into()).collect();
        });
    }

    /// Answers every request about an object with this status from now on; 0: with nothing.
    pub fn break_object(&self, id: &str, status: u16) {
        self.change(|settings| {
            settings.broken.insert(id.into(), status);
        });
    }

    /// Answers about it again.
    pub fn mend_object(&self, id: &str) {
        self.change(|settings| {
            settings.broken.remove(id);
        });
    }

    /// Answers everything with this status, until it is 0 again.
    pub fn away(&self, status: u16) {
        self.change(|settings| settings.away = status);
    }

    /// Takes its time from a clock, in seconds since the Unix epoch, instead of from the machine.
    pub fn follow(&self, clock: impl Fn() -> i64 + Send + 'static) {
        self.world.lock().clock = Some(Box::new(clock));
    }

    /// An event as its webhook brings it, with its signature header: printed as the account prints.
    pub fn event(&self, id: &str, kind: &str, object: &Value, now: i64) -> (String, String) {
        let mut world = self.world.lock();
        let event = world.unkind.event(plain_event(id, kind, object, now));
        let body = world.unkind.print(&event);
        let header = signature(WEBHOOK_SECRET, &body, now);
        (body, header)
    }

    /// The same of the other product on the account: the `number`th sale's.
    pub fn foreign_event(&self, number: u32, now: i64) -> Option<(String, String)> {
        let world = self.world.lock();
        let body = world.unkind.print(&world.unkind.foreign_event(number)?);
        let header = signature(WEBHOOK_SECRET, &body, now);
        Some((body, header))
    }

    /// A session that is paid by a bank debit, which is on its way.
    pub fn debit(&self, checkout: &str) -> Value {
        self.pay(checkout);
        let session = self.paid_by_debit(checkout, "unpaid");
        self.intent_of(&session, "processing");
        session
    }

    /// The debit comes back days later: nothing was paid.
    pub fn debit_fails(&self, checkout: &str) -> Value {
        let session = self.paid_by_debit(checkout, "unpaid");
        self.intent_of(&session, "requires_payment_method");
        session
    }

    fn paid_by_debit(&self, checkout: &str, payment_status: &str) -> Value {
        let path = format!("/v1/checkout/sessions/{checkout}");
        self.set(&path, json!({"payment_status": payment_status}))
    }

    fn intent_of(&self, session: &Value, status: &str) {
        let intent = session["payment_intent"].as_str().expect("an intent");
        self.put(
            &format!("/v1/payment_intents/{intent}"),
            json!({
                "id": intent, "object": "payment_intent", "status": status, "amount_received": 0,
                "latest_charge": null, "customer": session["customer"],
                "metadata": session["metadata"],
            }),
        );
    }
}
