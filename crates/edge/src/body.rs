//! A request's body: its media type and size are checked before it is read whole, its shape when it
//! is parsed. Parsing borrows from the body and runs once; only a refusal parses a second time, to
//! find out which input was at fault, and for a caller who wants unknown fields refused.

use std::{pin::pin, time::Duration};

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use bytes::BytesMut;
use futures_util::future::poll_immediate;
use http_body_util::BodyExt;
use serde::{Deserialize, de::IgnoredAny};
use serde_ignored::Path;
use wire::{
    code::ErrorCode, error::Error, field::Object, invalid_input::invalid_input, prefer::is_strict,
};

use crate::BehindEdge;

/// A body that is too large is read on to here before it is refused, so that a client that is still
/// sending gets the answer.
const DRAINED_BYTES: usize = 4 * 1024 * 1024;

/// How large a body may be, and how long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// Bytes of an ordinary body.
    pub max_bytes: usize,
    /// Bytes of a batch's body.
    pub max_batch_bytes: usize,
    /// Seconds for a body to arrive.
    pub timeout_seconds: u64,
}

/// A JSON body as it was sent. That of a batch may be larger.
#[derive(Debug, Default)]
pub struct JsonBody<const BATCH: bool> {
    bytes: Bytes,
    /// Whether unknown fields are refused, instead of ignored.
    strict: bool,
}

/// A JSON body of an ordinary request.
pub type Body = JsonBody<false>;

/// A JSON body of a batch.
pub type BatchBody = JsonBody<true>;

/// A JSON body that may be left out.
#[derive(Debug)]
pub struct MaybeBody(Body);

/// A form of the dashboard, as browsers encode it.
#[derive(Debug)]
pub struct FormBody(Bytes);

impl<S: BehindEdge, const BATCH: bool> FromRequest<S> for JsonBody<BATCH> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let (parts, body) = request.into_parts();
        Self::read(&parts.headers, body, &state.edge().bodies).await
    }
}

impl<S: BehindEdge> FromRequest<S> for MaybeBody {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        if http_body::Body::is_end_stream(request.body()) {
            return Ok(Self(Body::default()));
        }
        Body::from_request(request, state).await.map(Self)
    }
}

impl<const BATCH: bool> JsonBody<BATCH> {
    /// Takes the body of a request with these headers.
    /// # Errors
    /// The body is of another media type, too large, or does not arrive in time.
    pub async fn read(
        headers: &HeaderMap,
        body: impl Incoming,
        limits: &BodyLimits,
    ) -> Result<Self, Error> {
        if !is_of(headers, "application/json") {
            return Err(Error::new(ErrorCode::UnsupportedMediaType));
        }
        let max = match BATCH {
            true => limits.max_batch_bytes,
            false => limits.max_bytes,
        };
        Ok(Self {
            bytes: read_whole(body, max, limits.timeout_seconds).await?,
            strict: is_strict(headers),
        })
    }

    /// Reads the body as an object of this type.
    /// # Errors
    /// The body is not JSON, or not of this shape; names the input at fault.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        let read = parse(&self.bytes)?;
        if self.strict {
            refuse_unread::<T>(&self.bytes)?;
        }
        Ok(read)
    }
}

impl FormBody {
    /// Takes the body of a request with these headers.
    /// # Errors
    /// The body is of another media type, too large, or does not arrive in time.
    pub async fn read(
        headers: &HeaderMap,
        body: impl Incoming,
        limits: &BodyLimits,
    ) -> Result<Self, Error> {
        if !is_of(headers, "application/x-www-form-urlencoded") {
            return Err(Error::new(ErrorCode::UnsupportedMediaType)
                .saying("Send the form as browsers do: application/x-www-form-urlencoded."));
        }
        let (max, seconds) = (limits.max_bytes, limits.timeout_seconds);
        read_whole(body, max, seconds).await.map(Self)
    }

    /// The form's bytes as they were sent.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl MaybeBody {
    /// Reads the body as an object of this type; `None`: there is none.
    /// # Errors
    /// The body is not JSON, or not of this shape; names the input at fault.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<Option<T>, Error> {
        match self.0.bytes.trim_ascii() {
            b"" | b"null" => Ok(None),
            _ => self.0.parse().map(Some),
        }
    }
}

/// The body of a request that may still be arriving.
pub trait Incoming: http_body::Body<Data = Bytes> + Send + Unpin {}

impl<B: http_body::Body<Data = Bytes> + Send + Unpin> Incoming for B {}

async fn read_whole(body: impl Incoming, max: usize, seconds: u64) -> Result<Bytes, Error> {
    let declared = body.size_hint().lower();
    if declared > DRAINED_BYTES as u64 {
        return Err(Error::new(ErrorCode::BodyTooLarge));
    }
    let read = read_up_to(body, max, seconds).await;
    // A body that declares too much is too large, even where reading it failed otherwise.
    read.map_err(|error| match declared > max as u64 {
        true => Error::new(ErrorCode::BodyTooLarge),
        false => error,
    })
}

async fn read_up_to(mut body: impl Incoming, max: usize, seconds: u64) -> Result<Bytes, Error> {
    // Most bodies have arrived with the head, in one piece: no timer, no copy.
    let first = {
        let mut first = pin!(next(&mut body));
        match poll_immediate(first.as_mut()).await {
            Some(arrived) => arrived?,
            None => within(seconds, first).await?,
        }
    };
    let Some(first) = first else {
        return Ok(Bytes::new());
    };
    if first.len() <= max && body.is_end_stream() {
        return Ok(first);
    }
    within(seconds, rest(body, first, max)).await
}

async fn rest(mut body: impl Incoming, first: Bytes, max: usize) -> Result<Bytes, Error> {
    let mut whole = BytesMut::from(first);
    let mut seen = whole.len();
    while seen <= DRAINED_BYTES
        && let Some(more) = next(&mut body).await?
    {
        seen += more.len();
        if seen <= max {
            whole.extend_from_slice(&more);
        } else {
            whole = BytesMut::new();
        }
    }
    if seen <= max {
        Ok(whole.freeze())
    } else {
        Err(Error::new(ErrorCode::BodyTooLarge))
    }
}

/// The next piece of data; `None` at the end.
async fn next(body: &mut impl Incoming) -> Result<Option<Bytes>, Error> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::malformed("The body ended too early."))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

async fn within<T>(seconds: u64, read: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match tokio::time::timeout(Duration::from_secs(seconds), read).await {
        Ok(result) => result,
        Err(_) => Err(Error::malformed("The body took too long to arrive.")),
    }
}

/// Whether the media type is this one, with any parameters.
fn is_of(headers: &HeaderMap, media_type: &str) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return false;
    };
    let essence = value
        .as_bytes()
        .split(|&byte| byte == b';')
        .next()
        .unwrap_or_default();
    essence
        .trim_ascii()
        .eq_ignore_ascii_case(media_type.as_bytes())
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Error> {
    // UTF-8 is checked in one pass, not string by string. Broken UTF-8 is allowed in an unknown field, which serde_json
    // skips.
    let read = match std::str::from_utf8(body) {
        Ok(text) => serde_json::from_str::<Object<T>>(text),
        Err(_) => serde_json::from_slice::<Object<T>>(body),
    };
    match read {
        Ok(Object(value)) => Ok(value),
        Err(_) => Err(explain::<T>(body)),
    }
}

/// Refuses a body that was parsed and has an unknown field, at any depth.
#[cold]
fn refuse_unread<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<(), Error> {
    let mut first = None;
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let read = serde_ignored::deserialize::<_, _, Object<T>>(&mut deserializer, |path| {
        first.get_or_insert_with(|| path_of(&path));
    });
    match (read, first) {
        (Ok(_), None) => Ok(()),
        (Ok(_), Some(path)) => {
            let message = format!("There is no field {path}, and handling=strict was preferred.");
            Err(Error::invalid(path, message))
        }
        (Err(_), _) => Err(explain::<T>(body)),
    }
}

/// A path as `param` has it, such as `items[3].amount`.
fn path_of(path: &Path<'_>) -> String {
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}[{index}]", path_of(parent)),
        Path::Map { parent, key } => match path_of(parent) {
            parent if parent.is_empty() => key.clone(),
            parent => format!("{parent}.{key}"),
        },
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => path_of(parent),
    }
}

/// Names the input at fault, and what was expected of it.
#[cold]
fn explain<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Error {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let failure = match serde_path_to_error::deserialize::<_, Object<T>>(&mut deserializer) {
        Ok(_) => return Error::malformed("The body has more than one JSON value."),
        Err(failure) => failure,
    };
    let path = failure.path().to_string();
    let inner = failure.inner();
    let text = inner.to_string();
    // serde_json ends each message with its place.
    let message = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(message, _)| message);
    // With these messages one value is at fault, not the document. They repeat no input.
    let of_one_value = [
        "number out of range",
        "lone leading surrogate",
        "unexpected end of hex",
    ];
    if path != "." && of_one_value.iter().any(|start| message.starts_with(start)) {
        let message = format!("{path} is not valid JSON: {message}.");
        return Error::invalid(path, message);
    }
    // If the body is valid JSON, a value only has the wrong type, even where the parser reports a
    // syntax error (a number for one of a few texts).
    match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(_) => {
            let refusal = invalid_input(&path, message, "The body");
            match misspelled(body, &path, message) {
                Some(name) => {
                    let message = format!(
                        "{} Names are in camelCase: the body has {name}.",
                        refusal.message()
                    );
                    refusal.saying(message)
                }
                None => refusal,
            }
        }
        Err(error) => Error::malformed(format!("The body is not valid JSON: {error}.")),
    }
}

/// What the body has in the place of a field that is missing: `external_user_id` for `externalUserId`.
fn misspelled(body: &[u8], path: &str, message: &str) -> Option<String> {
    let missing = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let pointer = match path {
        "." => String::new(),
        path => format!("/{}", path.replace(['.', '['], "/").replace(']', "")),
    };
    let folded = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let mut names = body.pointer(&pointer)?.as_object()?.keys();
    names.find(|name| folded(name) == folded(missing)).cloned()
}

#[cfg(test)]
mod tests;
