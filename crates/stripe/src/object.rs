//! Building blocks of Stripe's responses: references, list pages, extensible enums.

use std::{collections::BTreeMap, fmt};

use domain::{Quantity, text::Email};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    client::{Answer, Client},
    error::Error,
    form::Form,
    id::CustomerId,
};

/// Stripe's largest page of a list, in objects.
pub(crate) const PAGE_SIZE: u8 = 100;

/// The id type of one kind of Stripe object, with what is needed to fetch it.
pub trait Identifier:
    Clone + fmt::Debug + fmt::Display + PartialEq + Eq + DeserializeOwned + Send + Sync + 'static
{
    type Object: Clone + fmt::Debug + PartialEq + Eq + DeserializeOwned + Send + Sync + 'static;

    /// Path of such objects, below `/v1/`.
    const PATH: &'static str;

    /// Referenced objects that are always fetched along (`expand[]`), so that one request replaces several.
    const EXPAND: &'static [&'static str];

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

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, bound = "")]
pub enum Expandable<I: Identifier> {
    Id(I),
    Object(Box<I::Object>),
}

impl<I: Identifier> Expandable<I> {
    pub fn id(&self) -> &I {
        match self {
            Self::Id(id) => id,
            Self::Object(object) => I::of(object),
        }
    }

    pub(super) fn object(&self) -> Option<&I::Object> {
        match self {
            Self::Id(_) => None,
            Self::Object(object) => Some(object),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Page<T> {
    pub(crate) data: Vec<T>,
    #[serde(default)]
    pub(crate) has_more: bool,
    /// Cursor of the next page, if any: the id of this page's last object.
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

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Customer {
    pub id: CustomerId,
    email: Option<String>,
    /// The merchant's metadata on the customer.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

object!(CustomerId => Customer, "customers", []);

impl Customer {
    pub(super) fn email(&self) -> Option<Email> {
        self.email
            .as_deref()
            .and_then(|email| Email::new(email).ok())
    }
}

impl Client {
    /// Fetches an object in its current state, with the objects of [`Identifier::EXPAND`].
    /// # Errors
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

    /// The referenced object, as expanded or else fetched now.
    pub(super) async fn open<I: Identifier>(
        &self,
        reference: &Expandable<I>,
    ) -> Result<I::Object, Error> {
        match reference {
            Expandable::Object(object) => Ok((**object).clone()),
            Expandable::Id(id) => self.read(id).await,
        }
    }

    /// One page of the list of a kind of object, with `expand` expanded.
    pub(super) async fn list<I: Identifier>(
        &self,
        query: &Form,
        expand: &[&str],
    ) -> Result<Page<I::Object>, Error> {
        let path: Vec<&str> = I::PATH.split('/').collect();
        let mut page: Page<I::Object> = self.list_path(&path, query, expand).await?;
        let last = page.data.last().filter(|_| page.has_more);
        page.next = last.map(|last| I::of(last).to_string());
        Ok(page)
    }

    /// One page of a list, without a cursor to the next one.
    pub(super) async fn list_path<T: Answer>(
        &self,
        path: &[&str],
        query: &Form,
        expand: &[&str],
    ) -> Result<Page<T>, Error> {
        self.expanded(path, query, expand, true).await
    }

    /// Retries without `expand` if the key may not read the expanded objects, so that a buyer still gets their
    /// purchase.
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

/// The quantity of a line, clamped to what Scrip can sell; 1 where there is none.
pub(crate) fn quantity(number: Option<u32>) -> Quantity {
    let clamped = number.map(|number| number.clamp(1, Quantity::MAX));
    clamped.and_then(Quantity::new).unwrap_or_default()
}

/// Defines an enum of values that Stripe may extend: unknown ones become `Other`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$word_doc])* $word,)*
            /// A value that this version of Scrip does not know.
            #[serde(other)]
            Other,
        }
    };
}
pub(crate) use words;
