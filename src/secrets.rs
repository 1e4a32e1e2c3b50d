//! The two secrets of a server: the administrator's token, of which only a hash is kept, and the
//! server key, under which recovery codes are hashed and encrypted. Both come from the environment
//! or are made at the first start. Neither is ever logged.
//!
//! To be called only while the data directory is locked: two first starts at once must not make two
//! keys.

use std::{fmt, fs, io, os::unix::fs::PermissionsExt as _, path::Path};

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use subtle::ConstantTimeEq as _;

use crate::{catalog::sha256, private_file};

/// The administrator's token, if the operator chooses it.
pub const ADMIN_TOKEN_VARIABLE: &str = "SCRIP_ADMIN_TOKEN";
/// The server key, if the operator keeps it elsewhere: 64 hexadecimal digits.
pub const SERVER_KEY_VARIABLE: &str = "SCRIP_SERVER_KEY";

/// The hash of a token that was generated.
const ADMIN_FILE: &str = "admin-token.sha256";
/// The key that was generated.
pub(crate) const KEY_FILE: &str = "server.key";
/// What the data was written under, so that another key is refused rather than silently opening
/// no code.
const KEY_CHECK_FILE: &str = "server.key.check";

/// A token that can be guessed gives everything away.
const MIN_TOKEN_LENGTH: usize = 16;
const TOKEN_LENGTH: usize = 40;

/// A secret is missing or does not fit; says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// What the server needs to know.
pub struct Secrets {
    /// SHA-256 of the administrator's token.
    pub admin_token_sha256: [u8; 32],
    /// The token itself where it was made just now, to be printed once.
    pub new_admin_token: Option<String>,
    /// Under which recovery codes are kept.
    pub server_key: [u8; 32],
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

/// What the operator gave.
#[derive(Default)]
pub struct Given {
    /// [`ADMIN_TOKEN_VARIABLE`]
    pub admin_token: Option<String>,
    /// [`SERVER_KEY_VARIABLE`]
    pub server_key: Option<String>,
}

impl Given {
    /// From the environment of this process. An empty variable counts as none.
    #[must_use]
    pub fn from_environment() -> Self {
        let read = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            admin_token: read(ADMIN_TOKEN_VARIABLE),
            server_key: read(SERVER_KEY_VARIABLE),
        }
    }
}

impl Secrets {
    /// Takes what was given, else what is kept in the data directory, else makes it.
    pub fn open(data_dir: &Path, given: Given) -> Result<Self, Error> {
        let (admin_token_sha256, new_admin_token) = admin_token(data_dir, given.admin_token)?;
        let server_key = server_key(data_dir, given.server_key)?;
        Ok(Self {
            admin_token_sha256,
            new_admin_token,
            server_key,
        })
    }
}

fn admin_token(
    data_dir: &Path,
    given: Option<String>,
) -> Result<([u8; 32], Option<String>), Error> {
    if let Some(token) = given {
        if token.len() < MIN_TOKEN_LENGTH {
            return Err(Error(format!(
                "{ADMIN_TOKEN_VARIABLE} has fewer than {MIN_TOKEN_LENGTH} characters: choose a \
                 longer one, or leave it out to have one made"
            )));
        }
        return Ok((sha256(token.as_bytes()), None));
    }
    let path = data_dir.join(ADMIN_FILE);
    if let Some(text) = read(&path)? {
        let hash = from_hex(text.as_bytes()).ok_or_else(|| damaged(&path))?;
        return Ok((hash, None));
    }
    let token = catalog::random_text(TOKEN_LENGTH).map_err(|e| Error(e.to_string()))?;
    let hash = sha256(token.as_bytes());
    write(&path, &HEXLOWER.encode(&hash))?;
    Ok((hash, Some(token)))
}

fn server_key(data_dir: &Path, given: Option<String>) -> Result<[u8; 32], Error> {
    let path = data_dir.join(KEY_FILE);
    let check = data_dir.join(KEY_CHECK_FILE);
    let written_under = read(&check)?;
    let key = match (given, read(&path)?) {
        (Some(text), _) => from_hex(text.as_bytes()).ok_or_else(|| {
            Error(format!(
                "{SERVER_KEY_VARIABLE} is not 64 hexadecimal digits"
            ))
        })?,
        (None, Some(text)) => {
            refuse_open_permissions(&path)?;
            from_hex(text.as_bytes()).ok_or_else(|| damaged(&path))?
        }
        (None, None) if written_under.is_some() => {
            return Err(Error(format!(
                "{} is missing, and the recovery codes in this data directory cannot be read \
                 without it: put it back, or set {SERVER_KEY_VARIABLE}",
                path.display()
            )));
        }
        (None, None) => {
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(|e| Error(format!("no random bytes: {e}")))?;
            write(&path, &HEXLOWER.encode(&key))?;
            key
        }
    };
    let fingerprint = fingerprint(&key);
    match written_under {
        None => write(&check, &HEXLOWER.encode(&fingerprint))?,
        Some(text) => {
            let known = from_hex(text.as_bytes()).ok_or_else(|| damaged(&check))?;
            if !bool::from(known.ct_eq(&fingerprint)) {
                return Err(Error(
                    "the server key is not the one that this data directory was made with: its \
                     recovery codes could not be read"
                        .into(),
                ));
            }
        }
    }
    Ok(key)
}

/// Says whether a key is the same without saying anything about it.
fn fingerprint(key: &[u8; 32]) -> [u8; 32] {
    let mut text = b"scrip/server-key-check/1".to_vec();
    text.extend_from_slice(key);
    sha256(&text)
}

fn refuse_open_permissions(path: &Path) -> Result<(), Error> {
    let mode = fs::metadata(path)
        .map_err(|error| unusable(path, &error))?
        .permissions()
        .mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(Error(format!(
        "{path} can be read by others: chmod 600 {path}"
    )))
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// Writes a file that only its owner can read, whole or not at all, and for good.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    private_file::write(path, format!("{text}\n").as_bytes())
        .map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, error: &io::Error) -> Error {
    Error(format!("{} cannot be used: {error}", path.display()))
}

/// Exactly 64 digits, in either case, and nothing else.
fn from_hex(text: &[u8]) -> Option<[u8; 32]> {
    HEXLOWER_PERMISSIVE.decode(text).ok()?.try_into().ok()
}

fn damaged(path: &Path) -> Error {
    Error(format!(
        "{} is damaged: it does not hold 64 hexadecimal digits",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path) -> Secrets {
        Secrets::open(dir, Given::default()).unwrap()
    }

    #[test]
    fn the_token_is_made_once_and_only_its_hash_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let first = open(dir.path());
        let token = first.new_admin_token.unwrap();
        assert_eq!(first.admin_token_sha256, sha256(token.as_bytes()));
        let again = open(dir.path());
        assert_eq!(again.new_admin_token, None);
        assert_eq!(again.admin_token_sha256, first.admin_token_sha256);
        for file in fs::read_dir(dir.path()).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains(&token));
        }
    }

    #[test]
    fn a_given_token_wins_and_nothing_is_stored() {
        let dir = tempfile::tempdir().unwrap();
        let token = "0123456789abcdef";
        let given = Given {
            admin_token: Some(token.into()),
            server_key: None,
        };
        let secrets = Secrets::open(dir.path(), given).unwrap();
        assert_eq!(secrets.admin_token_sha256, sha256(token.as_bytes()));
        assert_eq!(secrets.new_admin_token, None);
        assert!(!dir.path().join(ADMIN_FILE).exists());
        let short = Given {
            admin_token: Some("short".into()),
            server_key: None,
        };
        assert!(Secrets::open(dir.path(), short).is_err());
    }

    #[test]
    fn the_key_is_kept_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let key = open(dir.path()).server_key;
        let path = dir.path().join(KEY_FILE);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(open(dir.path()).server_key, key);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let said = Secrets::open(dir.path(), Given::default())
            .unwrap_err()
            .to_string();
        assert!(said.contains("chmod 600"), "{said}");
    }

    #[test]
    fn data_is_not_opened_without_its_key_or_under_another() {
        let dir = tempfile::tempdir().unwrap();
        let key = open(dir.path()).server_key;
        fs::remove_file(dir.path().join(KEY_FILE)).unwrap();
        assert!(Secrets::open(dir.path(), Given::default()).is_err());
        let with = |hex: String| {
            Secrets::open(
                dir.path(),
                Given {
                    admin_token: None,
                    server_key: Some(hex),
                },
            )
        };
        assert_eq!(with(HEXLOWER.encode(&key)).unwrap().server_key, key);
        assert!(with("00".repeat(32)).is_err());
        assert!(with("not hex".into()).is_err());
    }

    #[test]
    fn digits_are_read_strictly() {
        let bytes = [0xa5; 32];
        let digits = HEXLOWER.encode(&bytes);
        assert_eq!(from_hex(digits.as_bytes()), Some(bytes));
        assert_eq!(from_hex(digits.to_uppercase().as_bytes()), Some(bytes));
        for bad in [
            "+1".repeat(32),
            "0".repeat(63),
            "0".repeat(66),
            "é".repeat(32),
        ] {
            assert_eq!(from_hex(bad.as_bytes()), None, "{bad}");
        }
    }
}
