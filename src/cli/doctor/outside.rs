//! What lies outside of this process: the running server, its public address, the payment providers, and
//! the time.

use std::time::{Duration, SystemTime};

use reqwest::tls::TlsInfo;
use serde_json::{Value, json};
use stripe::connect::Kind;
use url::Url;

use super::{Finding, certificate};
use crate::{
    admin::{
        PREFIX,
        provider::ProviderCheck,
        view::{Project, Projects},
    },
    cli::{
        Failure, dev,
        remote::{self, Remote},
    },
    config::Config,
    secrets::ADMIN_TOKEN_VARIABLE,
    server,
};

/// How long anybody is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Beyond this, what is signed now is refused: webhooks carry the time of their signature.
const TOLERANCE_SECONDS: u64 = 300;
/// Beyond this something is wrong with how the clock is kept.
const UNUSUAL_SECONDS: u64 = 5;

pub(super) async fn examine(
    config: &Config,
    url: Option<&Url>,
    token: Option<&str>,
) -> Result<Vec<Finding>, Failure> {
    let base = match url {
        Some(url) => url.as_str().trim_end_matches('/').to_owned(),
        None => own(config),
    };
    let place: Url = base.parse().map_err(Failure::new)?;
    // Beside `scrip dev` its token is at hand; it is told nobody else.
    let dev = Kind::of(&place).is_loopback();
    let dev = dev.then(|| dev::known(&config.data_dir)).flatten();
    let token = token.map(str::to_owned).filter(|token| !token.is_empty());
    let token = token.or_else(|| Some(dev?.admin_token));
    let (answers, ready) = running(&client(&place)?, &base).await;
    let mut findings = ready;
    findings.extend(reachable(config, answers).await?);
    let projects = match (answers, token) {
        (true, Some(token)) => Some(providers(&place, token).await?),
        (true, None) => {
            findings.push(Finding::warning(
                "providers",
                "the projects' keys were not tried",
                format!("Set {ADMIN_TOKEN_VARIABLE} to have that done"),
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
    let http = remote::client(url).timeout(PATIENCE).tls_info(true);
    http.build().map_err(Failure::new)
}

/// Where the server reaches itself: with a certificate, by the name that it is for.
fn own(config: &Config) -> String {
    let address = server::reachable(config.listen);
    match (&config.http.tls_cert, &config.public_url) {
        (None, _) => format!("http://{address}"),
        (Some(_), Some(public)) => public.to_string(),
        (Some(_), None) => format!("https://{address}"),
    }
}

/// What a running server says; whether it answers at all.
async fn running(http: &reqwest::Client, base: &str) -> (bool, Vec<Finding>) {
    const CHECK: &str = "server";
    let answer = http.get(format!("{base}/readyz")).send().await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            let said = format!("none answers at {base}: {}", remote::root(&error));
            let advice =
                "Start it, or say by --url where it is; what it alone knows was not looked at";
            return (false, vec![Finding::warning(CHECK, said, advice)]);
        }
    };
    let status = answer.status();
    let body: Value = answer.json().await.unwrap_or_default();
    if !status.is_success() {
        let said = format!("{base} takes no writes ({status})");
        let finding = Finding::failure(CHECK, said, "Its log says why");
        return (body.get("code").is_some(), vec![finding]);
    }
    if body.get("status") != Some(&json!("ok")) {
        let said = format!("what answers at {base} is not Scrip");
        let finding = Finding::failure(CHECK, said, "Say by --url where it is");
        return (false, vec![finding]);
    }
    let missing = body.get("missingPermissions").and_then(Value::as_array);
    let missing: Vec<_> = missing
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !missing.is_empty() {
        let said = format!("the keys of payment providers lack {}", missing.join(", "));
        let advice = "Give the restricted key what it lacks, in Stripe's dashboard under API keys; what waits for it is done then";
        let finding = Finding::warning(CHECK, said, advice);
        return (
            true,
            [finding].into_iter().chain(unfulfilled(&body)).collect(),
        );
    }
    let finding = match body.get("clockOffsetMillis").and_then(Value::as_i64) {
        None => Finding::ok(CHECK, format!("{base} takes reads and writes")),
        Some(offset) => Finding::warning(
            CHECK,
            format!("{base} is ready; its clock is {offset} ms from the machine's, which was set"),
            "It follows slowly, by itself",
        ),
    };
    (
        true,
        [finding].into_iter().chain(unfulfilled(&body)).collect(),
    )
}

/// Whether all that was paid has its order.
fn unfulfilled(ready: &Value) -> Option<Finding> {
    let waiting = ready.get("unfulfilledPayments").and_then(Value::as_u64)?;
    let said = format!("{waiting} payments lead to no order and wait for somebody to decide");
    let advice =
        "Assign, refund or dismiss them: the dashboard's page of unfulfilled payments shows each";
    Some(Finding::warning("payments", said, advice))
}

/// Whether providers and buyers reach the public address, as far as this machine can tell.
async fn reachable(config: &Config, answers: bool) -> Result<Vec<Finding>, Failure> {
    const CHECK: &str = "public address";
    let Some(public) = &config.public_url else {
        return Ok(vec![Finding::warning(
            CHECK,
            "public_url is empty: webhooks cannot come, and buyers' pages lead to this machine",
            "Payments are found all the same, within seconds to minutes; set public_url on a server",
        )]);
    };
    if !answers {
        return Ok(vec![Finding::warning(
            CHECK,
            format!("{public} was not tried, since no server runs"),
            "Start it and run this again",
        )]);
    }
    let advice = "See to DNS, the firewall and the proxy: providers' webhooks take this way";
    let url: Url = format!("{public}/healthz").parse().map_err(Failure::new)?;
    let answer = match client(&url)?.get(url).send().await {
        Ok(answer) => answer,
        Err(error) => {
            // A certificate that has ended is said to have, too.
            let said = format!("{public} does not answer: {}", remote::root(&error));
            return Ok(vec![Finding::failure(CHECK, said, advice)]);
        }
    };
    let shown = answer.extensions().get::<TlsInfo>();
    let shown = shown.and_then(TlsInfo::peer_certificate);
    let certificate = shown.map(|shown| {
        let whose = format!("the one of {public}");
        certificate::judge(&whose, [shown], SystemTime::now())
    });
    let status = answer.status();
    let body: Value = answer.json().await.unwrap_or_default();
    let found = if status.is_success() && body.get("status") == Some(&json!("ok")) {
        Finding::ok(
            CHECK,
            format!("{public} leads to the server, from this machine"),
        )
    } else {
        let said = format!("{public}/healthz is not answered by Scrip ({status})");
        Finding::failure(CHECK, said, advice)
    };
    Ok([found].into_iter().chain(certificate).collect())
}

/// What each project's provider says of its key, and whether one is Stripe.
async fn providers(base: &Url, token: String) -> Result<(Vec<Finding>, bool), Failure> {
    const CHECK: &str = "providers";
    let unknown = "the server does not know this administrator token";
    let remote = Remote::new(base, PREFIX, token, unknown)?;
    let Projects { projects } = match remote.get("/projects").await {
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
    }
    if projects.is_empty() {
        let advice = "`scrip projects make NAME` makes one";
        findings.push(Finding::warning(CHECK, "there is no project yet", advice));
    }
    let stripe = projects
        .iter()
        .filter_map(|project| project.provider.as_ref());
    let stripe = stripe.clone().any(|provider| provider.kind == "stripe");
    Ok((findings, stripe))
}

async fn provider(remote: &Remote, project: &Project) -> Finding {
    const CHECK: &str = "providers";
    let Project { id, name, .. } = project;
    let who = format!("{name} ({id})");
    match project.provider.as_ref().map(|set| set.kind.as_str()) {
        None => Finding::warning(
            CHECK,
            format!("{who} has none: nothing can be bought"),
            format!("PATCH {PREFIX}/projects/{id} sets one"),
        ),
        Some("sandbox") => Finding::warning(
            CHECK,
            format!("{who} sells through the sandbox: anybody can pay there without money"),
            "Not on a server that strangers reach",
        ),
        Some(_) => {
            let path = format!("/projects/{id}/provider/check");
            let checked = remote.post::<ProviderCheck>(&path, &json!({})).await;
            match checked {
                Ok(ProviderCheck {
                    works: Some(true),
                    missing_permissions: missing,
                    new_key_url,
                    ..
                }) => match missing.as_slice() {
                    [] => Finding::ok(CHECK, format!("the key of {who} works")),
                    missing => Finding::warning(
                        CHECK,
                        format!("the key of {who} lacks {}", missing.join(", ")),
                        format!(
                            "What needs it is not done. A key with all: {}",
                            new_key_url.unwrap_or_default()
                        ),
                    ),
                },
                Ok(ProviderCheck {
                    works: Some(false),
                    reason,
                    new_key_url,
                    ..
                }) => Finding::failure(
                    CHECK,
                    format!(
                        "the key of {who} does not work: {}",
                        reason.unwrap_or_default()
                    ),
                    format!(
                        "Set a new one: PATCH {PREFIX}/projects/{id}; it is made at {}",
                        new_key_url.unwrap_or_default()
                    ),
                ),
                Ok(_) => Finding::failure(
                    CHECK,
                    format!("the provider of {who} cannot be reached from the server"),
                    "See to its way out: DNS, the firewall, stripe.api_base",
                ),
                Err(error) => Finding::failure(CHECK, error.to_string(), "Run this again"),
            }
        }
    }
}

/// This machine's clock beside the provider's.
async fn clock(http: &reqwest::Client, provider: &Url) -> Finding {
    const CHECK: &str = "clock";
    let unknown = |why: String| {
        let advice = "See by other means that this machine's clock is kept (timedatectl)";
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
        return unknown("the provider tells no time".into());
    };
    // It was told somewhere within the call, and cut to the second.
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
    let said = format!("this machine's is {off} s {way} the provider's");
    let advice =
        "Have it kept by NTP (timedatectl set-ntp true): signatures are refused beyond 300 s";
    if off <= UNUSUAL_SECONDS {
        Finding::ok(CHECK, "as the provider's, within seconds")
    } else if off <= TOLERANCE_SECONDS {
        Finding::warning(CHECK, said, advice)
    } else {
        Finding::failure(CHECK, said, advice)
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
