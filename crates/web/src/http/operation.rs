//! The operations of an interface, each written once: its router and its OpenAPI document are made from one table.
//! Whose keys open an operation, and its parameters, follow from what its handler reads.

use axum::{
    Router,
    extract::State,
    handler::Handler,
    http::{HeaderMap, Uri},
    routing::{MethodFilter, MethodRouter},
};
use domain::catalog::Ability;
use edge::{
    Authorized,
    body::{BatchBody, Body, MaybeBody},
    caller::{Allowed, Permits},
    context::Context,
};
use serde_json::{Map, Value, json};
use utoipa::{
    PartialSchema as _, ToSchema,
    openapi::{RefOr, Schema},
};
use wire::{ErrorCode, field::CodeText};

use super::{
    code_path::CodePath,
    etag::IfMatch,
    hold_path::HoldPath,
    idempotency::KeyHeader,
    query::{Parameters, Params},
    reversal::LedgerPath,
};

/// The key of the admin API, which has one kind alone.
pub(crate) const ADMINISTRATOR: &str = "administrator";
pub(crate) const PUBLISHABLE: &str = "publishable";
pub(crate) const SECRET: &str = "secret";
const SESSION: &str = "session";

/// A table of operations, grouped by tag. The first line above an operation is its summary; after its path follow its
/// handler, the type of its body, its id if that is not the handler's name, and what it answers. `errors` are its own
/// codes: those that all have, or that come with a body, a key or a path, are added.
macro_rules! operations {
    ($($tag:literal { $(
        #[doc = $summary:literal] $(#[doc = $text:literal])*
        $method:ident $path:literal $module:ident::$handler:ident $(($body:ty))? $(as $id:ident)?:
        $status:literal $outcome:literal $(-> $answer:ty)? $(, errors: [$($code:ident),*])?;
    )* })*) => {
        vec![$($(
            $crate::http::operation::ApiOperation::new(
                (axum::routing::MethodFilter::$method, stringify!($method)), $path, $module::$handler,
            )
            .about($tag, $summary, &[$($text),*])
            .named(stringify!($handler))
            $(.named(stringify!($id)))?
            $(.reads::<$body>())?
            .answers($status, $outcome)
            $(.with::<$answer>())?
            $(.refuses(&[$(wire::ErrorCode::$code),*]))?,
        )*)*]
    };
}
pub(crate) use operations;

/// A route and its description.
pub(crate) struct ApiOperation<S> {
    pub(crate) path: &'static str,
    route: MethodRouter<S>,
    pub(crate) description: Description,
}

/// What the OpenAPI document says of an operation.
#[derive(Default)]
pub(crate) struct Description {
    pub(crate) method: &'static str,
    pub(crate) id: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) text: String,
    pub(crate) parameters: Vec<Value>,
    /// The kinds of key that open it.
    pub(crate) keys: Vec<&'static str>,
    /// What a restricted key needs.
    pub(crate) ability: Option<Ability>,
    /// The schema of its body.
    pub(crate) body: Option<Value>,
    pub(crate) may_omit_body: bool,
    /// Whether an answer may say that an earlier request did the work.
    pub(crate) replays: bool,
    pub(crate) status: u16,
    pub(crate) outcome: &'static str,
    /// The schema of its answer in each media type.
    pub(crate) content: Map<String, Value>,
    /// The codes that are its own.
    pub(crate) errors: Vec<ErrorCode>,
    pub(crate) schemas: Vec<(String, RefOr<Schema>)>,
}

/// The routes of an interface, under its prefix.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(
    prefix: &str,
    operations: Vec<ApiOperation<S>>,
) -> Router<S> {
    operations
        .into_iter()
        .fold(Router::new(), |router, operation| {
            router.route(&format!("{prefix}{}", operation.path), operation.route)
        })
}

impl<S: Clone + Send + Sync + 'static> ApiOperation<S> {
    pub(crate) fn new<T: Inputs + 'static>(
        (filter, method): (MethodFilter, &'static str),
        path: &'static str,
        handler: impl Handler<T, S>,
    ) -> Self {
        let mut description = Description {
            method,
            ..Description::default()
        };
        description.add_path_parameters(path);
        T::describe(&mut description);
        Self {
            path,
            route: MethodRouter::new().on(filter, handler),
            description,
        }
    }

    pub(crate) fn about(
        mut self,
        tag: &'static str,
        summary: &'static str,
        text: &[&'static str],
    ) -> Self {
        let lines: Vec<_> = text.iter().map(|line| line.trim()).collect();
        self.description.tag = tag;
        self.description.summary = summary.trim();
        self.description.text = lines.join("\n");
        self
    }

    pub(crate) fn named(mut self, id: &'static str) -> Self {
        self.description.id = id;
        self
    }

    pub(crate) fn reads<T: ToSchema>(mut self) -> Self {
        let body = self.description.schema::<T>();
        self.description.body = Some(body);
        let prefer = json!({ "$ref": "#/components/parameters/Prefer" });
        self.description.parameters.push(prefer);
        self
    }

    pub(crate) fn answers(mut self, status: u16, outcome: &'static str) -> Self {
        self.description.status = status;
        self.description.outcome = outcome;
        self
    }

    pub(crate) fn with<T: ResponseBody>(mut self) -> Self {
        T::describe(&mut self.description);
        self
    }

    pub(crate) fn refuses(mut self, errors: &[ErrorCode]) -> Self {
        self.description.errors.extend(errors);
        self
    }
}

impl Description {
    /// A reference to a type's schema, which the document then has.
    fn schema<T: ToSchema>(&mut self) -> Value {
        let name = T::name().into_owned();
        let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
        self.schemas.push((name, T::schema()));
        T::schemas(&mut self.schemas);
        reference
    }
}

/// What a successful response carries.
pub(crate) trait ResponseBody {
    fn describe(description: &mut Description);
}

/// The same as JSON or as CSV, as the caller prefers.
pub(crate) struct Csv<T>(std::marker::PhantomData<T>);

/// Server-sent events, which go on until the stream ends.
pub(crate) struct EventStream;

impl<T: ToSchema> ResponseBody for T {
    fn describe(description: &mut Description) {
        let schema = json!({ "schema": description.schema::<T>() });
        description
            .content
            .insert("application/json".into(), schema);
    }
}

impl<T: ToSchema> ResponseBody for Csv<T> {
    fn describe(description: &mut Description) {
        T::describe(description);
        let schema = json!({ "schema": { "type": "string" } });
        description.content.insert("text/csv".into(), schema);
    }
}

impl ResponseBody for EventStream {
    fn describe(description: &mut Description) {
        let schema = json!({ "schema": { "type": "string" } });
        description
            .content
            .insert("text/event-stream".into(), schema);
    }
}

/// An argument of a handler, which adds to the description what it reads of a request.
pub(crate) trait Input {
    fn describe(_: &mut Description) {}
}

/// The arguments of a handler, as axum has them.
pub(crate) trait Inputs {
    fn describe(description: &mut Description);
}

macro_rules! inputs {
    ($($input:ident)*) => {
        impl<M, $($input: Input),*> Inputs for (M, $($input,)*) {
            fn describe(description: &mut Description) {
                $($input::describe(description);)*
            }
        }
    };
}

inputs!(A);
inputs!(A B);
inputs!(A B C);
inputs!(A B C D);
inputs!(A B C D E);
inputs!(A B C D E F);

impl<S> Input for State<S> {}
impl Input for Context {}
impl Input for HeaderMap {}
impl Input for Uri {}
impl Input for Body {}
impl Input for BatchBody {}
impl Input for LedgerPath {}

impl Input for MaybeBody {
    fn describe(description: &mut Description) {
        description.may_omit_body = true;
    }
}

impl Input for KeyHeader {
    fn describe(description: &mut Description) {
        description.replays = true;
    }
}

impl Input for CodePath {
    fn describe(description: &mut Description) {
        description.parameters.push(json!({
            "name": "code", "in": "path", "required": true, "schema": CodeText::schema(),
        }));
        let errors = [ErrorCode::WalletNotFound, ErrorCode::TooManyInvalidCodes];
        description.errors.extend(errors);
    }
}

impl Input for HoldPath {
    fn describe(description: &mut Description) {
        let errors = [ErrorCode::SecretKeyRequired, ErrorCode::TooManyInvalidCodes];
        description.errors.extend(errors);
    }
}

impl Input for IfMatch {
    fn describe(description: &mut Description) {
        description.errors.push(ErrorCode::ChangedMeanwhile);
    }
}

impl<T: Parameters> Input for Params<T> {
    fn describe(description: &mut Description) {
        let parameters = T::described();
        let parameters = parameters.iter().map(|one| json!(one));
        description.parameters.extend(parameters);
    }
}

impl<const PUBLISHABLE_TOO: bool, P: Permits> Input for Allowed<PUBLISHABLE_TOO, P> {
    fn describe(description: &mut Description) {
        description.ability = P::ABILITY;
        let publishable = PUBLISHABLE_TOO.then_some(PUBLISHABLE);
        let session = P::PERMISSION.map(|_| SESSION);
        let keys = publishable.into_iter().chain([SECRET]).chain(session);
        description.keys.extend(keys);
    }
}

impl<P> Input for Authorized<P> {
    fn describe(description: &mut Description) {
        description.keys.push(ADMINISTRATOR);
    }
}
