//! What holds for all settings together: bounds, and what has to fit.

use std::fmt::Display;

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

fn rule(holds: bool, rule: impl Display) -> Result<(), Error> {
    match holds {
        true => Ok(()),
        false => Err(Error(format!("configuration: {rule}"))),
    }
}

fn at_least<T: PartialOrd + Display>(name: &str, value: T, least: T) -> Result<(), Error> {
    let text = format!("{name} is at least {least}");
    rule(value >= least, text)
}

fn within<T: PartialOrd + Display>(name: &str, value: T, least: T, most: T) -> Result<(), Error> {
    let text = format!("{name} is {least} to {most}");
    rule((least..=most).contains(&value), text)
}

impl Config {
    /// Checks bounds, and that settings fit together.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Self {
            http,
            limits,
            oidc,
            journal,
            storage,
            backup,
            actors,
            ..
        } = self;
        within("shutdown_seconds", self.shutdown_seconds, 0, 3600)?;
        within("http.workers", http.workers, 0, 1024)?;
        at_least("http.max_connections", http.max_connections, 1)?;
        let of_one = http.max_connections_per_client;
        at_least("http.max_connections_per_client", of_one, 1)?;
        at_least("http.head_timeout_seconds", http.head_timeout_seconds, 1)?;
        at_least("http.body_timeout_seconds", http.body_timeout_seconds, 1)?;
        at_least("http.write_timeout_seconds", http.write_timeout_seconds, 1)?;
        at_least("http.max_body_bytes", http.max_body_bytes, 8192)?;
        rule(
            http.max_batch_body_bytes >= http.max_body_bytes,
            "http.max_batch_body_bytes is at least http.max_body_bytes",
        )?;
        rule(
            http.tls_cert.is_some() == http.tls_key.is_some(),
            "http.tls_cert and http.tls_key are set together or both empty",
        )?;
        at_least("limits.publishable_burst", limits.publishable_burst, 1)?;
        let per_second = limits.publishable_per_second;
        at_least("limits.publishable_per_second", per_second, 1)?;
        rule(
            limits.secret_burst.is_some() == limits.secret_per_second.is_some(),
            "limits.secret_burst and limits.secret_per_second are set together or both 0",
        )?;
        let per_hour = limits.invalid_codes_per_hour;
        at_least("limits.invalid_codes_per_hour", per_hour, 1)?;
        at_least("limits.tracked_clients", limits.tracked_clients, 1000)?;
        within("limits.open_holds", limits.open_holds, 1, 10_000)?;
        rule(
            !oidc.is_set() || is_issuer(&oidc.issuer),
            "oidc.issuer is https://HOST/PATH; http:// only on this machine",
        )?;
        rule(
            oidc.is_set() != oidc.client_id.is_empty()
                && oidc.is_set() != oidc.client_secret.is_empty(),
            "oidc.issuer, oidc.client_id and oidc.client_secret are set together or all empty",
        )?;
        rule(
            !oidc.is_set() || self.public_url.is_some() || self.admin.listen.is_some(),
            "oidc.issuer needs public_url: the identity provider sends browsers back to it",
        )?;
        let timeout = self.webhooks.timeout_seconds;
        within("webhooks.timeout_seconds", timeout, 1, 60)?;
        within("journal.cache_mb", journal.cache_mb, 1, 1 << 20)?;
        within("journal.filter_mb", journal.filter_mb, 0, 1 << 20)?;
        at_least("journal.checkpoint_entries", journal.checkpoint_entries, 1)?;
        let interval = journal.checkpoint_interval_ms;
        at_least("journal.checkpoint_interval_ms", interval, 1)?;
        rule(
            journal.backlog_limit >= journal.checkpoint_entries,
            "journal.backlog_limit is at least journal.checkpoint_entries",
        )?;
        within("journal.backlog_mb", journal.backlog_mb, 16, 65_536)?;
        within("storage.pipeline", storage.pipeline, 1, 16)?;
        rule(
            storage.url.is_none()
                || self.cluster.address.is_some()
                || !self.listen.ip().is_unspecified(),
            "cluster.address is set where storage.url is and `listen` is every address of this machine",
        )?;
        rule(
            backup.every.is_none() || backup.to.is_some(),
            "backup.every needs backup.to",
        )?;
        at_least("actors.max_awake", actors.max_awake, 1)?;
        at_least("actors.idle_seconds", actors.idle_seconds, 1)?;
        let of_one = actors.max_in_flight_per_wallet;
        at_least("actors.max_in_flight_per_wallet", of_one, 1)?;
        rule(
            actors.max_in_flight >= u64::from(of_one),
            "actors.max_in_flight is at least actors.max_in_flight_per_wallet",
        )?;
        rule(
            !self.data_dir.as_os_str().is_empty(),
            "data_dir is not empty",
        )
    }
}
