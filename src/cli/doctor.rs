//! `scrip doctor`: checks what a server needs and prints a line per check, with advice where one fails. It
//! changes nothing, and may run beside the server.

mod backups;
mod certificate;
mod database;
mod disk;
mod doubled_subscriptions;
mod identity;
mod network;
mod secrets;

use std::time::SystemTime;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use url::Url;

use super::{
    Failure,
    admin_token::TokenArgs,
    dev::Demo,
    local::LocalArgs,
    print, remote,
    table::{OutputArgs, plain},
};
use crate::{
    config::Config,
    server::{
        descriptors,
        tls::{Files, Tls},
    },
};

/// Options of `scrip doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    local: LocalArgs,
    /// The running server's address [default: that of the configuration].
    #[arg(long, env = "SCRIP_URL", value_parser = remote::server_url)]
    url: Option<Url>,
    #[command(flatten)]
    token: TokenArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warning,
    Failure,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    /// The check's name.
    check: &'static str,
    status: Status,
    /// What was found.
    message: String,
    /// What to do about it; `None` if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self {
            check,
            status: Status::Ok,
            message: message.into(),
            advice: None,
        }
    }

    fn warning(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            status: Status::Warning,
            message: message.into(),
            advice: Some(advice.into()),
        }
    }

    fn failure(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            status: Status::Failure,
            ..Self::warning(check, message, advice)
        }
    }

    fn line(&self) -> String {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failure => "FAILURE",
        };
        let advice = self.advice.as_deref();
        let advice = advice
            .map(|advice| format!(". {advice}"))
            .unwrap_or_default();
        format!("{status:<8} {:<14} {}{advice}", self.check, self.message)
    }
}

pub(super) use network::configured_admin;

pub(super) fn run(args: DoctorArgs) -> Result<(), Failure> {
    let findings = examine(&args)?;
    let failures = findings.iter().filter(|of| of.status == Status::Failure);
    let (failures, all) = (failures.count(), findings.len());
    let report = json!({ "ok": failures == 0, "findings": findings });
    args.output.print(&report, |_| {
        for finding in &findings {
            print::line(&plain(&finding.line()));
        }
    });
    match failures {
        0 => Ok(()),
        failures => Err(Failure(format!("{failures} of {all} checks failed"))),
    }
}

fn examine(args: &DoctorArgs) -> Result<Vec<Finding>, Failure> {
    let config = match args.local.read() {
        Ok(config) => config,
        // No other check works without it.
        Err(error) => {
            let advice = "Correct it; config.toml in the source tree shows every key";
            return Ok(vec![Finding::failure(
                "configuration",
                error.to_string(),
                advice,
            )]);
        }
    };
    let mut findings = vec![configuration(&config)];
    findings.extend(secrets::examine(&config));
    findings.extend(disk::examine(&config));
    findings.extend(database::examine(&config));
    findings.push(open_files(&config));
    findings.extend(backups::examine(&config));
    findings.extend(tls(&config).into_iter().flatten());
    findings.push(proxy(&config));
    remote::wait(async {
        findings.extend(identity::examine(&config).await);
        let url = args.url.clone();
        let url = url.or_else(|| Demo::read(&config.data_dir)?.address());
        let network = network::examine(&config, url.as_ref(), args.token.read()?);
        findings.extend(network.await?);
        Ok(())
    })?;
    Ok(findings)
}

fn configuration(config: &Config) -> Finding {
    const CHECK: &str = "configuration";
    if !config.unknown_variables.is_empty() {
        let names = config.unknown_variables.join(", ");
        let advice = "Correct or remove them: config.toml in the source tree shows every key";
        return Finding::warning(CHECK, format!("{names} set nothing"), advice);
    }
    Finding::ok(
        CHECK,
        format!("valid; the data is in {}", config.data_dir.display()),
    )
}

fn open_files(config: &Config) -> Finding {
    const CHECK: &str = "open files";
    let wanted = config.http.max_connections;
    match descriptors::raise(wanted) {
        Ok(fit) if fit == wanted => Finding::ok(CHECK, format!("enough for {wanted} connections")),
        Ok(fit) => Finding::warning(
            CHECK,
            format!("enough for {fit} of http.max_connections = {wanted}"),
            "Raise the limit (ulimit -n, or LimitNOFILE= of the service)",
        ),
        Err(error) => Finding::failure(CHECK, error.to_string(), "The server will not start"),
    }
}

/// Whether certificate and key work together, and how long the certificate is valid.
fn tls(config: &Config) -> Option<Vec<Finding>> {
    const CHECK: &str = "TLS";
    let (cert, key) = config
        .http
        .tls_cert
        .clone()
        .zip(config.http.tls_key.clone())?;
    let is_open = crate::compose::is_open_to_others(&key);
    let path = key.display().to_string();
    let files = Files { cert, key };
    let chain = files.chain();
    let opened = Tls::open(files).and(chain);
    let chain = match opened {
        Ok(chain) => chain,
        Err(error) => {
            let advice =
                "Correct http.tls_cert and http.tls_key, and let the server's user read both files";
            return Some(vec![Finding::failure(CHECK, error.to_string(), advice)]);
        }
    };
    let secret = if is_open {
        let message = format!("every user of this machine can read {path}");
        Finding::warning(CHECK, message, format!("chmod o= {path}"))
    } else {
        Finding::ok(CHECK, "certificate and key match")
    };
    let chain = chain.iter().map(|cert| &**cert);
    let found = certificate::judge("the certificate in http.tls_cert", chain, SystemTime::now());
    Some(vec![secret, found])
}

/// Whether clients behind a proxy can be distinguished, and traffic is encrypted.
fn proxy(config: &Config) -> Finding {
    const CHECK: &str = "proxy";
    let public = config.public_url.as_ref().map(ToString::to_string);
    let encrypted = public.is_some_and(|url| url.starts_with("https:"));
    let own = config.http.tls_cert.is_some();
    match (encrypted, own, config.trusted_proxies.is_empty()) {
        (true, false, true) => Finding::warning(
            CHECK,
            "public_url is https, a proxy in front terminates TLS, and trusted_proxies is empty",
            "Add the proxy to trusted_proxies, or all clients share one rate limit",
        ),
        _ => match crate::compose::advice(config.listen, &config.http) {
            Some(_) => Finding::warning(
                CHECK,
                format!("{} is served over plain HTTP", config.listen),
                "Set http.tls_cert and http.tls_key, or listen on 127.0.0.1 behind a proxy that terminates TLS",
            ),
            None => Finding::ok(CHECK, "no problem found"),
        },
    }
}
