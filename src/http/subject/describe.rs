//! The schemas of the ways to name a wallet: the command's own schema, and the fields that name the
//! wallet.

use std::borrow::Cow;

use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr, Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{AllOfBuilder, Object, OneOfBuilder, Schema, Type},
    },
};

use super::{CODE, ForUser, ForWallet, PRODUCT, USER, WithProduct};
use crate::http::field::{CodeText, ProductName, UserText};

type Components = Vec<(String, RefOr<Schema>)>;

/// A reference to a schema that is described once, elsewhere.
fn refer<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

fn define<T: ToSchema>(components: &mut Components) {
    components.push((T::name().into_owned(), T::schema()));
}

/// A command's schema, which is an object, with a change to it.
fn object<T: ToSchema>(change: impl FnOnce(&mut Object)) -> RefOr<Schema> {
    let mut schema = T::schema();
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        change(object);
    }
    schema
}

impl<T: ToSchema> PartialSchema for ForUser<T> {
    fn schema() -> RefOr<Schema> {
        object::<T>(|object| {
            object.properties.insert(USER.into(), refer::<UserText>());
            object.required.insert(0, USER.into());
        })
    }
}

impl<T: ToSchema> ToSchema for ForUser<T> {
    fn name() -> Cow<'static, str> {
        format!("{}External", T::name()).into()
    }

    fn schemas(components: &mut Components) {
        define::<UserText>(components);
        T::schemas(components);
    }
}

impl<T: IntoParams> IntoParams for ForUser<T> {
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

impl<T: ToSchema, const NEEDED: bool> PartialSchema for ForWallet<T, NEEDED> {
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
        let mut command = T::schema();
        let mut description = None;
        if let RefOr::T(Schema::Object(object)) = &mut command {
            description = object.description.take();
        }
        AllOfBuilder::new()
            .description(description)
            .item(command)
            .item(ways)
            .into()
    }
}

impl<T: ToSchema, const NEEDED: bool> ToSchema for ForWallet<T, NEEDED> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(components: &mut Components) {
        define::<UserText>(components);
        define::<CodeText>(components);
        T::schemas(components);
    }
}

impl<T: ToSchema> PartialSchema for WithProduct<T> {
    fn schema() -> RefOr<Schema> {
        object::<T>(|object| {
            object
                .properties
                .insert(PRODUCT.into(), refer::<ProductName>());
            object.required.push(PRODUCT.into());
        })
    }
}

impl<T: ToSchema> ToSchema for WithProduct<T> {
    fn name() -> Cow<'static, str> {
        format!("{}ByCode", T::name()).into()
    }

    fn schemas(components: &mut Components) {
        T::schemas(components);
    }
}
