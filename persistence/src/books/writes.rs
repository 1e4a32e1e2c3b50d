//! The only way anything is written to the trees of the books: one record at a time (sled's batches keep every old leaf
//! alive), none larger than sled keeps in its log (a larger one would go to a file that it never syncs).

use crate::{error::Error, sled_error::failed};

const MAX_VALUE_BYTES: usize = 64 << 10;

/// What writes and removes records, each by itself and without a flush.
#[derive(Default)]
pub(crate) struct Writes {
    /// How many more writes succeed before one fails, for tests.
    #[cfg(test)]
    pub(crate) fail_after: WriteLimit,
}

/// A count of writes, which is as good as without end unless a test sets it.
#[cfg(test)]
pub(crate) struct WriteLimit(pub(crate) std::sync::atomic::AtomicI64);

#[cfg(test)]
impl Default for WriteLimit {
    fn default() -> Self {
        Self(i64::MAX.into())
    }
}

impl Writes {
    pub(crate) fn put(
        &self,
        tree: &sled::Tree,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]> + Into<sled::IVec>,
    ) -> Result<(), Error> {
        self.burn()?;
        let length = value.as_ref().len();
        if length > MAX_VALUE_BYTES {
            let name = String::from_utf8_lossy(&tree.name()).into_owned();
            return Err(damaged(format!("a record of {name} has {length} bytes")));
        }
        tree.insert(key, value).map(drop).map_err(io)
    }

    pub(crate) fn remove(&self, tree: &sled::Tree, key: impl AsRef<[u8]>) -> Result<(), Error> {
        self.burn()?;
        tree.remove(key).map(drop).map_err(io)
    }

    /// Removes every record whose key begins with `prefix`.
    pub(crate) fn remove_all(&self, tree: &sled::Tree, prefix: &[u8]) -> Result<(), Error> {
        for key in tree.scan_prefix(prefix).keys() {
            self.remove(tree, key.map_err(io)?)?;
        }
        Ok(())
    }

    #[cfg(not(test))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "tests inject failures here"
    )]
    const fn burn(&self) -> Result<(), Error> {
        Ok(())
    }

    #[cfg(test)]
    fn burn(&self) -> Result<(), Error> {
        match self
            .fail_after
            .0
            .fetch_sub(1, std::sync::atomic::Ordering::Relaxed)
        {
            ..=0 => Err(Error::Io("injected".into())),
            _ => Ok(()),
        }
    }
}

pub(crate) fn io(error: sled::Error) -> Error {
    failed("the books", &error)
}

pub(crate) const fn damaged(what: String) -> Error {
    Error::Damaged(what)
}
