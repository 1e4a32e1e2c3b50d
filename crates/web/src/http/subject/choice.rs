//! The schema of a request that names its wallet by one of two fields, and its subscription likewise.

use std::{borrow::Cow, marker::PhantomData};

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr,
        schema::{AllOfBuilder, AnyOfBuilder, OneOfBuilder, Schema, SchemaType, Type},
    },
};
use wire::field::{CodeText, ProductName, SubscriptionName, UserText, WalletName};

const USER: &str = "externalUserId";
const CODE: &str = "code";

const ID: &str = "walletId";

/// Adds `externalUserId` and `code` to the schema of the request `T`, which leaves them out: exactly one of them has to
/// be sent; if `NEEDED` is false, at most one. `BY_ID` adds `walletId` as a third.
pub(crate) struct WalletChoice<T, const NEEDED: bool = true, const BY_ID: bool = false>(
    PhantomData<T>,
);

impl<T: ToSchema, const NEEDED: bool, const BY_ID: bool> PartialSchema
    for WalletChoice<T, NEEDED, BY_ID>
{
    fn schema() -> RefOr<Schema> {
        let names = [USER, CODE, ID].into_iter().take(if BY_ID { 3 } else { 2 });
        // All but this one are null or left out.
        let only = |named: Option<&str>| {
            let others = names.clone().filter(|name| Some(*name) != named);
            others.fold(ObjectBuilder::new(), |object, name| {
                object.property(name, ObjectBuilder::new().schema_type(Type::Null))
            })
        };
        let one =
            |named: &str, by: RefOr<Schema>| only(Some(named)).property(named, by).required(named);
        let mut ways = OneOfBuilder::new()
            .item(one(USER, refer::<UserText>()))
            .item(one(CODE, refer::<CodeText>()));
        if BY_ID {
            ways = ways.item(one(ID, refer::<WalletName>()));
        }
        if !NEEDED {
            ways = ways.item(only(None));
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

impl<T: ToSchema, const NEEDED: bool, const BY_ID: bool> ToSchema
    for WalletChoice<T, NEEDED, BY_ID>
{
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        components.push((UserText::name().into_owned(), UserText::schema()));
        components.push((CodeText::name().into_owned(), CodeText::schema()));
        if BY_ID {
            components.push((WalletName::name().into_owned(), WalletName::schema()));
        }
        T::schemas(components);
    }
}

/// Adds to the schema of the request `T` that `productId` or `subscriptionId` has to be sent.
pub(crate) struct SubscriptionChoice<T>(PhantomData<T>);

impl<T: ToSchema> PartialSchema for SubscriptionChoice<T> {
    fn schema() -> RefOr<Schema> {
        let one = |named: &str, by: RefOr<Schema>| {
            ObjectBuilder::new().property(named, by).required(named)
        };
        let ways = AnyOfBuilder::new()
            .item(one("productId", refer::<ProductName>()))
            .item(one("subscriptionId", refer::<SubscriptionName>()));
        match T::schema() {
            RefOr::T(Schema::AllOf(mut request)) => {
                request.items.push(ways.into());
                RefOr::T(Schema::AllOf(request))
            }
            request => AllOfBuilder::new().item(request).item(ways).into(),
        }
    }
}

impl<T: ToSchema> ToSchema for SubscriptionChoice<T> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(components);
    }
}

/// Adds to the schema of the request `T` which of its fields have to be sent: all of one of these ways.
pub(crate) struct FieldChoice<T, W>(PhantomData<(T, W)>);

/// A property without the alternative that it is null.
fn not_null(property: RefOr<Schema>) -> RefOr<Schema> {
    let is_null = |item: &RefOr<Schema>| match item {
        RefOr::T(Schema::Object(object)) => object.schema_type == SchemaType::from(Type::Null),
        _ => false,
    };
    let RefOr::T(Schema::OneOf(choice)) = &property else {
        return property;
    };
    let mut others = choice.items.iter().filter(|item| !is_null(item));
    match (others.next(), others.next()) {
        (Some(only), None) => only.clone(),
        _ => property,
    }
}

/// Ways to send a request, each with the fields that it needs.
pub(crate) trait Ways {
    const WAYS: &'static [&'static [&'static str]];
}

impl<T: ToSchema, W: Ways> PartialSchema for FieldChoice<T, W> {
    fn schema() -> RefOr<Schema> {
        let mut request = T::schema();
        let (mut description, mut ways) = (None, AnyOfBuilder::new());
        if let RefOr::T(Schema::Object(object)) = &mut request {
            description = object.description.take();
            for fields in W::WAYS {
                let way = fields.iter().fold(ObjectBuilder::new(), |way, field| {
                    let way = way.required(*field);
                    match object.properties.get(*field) {
                        Some(property) => way.property(*field, not_null(property.clone())),
                        None => way,
                    }
                });
                ways = ways.item(way);
            }
        }
        AllOfBuilder::new()
            .description(description)
            .item(request)
            .item(ways)
            .into()
    }
}

impl<T: ToSchema, W: Ways> ToSchema for FieldChoice<T, W> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(components);
    }
}

/// A field that some routes need of a request which others share.
pub(crate) trait NeededField: ToSchema {
    /// The field's name; `None`: none is needed.
    const FIELD: Option<&'static str>;
    /// What the schema's name ends with then.
    const SUFFIX: &'static str;
}

impl NeededField for UserText {
    const FIELD: Option<&'static str> = Some(USER);
    const SUFFIX: &'static str = "External";
}

impl NeededField for ProductName {
    const FIELD: Option<&'static str> = None;
    const SUFFIX: &'static str = "ByCode";
}

/// Adds to the schema of the request `T` that it needs the field `N`.
pub(crate) struct Needing<T, N>(PhantomData<(T, N)>);

impl<T: ToSchema, N: NeededField> PartialSchema for Needing<T, N> {
    fn schema() -> RefOr<Schema> {
        let mut request = T::schema();
        if let (Some(field), RefOr::T(Schema::Object(object))) = (N::FIELD, &mut request) {
            object.properties.insert(field.into(), refer::<N>());
            object.required.push(field.into());
        }
        request
    }
}

impl<T: ToSchema, N: NeededField> ToSchema for Needing<T, N> {
    fn name() -> Cow<'static, str> {
        format!("{}{}", T::name(), N::SUFFIX).into()
    }

    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        components.push((N::name().into_owned(), N::schema()));
        T::schemas(components);
    }
}

/// A reference to a schema that is described once, elsewhere.
pub(crate) fn refer<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}
