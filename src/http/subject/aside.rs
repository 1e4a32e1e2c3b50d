//! Reads an object in one pass as a type, plus some fields that the type does not have.
//! `#[serde(flatten)]` does that, too, but copies the whole object.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, Error, MapAccess, Visitor,
        value::{CowStrDeserializer, MapAccessDeserializer},
    },
};

/// Fields that are read beside the type's own.
pub(super) trait Slots<'de> {
    /// Reads the value of this field if it is one of them, and says whether it is.
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// One such field, with its value once it was read.
pub(super) struct Slot<T> {
    name: &'static str,
    pub(super) found: Option<T>,
}

impl<T> Slot<T> {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, found: None }
    }
}

impl<'de, T: Deserialize<'de>> Slots<'de> for Slot<T> {
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        if name != self.name {
            return Ok(false);
        }
        if self.found.is_some() {
            return Err(A::Error::duplicate_field(self.name));
        }
        self.found = Some(map.next_value()?);
        Ok(true)
    }
}

impl<'de, S: Slots<'de>> Slots<'de> for &mut S {
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        (**self).take(name, map)
    }
}

impl<'de, S: Slots<'de>, T: Slots<'de>> Slots<'de> for (S, T) {
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        Ok(self.0.take(name, map)? || self.1.take(name, map)?)
    }
}

/// Reads the object as a `T` and fills the slots.
pub(super) fn read<'de, D, S, T>(deserializer: D, slots: &mut S) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    S: Slots<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_map(AsideVisitor(slots, PhantomData))
}

struct AsideVisitor<'s, S, T>(&'s mut S, PhantomData<T>);

impl<'de, S: Slots<'de>, T: Deserialize<'de>> Visitor<'de> for AsideVisitor<'_, S, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(Rest { map, slots: self.0 }))
    }
}

/// The fields of an object that the slots did not take.
struct Rest<'s, A, S> {
    map: A,
    slots: &'s mut S,
}

impl<'de, A: MapAccess<'de>, S: Slots<'de>> MapAccess<'de> for Rest<'_, A, S> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(Name(name)) = self.map.next_key()? {
            if !self.slots.take(&name, &mut self.map)? {
                return seed.deserialize(CowStrDeserializer::new(name)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A field's name, borrowed where it has no escapes.
struct Name<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(text.to_owned().into()))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}
