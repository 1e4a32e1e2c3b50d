//! A request's query: what is asked for by name; whatever else is there is ignored.

use std::borrow::Cow;

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::{
    Timestamp,
    history::Reason,
    id::{OrderSerial, ProductId},
    text::ExternalUserId,
};

use super::{
    code::Code,
    cursor::{read_cursor, read_order_cursor},
    error::Error,
    view,
};
use crate::catalog::ProjectCatalog;

const DEFAULT_LIMIT: usize = 25;
const MAX_LIMIT: usize = 100;

/// The decoded pairs of a query.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let text = parts.uri.query().unwrap_or_default();
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        Ok(Self(
            pairs.map(|(name, value)| (own(name), own(value))).collect(),
        ))
    }
}

fn own(text: Cow<'_, str>) -> String {
    text.into_owned()
}

impl Query {
    fn get(&self, wanted: &'static str) -> Result<Option<&str>, Error> {
        let mut values = self.0.iter().filter(|(name, _)| name == wanted);
        let value = values.next().map(|(_, value)| value.as_str());
        match values.next() {
            Some(_) => Err(Error::invalid(wanted, format!("{wanted} is there twice."))),
            None => Ok(value),
        }
    }

    /// The user that the request is about.
    pub(crate) fn external_user(&self) -> Result<ExternalUserId, Error> {
        const NAME: &str = "externalUserId";
        let user = self.get(NAME)?.ok_or_else(|| Error::missing(NAME))?;
        ExternalUserId::new(user).map_err(|error| Error::text(NAME, error))
    }

    /// Which part of a ledger to read.
    pub(crate) fn ledger(&self, project: &ProjectCatalog) -> Result<actors::LedgerQuery, Error> {
        let limit = self.limit()?;
        let before = self.get("cursor")?.map(read_cursor).transpose()?;
        let reason = self.get("reason")?.map(reason).transpose()?;
        // Last: an unknown product is a 404, which whatever is malformed precedes.
        let product = self
            .get("productId")?
            .map(|id| product(id, project))
            .transpose()?;
        Ok(actors::LedgerQuery {
            before,
            limit,
            product,
            reason,
        })
    }

    /// Which part of the list of orders to read: how many, and before which place.
    pub(crate) fn orders(&self) -> Result<(usize, Option<(Timestamp, OrderSerial)>), Error> {
        let limit = self.limit()?;
        let before = self.get("cursor")?.map(read_order_cursor).transpose()?;
        Ok((limit, before))
    }

    /// Where a portal leads back to, as it was typed.
    pub(crate) fn return_url(&self) -> Result<Option<&str>, Error> {
        self.get("returnUrl")
    }

    fn limit(&self) -> Result<usize, Error> {
        let Some(text) = self.get("limit")? else {
            return Ok(DEFAULT_LIMIT);
        };
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text
            .parse::<usize>()
            .ok()
            .filter(|number| (1..=MAX_LIMIT).contains(number));
        number
            .filter(|_| digits)
            .ok_or_else(|| Error::invalid("limit", "limit has to be a whole number from 1 to 100."))
    }
}

fn product(id: &str, project: &ProjectCatalog) -> Result<ProductId, Error> {
    let known = id.parse().ok().and_then(|id| project.product(&id));
    known
        .map(|product| product.id)
        .ok_or_else(|| Error::new(Code::ProductNotFound))
}

fn reason(text: &str) -> Result<Reason, Error> {
    view::parse_reason(text)
        .ok_or_else(|| Error::invalid("reason", "reason is not one that the ledger knows."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        Query(pairs.map(|(name, value)| (own(name), own(value))).collect())
    }

    #[test]
    fn limits_are_whole_numbers_from_1_to_100() {
        assert_eq!(query("other=x").limit().unwrap(), 25);
        assert_eq!(query("limit=1").limit().unwrap(), 1);
        assert_eq!(query("limit=100").limit().unwrap(), 100);
        for bad in [
            "0",
            "101",
            "-1",
            "1.0",
            "",
            "x",
            "1e1",
            "%2B5",
            "99999999999999999999999",
        ] {
            let error = query(&format!("limit={bad}")).limit().unwrap_err();
            assert_eq!(error.param(), Some("limit"), "{bad}");
        }
        assert!(query("limit=1&limit=2").limit().is_err());
    }

    #[test]
    fn users_are_decoded_and_checked() {
        assert_eq!(
            query("externalUserId=a%2Fb%20c")
                .external_user()
                .unwrap()
                .as_str(),
            "a/b c"
        );
        for bad in ["", "externalUserId=", "externalUserId=%00"] {
            assert_eq!(
                query(bad).external_user().unwrap_err().param(),
                Some("externalUserId")
            );
        }
    }
}
