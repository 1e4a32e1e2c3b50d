//! Which open attempts to top up are left alone for a while.

use dashmap::DashMap;
use domain::{Timestamp, id::WalletKey};

const MAX_PAUSE_SECONDS: i64 = 3600;

/// Open attempts that are not asked about before an instant, and how often they were.
#[derive(Default)]
pub(crate) struct Pauses(DashMap<WalletKey, (Timestamp, u32)>);

impl Pauses {
    pub(crate) fn is_over(&self, wallet: WalletKey, now: Timestamp) -> bool {
        self.0.get(&wallet).is_none_or(|pause| pause.0 <= now)
    }

    pub(crate) fn double(&self, wallet: WalletKey, now: Timestamp) {
        let mut pause = self.0.entry(wallet).or_insert((now, 0));
        let seconds = 1_i64.checked_shl(pause.1).unwrap_or(MAX_PAUSE_SECONDS);
        pause.0 = now.plus_seconds(seconds.clamp(1, MAX_PAUSE_SECONDS));
        pause.1 = pause.1.saturating_add(1);
    }

    /// Forgets those of attempts that ended by another way.
    pub(crate) fn forget_old(&self, now: Timestamp) {
        let since = now.plus_seconds(-MAX_PAUSE_SECONDS);
        self.0.retain(|_, (until, _)| *until > since);
    }

    pub(crate) fn set(&self, wallet: WalletKey, until: Timestamp) {
        self.0.insert(wallet, (until, 0));
    }

    pub(crate) fn end(&self, wallet: WalletKey) {
        self.0.remove(&wallet);
    }
}
