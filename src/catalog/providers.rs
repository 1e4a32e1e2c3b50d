//! Setting a project's payment provider, and moving its sandbox's clock. Secrets come in and are kept
//! encrypted; they never leave but to the provider.

use actors::Seal;
use domain::{
    Timestamp,
    id::ProjectId,
    provider::{Account, Provider, Sandbox, Sealed, Stripe, WebhookSecret},
};

use super::Error;

/// For how long a replaced webhook secret is still accepted: as long as the provider may sign with
/// both while a secret is rolled.
pub(super) const ROTATION_SECONDS: i64 = 24 * 3600;
/// Longer than any secret of Stripe's.
const MAX_SECRET: usize = 255;
/// Secrets kept at once: the current one and those replaced within a day.
const MAX_WEBHOOK_SECRETS: usize = 4;
/// Ten years: more would only prove patience.
const MAX_ADVANCE_SECONDS: i64 = 10 * 366 * 24 * 3600;
const MAX_DELAY_SECONDS: i64 = 7 * 24 * 3600;
const MAX_DUPLICATES: i64 = 10;

/// A provider to set.
#[derive(Clone)]
pub enum ProviderChange {
    /// None: nothing can be bought any more.
    None,
    /// The one that is built in.
    Sandbox,
    /// A Stripe account. What is left out stays, where there is something to stay.
    Stripe {
        /// Its API key.
        secret_key: Option<String>,
        /// What its webhooks are signed with.
        webhook_secret: Option<String>,
    },
}

impl std::fmt::Debug for ProviderChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Sandbox => "Sandbox",
            Self::Stripe { .. } => "Stripe(..)",
        })
    }
}

/// What to change of a sandbox; `None` leaves it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SandboxChange {
    /// Seconds before a webhook goes out.
    pub delay_seconds: Option<i64>,
    /// How many times more each webhook goes out.
    pub duplicates: Option<i64>,
    /// Whether webhooks go out in another order than things happened.
    pub shuffle: Option<bool>,
}

impl ProviderChange {
    pub(super) fn decide(
        self,
        project: ProjectId,
        current: Option<&Provider>,
        seal: &Seal,
        now: Timestamp,
    ) -> Result<Provider, Error> {
        let account = match self {
            Self::None => Account::None,
            Self::Sandbox => Account::Sandbox,
            Self::Stripe {
                secret_key,
                webhook_secret,
            } => {
                let known = match current.map(|current| &current.account) {
                    Some(Account::Stripe(known)) => Some(known),
                    _ => None,
                };
                Account::Stripe(stripe(known, secret_key, webhook_secret, seal, now)?)
            }
        };
        Ok(Provider {
            project,
            account,
            sandbox: current.map(|current| current.sandbox).unwrap_or_default(),
        })
    }
}

impl SandboxChange {
    pub(super) fn decide(self, mut sandbox: Sandbox) -> Result<Sandbox, Error> {
        let bounded = |param, value, max| super::rules::bounded(param, value, 0, max);
        if let Some(seconds) = self.delay_seconds {
            sandbox.delay_seconds = bounded("delaySeconds", seconds, MAX_DELAY_SECONDS)?;
        }
        if let Some(copies) = self.duplicates {
            sandbox.duplicates = bounded("duplicates", copies, MAX_DUPLICATES)?;
        }
        sandbox.shuffle = self.shuffle.unwrap_or(sandbox.shuffle);
        Ok(sandbox)
    }
}

/// A number of seconds by which a sandbox's clock may be moved on.
pub(super) fn advance(seconds: i64) -> Result<i64, Error> {
    super::rules::within("seconds", seconds, 1, MAX_ADVANCE_SECONDS)?;
    Ok(seconds)
}

fn stripe(
    known: Option<&Stripe>,
    secret_key: Option<String>,
    webhook_secret: Option<String>,
    seal: &Seal,
    now: Timestamp,
) -> Result<Stripe, Error> {
    let missing =
        |name: &str| Error::invalid(format!("provider.{name}"), format!("{name} is missing."));
    let secret_key = match (secret_key, known) {
        (Some(key), _) => {
            visible("secretKey", &key)?;
            if key.starts_with("pk_") {
                let message =
                    "secretKey is a publishable key: use the one that starts with sk_ or rk_.";
                return Err(Error::invalid("provider.secretKey", message));
            }
            Sealed(seal.seal(key.as_bytes()))
        }
        (None, Some(known)) => known.secret_key.clone(),
        (None, None) => return Err(missing("secretKey")),
    };
    let known = known.map(|known| known.webhook_secrets.clone());
    let webhook_secrets = match (webhook_secret, known) {
        (Some(secret), known) => {
            visible("webhookSecret", &secret)?;
            rotate(known.unwrap_or_default(), &secret, seal, now)
        }
        (None, Some(known)) => known,
        (None, None) => return Err(missing("webhookSecret")),
    };
    Ok(Stripe {
        secret_key,
        webhook_secrets,
    })
}

/// The new secret first; those before it for a day more.
fn rotate(
    known: Vec<WebhookSecret>,
    secret: &str,
    seal: &Seal,
    now: Timestamp,
) -> Vec<WebhookSecret> {
    let end = now.plus_seconds(ROTATION_SECONDS);
    let older = known.into_iter().filter_map(|known| {
        let until = known.until.unwrap_or(end);
        // The same one again is no replacement.
        let same = seal
            .open(&known.secret.0)
            .is_some_and(|open| open == secret.as_bytes());
        (until > now && !same).then_some(WebhookSecret {
            until: Some(until),
            ..known
        })
    });
    let current = WebhookSecret {
        secret: Sealed(seal.seal(secret.as_bytes())),
        until: None,
    };
    std::iter::once(current)
        .chain(older)
        .take(MAX_WEBHOOK_SECRETS)
        .collect()
}

fn visible(name: &str, secret: &str) -> Result<(), Error> {
    let fits = (1..=MAX_SECRET).contains(&secret.len());
    if fits && secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    let message = format!("{name} has 1 to {MAX_SECRET} visible characters.");
    Err(Error::invalid(format!("provider.{name}"), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn seal() -> Seal {
        Seal::new(&[1; 32], "test")
    }

    fn stripe(secret_key: Option<&str>, webhook_secret: Option<&str>) -> ProviderChange {
        ProviderChange::Stripe {
            secret_key: secret_key.map(Into::into),
            webhook_secret: webhook_secret.map(Into::into),
        }
    }

    fn secrets(provider: &Provider, at: Timestamp) -> Vec<String> {
        let Account::Stripe(account) = &provider.account else {
            panic!("not Stripe")
        };
        let valid = account.webhook_secrets.iter();
        let valid = valid.filter(|secret| secret.until.is_none_or(|until| until > at));
        valid
            .map(|secret| String::from_utf8(seal().open(&secret.secret.0).unwrap()).unwrap())
            .collect()
    }

    #[test]
    fn a_replaced_webhook_secret_is_accepted_for_a_day() {
        let decide = |change: ProviderChange, current: Option<&Provider>, now| {
            change.decide(ProjectId(1), current, &seal(), now).unwrap()
        };
        let first = decide(stripe(Some("sk_test_1"), Some("whsec_a")), None, NOW);
        let second = decide(stripe(None, Some("whsec_b")), Some(&first), NOW);
        assert_eq!(secrets(&second, NOW), ["whsec_b", "whsec_a"]);
        let tomorrow = NOW.plus_seconds(ROTATION_SECONDS);
        assert_eq!(secrets(&second, tomorrow), ["whsec_b"]);
        let again = decide(stripe(None, Some("whsec_b")), Some(&second), NOW);
        assert_eq!(secrets(&again, NOW), ["whsec_b", "whsec_a"]);
        let later = decide(stripe(None, Some("whsec_c")), Some(&second), tomorrow);
        assert_eq!(secrets(&later, tomorrow), ["whsec_c", "whsec_b"]);
    }

    #[test]
    fn secrets_are_kept_encrypted_and_never_printed() {
        let change = stripe(Some("sk_test_hush"), Some("whsec_hush"));
        assert!(!format!("{change:?}").contains("hush"));
        let provider = change.decide(ProjectId(1), None, &seal(), NOW).unwrap();
        let text = serde_json::to_string(&provider).unwrap() + &format!("{provider:?}");
        assert!(!text.contains("hush"));
    }

    #[test]
    fn both_secrets_are_needed_the_first_time() {
        let refused = |change: ProviderChange| match change.decide(ProjectId(1), None, &seal(), NOW)
        {
            Err(Error::Invalid { param, .. }) => param,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(stripe(None, Some("whsec_a"))), "provider.secretKey");
        assert_eq!(
            refused(stripe(Some("sk_1"), None)),
            "provider.webhookSecret"
        );
        assert_eq!(
            refused(stripe(Some("pk_1"), Some("w"))),
            "provider.secretKey"
        );
        assert_eq!(
            refused(stripe(Some("sk 1"), Some("w"))),
            "provider.secretKey"
        );
    }
}
