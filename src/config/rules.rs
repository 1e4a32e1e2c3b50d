//! What holds for all settings together: bounds, and what has to fit.

use url::Url;

use super::{Config, Error};
use crate::catalog::is_loopback;

/// Whether an identity provider's address has a path at most, and what is sent to it is kept from others.
fn is_issuer(text: &str) -> bool {
    text.parse().is_ok_and(|url: Url| {
        let is_kept = url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url);
        let is_plain = url.query().is_none() && url.fragment().is_none();
        is_kept && is_plain && url.username().is_empty() && url.password().is_none()
    })
}

impl Config {
    /// Checks bounds, and that settings fit together.
    pub(super) fn check(&self) -> Result<(), Error> {
        let rules = [
            (
                self.shutdown_seconds <= 3600,
                "shutdown_seconds is at most 3600",
            ),
            (self.http.workers <= 1024, "http.workers is at most 1024"),
            (
                self.http.max_connections >= 1,
                "http.max_connections is at least 1",
            ),
            (
                self.http.max_connections_per_client >= 1,
                "http.max_connections_per_client is at least 1",
            ),
            (
                self.http.head_timeout_seconds >= 1,
                "http.head_timeout_seconds is at least 1",
            ),
            (
                self.http.body_timeout_seconds >= 1,
                "http.body_timeout_seconds is at least 1",
            ),
            (
                self.http.write_timeout_seconds >= 1,
                "http.write_timeout_seconds is at least 1",
            ),
            (
                self.http.max_body_bytes >= 8192,
                "http.max_body_bytes is at least 8192",
            ),
            (
                self.http.max_batch_body_bytes >= self.http.max_body_bytes,
                "http.max_batch_body_bytes is at least http.max_body_bytes",
            ),
            (
                self.http.tls_cert.is_some() == self.http.tls_key.is_some(),
                "http.tls_cert and http.tls_key are set together or both empty",
            ),
            (
                self.limits.publishable_burst >= 1,
                "limits.publishable_burst is at least 1",
            ),
            (
                self.limits.publishable_per_second >= 1,
                "limits.publishable_per_second is at least 1",
            ),
            (
                self.limits.secret_burst.is_some() == self.limits.secret_per_second.is_some(),
                "limits.secret_burst and limits.secret_per_second are set together or both 0",
            ),
            (
                self.limits.invalid_codes_per_hour >= 1,
                "limits.invalid_codes_per_hour is at least 1",
            ),
            (
                self.limits.tracked_clients >= 1000,
                "limits.tracked_clients is at least 1000",
            ),
            (
                (1..=10_000).contains(&self.limits.open_holds),
                "limits.open_holds is 1 to 10000",
            ),
            (
                !self.oidc.is_set() || is_issuer(&self.oidc.issuer),
                "oidc.issuer is https://HOST/PATH; http:// only on this machine",
            ),
            (
                self.oidc.is_set() != self.oidc.client_id.is_empty()
                    && self.oidc.is_set() != self.oidc.client_secret.is_empty(),
                "oidc.issuer, oidc.client_id and oidc.client_secret are set together or all empty",
            ),
            (
                !self.oidc.is_set() || self.public_url.is_some() || self.admin.listen.is_some(),
                "oidc.issuer needs public_url: the identity provider sends browsers back to it",
            ),
            (
                (1..=60).contains(&self.webhooks.timeout_seconds),
                "webhooks.timeout_seconds is 1 to 60",
            ),
            (
                (1..=1_048_576).contains(&self.journal.cache_mb),
                "journal.cache_mb is 1 to 1048576",
            ),
            (
                self.journal.filter_mb <= 1_048_576,
                "journal.filter_mb is at most 1048576",
            ),
            (
                self.journal.checkpoint_entries >= 1,
                "journal.checkpoint_entries is at least 1",
            ),
            (
                self.journal.checkpoint_interval_ms >= 1,
                "journal.checkpoint_interval_ms is at least 1",
            ),
            (
                self.journal.backlog_limit >= self.journal.checkpoint_entries,
                "journal.backlog_limit is at least journal.checkpoint_entries",
            ),
            (
                (16..=65_536).contains(&self.journal.backlog_mb),
                "journal.backlog_mb is 16 to 65536",
            ),
            (
                (1..=16).contains(&self.storage.pipeline),
                "storage.pipeline is 1 to 16",
            ),
            (
                self.storage.url.is_none()
                    || self.cluster.address.is_some()
                    || !self.listen.ip().is_unspecified(),
                "cluster.address is set where storage.url is and `listen` is every address of this machine",
            ),
            (
                self.backup.every.is_none() || self.backup.to.is_some(),
                "backup.every needs backup.to",
            ),
            (self.actors.max_awake >= 1, "actors.max_awake is at least 1"),
            (
                self.actors.idle_seconds >= 1,
                "actors.idle_seconds is at least 1",
            ),
            (
                self.actors.max_in_flight_per_wallet >= 1,
                "actors.max_in_flight_per_wallet is at least 1",
            ),
            (
                self.actors.max_in_flight >= u64::from(self.actors.max_in_flight_per_wallet),
                "actors.max_in_flight is at least actors.max_in_flight_per_wallet",
            ),
            (
                !self.data_dir.as_os_str().is_empty(),
                "data_dir is not empty",
            ),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, rule)) => Err(Error(format!("configuration: {rule}"))),
        }
    }
}
