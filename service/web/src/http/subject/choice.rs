//! The schema of a request that names its wallet by one of two fields.

use std::{borrow::Cow, marker::PhantomData};

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr,
        schema::{AllOfBuilder, OneOfBuilder, Schema, Type},
    },
};
use wire::field::{CodeText, UserText};

const USER: &str = "externalUserId";
const CODE: &str = "code";

/// Adds `externalUserId` and `code` to the schema of the request `T`, which leaves them out: exactly one of them has to
/// be sent; if `NEEDED` is false, at most one.
pub(crate) struct WalletChoice<T, const NEEDED: bool = true>(PhantomData<T>);

impl<T: ToSchema, const NEEDED: bool> PartialSchema for WalletChoice<T, NEEDED> {
    fn schema() -> RefOr<Schema> {
        let null = || ObjectBuilder::new().schema_type(Type::Null);
        let one = |named: &str, by: RefOr<Schema>, other: &str| {
            ObjectBuilder::new()
                .property(named, by)
                .required(named)
                .property(other, null())
        };
        let mut ways = OneOfBuilder::new()
            .item(one(USER, refer::<UserText>(), CODE))
            .item(one(CODE, refer::<CodeText>(), USER));
        if !NEEDED {
            ways = ways.item(
                ObjectBuilder::new()
                    .property(USER, null())
                    .property(CODE, null()),
            );
        }
        let mut request = T::schema();
        let mut description = None;
        if let RefOr::T(Schema::Object(object)) = &mut request {
            description = object.description.take();
        }
        AllOfBuilder::new()
            .description(description)
            .item(request)
            .item(ways)
            .into()
    }
}

impl<T: ToSchema, const NEEDED: bool> ToSchema for WalletChoice<T, NEEDED> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        components.push((UserText::name().into_owned(), UserText::schema()));
        components.push((CodeText::name().into_owned(), CodeText::schema()));
        T::schemas(components);
    }
}

/// A reference to a schema that is described once, elsewhere.
fn refer<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}
