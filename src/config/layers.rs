//! One layer of settings over another: only keys that the defaults have, only values of their type.

use std::{
    ffi::OsString,
    net::{SocketAddr, ToSocketAddrs as _},
    path::{Path, PathBuf},
};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de::Error as _};
use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};
use url::Url;

use super::{Error, Flags};

/// The file that is read where neither a flag nor the environment names one.
const DEFAULT_FILE: &str = "config.toml";

/// The file to read and its text. A file that was named must exist; the default one need not.
pub(super) fn file(
    flags: &Flags,
    environment: &[(String, OsString)],
) -> Result<Option<(PathBuf, String)>, Error> {
    let named = flags.config.clone().or_else(|| {
        let (_, value) = environment
            .iter()
            .find(|(name, _)| name == "SCRIP_CONFIG")?;
        Some(PathBuf::from(value))
    });
    let path = named.clone().unwrap_or_else(|| DEFAULT_FILE.into());
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// Parses a file; the error names the line and does not show it, since it may hold a password.
pub(super) fn parse(path: &Path, text: &str) -> Result<Table, Error> {
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.split('\n').count());
        Error(format!(
            "{} is not valid TOML: line {line}: {}",
            path.display(),
            error.message()
        ))
    })
}

pub(super) fn flags(flags: &Flags) -> Result<Table, Error> {
    let mut table = Table::new();
    if let Some(listen) = flags.listen {
        table.insert("listen".into(), Value::String(listen.to_string()));
    }
    if let Some(dir) = &flags.data_dir {
        let text = dir
            .to_str()
            .ok_or_else(|| Error("--data-dir is not valid UTF-8".into()))?;
        table.insert("data_dir".into(), Value::String(text.into()));
    }
    Ok(table)
}

/// Replaces values of `under` by those of `over`. A key that `under` does not have is unknown; `text` is the file that
/// `over` was read from, for its line.
pub(super) fn lay(
    under: &mut Table,
    over: Table,
    source: &str,
    text: Option<&str>,
) -> Result<(), Error> {
    lay_section(under, over, "", source).map_err(|wrong| match wrong {
        Wrong::Value(error) => error,
        Wrong::Key { name, meant } => {
            let line = text.and_then(|text| line_of(text, &name));
            let line = line.map_or_else(String::new, |line| format!(" line {line}:"));
            let meant = meant.map_or_else(String::new, |it| format!(", did you mean `{it}`?"));
            Error(format!("{source}:{line} unknown key `{name}`{meant}"))
        }
    })
}

/// Why a layer is refused.
enum Wrong {
    Value(Error),
    Key { name: String, meant: Option<String> },
}

/// The line of a key in a file.
fn line_of(text: &str, name: &str) -> Option<usize> {
    let file = DeTable::parse(text).ok()?;
    let (mut table, mut start) = (file.get_ref(), None);
    for part in name.split('.') {
        let mut keys = table.iter();
        let (key, value) = keys.find(|(key, _)| key.get_ref().as_ref() == part)?;
        start = Some(key.span().start);
        if let DeValue::Table(below) = value.get_ref() {
            table = below;
        }
    }
    Some(text.get(..start?)?.split('\n').count())
}

/// The key of a section that is most like another.
fn similar(section: &Table, key: &str) -> Option<String> {
    let scored = section.keys().map(|it| (strsim::jaro_winkler(it, key), it));
    let near = scored.filter(|(score, _)| *score > 0.8);
    let best = near.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.map(|(_, it)| it.clone())
}

fn lay_section(under: &mut Table, over: Table, section: &str, source: &str) -> Result<(), Wrong> {
    for (key, value) in over {
        let name = format!("{section}{key}");
        match (under.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => {
                lay_section(inner, value, &format!("{name}."), source)?;
            }
            (Some(old), value) if old.same_type(&value) => *old = value,
            (Some(old), value) => {
                let (old, new) = (old.type_str(), value.type_str());
                let why = format!("{source}: `{name}` is {old}, not {new}");
                return Err(Wrong::Value(Error(why)));
            }
            (None, _) => {
                let meant = similar(under, &key).map(|it| format!("{section}{it}"));
                return Err(Wrong::Key { name, meant });
            }
        }
    }
    Ok(())
}

/// 0 means no limit: TOML has no null.
pub(super) fn zero_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    u32::deserialize(from).map(|number| (number != 0).then_some(number))
}

/// An empty text means no address.
pub(super) fn empty_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    listen_address(&text).map(Some).map_err(D::Error::custom)
}

/// An address to listen on.
pub(super) fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    listen_address(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// Reads `ADDRESS:PORT`, where a name such as localhost will do for the address.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    // The commands' default address is of IPv4.
    let all = text.to_socket_addrs().ok();
    let address = all.and_then(|all| all.min_by_key(SocketAddr::is_ipv6));
    address.ok_or_else(|| format!("`{text}` is not ADDRESS:PORT, such as 127.0.0.1:8787"))
}

/// An empty text means no file.
pub(super) fn empty_path_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(from)?;
    Ok((!text.is_empty()).then(|| text.into()))
}

/// An address to which paths can be added: without a query, and without a password, which the log would show.
pub(super) fn http_url<'de, D: Deserializer<'de>>(from: D) -> Result<Url, D::Error> {
    let text = String::deserialize(from)?;
    text.parse()
        .ok()
        .filter(|url: &Url| {
            matches!(url.scheme(), "http" | "https")
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none()
        })
        .ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is not an address of the form https://HOST or http://HOST:PORT/PATH"
            ))
        })
}

/// Networks, or single addresses.
pub(super) fn networks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<IpNet>, D::Error> {
    Vec::<String>::deserialize(from)?
        .into_iter()
        .map(|text| {
            let network = text.parse::<IpNet>();
            network
                .or_else(|_| text.parse::<std::net::IpAddr>().map(IpNet::from))
                .map_err(|_| {
                    D::Error::custom(format!(
                        "`{text}` in trusted_proxies is neither an address nor a network"
                    ))
                })
        })
        .collect()
}
