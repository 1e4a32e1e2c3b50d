//! What an operator may set. `config.toml` at the root of the repository, compiled in, is the list of all keys with
//! their defaults; a file, the environment and the flags are laid over it in that order, and the result is checked as a
//! whole before anything is started.
//!
//! The service's own secrets are never part of it: see `secrets.rs`. A mail server's password may be, and is never shown.
#![allow(missing_docs, reason = "config.toml says what each setting does")]

mod environment;
mod layers;
mod public_url;
mod rooms;
mod rules;
mod storage;
mod token;

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use identity::oidc::OidcSettings;
use ipnet::IpNet;
use operations::backups::BackupSettings;
use outbound::{mail::MailSettings, webhooks::WebhookSettings};
use serde::Deserialize;
use toml::{Table, Value};
use url::Url;

pub(crate) use layers::listen_address;
pub use public_url::PublicUrl;
pub use storage::{Cluster, DatabaseUrl, Journal, Storage};
pub use token::Token;

/// The commented defaults.
pub const DEFAULTS: &str = include_str!("../config.toml");

/// A setting is missing, unknown or out of bounds; says which and where it came from.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Error(pub String);

/// All settings, merged and checked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(deserialize_with = "layers::address")]
    pub listen: SocketAddr,
    #[serde(deserialize_with = "public_url::empty_is_none")]
    pub public_url: Option<PublicUrl>,
    pub data_dir: PathBuf,
    /// Whether requests are answered and nothing else is done: no payment provider, mail server or webhook endpoint is
    /// called. For a drill on a copy of the data.
    #[serde(skip)]
    pub offline: bool,
    /// A folder with the clients' packages; `None`: the one that was installed with this program.
    #[serde(skip)]
    pub packages: Option<PathBuf>,
    #[serde(deserialize_with = "layers::networks")]
    pub trusted_proxies: Vec<IpNet>,
    pub log: String,
    pub log_format: LogFormat,
    pub shutdown_seconds: u64,
    pub http: Http,
    pub limits: Limits,
    pub admin: Admin,
    pub oidc: OidcSettings,
    pub metrics: Metrics,
    pub stripe: StripeSettings,
    pub sandbox: Sandbox,
    pub mail: MailSettings,
    pub webhooks: WebhookSettings,
    pub storage: Storage,
    pub cluster: Cluster,
    pub journal: Journal,
    pub backup: BackupSettings,
    pub actors: Actors,
    /// Variables of the environment that look like settings and are none.
    #[serde(skip)]
    pub unknown_variables: Vec<String>,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// JSON for programs.
    Json,
}

/// The HTTP server and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    pub workers: usize,
    pub max_connections: usize,
    pub max_connections_per_client: usize,
    pub head_timeout_seconds: u64,
    pub body_timeout_seconds: u64,
    pub write_timeout_seconds: u64,
    pub max_body_bytes: usize,
    pub max_batch_body_bytes: usize,
    #[serde(deserialize_with = "layers::empty_path_is_none")]
    pub tls_cert: Option<PathBuf>,
    #[serde(deserialize_with = "layers::empty_path_is_none")]
    pub tls_key: Option<PathBuf>,
}

/// How often clients may call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub publishable_burst: u32,
    pub publishable_per_second: u32,
    #[serde(deserialize_with = "layers::zero_is_none")]
    pub secret_burst: Option<u32>,
    #[serde(deserialize_with = "layers::zero_is_none")]
    pub secret_per_second: Option<u32>,
    pub invalid_codes_per_hour: u32,
    pub tracked_clients: usize,
    pub open_holds: usize,
    pub streams: usize,
}

/// Where administrators reach the service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Admin {
    #[serde(deserialize_with = "layers::empty_is_none")]
    pub listen: Option<SocketAddr>,
}

/// Where metrics are served.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    #[serde(deserialize_with = "layers::empty_is_none")]
    pub listen: Option<SocketAddr>,
    #[serde(deserialize_with = "token::empty_is_none")]
    pub token: Option<Token>,
}

/// How Stripe is called.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripeSettings {
    #[serde(deserialize_with = "layers::http_url")]
    pub api_base: Url,
    pub background_per_second: u32,
}

/// The built-in payment provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    pub faults: bool,
}

/// Wallets in memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actors {
    pub max_awake: usize,
    pub idle_seconds: u32,
    pub max_in_flight: u64,
    pub max_in_flight_per_wallet: u32,
}

/// What the command line sets; wins over everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// The configuration file, `--config`.
    pub config: Option<PathBuf>,
    /// The address to listen on, `--listen`.
    pub listen: Option<SocketAddr>,
    /// The data directory, `--data-dir`.
    pub data_dir: Option<PathBuf>,
}

impl Config {
    /// The address where administrators reach the service.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin.listen.unwrap_or(self.listen)
    }

    /// Reads the file and the environment of this process, and lays the flags over them.
    /// # Errors
    /// [`Error`] when the file cannot be read, or a setting is unknown, missing or out of bounds.
    pub fn read(flags: &Flags) -> Result<Self, Error> {
        let environment: Vec<_> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let file = layers::file(flags, &environment)?;
        Self::merge(
            file.as_ref()
                .map(|(path, text)| (path.as_path(), text.as_str())),
            &environment,
            flags,
        )
    }

    /// The defaults alone, without a file and the environment.
    /// # Errors
    /// [`Error`] where `config.toml` as it was compiled in is not in order.
    pub fn defaults() -> Result<Self, Error> {
        Self::merge(None, &[], &Flags::default())
    }

    /// Lays the layers over each other and checks the result.
    fn merge(
        file: Option<(&Path, &str)>,
        environment: &[(String, OsString)],
        flags: &Flags,
    ) -> Result<Self, Error> {
        let defaults: Table = DEFAULTS.parse().map_err(|error| {
            Error(format!(
                "the built-in configuration does not parse: {error}"
            ))
        })?;
        let mut merged = defaults.clone();
        if let Some((path, text)) = file {
            let own = layers::parse(path, text)?;
            layers::lay(&mut merged, own, &path.display().to_string(), Some(text))?;
        }
        layers::lay(
            &mut merged,
            environment::table(&defaults, environment)?,
            "the environment",
            None,
        )?;
        layers::lay(&mut merged, layers::flags(flags)?, "the command line", None)?;
        let unknown_variables = environment::unknown(&defaults, environment);
        let mut config: Self = serde_path_to_error::deserialize(Value::Table(merged))
            .map_err(|error| of_key(&error, environment))?;
        config.check()?;
        config.unknown_variables = unknown_variables;
        Ok(config)
    }
}

/// The error for a value that does not fit, with its key or the variable that set it. The value is not shown: it
/// may be a secret.
fn of_key(
    error: &serde_path_to_error::Error<toml::de::Error>,
    environment: &[(String, OsString)],
) -> Error {
    let key = error.path().to_string();
    let variable = format!("SCRIP_{}", key.to_ascii_uppercase().replace('.', "_"));
    let why = error.inner().message();
    Error(
        match environment.iter().any(|(name, _)| *name == variable) {
            // Some say it themselves.
            _ if key == "." || why.starts_with(&key) => format!("configuration: {why}"),
            true => format!("configuration: {variable}: {why}"),
            false => format!("configuration: {key}: {why}"),
        },
    )
}

#[cfg(test)]
mod tests;
