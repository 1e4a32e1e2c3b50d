//! A secret from the environment: in a variable, or in a file that a variable with `_FILE` behind its name points to,
//! as the credentials of systemd and the secrets of containers are.

use std::{ffi::OsString, path::Path};

use crate::data_dir::secrets::Error;

/// What a variable's name has behind it where it names a file with the value.
pub const FILE_SUFFIX: &str = "_FILE";

/// A secret of this process' environment. An empty variable counts as none.
/// # Errors
/// Both variables are set, the value is not UTF-8, or the file cannot be read.
pub fn secret(name: &str) -> Result<Option<String>, Error> {
    secret_among(name, |name| std::env::var_os(name))
}

/// A secret among these variables.
/// # Errors
/// As for [`secret`].
pub fn secret_among(
    name: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<String>, Error> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let in_file = format!("{name}{FILE_SUFFIX}");
    match (set(name), set(&in_file)) {
        (Some(_), Some(_)) => Err(Error::new(format!(
            "{name} and {in_file} are both set: one of them is meant"
        ))),
        (Some(value), None) => match value.into_string() {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Error::new(format!("{name} is not valid UTF-8"))),
        },
        (None, Some(path)) => of_file(&in_file, Path::new(&path)).map(Some),
        (None, None) => Ok(None),
    }
}

/// The secret in a file, without the ends of lines behind it. Errors begin with the name of what named the file.
/// # Errors
/// It cannot be read, or is empty.
pub fn of_file(named_by: &str, path: &Path) -> Result<String, Error> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::new(format!("{named_by}: {shown} cannot be read: {error}")))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(Error::new(format!("{named_by}: {shown} is empty"))),
        secret => Ok(secret.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Option<String>, String> {
        let variable = |name: &str| {
            let found = pairs.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| OsString::from(value))
        };
        secret_among("TOKEN", variable).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_has_it_without_the_end_of_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let named = file.to_str().unwrap();
        for text in [" a b ", " a b \n", " a b \r\n"] {
            std::fs::write(&file, text).unwrap();
            let read = read(&[("TOKEN_FILE", named), ("TOKEN", "")]);
            assert_eq!(read, Ok(Some(" a b ".into())));
        }
        std::fs::write(&file, "\n").unwrap();
        let refusal = read(&[("TOKEN_FILE", named)]).unwrap_err();
        assert_eq!(refusal, format!("TOKEN_FILE: {named} is empty"));
    }

    #[test]
    fn two_values_and_a_file_that_is_not_there_are_refused_by_name() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[("TOKEN", "a")]), Ok(Some("a".into())));
        assert_eq!(read(&[("TOKEN", ""), ("TOKEN_FILE", "")]), Ok(None));
        let both = read(&[("TOKEN", "a"), ("TOKEN_FILE", "/b")]).unwrap_err();
        assert!(both.starts_with("TOKEN and TOKEN_FILE"), "{both}");
        let refusal = read(&[("TOKEN_FILE", "/nowhere/b")]).unwrap_err();
        assert!(
            refusal.starts_with("TOKEN_FILE: /nowhere/b cannot"),
            "{refusal}"
        );
    }
}
