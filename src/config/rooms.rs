//! The part of the configuration that each crate gets, as a struct of that crate.

use edge::body::BodyLimits;
use scrip_http::{
    connections::ServerSettings,
    limits::{Rate, Settings as Limits},
};

use super::{Config, Http};

impl From<&Http> for ServerSettings {
    fn from(http: &Http) -> Self {
        Self {
            max_connections: http.max_connections,
            max_connections_per_client: http.max_connections_per_client,
            head_timeout_seconds: http.head_timeout_seconds,
            body_timeout_seconds: http.body_timeout_seconds,
            write_timeout_seconds: http.write_timeout_seconds,
        }
    }
}

impl From<&Http> for BodyLimits {
    fn from(http: &Http) -> Self {
        Self {
            max_bytes: http.max_body_bytes,
            max_batch_bytes: http.max_batch_body_bytes,
            timeout_seconds: http.body_timeout_seconds,
        }
    }
}

impl From<&Config> for Limits {
    fn from(config: &Config) -> Self {
        let limits = &config.limits;
        Self {
            publishable: Rate::new(limits.publishable_burst, limits.publishable_per_second),
            secret: limits
                .secret_burst
                .zip(limits.secret_per_second)
                .map(|(burst, per_second)| Rate::new(burst, per_second)),
            invalid_codes_per_hour: limits.invalid_codes_per_hour,
            tracked_clients: limits.tracked_clients,
            open_holds: limits.open_holds,
            trusted_proxies: config.trusted_proxies.clone(),
        }
    }
}
