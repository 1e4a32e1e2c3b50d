//! The question before an action, with what it takes away.

use std::borrow::Cow;

use actors::WalletView;
use domain::Timestamp;
use wire::visible::visible;

use crate::ConfirmationResult;

/// The question whether something should be done, and what that changes.
#[derive(Debug)]
pub struct Confirmation {
    /// The question, with its mark.
    pub title: String,
    /// What it changes, each with its name.
    pub facts: Vec<(&'static str, Fact)>,
}

impl Confirmation {
    pub(crate) fn ask(
        title: impl Into<String>,
        facts: Vec<(&'static str, Fact)>,
    ) -> ConfirmationResult {
        let title = title.into();
        Ok(Some(Self { title, facts }))
    }
}

/// Something that a confirmation says.
#[derive(Debug)]
pub enum Fact {
    /// A sentence of the service's own.
    Text(Cow<'static, str>),
    /// Somebody's own text, as it is.
    Verbatim(String),
    /// The identifier of something.
    Id(String),
    /// A point in time.
    Instant(Timestamp),
}

impl From<&'static str> for Fact {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// What a sentence calls a wallet: its user, or "this wallet".
pub(crate) fn owner(wallet: &WalletView) -> Cow<'_, str> {
    let user = wallet.external_user.as_ref();
    user.map_or("this wallet".into(), |user| visible(user.as_str()))
}

/// A wallet as a fact: its user, if it has one.
pub(crate) fn wallet_fact(wallet: &WalletView) -> (&'static str, Fact) {
    let user = wallet.external_user.as_ref();
    let name = user.map_or("Anonymous wallet".into(), |user| {
        Fact::verbatim(user.as_str())
    });
    ("Wallet", name)
}

impl Fact {
    pub(crate) fn verbatim(text: &str) -> Self {
        Self::Verbatim(text.to_owned())
    }
}

impl From<Timestamp> for Fact {
    fn from(at: Timestamp) -> Self {
        Self::Instant(at)
    }
}
