//! `expand[]`: what an answer names is in it, so that one question does for several.

use serde::{Deserialize, de::DeserializeOwned};

use super::{
    client::{Answer, Client},
    error::Error,
    form::Form,
};

/// Something that an answer names, or has in it where that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Expandable<T: Named> {
    /// Its identifier.
    Id(T::Id),
    /// All of it.
    Object(Box<T>),
}

/// An object of Stripe's that others name.
pub trait Named {
    /// What it is called by.
    type Id: Clone + std::fmt::Debug + PartialEq + Eq + DeserializeOwned;

    /// What it is called.
    fn id(&self) -> &Self::Id;
}

impl<T: Named> Expandable<T> {
    /// What it is called.
    pub fn id(&self) -> &T::Id {
        match self {
            Self::Id(id) => id,
            Self::Object(object) => object.id(),
        }
    }

    /// All of it, where it is there.
    pub fn object(&self) -> Option<&T> {
        match self {
            Self::Id(_) => None,
            Self::Object(object) => Some(object),
        }
    }
}

macro_rules! named {
    ($object:ty, $id:ty) => {
        impl crate::expand::Named for $object {
            type Id = $id;

            fn id(&self) -> &$id {
                &self.id
            }
        }
    };
}
pub(crate) use named;

impl Client {
    /// Reads something with what it names. What the key may not read of that is left out: it must not keep
    /// anybody from what they paid for.
    pub(super) async fn get_with<T: Answer>(
        &self,
        path: &[&str],
        query: &Form,
        expand: &[&str],
    ) -> Result<T, Error> {
        let all = (0..).zip(expand).fold(query.clone(), |form, (n, name)| {
            form.with(format!("expand[{n}]"), name)
        });
        let read = async |query| match path {
            // A list, which may be large.
            [_] => self.list(path, query).await,
            _ => self.get(path, query).await,
        };
        match read(&all).await {
            Err(Error::Refused(refusal)) if refusal.status == 403 => read(query).await,
            answer => answer,
        }
    }
}
