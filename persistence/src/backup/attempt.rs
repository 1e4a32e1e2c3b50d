//! The beginning of an attempt to restore, and the check that it overwrites no data.

use std::{collections::BTreeSet, fs};

use super::{
    FILES,
    discard::empty,
    manifest::Manifest,
    records,
    repository::Repository,
    state::{Stage, State},
};
use crate::{
    contract::BesideFile,
    error::Error,
    faults::Faults,
    files::{make_private, sync},
    log::{lock::Directory, watermark},
};

/// Names that a data directory must not contain when a restore begins.
const RESERVED_NAMES: [&str; 3] = ["sled", "sled.new", watermark::FILE];

/// The state of an earlier attempt, or this new one. `Err` if something in the directory would be overwritten.
pub(super) fn begin(
    directory: &Directory,
    first: State,
    files: &[BesideFile],
    faults: &Faults,
) -> Result<State, Error> {
    let work = directory.restoring();
    let former = State::read(directory);
    let discarding = matches!(&former, Some(former) if former.stage == Stage::Discarding);
    if let Some(former) = former.filter(|_| !discarding) {
        if (&former.backup, former.follows) == (&first.backup, first.follows) {
            return Ok(former);
        }
        if former.stage == Stage::Moving {
            return Err(unfinished(directory, &former));
        }
    }
    // What is being discarded is no reason to refuse.
    let books = RESERVED_NAMES.iter().copied().filter(|_| !discarding);
    for taken in books.chain(files.iter().map(|(name, _)| name.as_str())) {
        let path = directory.root().join(taken);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(Error::Unusable(format!(
                "{} exists, and nothing is overwritten: name a data directory that is empty or does \
                 not exist",
                path.display()
            )));
        }
    }
    if work.exists() {
        empty(directory, first.follows, faults)?;
    } else {
        make_private(&work)?;
        sync(directory.root())?;
    }
    first.write(&work)?;
    Ok(first)
}

fn unfinished(directory: &Directory, former: &State) -> Error {
    let (dir, name) = (directory.root().display(), &former.backup);
    Error::Unusable(match former.follows {
        true => format!("{dir} has unfinished books from snapshot {name}: finish them first"),
        false => format!(
            "{dir} has an unfinished restore of backup {name}: finish it first with `scrip restore --backup {name}`"
        ),
    })
}

/// The files that a backup holds beside the store. Their names are checked because they become paths.
pub(super) fn files(
    repository: &dyn Repository,
    manifest: &Manifest,
) -> Result<Vec<BesideFile>, Error> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    let sections = manifest.sections.iter().filter(|it| it.name == FILES);
    for chunk in sections.flat_map(|section| &section.chunks) {
        let content = repository.get(chunk)?;
        for (name, bytes) in records::read(&content)? {
            let bad = || Error::Damaged("the backup has a file that cannot be restored".into());
            let name = std::str::from_utf8(name).map_err(|_| bad())?;
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
            let reserved = RESERVED_NAMES.contains(&name) || matches!(name, "lock" | "restoring");
            let plain = !name.is_empty() && !name.starts_with('.') && name.bytes().all(allowed);
            if !plain || reserved || !seen.insert(name.to_owned()) {
                return Err(bad());
            }
            files.push((name.to_owned(), bytes.to_vec()));
        }
    }
    Ok(files)
}
