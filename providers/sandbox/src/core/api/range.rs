//! A range of a list: `created[gte]` and the like, or one instant.

use crate::core::prelude::*;

/// From one second to another, both included.
pub(super) struct Range {
    least: i64,
    most: i64,
}

impl Range {
    pub(super) fn read(params: &Params, path: &str) -> Result<Self> {
        let bound = |name: &str| params.integer::<i64>(&format!("{path}[{name}]"));
        if let Some(exactly) = params.integer::<i64>(path)? {
            return Ok(Self {
                least: exactly,
                most: exactly,
            });
        }
        let after = bound("gt")?.map(|after| after.saturating_add(1));
        let before = bound("lt")?.map(|before| before.saturating_sub(1));
        let least = after.into_iter().chain(bound("gte")?).max();
        let most = before.into_iter().chain(bound("lte")?).min();
        Ok(Self {
            least: least.unwrap_or(i64::MIN),
            most: most.unwrap_or(i64::MAX),
        })
    }

    pub(super) const fn least(&self) -> i64 {
        self.least
    }

    pub(super) const fn most(&self) -> i64 {
        self.most
    }

    pub(super) const fn has(&self, instant: i64) -> bool {
        self.least <= instant && instant <= self.most
    }
}
