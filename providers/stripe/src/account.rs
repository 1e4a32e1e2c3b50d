//! The account itself: which one a key is of, and whether the key is of use.

use serde::Deserialize;

use super::{client::Client, error::Error, form::Form};

/// The account of a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AccountObject {
    /// Its identifier, `acct_…`.
    pub id: String,
}

/// A list of which nothing is read.
#[derive(Deserialize)]
struct Anything {}

impl Client {
    /// Reads the account that the key is of.
    ///
    /// # Errors
    ///
    /// See [`Error`]; a restricted key may lack the permission.
    pub async fn account(&self) -> Result<AccountObject, Error> {
        self.get(&["account"], &Form::new()).await
    }

    /// Asks for the least that Scrip cannot do without: the account's list of events.
    ///
    /// # Errors
    ///
    /// See [`Error`]: the key does not work, lacks the permission, or Stripe does not answer.
    pub async fn try_key(&self) -> Result<(), Error> {
        let Anything {} = self.get(&["events"], &Form::new().with("limit", 1)).await?;
        Ok(())
    }
}
