//! What answers are made of: objects that name each other, pages of lists, words that Stripe may add to.

use std::{collections::BTreeMap, fmt};

use domain::{Quantity, text::Email};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    client::{Answer, Client},
    error::Error,
    form::Form,
    id::CustomerId,
};

/// What names one kind of object, and is enough to read it.
pub trait Identifier:
    Clone + fmt::Debug + fmt::Display + PartialEq + Eq + DeserializeOwned + Send + Sync + 'static
{
    /// What it names.
    type Object: Clone + fmt::Debug + PartialEq + Eq + DeserializeOwned + Send + Sync + 'static;

    /// Where such objects are, below `/v1/`.
    const PATH: &'static str;

    /// What an object names that is always wanted with it (`expand[]`), so that one question does for several.
    const EXPAND: &'static [&'static str];

    /// That of an object.
    fn of(object: &Self::Object) -> &Self;
}

macro_rules! object {
    ($id:ty => $object:ty, $path:literal, [$($expand:literal),*]) => {
        impl crate::object::Identifier for $id {
            type Object = $object;
            const PATH: &'static str = $path;
            const EXPAND: &'static [&'static str] = &[$($expand),*];

            fn of(object: &$object) -> &Self {
                &object.id
            }
        }
    };
}
pub(crate) use object;

/// Something that an answer names, or has in it where that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, bound = "")]
pub enum Expandable<I: Identifier> {
    /// Its identifier.
    Id(I),
    /// All of it.
    Object(Box<I::Object>),
}

impl<I: Identifier> Expandable<I> {
    /// What it is called.
    pub fn id(&self) -> &I {
        match self {
            Self::Id(id) => id,
            Self::Object(object) => I::of(object),
        }
    }

    /// All of it, where it is there.
    pub(super) fn object(&self) -> Option<&I::Object> {
        match self {
            Self::Id(_) => None,
            Self::Object(object) => Some(object),
        }
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Page<T> {
    pub(crate) data: Vec<T>,
    /// Whether there are more of them.
    #[serde(default)]
    pub(crate) has_more: bool,
    /// Behind which object the next page begins, if there is one.
    #[serde(skip)]
    pub(crate) next: Option<String>,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self {
            data: Vec::new(),
            has_more: false,
            next: None,
        }
    }
}

/// Who pays.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Customer {
    /// Their identifier.
    pub id: CustomerId,
    email: Option<String>,
    /// What the merchant wrote on them.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

object!(CustomerId => Customer, "customers", []);

impl Customer {
    /// Their address.
    pub(super) fn email(&self) -> Option<Email> {
        self.email
            .as_deref()
            .and_then(|email| Email::new(email).ok())
    }
}

impl Client {
    /// Reads an object as it is now, with what is always wanted of it.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn read<I: Identifier>(&self, id: &I) -> Result<I::Object, Error> {
        self.read_with(id, I::EXPAND).await
    }

    pub(super) async fn read_with<I: Identifier>(
        &self,
        id: &I,
        expand: &[&str],
    ) -> Result<I::Object, Error> {
        let id = id.to_string();
        let path: Vec<&str> = I::PATH.split('/').chain([&*id]).collect();
        self.expanded(&path, &Form::new(), expand, false).await
    }

    /// What an answer has in it, or else is read now.
    pub(super) async fn open<I: Identifier>(
        &self,
        named: &Expandable<I>,
    ) -> Result<I::Object, Error> {
        match named {
            Expandable::Object(object) => Ok((**object).clone()),
            Expandable::Id(id) => self.read(id).await,
        }
    }

    /// A page of the list of one kind of object, with what they name.
    pub(super) async fn list<I: Identifier>(
        &self,
        query: &Form,
        expand: &[&str],
    ) -> Result<Page<I::Object>, Error> {
        let path: Vec<&str> = I::PATH.split('/').collect();
        let mut page: Page<I::Object> = self.list_at(&path, query, expand).await?;
        let last = page.data.last().filter(|_| page.has_more);
        page.next = last.map(|last| I::of(last).to_string());
        Ok(page)
    }

    /// A page of a list of which only one is read.
    pub(super) async fn list_at<T: Answer>(
        &self,
        path: &[&str],
        query: &Form,
        expand: &[&str],
    ) -> Result<Page<T>, Error> {
        self.expanded(path, query, expand, true).await
    }

    /// What the key may not read of what is named is left out: it must not keep anybody from what they paid
    /// for.
    async fn expanded<T: Answer>(
        &self,
        path: &[&str],
        query: &Form,
        expand: &[&str],
        is_long: bool,
    ) -> Result<T, Error> {
        let expanding = query.clone().with_each("expand", expand);
        match self.get(path, &expanding, is_long).await {
            Err(error) if error.is_forbidden() && !expand.is_empty() => {
                self.get(path, query, is_long).await
            }
            answer => answer,
        }
    }
}

/// How many of something. More than can be sold are as many as there can be; none said is one.
pub(crate) fn quantity(said: Option<u32>) -> Quantity {
    let said = said.map(|said| said.clamp(1, Quantity::MAX));
    said.and_then(Quantity::new).unwrap_or_default()
}

/// A word out of a list that Stripe may lengthen: unknown ones become `Other`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$word_doc])* $word,)*
            /// A word that this program does not know.
            #[serde(other)]
            Other,
        }
    };
}
pub(crate) use words;
