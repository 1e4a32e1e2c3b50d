//! The server keys: where they come from, that they are those of the data, and how one takes another's place.
//!
//! A file or variable has them in hexadecimal digits, the oldest first, one a line or with commas between them. Beside
//! the data are hashes of them, so that a foreign key, or the lack of a newer one, is refused rather than silently
//! opening nothing.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use actors::ServerKeys;
use catalog::sha256;
use data_encoding::HEXLOWER;

use crate::data_dir::secrets::{
    Error, KEY_FILE, SERVER_KEY_VARIABLE, damaged, from_hex, read, unusable, write,
};

/// The file with hashes of the keys that the data was written under.
pub(crate) const KEY_CHECK_FILE: &str = "server.key.check";
/// Reading tries one after the other.
const MAX_KEYS: usize = 16;

/// Hashes that tell whether keys are the same, and nothing else about them, the oldest key's first. Those of keys with a
/// newer one begin with those without it.
pub fn fingerprints(keys: &ServerKeys) -> Vec<u8> {
    let of_key = |key: &[u8; 32]| {
        let mut text = b"scrip/server-key-check/1".to_vec();
        text.extend_from_slice(key);
        sha256(&text)
    };
    keys.all().flat_map(of_key).collect()
}

/// Whether the server keys that a data directory needs are there.
#[derive(Debug, PartialEq, Eq)]
pub enum KeyState {
    /// They were provided, or are in the directory.
    Fits,
    /// There are none. Has the first digits of the hash of the oldest in `server.key.check`.
    Missing(String),
    /// There are others, or not all. Has the same digits.
    Other(String),
}

impl KeyState {
    /// Looks for the keys, and changes nothing.
    /// # Errors
    /// A file cannot be read.
    pub fn of(data_dir: &Path, provided: Option<&str>) -> Result<Self, Error> {
        let needed = read(&data_dir.join(KEY_CHECK_FILE))?.unwrap_or_default();
        let lies_there = read(&data_dir.join(KEY_FILE))?;
        let short = needed.chars().take(12).collect();
        let Some(text) = provided.map(str::to_owned).or(lies_there) else {
            return Ok(Self::Missing(short));
        };
        let there = parse(&text).map(|keys| fingerprints(&keys));
        let fits = there.zip(hashes(&needed));
        let fits = fits.is_some_and(|(there, needed)| there.starts_with(&needed));
        Ok(if fits { Self::Fits } else { Self::Other(short) })
    }
}

/// The keys of a data directory that no server is using.
/// # Errors
/// There are none, or they are not those that the data was made with.
pub fn existing(data_dir: &Path, provided: Option<String>) -> Result<ServerKeys, Error> {
    if provided.is_none() && !data_dir.join(KEY_FILE).exists() {
        return Err(Error::new(format!(
            "the server key is not in {}, and {SERVER_KEY_VARIABLE} is not set",
            data_dir.display()
        )));
    }
    open(data_dir, provided)
}

/// The keys that were provided, else those in the directory, else one that is made.
pub(crate) fn open(data_dir: &Path, provided: Option<String>) -> Result<ServerKeys, Error> {
    let path = data_dir.join(KEY_FILE);
    let check = data_dir.join(KEY_CHECK_FILE);
    let written_under = read(&check)?;
    let keys = match (provided, read(&path)?) {
        (Some(text), _) => parse(&text).ok_or_else(|| {
            Error::new(format!(
                "{SERVER_KEY_VARIABLE} is not 64 hexadecimal digits for each key"
            ))
        })?,
        (None, Some(text)) => {
            refuse_open_permissions(&path)?;
            parse(&text).ok_or_else(|| damaged(&path))?
        }
        (None, None) if written_under.is_some() => {
            return Err(Error::new(format!(
                "{} is missing, and the recovery codes in this data directory cannot be read \
                 without it: put it back, or set {SERVER_KEY_VARIABLE}",
                path.display()
            )));
        }
        (None, None) => {
            let key = draw()?;
            write(&path, &HEXLOWER.encode(&key))?;
            ServerKeys::from(&key)
        }
    };
    let there = fingerprints(&keys);
    let needed = match &written_under {
        None => Vec::new(),
        Some(text) => hashes(text).ok_or_else(|| damaged(&check))?,
    };
    if needed.len() > there.len() && needed.starts_with(&there) {
        return Err(Error::new(
            "the server key was replaced, and only the former one is here: take the newer file"
                .into(),
        ));
    }
    if !there.starts_with(&needed) {
        return Err(Error::new(
            "the server key is not the one that this data directory was made with: its \
             recovery codes could not be read"
                .into(),
        ));
    }
    if there.len() > needed.len() {
        write(&check, &lines(there.chunks(32)))?;
    }
    Ok(keys)
}

/// Puts a new key behind those of a data directory that no server is using, in `to`, or else in the directory. The next
/// start uses it.
/// # Errors
/// As for [`existing`]; there are too many keys, or the file cannot be written.
pub fn replace(data_dir: &Path, provided: Option<String>, to: Option<&Path>) -> Result<(), Error> {
    let own = data_dir.join(KEY_FILE);
    if provided.is_some() && to.is_none() {
        return Err(Error::new(format!(
            "the server key comes from {SERVER_KEY_VARIABLE}: name a file for the new one with --to"
        )));
    }
    let keys = existing(data_dir, provided)?;
    if keys.all().count() >= MAX_KEYS {
        return Err(Error::new(format!("there are {MAX_KEYS} keys already")));
    }
    let later = keys.all().skip(1).copied().chain([draw()?]).collect();
    let keys = ServerKeys::new(*keys.first(), later);
    let to = to.unwrap_or(&own);
    if to != own && to.exists() {
        return Err(Error::new(format!("{} exists already", to.display())));
    }
    write(to, &text(&keys))
}

/// How keys are written down.
pub(crate) fn text(keys: &ServerKeys) -> String {
    lines(keys.all().map(<[u8; 32]>::as_slice))
}

fn lines<'a>(all: impl Iterator<Item = &'a [u8]>) -> String {
    let all: Vec<_> = all.map(|bytes| HEXLOWER.encode(bytes)).collect();
    all.join("\n")
}

fn parse(text: &str) -> Option<ServerKeys> {
    let parts = text.split([',', '\n']).map(str::trim);
    let keys: Option<Vec<_>> = parts.map(|part| from_hex(part.as_bytes())).collect();
    let keys = keys.filter(|keys| keys.len() <= MAX_KEYS)?;
    let (first, later) = keys.split_first()?;
    Some(ServerKeys::new(*first, later.to_vec()))
}

/// The bytes of all hashes of a `server.key.check`; none of an empty one.
fn hashes(text: &str) -> Option<Vec<u8>> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let all: Option<Vec<_>> = lines.map(|line| from_hex(line.trim().as_bytes())).collect();
    all.map(|all| all.concat())
}

fn draw() -> Result<[u8; 32], Error> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)
        .map_err(|error| Error::new(format!("the system has no random bytes: {error}")))?;
    Ok(key)
}

fn refuse_open_permissions(path: &Path) -> Result<(), Error> {
    let mode = fs::metadata(path)
        .map_err(|error| unusable(path, &error))?
        .permissions()
        .mode();
    if mode & crate::data_dir::OTHERS == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(Error::new(format!(
        "{path} can be read by others: chmod 600 {path}"
    )))
}
