//! What a field of a request may hold, exactly. Each type says in `expecting` what it wants: the
//! caller is told that, and never what was there instead.

use std::{borrow::Cow, fmt, marker::PhantomData};

use domain::{Amount, MAX_CREDITS};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Unexpected, Visitor, value::MapAccessDeserializer},
};

/// A JSON object as `T`. A derived struct alone would take an array too.
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) T);

/// A text, borrowed from the body where it has no escapes.
#[derive(Debug, Clone)]
pub(crate) struct Text<'a>(Cow<'a, str>);

/// A positive number of credits. `1.0`, `"1"` and `1e3` are not numbers of credits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positive(pub(crate) Amount);

/// A whole number from `MIN` to `MAX`, likewise exact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole<const MIN: i64, const MAX: i64>(pub(crate) i64);

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
            type Value = Text<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Whole(credits) = Whole::<1, MAX_CREDITS>::deserialize(deserializer)?;
        Amount::new(credits)
            .map(Self)
            .ok_or_else(|| D::Error::custom("not an amount"))
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor<const MIN: i64, const MAX: i64>;
        impl<const MIN: i64, const MAX: i64> Visitor<'_> for WholeVisitor<MIN, MAX> {
            type Value = Whole<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                if (MIN..=MAX).contains(&number) {
                    return Ok(Whole(number));
                }
                Err(E::invalid_value(Unexpected::Signed(number), &self))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                match i64::try_from(number) {
                    Ok(number) => self.visit_i64(number),
                    Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
                }
            }
        }
        deserializer.deserialize_i64(WholeVisitor::<MIN, MAX>)
    }
}
