//! The proof that a request was passed on by a process with the same server key, and for which client. It holds for one
//! method and one path: one that is read on its way can claim no other client, and use it for nothing else.

use std::net::SocketAddr;

use axum::http::{HeaderValue, Method, Request, Uri};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::front::headers::{FOR_CELL, FORWARDED, X_FORWARDED_FOR};

/// Names the purpose of the key that is derived from the server key.
const LABEL: &[u8] = b"scrip/forward/1";

/// Signs what is passed on, and checks what others pass on.
#[derive(Clone)]
pub(super) struct ForwardKey(Hmac<Sha256>);

/// Who has thought of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A client: a process passes it on as it came.
    Client,
    /// The process that sends it.
    Process,
}

impl Author {
    /// What a proof begins with. No client's address does.
    const fn label(self) -> &'static str {
        match self {
            Self::Client => "",
            Self::Process => "process ",
        }
    }
}

/// What another process says of a request that it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Forwarded {
    pub(super) author: Author,
    pub(super) client: SocketAddr,
    /// Whom it takes this process for; `None`: it knows of no cells.
    pub(super) cell: Option<i16>,
}

impl ForwardKey {
    pub(super) fn new(server_key: &[u8; 32]) -> Self {
        let mut root = keyed(server_key);
        root.update(LABEL);
        Self(keyed(&root.finalize().into_bytes().into()))
    }

    /// The header's value for a request of this client.
    pub(super) fn sign(
        &self,
        author: Author,
        client: SocketAddr,
        method: &Method,
        uri: &Uri,
    ) -> Option<HeaderValue> {
        let client = client.to_string();
        let tag = self
            .mac(author, &client, method, uri)
            .finalize()
            .into_bytes();
        HeaderValue::try_from(format!("{client} {}", HEXLOWER.encode(&tag))).ok()
    }

    /// Takes the headers off a request. `Some`: a process of the cluster passed it on for a client, and what proxies say
    /// of the client is taken off, too, for that process has judged it.
    pub(super) fn open<B>(&self, request: &mut Request<B>) -> Option<Forwarded> {
        let mut values = request.headers().get_all(FORWARDED).iter();
        let value = values.next().filter(|_| values.next().is_none()).cloned();
        request.headers_mut().remove(FORWARDED);
        let cell = request.headers_mut().remove(FOR_CELL);
        let value = value?;
        let (client, tag) = value.to_str().ok()?.split_once(' ')?;
        let tag = HEXLOWER.decode(tag.as_bytes()).ok()?;
        let is_by = |author: &Author| {
            let mac = self.mac(*author, client, request.method(), request.uri());
            // In constant time.
            mac.verify_slice(&tag).is_ok()
        };
        let author = [Author::Client, Author::Process].into_iter().find(is_by)?;
        let client = client.parse().ok()?;
        let cell = match cell {
            Some(cell) => Some(cell.to_str().ok()?.parse().ok()?),
            None => None,
        };
        request.headers_mut().remove(X_FORWARDED_FOR);
        Some(Forwarded {
            author,
            client,
            cell,
        })
    }

    fn mac(&self, author: Author, client: &str, method: &Method, uri: &Uri) -> Hmac<Sha256> {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut mac = self.0.clone();
        // None of the others contains a space.
        for text in [author.label(), client, " ", method.as_str(), " ", path] {
            mac.update(text.as_bytes());
        }
        mac
    }
}

fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = [0_u8; 64];
    // HMAC itself pads a short key with zeroes to the hash's block.
    block.split_at_mut(32).0.copy_from_slice(key);
    Hmac::new(&block.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, uri: &str, values: &[HeaderValue]) -> Request<()> {
        let mut request = Request::builder().method(method).uri(uri);
        for value in values {
            request = request.header(FORWARDED, value);
        }
        request
            .header(X_FORWARDED_FOR, "192.0.2.9")
            .body(())
            .unwrap()
    }

    #[test]
    fn a_token_holds_for_its_key_its_client_and_its_request() {
        let (key, client) = (ForwardKey::new(&[7; 32]), "203.0.113.9:0".parse().unwrap());
        let path = "/api/v1/wallets/a/deduct?x=1";
        let uri = path.parse().unwrap();
        let value = key
            .sign(Author::Client, client, &Method::POST, &uri)
            .unwrap();
        let mut genuine = request("POST", path, std::slice::from_ref(&value));
        let by = |author, cell| {
            Some(Forwarded {
                author,
                client,
                cell,
            })
        };
        assert_eq!(key.open(&mut genuine), by(Author::Client, None));
        assert!(genuine.headers().is_empty());
        let mut to_a_cell = request("POST", path, std::slice::from_ref(&value));
        to_a_cell.headers_mut().insert(FOR_CELL, (-3_i16).into());
        assert_eq!(key.open(&mut to_a_cell), by(Author::Client, Some(-3)));
        let own = key.sign(Author::Process, client, &Method::POST, &uri);
        let mut own = request("POST", path, &[own.unwrap()]);
        assert_eq!(key.open(&mut own), by(Author::Process, None));
        assert!(to_a_cell.headers().is_empty());

        let text = value.to_str().unwrap();
        let forged = text.replace("203.0.113.9", "203.0.113.8").parse().unwrap();
        let short = text.split_at(text.len() - 2).0.parse().unwrap();
        let other = ForwardKey::new(&[8; 32])
            .sign(Author::Client, client, &Method::POST, &uri)
            .unwrap();
        for mut request in [
            request("PUT", path, std::slice::from_ref(&value)),
            request(
                "POST",
                "/api/v1/wallets/b/deduct",
                std::slice::from_ref(&value),
            ),
            request("POST", path, &[value.clone(), value]),
            request("POST", path, &[forged]),
            request("POST", path, &[short]),
            request("POST", path, &[other]),
            request("POST", path, &["203.0.113.9:0".parse().unwrap()]),
            request("POST", path, &["203.0.113.9:0 ".parse().unwrap()]),
        ] {
            assert_eq!(key.open(&mut request), None);
            assert!(!request.headers().contains_key(FORWARDED));
            assert!(request.headers().contains_key(X_FORWARDED_FOR));
        }
    }
}
