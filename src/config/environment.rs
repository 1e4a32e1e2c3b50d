//! Settings from the environment: `SCRIP_<KEY>` and `SCRIP_<SECTION>_<KEY>`. The defaults say which
//! keys there are and of which type, so that no list is kept twice.
//!
//! Those that are secrets may come from files, too: see `operations::data_dir::environment`.
//!
//! A variable that names no key is passed over, not refused: container platforms set variables such
//! as `SCRIP_PORT` and `SCRIP_SERVICE_HOST` by themselves for a service called `scrip`. Others are warned about.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
};

use operations::data_dir::environment::{FILE_SUFFIX, secret_among};
use toml::{Table, Value};

use super::Error;

const SECRETS: [&str; 4] = [
    "SCRIP_OIDC_CLIENT_SECRET",
    "SCRIP_METRICS_TOKEN",
    "SCRIP_MAIL_SMTP_URL",
    "SCRIP_STORAGE_URL",
];
/// Secrets that are no keys: those of the service itself, and of commands that speak with it.
const OTHER_SECRETS: [&str; 5] = [
    "SCRIP_ADMIN_TOKEN",
    "SCRIP_SERVER_KEY",
    "SCRIP_SECRET_KEY",
    "SCRIP_STRIPE_KEY",
    "SCRIP_WEBHOOK_SECRET",
];
/// What else is read, by commands and tests.
const OTHERS: [&str; 7] = [
    "SCRIP_CONFIG",
    "SCRIP_URL",
    "SCRIP_PROJECT",
    "SCRIP_PACKAGES",
    "SCRIP_BINARY",
    "SCRIP_BENCH_SERVER",
    "SCRIP_DIE_AT",
];

/// Other names of a variable, and the variable's own name, which wins.
const ALIASES: [(&str, &str); 1] = [(
    "SCRIP_CHECKPOINT_ENTRIES",
    "SCRIP_JOURNAL_CHECKPOINT_ENTRIES",
)];

/// The layer that the environment sets.
pub(super) fn table(defaults: &Table, environment: &[(String, OsString)]) -> Result<Table, Error> {
    section(defaults, "SCRIP", environment)
}

fn section(
    defaults: &Table,
    prefix: &str,
    environment: &[(String, OsString)],
) -> Result<Table, Error> {
    let mut set = Table::new();
    for (key, default) in defaults {
        let name = format!("{prefix}_{}", key.to_ascii_uppercase());
        if let Value::Table(inner) = default {
            set.insert(
                key.clone(),
                Value::Table(section(inner, &name, environment)?),
            );
        } else if let Some((name, value)) = find(&name, environment)? {
            set.insert(key.clone(), typed(name, &value, default)?);
        }
    }
    Ok(set)
}

/// A variable's name and value; that of a file's, where it is a secret in one.
fn find<'e>(
    name: &str,
    environment: &'e [(String, OsString)],
) -> Result<Option<(&'e str, Cow<'e, OsStr>)>, Error> {
    let set = |name: &str| environment.iter().find(|(other, _)| other == name);
    let in_file = format!("{name}{FILE_SUFFIX}");
    if let Some((in_file, _)) = set(&in_file).filter(|_| SECRETS.contains(&name)) {
        let secret = secret_among(name, |name| set(name).map(|(_, value)| value.clone()));
        let secret = secret.map_err(|error| Error(error.to_string()))?;
        return Ok(secret.map(|secret| (in_file.as_str(), Cow::Owned(secret.into()))));
    }
    let aliases = ALIASES
        .iter()
        .filter(|(_, key)| *key == name)
        .map(|(alias, _)| *alias);
    Ok(std::iter::once(name)
        .chain(aliases)
        .find_map(set)
        .map(|(name, value)| (name.as_str(), Cow::Borrowed(value.as_os_str()))))
}

/// The variables that begin as Scrip's do and are none, as a misspelt one would be: they set nothing.
pub(super) fn unknown(defaults: &Table, environment: &[(String, OsString)]) -> Vec<String> {
    let mut names = keys(defaults, "SCRIP");
    names.extend(ALIASES.map(|(alias, _)| alias.to_owned()));
    names.extend(OTHERS.map(str::to_owned));
    for secret in SECRETS.into_iter().chain(OTHER_SECRETS) {
        names.extend([secret.to_owned(), format!("{secret}{FILE_SUFFIX}")]);
    }
    let ours = environment
        .iter()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("SCRIP_") && !is_of_a_platform(name));
    ours.filter(|name| !names.contains(name)).cloned().collect()
}

/// What Kubernetes and Docker set for a service called `scrip`.
fn is_of_a_platform(name: &str) -> bool {
    ["SCRIP_SERVICE_", "SCRIP_PORT_"]
        .iter()
        .any(|start| name.starts_with(start))
        || ["SCRIP_PORT", "SCRIP_NAME"].contains(&name)
}

fn keys(defaults: &Table, prefix: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (key, default) in defaults {
        let name = format!("{prefix}_{}", key.to_ascii_uppercase());
        match default {
            Value::Table(inner) => all.extend(keys(inner, &name)),
            _ => all.push(name),
        }
    }
    all
}

fn typed(name: &str, value: &OsStr, default: &Value) -> Result<Value, Error> {
    let text = value
        .to_str()
        .ok_or_else(|| Error(format!("{name} is not valid UTF-8")))?;
    let typed = match default {
        Value::Integer(_) => text.trim().parse().ok().map(Value::Integer),
        Value::Boolean(_) => text.trim().parse().ok().map(Value::Boolean),
        Value::Array(_) => {
            let items = text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            Some(Value::Array(
                items.map(|item| Value::String(item.into())).collect(),
            ))
        }
        _ => Some(Value::String(text.into())),
    };
    typed.ok_or_else(|| Error(format!("{name}: `{text}` is no {}", default.type_str())))
}
