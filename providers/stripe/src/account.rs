//! The account itself: which one a key is of.

use serde::Deserialize;

use super::{client::Client, error::Error, form::Form};

/// The account of a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AccountObject {
    /// Its identifier, `acct_…`.
    pub id: String,
}

impl Client {
    /// Reads the account that the key is of.
    ///
    /// # Errors
    ///
    /// See [`Error`]; a restricted key may lack the permission.
    pub async fn account(&self) -> Result<AccountObject, Error> {
        self.get(&["account"], &Form::new(), false).await
    }
}
