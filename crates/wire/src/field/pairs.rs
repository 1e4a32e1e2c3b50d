//! The metadata that a shop puts on an order: pairs of texts.

use std::{borrow::Cow, collections::BTreeMap};

use domain::metadata::{MAX_KEY, MAX_PAIRS, MAX_VALUE, Metadata};
use serde::{Deserialize, Deserializer, de::Error as _};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr,
        schema::{Schema, Type},
    },
};

use super::object::Object;

/// Metadata that was checked.
#[derive(Debug, Clone, Default)]
pub struct MetadataPairs(pub Metadata);

impl<'de> Deserialize<'de> for MetadataPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(pairs) = Object::<BTreeMap<Box<str>, Box<str>>>::deserialize(deserializer)?;
        Metadata::new(pairs)
            .map(Self)
            .map_err(|error| D::Error::custom(error.0))
    }
}

impl PartialSchema for MetadataPairs {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let key = text().min_length(Some(1)).max_length(Some(MAX_KEY));
        let value = text().max_length(Some(MAX_VALUE));
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(
                "What the shop wants to remember of the order: up to 20 pairs of texts, of 11 KiB together.",
            ))
            .max_properties(Some(MAX_PAIRS))
            .property_names(Some(key))
            .additional_properties(Some(value))
            .into()
    }
}

impl ToSchema for MetadataPairs {
    fn name() -> Cow<'static, str> {
        "Metadata".into()
    }
}
