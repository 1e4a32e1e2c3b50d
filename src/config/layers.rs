//! One layer of settings over another: only keys that the defaults have, only values of their type.

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de::Error as _};
use toml::{Table, Value};
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

/// The flags as a layer.
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

/// Replaces values of `under` by those of `over`. A key that `under` does not have is unknown.
pub(super) fn lay(under: &mut Table, over: Table, source: &str) -> Result<(), Error> {
    lay_section(under, over, "", source)
}

fn lay_section(under: &mut Table, over: Table, section: &str, source: &str) -> Result<(), Error> {
    for (key, value) in over {
        let name = format!("{section}{key}");
        match (under.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => {
                lay_section(inner, value, &format!("{name}."), source)?;
            }
            (Some(old), value) if old.same_type(&value) => *old = value,
            (Some(old), value) => {
                let (old, new) = (old.type_str(), value.type_str());
                return Err(Error(format!("{source}: `{name}` is {old}, not {new}")));
            }
            (None, _) => return Err(Error(format!("{source}: unknown key `{name}`"))),
        }
    }
    Ok(())
}

/// 0 stands for no limit: TOML has no null.
pub(super) fn zero_is_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    u32::deserialize(from).map(|number| (number != 0).then_some(number))
}

/// An empty text stands for no address.
pub(super) fn empty_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|_| D::Error::custom(format!("`{text}` is not ADDRESS:PORT")))
}

/// An empty text stands for no file.
pub(super) fn empty_path_is_none<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(from)?;
    Ok((!text.is_empty()).then(|| text.into()))
}

/// An address to which paths can be added: a query would swallow them, and a password in it would
/// be shown wherever it is.
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
