//! A limit of requests a second.

#[derive(Debug, Default)]
pub(super) struct Pace {
    since_millis: i64,
    count: u32,
}

impl Pace {
    /// Counts a request and returns whether it is within `most` a second.
    pub(super) const fn takes(&mut self, millis: i64, most: u32) -> bool {
        let age = millis.saturating_sub(self.since_millis);
        if age >= 1000 || age < 0 || self.count == 0 {
            self.since_millis = millis;
            self.count = 0;
        }
        self.count += 1;
        self.count <= most
    }
}
