//! The two secrets of a server: the administrator's token, of which only a hash is kept, and the
//! server key, under which recovery codes are hashed and encrypted. Both come from the environment
//! or are made at the first start. Neither is ever logged.
//!
//! To be called only while the data directory is locked: two first starts at once must not make two
//! keys.

use std::{fmt, fs, io, path::Path};

use actors::ServerKeys;
use catalog::sha256;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use persistence::private_file;

use crate::data_dir::{
    environment::secret,
    server_key::{self, KEY_CHECK_FILE},
};

/// The administrator's token, if the operator chooses it.
pub const ADMIN_TOKEN_VARIABLE: &str = "SCRIP_ADMIN_TOKEN";
/// The server key, if the operator keeps it elsewhere: 64 hexadecimal digits; with commas between, where it was replaced.
pub const SERVER_KEY_VARIABLE: &str = "SCRIP_SERVER_KEY";

/// The file with the hash of a token that was generated.
const ADMIN_FILE: &str = "admin-token.sha256";
/// The file with that token itself, from the first start until the operator has taken it from there.
pub const NEW_TOKEN_FILE: &str = "admin-token";
pub const KEY_FILE: &str = "server.key";

/// A token that can be guessed gives everything away.
const MIN_TOKEN_LENGTH: usize = 16;
const TOKEN_LENGTH: usize = 40;

/// A secret is missing or does not fit; the message has the remedy.
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
    pub admin_token_sha256: [u8; 32],
    /// The token itself where it was made just now, to be printed once.
    pub new_admin_token: Option<String>,
    /// The keys under which recovery codes are hashed and encrypted.
    pub server_keys: ServerKeys,
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
    /// # Errors
    /// As for [`environment::secret`](crate::data_dir::environment::secret).
    pub fn from_environment() -> Result<Self, Error> {
        Ok(Self {
            admin_token: secret(ADMIN_TOKEN_VARIABLE)?,
            server_key: secret(SERVER_KEY_VARIABLE)?,
        })
    }

    /// `Err` where one of the two would have to be made here: others share the data, and have made theirs.
    /// # Errors
    /// [`Error`], with the one that is missing.
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
    /// # Errors
    /// [`Error`] when a given secret is unusable, a file cannot be read or written or is open to
    /// others, or the server key is missing or not the one of the data.
    pub fn open(data_dir: &Path, provided: ProvidedSecrets) -> Result<Self, Error> {
        let (admin_token_sha256, new_admin_token) = admin_token(data_dir, provided.admin_token)?;
        let server_keys = server_key::open(data_dir, provided.server_key)?;
        Ok(Self {
            admin_token_sha256,
            new_admin_token,
            server_keys,
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

impl BackupSecrets {
    /// Reads them; the server key is among them where it is provided.
    /// # Errors
    /// A file cannot be read, or no server ever used this data directory.
    pub fn read(data_dir: &Path, server_keys: Option<&ServerKeys>) -> Result<Self, Error> {
        let line = |text: &str| format!("{text}\n").into_bytes();
        let mut files = Vec::new();
        if let Some(hash) = read(&data_dir.join(ADMIN_FILE))? {
            files.push((ADMIN_FILE.to_owned(), line(&hash)));
        }
        let check = read(&data_dir.join(KEY_CHECK_FILE))?;
        let check = check.ok_or_else(|| {
            Error(format!(
                "no server has used {} yet: there is nothing to back up",
                data_dir.display()
            ))
        })?;
        files.push((KEY_CHECK_FILE.to_owned(), line(&check)));
        if let Some(keys) = server_keys {
            files.push((KEY_FILE.to_owned(), line(&server_key::text(keys))));
        }
        // It stays the same when a key is replaced.
        let owner = check.lines().next().unwrap_or_default().to_owned();
        Ok(Self { owner, files })
    }
}

/// Makes a new administrator's token of a data directory, which the next start takes in place of the former one; writes
/// it to [`NEW_TOKEN_FILE`] there.
/// # Errors
/// No server has used the directory, or a file cannot be written.
pub fn replace_admin_token(data_dir: &Path) -> Result<(), Error> {
    if !data_dir.join(KEY_CHECK_FILE).exists() {
        return Err(Error(format!(
            "no server has used {} yet",
            data_dir.display()
        )));
    }
    make_admin_token(data_dir).map(drop)
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
    make_admin_token(data_dir)
}

fn make_admin_token(data_dir: &Path) -> Result<([u8; 32], Option<String>), Error> {
    let token = catalog::random_text(TOKEN_LENGTH).map_err(|e| Error(e.to_string()))?;
    let hash = sha256(token.as_bytes());
    // The hash last: if that fails, the next start makes another token.
    write(&data_dir.join(NEW_TOKEN_FILE), &token)?;
    write(&data_dir.join(ADMIN_FILE), &HEXLOWER.encode(&hash))?;
    Ok((hash, Some(token)))
}

pub(crate) fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// Writes a file that only its owner can read, whole or not at all, and for good.
/// # Errors
/// The file cannot be written durably.
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
    private_file::write(path, format!("{text}\n").as_bytes())
        .map_err(|error| unusable(path, &error))
}

pub(crate) fn unusable(path: &Path, error: &io::Error) -> Error {
    Error(format!("{} cannot be used: {error}", path.display()))
}

/// Exactly 64 digits, in either case, and nothing else.
pub(crate) fn from_hex(text: &[u8]) -> Option<[u8; 32]> {
    HEXLOWER_PERMISSIVE.decode(text).ok()?.try_into().ok()
}

pub(crate) fn damaged(path: &Path) -> Error {
    Error(format!(
        "{} is damaged: it does not hold 64 hexadecimal digits",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::data_dir::server_key::KeyState;

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
        let key = open(dir.path()).server_keys;
        let path = dir.path().join(KEY_FILE);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(open(dir.path()).server_keys, key);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refusal = Secrets::open(dir.path(), ProvidedSecrets::default())
            .unwrap_err()
            .to_string();
        assert!(refusal.contains("chmod 600"), "{refusal}");
    }

    #[test]
    fn data_is_not_opened_without_its_key_or_under_another() {
        let dir = tempfile::tempdir().unwrap();
        let key = open(dir.path()).server_keys;
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
        assert_eq!(with(server_key::text(&key)).unwrap().server_keys, key);
        assert!(with("00".repeat(32)).is_err());
        assert!(with("not hex".into()).is_err());
    }

    #[test]
    fn a_backup_has_the_key_only_where_it_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        assert!(BackupSecrets::read(dir.path(), None).is_err());
        let key = open(dir.path()).server_keys;
        let names = |beside: &BackupSecrets| -> Vec<_> {
            let names = beside.files.iter().map(|(name, _)| name.clone());
            names.collect()
        };
        let without = BackupSecrets::read(dir.path(), None).unwrap();
        assert_eq!(names(&without), [ADMIN_FILE, KEY_CHECK_FILE]);
        let digits = server_key::text(&key).into_bytes();
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
        assert_eq!(state(Some(&server_key::text(&key))), KeyState::Fits);
    }

    #[test]
    fn a_replaced_key_is_needed_from_the_next_start_on_and_the_first_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let first = open(dir.path()).server_keys;
        let former = fs::read_to_string(dir.path().join(KEY_FILE)).unwrap();
        server_key::replace(dir.path(), None, None).unwrap();
        // Not used yet: a backup of before fits.
        assert_eq!(
            KeyState::of(dir.path(), Some(former.trim())).unwrap(),
            KeyState::Fits
        );
        let keys = open(dir.path()).server_keys;
        assert_eq!(keys.first(), first.first());
        assert_ne!(keys.newest(), first.newest());
        assert_eq!(open(dir.path()).server_keys, keys);
        let provided = |text: &str| ProvidedSecrets {
            admin_token: None,
            server_key: Some(text.to_owned()),
        };
        let refusal = Secrets::open(dir.path(), provided(former.trim())).unwrap_err();
        assert!(refusal.to_string().contains("was replaced"), "{refusal}");
        let newest = HEXLOWER.encode(keys.newest());
        assert!(Secrets::open(dir.path(), provided(&newest)).is_err());
        // As a variable has them.
        let both = server_key::text(&keys).replace('\n', ",");
        let again = Secrets::open(dir.path(), provided(&both)).unwrap();
        assert_eq!(again.server_keys, keys);
        let backup = BackupSecrets::read(dir.path(), Some(&keys)).unwrap();
        assert_eq!(backup.owner.len(), 64);
        // If the environment has them, the new one is written to `to`.
        let elsewhere = dir.path().join("elsewhere");
        assert!(server_key::replace(dir.path(), Some(both.clone()), None).is_err());
        server_key::replace(dir.path(), Some(both), Some(&elsewhere)).unwrap();
        assert_eq!(fs::read_to_string(elsewhere).unwrap().lines().count(), 3);
    }

    #[test]
    fn a_replaced_token_is_the_only_one() {
        let dir = tempfile::tempdir().unwrap();
        assert!(replace_admin_token(dir.path()).is_err());
        let first = open(dir.path());
        replace_admin_token(dir.path()).unwrap();
        let second = open(dir.path());
        assert_ne!(first.admin_token_sha256, second.admin_token_sha256);
        let token = fs::read_to_string(dir.path().join(NEW_TOKEN_FILE)).unwrap();
        assert_eq!(second.admin_token_sha256, sha256(token.trim().as_bytes()));
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
