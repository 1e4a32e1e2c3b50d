//! Settings from the environment: `SCRIP_<KEY>` and `SCRIP_<SECTION>_<KEY>`. The defaults say which
//! keys there are and of which type, so that no list is kept twice.
//!
//! A variable that names no key is passed over, not refused: container platforms set variables such
//! as `SCRIP_PORT` and `SCRIP_SERVICE_HOST` by themselves for a service called `scrip`.

use std::ffi::{OsStr, OsString};

use toml::{Table, Value};

use super::Error;

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
        } else if let Some((name, value)) = find(&name, environment) {
            set.insert(key.clone(), typed(name, value, default)?);
        }
    }
    Ok(set)
}

fn find<'e>(name: &str, environment: &'e [(String, OsString)]) -> Option<(&'e str, &'e OsStr)> {
    let aliases = ALIASES
        .iter()
        .filter(|(_, key)| *key == name)
        .map(|(alias, _)| *alias);
    std::iter::once(name).chain(aliases).find_map(|name| {
        let (name, value) = environment.iter().find(|(other, _)| other == name)?;
        Some((name.as_str(), value.as_os_str()))
    })
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
