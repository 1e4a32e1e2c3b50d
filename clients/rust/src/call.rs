//! One API call: the request, and how its response is read.

use crate::{
    error::{Error, ErrorKind},
    wallets::Wallet,
};
use api_types::ErrorBody;
use reqwest::{Method, Response, header::RETRY_AFTER};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::time::Duration;

/// A request, not sent yet.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The segments of the path below `/api/v1`.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(&'static str, String)>,
    /// The fields of the JSON body; none: it has no body.
    pub(crate) body: Map<String, Value>,
    /// Whether repeating it has no further effect.
    pub(crate) repeatable: bool,
    /// The idempotency key, returned to the caller with an error.
    pub(crate) key: Option<String>,
}

impl Call {
    /// A GET request, which may be repeated.
    pub(crate) fn get<'a>(path: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            method: Method::GET,
            path: path.into_iter().map(str::to_owned).collect(),
            query: Vec::new(),
            body: Map::new(),
            repeatable: true,
            key: None,
        }
    }

    /// A POST request, which is not repeated by default.
    pub(crate) fn post<'a>(path: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            method: Method::POST,
            repeatable: false,
            ..Self::get(path)
        }
    }

    /// Makes the wallet of a user, if there is none.
    pub(crate) fn open_wallet(user: &str) -> Self {
        Self::post(["wallets", "external"])
            .with("externalUserId", user)
            .repeatable()
    }

    /// Adds a query parameter if there is a value.
    #[must_use]
    pub(crate) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query
            .extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// Adds a field to the body.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body.insert(name.to_owned(), value.into());
        self
    }

    /// Adds the wallet to the body, as `externalUserId` or `code`.
    #[must_use]
    pub(crate) fn of(self, wallet: &Wallet) -> Self {
        let (name, value) = wallet.field();
        self.with(name, value)
    }

    /// Adds the fields of an object to the body, but those that are not set.
    pub(crate) fn body(mut self, body: &impl Serialize) -> Result<Self, Error> {
        match serde_json::to_value(body) {
            Ok(Value::Object(fields)) => {
                let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
                self.body.extend(fields);
                Ok(self)
            }
            _ => Err(Error::misused("this cannot be sent as a JSON object")),
        }
    }

    /// Says that repeating the request has no further effect.
    #[must_use]
    pub(crate) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Says that repeating the request has no further effect, thanks to the idempotency key in its body, which is a new
    /// one where the caller gave none.
    #[must_use]
    pub(crate) fn keyed(mut self) -> Self {
        let key = self.body.entry("idempotencyKey");
        let key = key.or_insert_with(|| uuid::Uuid::new_v4().to_string().into());
        self.key = key.as_str().map(str::to_owned);
        self.repeatable()
    }
}

/// Methods that set an optional field of a request.
macro_rules! setters {
    ($type:ident { $($(#[$doc:meta])* $name:ident($from:ty) -> $field:ident,)* }) => {
        impl $type {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, $field: $from) -> Self {
                    self.$field = Some($field.into());
                    self
                }
            )*
        }
    };
}
pub(crate) use setters;

/// What the headers of a response say.
#[derive(Debug)]
pub(crate) struct Head {
    /// Whether it is the answer of an earlier call.
    pub(crate) replayed: bool,
    pub(crate) request_id: Option<String>,
}

/// Reads a response: its body as `T`, or the error in it.
pub(crate) async fn read<T: DeserializeOwned>(response: Response) -> Result<(T, Head), ErrorKind> {
    let status = response.status();
    let header = |name: &str| response.headers().get(name)?.to_str().ok();
    let head = Head {
        replayed: header("idempotency-replayed") == Some("true"),
        request_id: header("x-request-id").map(str::to_owned),
    };
    let retry_after = header(RETRY_AFTER.as_str())
        .and_then(|value| value.parse().ok())
        .map(Duration::from_secs);
    let bytes = response
        .bytes()
        .await
        .map_err(|error| ErrorKind::unanswered(error.without_url()))?;
    let unreadable = |problem: String| ErrorKind::Unreadable {
        status: status.as_u16(),
        problem,
    };
    if status.is_success() {
        // An empty body reads as `null`.
        let bytes: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
        let read = serde_json::from_slice(bytes);
        return read
            .map(|body| (body, head))
            .map_err(|error| unreadable(error.to_string()));
    }
    let mut refusal: Box<ErrorBody> = serde_json::from_slice(&bytes)
        .map_err(|_| unreadable("its body is no error of Scrip's".to_owned()))?;
    refusal.status = status.as_u16();
    refusal.retry_after = retry_after;
    Err(ErrorKind::Refused(refusal))
}
