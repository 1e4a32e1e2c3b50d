//! Texts with bounds, which their schemas repeat.

use std::{borrow::Cow, fmt, marker::PhantomData};

use domain::{
    limit::{LimitScope, TimeZoneName},
    rate_card::RateCardSlug,
    text::{Email, ExternalUserId, Feature, IdempotencyKey, Member},
};
use serde::{Deserialize, Deserializer, de::Visitor};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr,
        schema::{Schema, Type},
    },
};

/// A type that is read from a text.
pub trait FromText: Sized {
    /// The name of its schema in the API's description.
    const NAME: &'static str;
    /// What the text has to be, in the words of a refusal.
    const WANTED: &'static str;

    /// Reads the text; `None` if it breaks the bounds.
    fn from_text(text: &str) -> Option<Self>;

    /// Adds the same bounds to the schema of a string.
    fn bounds(string: ObjectBuilder) -> ObjectBuilder;
}

/// Declares types that are read from a text: the name of the schema, what the text has to be, how it is read, and the
/// bounds in the schema.
macro_rules! texts {
    ($($type:ty = $name:literal, $wanted:expr, |$text:ident| $read:expr, |$string:ident| $bounds:expr;)+) => {$(
        impl $crate::field::FromText for $type {
            const NAME: &'static str = $name;
            const WANTED: &'static str = $wanted;

            fn from_text($text: &str) -> Option<Self> {
                $read
            }

            fn bounds($string: $crate::field::ObjectBuilder) -> $crate::field::ObjectBuilder {
                $bounds
            }
        }
    )+};
}
pub(crate) use texts;

/// A text that is a `T`.
#[derive(Debug, Clone)]
pub struct Text<T>(pub T);

/// The caller's own user id.
pub type UserText = Text<ExternalUserId>;
/// The idempotency key of an operation.
pub type KeyText = Text<IdempotencyKey>;
/// A feature's slug.
pub type FeatureText = Text<Feature>;
/// One of those who share a wallet.
pub type MemberText = Text<Member>;
/// Whose use a limit counts.
pub type ScopeText = Text<LimitScope>;
/// Where a limit's calendar is.
pub type TimeZoneText = Text<TimeZoneName>;
/// The name of a rate card.
pub type RateCardName = Text<RateCardSlug>;
/// A mail address.
pub type EmailText = Text<Email>;

impl<'de, T: FromText> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<T>(PhantomData<T>);
        impl<T: FromText> Visitor<'_> for TextVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::WANTED)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
                // The error does not repeat the text: it may be a secret in the wrong place.
                T::from_text(text)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Other("text"), &self))
            }
        }
        deserializer
            .deserialize_str(TextVisitor(PhantomData))
            .map(Self)
    }
}

impl<T: FromText> PartialSchema for Text<T> {
    fn schema() -> RefOr<Schema> {
        T::bounds(ObjectBuilder::new().schema_type(Type::String)).into()
    }
}

impl<T: FromText> ToSchema for Text<T> {
    fn name() -> Cow<'static, str> {
        T::NAME.into()
    }
}

texts! {
    ExternalUserId = "ExternalUserId", "a text of 1 to 255 characters, none of them a control character",
        |text| Self::new(text).ok(),
        |string| string
            .description(Some("The caller's own user id, compared exactly."))
            .min_length(Some(1))
            .max_length(Some(255))
            .pattern(Some(r"^[^\u0000-\u001f\u007f-\u009f]*$"))
            .examples(["user_42"]);
    Member = "Member", "a text of 1 to 255 characters, none of them a control character",
        |text| Self::new(text).ok(),
        |string| string
            .description(Some("One of those who share the wallet, by an id of the caller's own: limits count what each uses."))
            .min_length(Some(1))
            .max_length(Some(255))
            .pattern(Some(r"^[^\u0000-\u001f\u007f-\u009f]*$"))
            .examples(["user_7"]);
    LimitScope = "LimitScope", "wallet, or member:, feature: or key: with a name or *",
        |text| text.parse().ok(),
        |string| string
            .description(Some("Whose use counts together, or for what."))
            .max_length(Some(263))
            .pattern(Some(r"^(wallet|(member|feature|key):[^\u0000-\u001f\u007f-\u009f]+)$"))
            .examples(["wallet", "member:alice", "member:*", "feature:image", "key:*"]);
    TimeZoneName = "TimeZoneName", "a time zone of the IANA database, such as Europe/Berlin",
        |text| Self::new(text).ok(),
        |string| string.max_length(Some(64)).examples(["Europe/Berlin"]);
    IdempotencyKey = "IdempotencyKey", "a text of 1 to 255 characters",
        |text| Self::new(text).ok(),
        |string| string
            .description(Some("Names one logical operation, compared exactly."))
            .min_length(Some(1))
            .max_length(Some(255))
            .examples(["order-7-refill"]);
    Feature = "FeatureSlug", "a slug of 1 to 100 letters, digits and . _ : -",
        |text| Self::new(text).ok(),
        |string| string
            .min_length(Some(1))
            .max_length(Some(100))
            .pattern(Some("^[A-Za-z0-9._:-]+$"))
            .examples(["history"]);
    RateCardSlug = "RateCardSlug", "a name of 1 to 64 small letters, digits and - _ .",
        |text| Self::new(text).ok(),
        |string| string
            .min_length(Some(1))
            .max_length(Some(64))
            .pattern(Some("^[a-z0-9._-]+$"))
            .examples(["chat"]);
    Email = "Email", "an email address of at most 320 characters",
        |text| Self::new(text).ok(),
        |string| {
            // Two parts around an `@`, without control characters or Unicode white space.
            const PATTERN: &str = r"^[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+@[^@\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$";
            string
                .max_length(Some(320))
                .pattern(Some(PATTERN))
                .examples(["ann@mail.example"])
        };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FromText>(text: &str) -> Result<T, String> {
        let json = serde_json::to_string(text).unwrap();
        let read = serde_json::from_str::<Text<T>>(&json);
        read.map(|Text(value)| value)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_is_read_or_what_it_should_be_is_said() {
        assert_eq!(read::<Feature>("a.b_c:1-2").unwrap().as_str(), "a.b_c:1-2");
        let refused = read::<Feature>("pay_sk_secret here").unwrap_err();
        assert!(refused.contains("expected a slug of 1 to 100"), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
        assert!(read::<ExternalUserId>("a\u{85}b").is_err());
        assert!(read::<ExternalUserId>("é😀/..").is_ok());
        assert!(read::<IdempotencyKey>("").is_err());
        assert!(read::<Email>("a b@c").is_err());
    }
}
