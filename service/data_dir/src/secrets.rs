//! The two secrets of a server: the administrator's token, of which only a hash is kept, and the
//! server key, under which recovery codes are hashed and encrypted. Both come from the environment
//! or are made at the first start. Neither is ever logged.
//!
//! To be called only while the data directory is locked: two first starts at once must not make two
//! keys.

use std::{fmt, fs, io, os::unix::fs::PermissionsExt as _, path::Path};

use catalog::sha256;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use subtle::ConstantTimeEq as _;

use crate::{environment::secret, private_file};

/// The administrator's token, if the operator chooses it.
pub const ADMIN_TOKEN_VARIABLE: &str = "SCRIP_ADMIN_TOKEN";
/// The server key, if the operator keeps it elsewhere: 64 hexadecimal digits.
pub const SERVER_KEY_VARIABLE: &str = "SCRIP_SERVER_KEY";

/// The file with the hash of a token that was generated.
const ADMIN_FILE: &str = "admin-token.sha256";
/// The file with that token itself, from the first start until the operator has taken it from there.
pub const NEW_TOKEN_FILE: &str = "admin-token";
/// The file with the key that was generated.
pub const KEY_FILE: &str = "server.key";
/// The file with a hash of the key that the data was written under, so that another key is refused
/// rather than silently opening no code.
const KEY_CHECK_FILE: &str = "server.key.check";

/// A token that can be guessed gives everything away.
const MIN_TOKEN_LENGTH: usize = 16;
const TOKEN_LENGTH: usize = 40;

/// A secret is missing or does not fit; says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    pub(crate) const fn new(why: String) -> Self {
        Self(why)
    }
}

/// The secrets of a running server.
pub struct Secrets {
    /// SHA-256 of the administrator's token.
    pub admin_token_sha256: [u8; 32],
    /// The token itself where it was made just now, to be printed once.
    pub new_admin_token: Option<String>,
    /// The key under which recovery codes are hashed and encrypted.
    pub server_key: [u8; 32],
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

/// The secrets that the operator gave.
#[derive(Clone, Default)]
pub struct ProvidedSecrets {
    /// The administrator's token, from [`ADMIN_TOKEN_VARIABLE`].
    pub admin_token: Option<String>,
    /// The server key, from [`SERVER_KEY_VARIABLE`].
    pub server_key: Option<String>,
}

impl ProvidedSecrets {
    /// Reads the environment of this process, and the files that it names.
    ///
    /// # Errors
    ///
    /// As for [`environment::secret`](crate::environment::secret).
    pub fn from_environment() -> Result<Self, Error> {
        Ok(Self {
            admin_token: secret(ADMIN_TOKEN_VARIABLE)?,
            server_key: secret(SERVER_KEY_VARIABLE)?,
        })
    }

    /// `Err` where one of the two would have to be made here: others share the data, and have made theirs.
    ///
    /// # Errors
    ///
    /// [`Error`] says which is missing.
    pub fn check_shared(&self, data_dir: &Path) -> Result<(), Error> {
        let missing = |name: &str, file: &str| {
            Error(format!(
                "{name} is not set, and {file} is not in {}: each process of a cluster needs the same one. Take it from \
                 the first",
                data_dir.display()
            ))
        };
        if self.server_key.is_none() && !data_dir.join(KEY_FILE).exists() {
            return Err(missing(SERVER_KEY_VARIABLE, KEY_FILE));
        }
        if self.admin_token.is_none() && !data_dir.join(ADMIN_FILE).exists() {
            return Err(missing(ADMIN_TOKEN_VARIABLE, ADMIN_FILE));
        }
        Ok(())
    }
}

impl Secrets {
    /// Takes what was provided, else what is kept in the data directory, else makes it.
    ///
    /// # Errors
    ///
    /// [`Error`] when a given secret is unusable, a file cannot be read or written or is open to
    /// others, or the server key is missing or not the one of the data.
    pub fn open(data_dir: &Path, provided: ProvidedSecrets) -> Result<Self, Error> {
        let (admin_token_sha256, new_admin_token) = admin_token(data_dir, provided.admin_token)?;
        let server_key = server_key(data_dir, provided.server_key)?;
        Ok(Self {
            admin_token_sha256,
            new_admin_token,
            server_key,
        })
    }
}

/// The secrets of a data directory that its backup has.
pub struct BackupSecrets {
    /// Tells this server's data from others': a hash of the server key.
    pub owner: String,
    /// The hash of the administrator's token where it was generated, and that of the server key; the
    /// server key itself where it is asked for.
    pub files: Vec<(String, Vec<u8>)>,
}

impl fmt::Debug for BackupSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Beside(..)")
    }
}

impl BackupSecrets {
    /// Reads them; the server key is among them where it is provided.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or no server ever used this data directory.
    pub fn read(data_dir: &Path, server_key: Option<&[u8; 32]>) -> Result<Self, Error> {
        let line = |text: &str| format!("{text}\n").into_bytes();
        let mut files = Vec::new();
        if let Some(hash) = read(&data_dir.join(ADMIN_FILE))? {
            files.push((ADMIN_FILE.to_owned(), line(&hash)));
        }
        let check = read(&data_dir.join(KEY_CHECK_FILE))?;
        let owner = check.ok_or_else(|| {
            Error(format!(
                "no server has used {} yet: there is nothing to back up",
                data_dir.display()
            ))
        })?;
        files.push((KEY_CHECK_FILE.to_owned(), line(&owner)));
        if let Some(key) = server_key {
            files.push((KEY_FILE.to_owned(), line(&HEXLOWER.encode(key))));
        }
        Ok(Self { owner, files })
    }
}

/// Whether the server key that a data directory needs is there.
#[derive(Debug, PartialEq, Eq)]
pub enum KeyState {
    /// It was provided, or is in the directory.
    Fits,
    /// There is none. Has the first digits of the hash in `server.key.check`.
    Missing(String),
    /// There is another key. Has the same digits.
    Other(String),
}

impl KeyState {
    /// Looks for the key, and changes nothing.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn of(data_dir: &Path, provided: Option<&str>) -> Result<Self, Error> {
        let needed = read(&data_dir.join(KEY_CHECK_FILE))?.unwrap_or_default();
        let lies_there = read(&data_dir.join(KEY_FILE))?;
        let short = needed.chars().take(12).collect();
        let Some(text) = provided.map(str::to_owned).or(lies_there) else {
            return Ok(Self::Missing(short));
        };
        let known = from_hex(text.as_bytes()).map(|key| fingerprint(&key));
        let fits = known.is_some_and(|known| from_hex(needed.as_bytes()) == Some(known));
        Ok(if fits { Self::Fits } else { Self::Other(short) })
    }
}

/// The server key of a data directory that no server is using.
///
/// # Errors
///
/// There is none, or it is not the one that the data was made with.
pub fn existing_key(data_dir: &Path, provided: Option<String>) -> Result<[u8; 32], Error> {
    if provided.is_none() && !data_dir.join(KEY_FILE).exists() {
        return Err(Error(format!(
            "the server key is not in {}: set {SERVER_KEY_VARIABLE} to include it",
            data_dir.display()
        )));
    }
    server_key(data_dir, provided)
}

fn admin_token(
    data_dir: &Path,
    provided: Option<String>,
) -> Result<([u8; 32], Option<String>), Error> {
    if let Some(token) = provided {
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
    // The hash last: where that fails, a token is made anew.
    write(&data_dir.join(NEW_TOKEN_FILE), &token)?;
    write(&path, &HEXLOWER.encode(&hash))?;
    Ok((hash, Some(token)))
}

fn server_key(data_dir: &Path, provided: Option<String>) -> Result<[u8; 32], Error> {
    let path = data_dir.join(KEY_FILE);
    let check = data_dir.join(KEY_CHECK_FILE);
    let written_under = read(&check)?;
    let key = match (provided, read(&path)?) {
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

/// A hash that tells whether a key is the same, and nothing else about it.
#[must_use]
pub fn fingerprint(key: &[u8; 32]) -> [u8; 32] {
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
///
/// # Errors
///
/// The file cannot be written durably.
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
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
        Secrets::open(dir, ProvidedSecrets::default()).unwrap()
    }

    #[test]
    fn the_token_is_made_once_and_put_into_a_file_to_be_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let first = open(dir.path());
        let token = first.new_admin_token.unwrap();
        assert_eq!(first.admin_token_sha256, sha256(token.as_bytes()));
        let again = open(dir.path());
        assert_eq!(again.new_admin_token, None);
        assert_eq!(again.admin_token_sha256, first.admin_token_sha256);
        let file = dir.path().join(NEW_TOKEN_FILE);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&file).unwrap().trim(), token);
        fs::remove_file(file).unwrap();
        let hash = open(dir.path()).admin_token_sha256;
        assert_eq!(hash, first.admin_token_sha256);
        for file in fs::read_dir(dir.path()).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains(&token));
        }
    }

    #[test]
    fn a_given_token_wins_and_nothing_is_stored() {
        let dir = tempfile::tempdir().unwrap();
        let token = "0123456789abcdef";
        let provided = ProvidedSecrets {
            admin_token: Some(token.into()),
            server_key: None,
        };
        let secrets = Secrets::open(dir.path(), provided).unwrap();
        assert_eq!(secrets.admin_token_sha256, sha256(token.as_bytes()));
        assert_eq!(secrets.new_admin_token, None);
        assert!(!dir.path().join(ADMIN_FILE).exists());
        let short = ProvidedSecrets {
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
        let said = Secrets::open(dir.path(), ProvidedSecrets::default())
            .unwrap_err()
            .to_string();
        assert!(said.contains("chmod 600"), "{said}");
    }

    #[test]
    fn data_is_not_opened_without_its_key_or_under_another() {
        let dir = tempfile::tempdir().unwrap();
        let key = open(dir.path()).server_key;
        fs::remove_file(dir.path().join(KEY_FILE)).unwrap();
        assert!(Secrets::open(dir.path(), ProvidedSecrets::default()).is_err());
        let with = |hex: String| {
            Secrets::open(
                dir.path(),
                ProvidedSecrets {
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
    fn a_backup_has_the_key_only_where_it_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        assert!(BackupSecrets::read(dir.path(), None).is_err());
        let key = open(dir.path()).server_key;
        let names = |beside: &BackupSecrets| -> Vec<_> {
            let names = beside.files.iter().map(|(name, _)| name.clone());
            names.collect()
        };
        let without = BackupSecrets::read(dir.path(), None).unwrap();
        assert_eq!(names(&without), [ADMIN_FILE, KEY_CHECK_FILE]);
        let digits = HEXLOWER.encode(&key).into_bytes();
        let all = without.files.iter().map(|(_, bytes)| bytes);
        assert!(all.into_iter().all(|it| !it.starts_with(&digits)));
        let with = BackupSecrets::read(dir.path(), Some(&key)).unwrap();
        assert_eq!(names(&with), [ADMIN_FILE, KEY_CHECK_FILE, KEY_FILE]);
        assert_eq!(with.owner, without.owner);

        let restored = tempfile::tempdir().unwrap();
        for (name, bytes) in &without.files {
            fs::write(restored.path().join(name), bytes).unwrap();
        }
        let state = |provided: Option<&str>| KeyState::of(restored.path(), provided).unwrap();
        let short: String = without.owner.chars().take(12).collect();
        assert_eq!(state(None), KeyState::Missing(short.clone()));
        assert_eq!(state(Some(&"00".repeat(32))), KeyState::Other(short));
        assert_eq!(state(Some(&HEXLOWER.encode(&key))), KeyState::Fits);
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
