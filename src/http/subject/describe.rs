//! How the ways to name a wallet are described: the verb's own schema, and the fields that name.

use std::borrow::Cow;

use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr, Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{AllOfBuilder, Object, OneOfBuilder, Schema, Type},
    },
};

use super::{CODE, OfEither, OfProduct, OfUser, PRODUCT, USER};
use crate::http::field::{CodeText, ProductName, UserText};

type Components = Vec<(String, RefOr<Schema>)>;

/// A field that is described once, elsewhere.
fn refer<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

fn define<T: ToSchema>(components: &mut Components) {
    components.push((T::name().into_owned(), T::schema()));
}

/// The object that a verb is, changed.
fn object<T: ToSchema>(change: impl FnOnce(&mut Object)) -> RefOr<Schema> {
    let mut schema = T::schema();
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        change(object);
    }
    schema
}

impl<T: ToSchema> PartialSchema for OfUser<T> {
    fn schema() -> RefOr<Schema> {
        object::<T>(|object| {
            object.properties.insert(USER.into(), refer::<UserText>());
            object.required.insert(0, USER.into());
        })
    }
}

impl<T: ToSchema> ToSchema for OfUser<T> {
    fn name() -> Cow<'static, str> {
        format!("{}External", T::name()).into()
    }

    fn schemas(components: &mut Components) {
        define::<UserText>(components);
        T::schemas(components);
    }
}

impl<T: IntoParams> IntoParams for OfUser<T> {
    fn into_params(provide: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let user = ParameterBuilder::new()
            .name(USER)
            .parameter_in(ParameterIn::Query)
            .required(Required::True)
            .schema(Some(UserText::schema()))
            .build();
        let mut all = vec![user];
        all.extend(T::into_params(provide));
        all
    }
}

impl<T: ToSchema, const NEEDED: bool> PartialSchema for OfEither<T, NEEDED> {
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
        let mut verb = T::schema();
        let mut description = None;
        if let RefOr::T(Schema::Object(object)) = &mut verb {
            description = object.description.take();
        }
        AllOfBuilder::new()
            .description(description)
            .item(verb)
            .item(ways)
            .into()
    }
}

impl<T: ToSchema, const NEEDED: bool> ToSchema for OfEither<T, NEEDED> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(components: &mut Components) {
        define::<UserText>(components);
        define::<CodeText>(components);
        T::schemas(components);
    }
}

impl<T: ToSchema> PartialSchema for OfProduct<T> {
    fn schema() -> RefOr<Schema> {
        object::<T>(|object| {
            object
                .properties
                .insert(PRODUCT.into(), refer::<ProductName>());
            object.required.push(PRODUCT.into());
        })
    }
}

impl<T: ToSchema> ToSchema for OfProduct<T> {
    fn name() -> Cow<'static, str> {
        format!("{}ByCode", T::name()).into()
    }

    fn schemas(components: &mut Components) {
        T::schemas(components);
    }
}
