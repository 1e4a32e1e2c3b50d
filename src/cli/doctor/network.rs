//! Checks over the network: the running server, its public address, the payment providers, and the clock.

use std::time::{Duration, SystemTime};

use api_types::admin::{Project, Projects};
use operations::data_dir::secrets::ADMIN_TOKEN_VARIABLE;
use reqwest::tls::TlsInfo;
use scrip_http::client::AddressKind;
use serde_json::{Value, json};
use url::Url;
use web::admin::{PREFIX, provider::ProviderCheck};

use super::{Finding, certificate, doubled_subscriptions};
use crate::{
    cli::{
        Failure,
        dev::Demo,
        remote::{self, ApiClient},
    },
    config::Config,
    server,
};

/// How long a response may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// With a larger clock offset signatures are refused: they contain the time.
const TOLERANCE_SECONDS: u64 = 300;
/// A larger clock offset means that the clock is not synchronized.
const UNUSUAL_SECONDS: u64 = 5;

pub(super) async fn examine(
    config: &Config,
    url: Option<&Url>,
    token: Option<String>,
) -> Result<Vec<Finding>, Failure> {
    let base = match url {
        Some(url) => url.as_str().trim_end_matches('/').to_owned(),
        None => configured(config),
    };
    let place: Url = base.parse().map_err(Failure::new)?;
    // The token of `scrip dev` is used only for a server on this machine.
    let dev = AddressKind::of(&place).is_loopback();
    let dev = dev.then(|| Demo::read(&config.data_dir)).flatten();
    let token = token.or_else(|| Some(dev?.admin_token));
    let (answers, ready) = running(&client(&place)?, &base).await;
    let mut findings = ready;
    findings.extend(reachable(config, answers).await?);
    let admin: Url = match (url, config.admin.listen) {
        (None, Some(_)) => configured_admin(config).parse().map_err(Failure::new)?,
        _ => place.clone(),
    };
    let projects = match (answers, token) {
        (true, Some(token)) => Some(providers(&admin, token).await?),
        (true, None) => {
            findings.push(Finding::warning(
                "providers",
                "the projects' keys were not checked",
                format!("Set {ADMIN_TOKEN_VARIABLE} to check them"),
            ));
            None
        }
        (false, _) => None,
    };
    let stripe = projects.as_ref().is_none_or(|(_, stripe)| *stripe);
    findings.extend(projects.into_iter().flat_map(|(found, _)| found));
    if stripe {
        let provider = &config.stripe.api_base;
        findings.push(clock(&client(provider)?, provider).await);
    }
    Ok(findings)
}

fn client(url: &Url) -> Result<reqwest::Client, Failure> {
    let http = remote::client(url).timeout(TIMEOUT).tls_info(true);
    http.build().map_err(Failure::new)
}

/// The running server's address: with a certificate, under the name that it is for.
fn configured(config: &Config) -> String {
    let address = server::reachable(config.listen);
    match (&config.http.tls_cert, &config.public_url) {
        (None, _) => format!("http://{address}"),
        (Some(_), Some(public)) => public.to_string(),
        (Some(_), None) => format!("https://{address}"),
    }
}

/// The address where administrators reach the running server.
pub(in crate::cli) fn configured_admin(config: &Config) -> String {
    let address = server::reachable(config.admin_address());
    format!("{}://{address}", crate::compose::scheme(config))
}

/// Checks the running server; returns whether it answers at all, too.
async fn running(http: &reqwest::Client, base: &str) -> (bool, Vec<Finding>) {
    const CHECK: &str = "server";
    let answer = http.get(format!("{base}/readyz")).send().await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            let message = format!("no server answers at {base}: {}", remote::root(&error));
            let advice =
                "Start it, or give its address with --url; checks that need it were skipped";
            return (false, vec![Finding::failure(CHECK, message, advice)]);
        }
    };
    let status = answer.status();
    let body: Value = answer.json().await.unwrap_or_default();
    if !status.is_success() {
        let message = format!("{base} accepts no writes ({status})");
        let finding = Finding::failure(CHECK, message, "See its log for the reason");
        return (body.get("code").is_some(), vec![finding]);
    }
    if body.get("status") != Some(&json!("ok")) {
        let message = format!("the server at {base} is not Scrip");
        let finding = Finding::failure(CHECK, message, "Give its address with --url");
        return (false, vec![finding]);
    }
    let missing = body.get("missingPermissions").and_then(Value::as_array);
    let missing: Vec<_> = missing
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let finding = match body.get("clockOffsetMillis").and_then(Value::as_i64) {
        _ if !missing.is_empty() => Finding::warning(
            CHECK,
            format!("the keys of payment providers lack {}", missing.join(", ")),
            "Add the permissions to the restricted key, in Stripe's dashboard under API keys; pending work resumes automatically",
        ),
        None => Finding::ok(CHECK, format!("{base} accepts reads and writes")),
        Some(offset) => Finding::warning(
            CHECK,
            format!(
                "{base} is ready; its clock is {offset} ms off the machine's, which was changed"
            ),
            "It corrects itself slowly",
        ),
    };
    (
        true,
        [finding].into_iter().chain(unfulfilled(&body)).collect(),
    )
}

/// A warning if there are unfulfilled payments.
fn unfulfilled(ready: &Value) -> Option<Finding> {
    let waiting = ready.get("unfulfilledPayments").and_then(Value::as_u64)?;
    let message = format!("{waiting} unfulfilled payments wait for a decision");
    let advice =
        "Assign, refund or dismiss them: the dashboard's page of unfulfilled payments shows each";
    Some(Finding::warning("payments", message, advice))
}

/// Whether the public address leads to this server, as seen from this machine.
async fn reachable(config: &Config, answers: bool) -> Result<Vec<Finding>, Failure> {
    const CHECK: &str = "public address";
    let Some(public) = &config.public_url else {
        return Ok(vec![Finding::warning(
            CHECK,
            "public_url is empty: providers cannot send webhooks, and buyers' pages link to this machine",
            "Payments are still found, within seconds to minutes. On a server, set public_url",
        )]);
    };
    if !answers {
        return Ok(vec![Finding::warning(
            CHECK,
            format!("{public} was not checked, as no server is running"),
            "Start the server and run this again",
        )]);
    }
    let advice = "Check DNS, the firewall and the proxy: providers' webhooks use this address";
    let url: Url = format!("{public}/healthz").parse().map_err(Failure::new)?;
    let answer = match client(&url)?.get(url).send().await {
        Ok(answer) => answer,
        Err(error) => {
            // An expired certificate is reported here, too.
            let message = format!("{public} does not answer: {}", remote::root(&error));
            return Ok(vec![Finding::failure(CHECK, message, advice)]);
        }
    };
    let info = answer.extensions().get::<TlsInfo>();
    let certificate = info.and_then(TlsInfo::peer_certificate).map(|sent| {
        let whose = format!("the certificate of {public}");
        certificate::judge(&whose, [sent], SystemTime::now())
    });
    let status = answer.status();
    let body: Value = answer.json().await.unwrap_or_default();
    let found = if status.is_success() && body.get("status") == Some(&json!("ok")) {
        Finding::ok(
            CHECK,
            format!("{public} leads to the server, from this machine"),
        )
    } else {
        let message = format!("{public}/healthz does not lead to Scrip ({status})");
        Finding::failure(CHECK, message, advice)
    };
    Ok([found].into_iter().chain(certificate).collect())
}

/// Checks each project's provider key; returns whether one is Stripe's, too.
async fn providers(base: &Url, token: String) -> Result<(Vec<Finding>, bool), Failure> {
    const CHECK: &str = "providers";
    let remote = ApiClient::new(base, PREFIX, token)?;
    let Projects { projects } = match remote.get("/projects?archived=all").await {
        Ok(projects) => projects,
        Err(error) => {
            let advice = format!("Set {ADMIN_TOKEN_VARIABLE} to the token that the server has");
            let finding = Finding::failure(CHECK, error.to_string(), advice);
            return Ok((vec![finding], true));
        }
    };
    let mut findings = Vec::new();
    for project in &projects {
        findings.push(provider(&remote, project).await);
        findings.extend(endpoints(&remote, project).await);
        findings.extend(doubled_subscriptions::of(&remote, project).await);
    }
    if projects.is_empty() {
        let advice = "Create one with `scrip api create-project --name NAME`";
        findings.push(Finding::warning(CHECK, "there is no project yet", advice));
    }
    let mut providers = projects.iter().filter_map(|it| it.provider.as_ref());
    let stripe = providers.any(|provider| provider.kind == "stripe");
    Ok((findings, stripe))
}

/// A warning for each webhook endpoint that was switched off because it accepted nothing, or accepts nothing now.
async fn endpoints(remote: &ApiClient, project: &Project) -> Vec<Finding> {
    let all: Value = match remote
        .get(&format!("/projects/{}/webhooks", project.id))
        .await
    {
        Ok(all) => all,
        Err(_) => return Vec::new(),
    };
    let all = all.get("webhooks").and_then(Value::as_array).cloned();
    let text = |value: &Value, at: &str| value.pointer(at)?.as_str().map(str::to_owned);
    let warning = |endpoint: &Value| {
        // Without its query, which may be a secret: doctor's output is sent to others for advice.
        let url = text(endpoint, "/url")?.split('?').next()?.to_owned();
        let advice = "The dashboard's page of webhooks says why";
        let message = match text(endpoint, "/disabledReason") {
            Some(why) => format!("{url} of {} is switched off ({why})", project.name),
            None => {
                let since = text(endpoint, "/health/failingSince")?;
                let name = &project.name;
                format!("{url} of {name} has accepted nothing since {since}")
            }
        };
        Some(Finding::warning("webhooks", message, advice))
    };
    all.iter().flatten().filter_map(warning).collect()
}

async fn provider(remote: &ApiClient, project: &Project) -> Finding {
    const CHECK: &str = "providers";
    let Project { id, name, .. } = project;
    let who = format!("{name} ({id})");
    match project.provider.as_ref().map(|set| set.kind.as_str()) {
        None => Finding::warning(
            CHECK,
            format!("{who} has no provider: nothing can be bought"),
            "Set one in the dashboard's settings",
        ),
        Some("sandbox") => Finding::warning(
            CHECK,
            format!("{who} uses the sandbox: everyone can pay there without money"),
            "Do not use it on a server that strangers can reach",
        ),
        Some(_) => {
            let path = format!("/projects/{id}/provider/check");
            let checked = match remote.post::<ProviderCheck>(&path, &json!({})).await {
                Ok(checked) => checked,
                Err(error) => return Finding::failure(CHECK, error.to_string(), "Run this again"),
            };
            let (missing, new_key) = (
                checked.missing_permissions,
                checked.new_key_url.unwrap_or_default(),
            );
            let reason = checked.reason.unwrap_or_default();
            match checked.works {
                Some(true) if missing.is_empty() => {
                    Finding::ok(CHECK, format!("the key of {who} works"))
                }
                Some(true) => Finding::warning(
                    CHECK,
                    format!("the key of {who} lacks {}", missing.join(", ")),
                    format!("Work that needs them is not done. Create a complete key: {new_key}"),
                ),
                Some(false) => Finding::failure(
                    CHECK,
                    format!("the key of {who} does not work: {reason}"),
                    format!(
                        "Create a new one at {new_key} and set it: PATCH {PREFIX}/projects/{id}"
                    ),
                ),
                None => Finding::failure(
                    CHECK,
                    format!("the provider of {who} cannot be reached from the server"),
                    "Check DNS, the firewall and stripe.api_base",
                ),
            }
        }
    }
}

/// Compares this machine's clock with the provider's.
async fn clock(http: &reqwest::Client, provider: &Url) -> Finding {
    const CHECK: &str = "clock";
    let unknown = |why: String| {
        let advice = "Check by other means that this machine's clock is synchronized (timedatectl)";
        Finding::warning(CHECK, format!("not compared: {why}"), advice)
    };
    let before = SystemTime::now();
    let answer = match http.head(provider.clone()).send().await {
        Ok(answer) => answer,
        Err(error) => {
            let host = provider.host_str().unwrap_or_default();
            return unknown(format!("no answer from {host}: {}", remote::root(&error)));
        }
    };
    let took = before.elapsed().unwrap_or_default();
    let date = answer.headers().get(reqwest::header::DATE);
    let date = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    let Some(date) = date else {
        return unknown("the provider sent no date".into());
    };
    // The date is from some instant during the call, cut to the second: compare with the call's middle.
    let here = before.checked_add(took.mul_f32(0.5)).unwrap_or(before);
    judge(seconds(here).saturating_sub(seconds(date)))
}

fn judge(ahead_seconds: i64) -> Finding {
    const CHECK: &str = "clock";
    let off = ahead_seconds.unsigned_abs();
    let way = if ahead_seconds < 0 {
        "behind"
    } else {
        "ahead of"
    };
    let message = format!("this machine's clock is {off} s {way} the provider's");
    let advice =
        "Synchronize it by NTP (timedatectl set-ntp true): signatures are refused beyond 300 s";
    if off <= UNUSUAL_SECONDS {
        Finding::ok(CHECK, "within seconds of the provider's")
    } else if off <= TOLERANCE_SECONDS {
        Finding::warning(CHECK, message, advice)
    } else {
        Finding::failure(CHECK, message, advice)
    }
}

fn seconds(at: SystemTime) -> i64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::Status;

    #[test]
    fn a_clock_is_judged_by_what_signatures_forgive() {
        for (ahead, status) in [
            (0, Status::Ok),
            (-5, Status::Ok),
            (6, Status::Warning),
            (-300, Status::Warning),
            (301, Status::Failure),
            (i64::MIN, Status::Failure),
        ] {
            assert_eq!(judge(ahead).status, status, "{ahead}");
        }
        assert!(judge(-90).message.contains("90 s behind"));
    }
}
