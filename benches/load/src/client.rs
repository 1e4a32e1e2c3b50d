//! A simple HTTP client for single calls: setup, readiness and metrics.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

use super::{
    error::{Context, Error, Result},
    load::parse_head,
};

/// Timeout of a call.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// A response's status and body.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// A client for one server with one bearer token; opens a connection for each call.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    server: SocketAddr,
    bearer: String,
}

impl Client {
    pub(crate) fn new(server: SocketAddr, bearer: &str) -> Self {
        Self {
            server,
            bearer: bearer.into(),
        }
    }

    /// Sends a GET.
    pub(crate) fn get(&self, path: &str) -> Result<Reply> {
        self.call("GET", path, "")
    }

    /// POSTs JSON and returns the response, which must be a 2xx.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send("POST", path, body)
    }

    /// PATCHes JSON and returns the response, which must be a 2xx.
    pub(crate) fn patch(&self, path: &str, body: &Value) -> Result<Value> {
        self.send("PATCH", path, body)
    }

    /// Sends a DELETE; the response must be a 2xx and has no body.
    pub(crate) fn delete(&self, path: &str) -> Result<()> {
        let reply = self.call("DELETE", path, "")?;
        if (200..300).contains(&reply.status) {
            return Ok(());
        }
        let Reply { status, body } = reply;
        Err(Error(format!("DELETE {path}: {status} {body}")))
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let reply = self.call(method, path, &body.to_string())?;
        if !(200..300).contains(&reply.status) {
            let Reply { status, body } = reply;
            return Err(Error(format!("{method} {path}: {status} {body}")));
        }
        match reply.body.is_empty() {
            true => Ok(Value::Null),
            false => serde_json::from_str(&reply.body).context(format_args!("{method} {path}")),
        }
    }

    fn call(&self, method: &str, path: &str, body: &str) -> Result<Reply> {
        let mut stream = TcpStream::connect(self.server).context("connecting to the server")?;
        stream.set_read_timeout(Some(ANSWER_WITHIN))?;
        stream.set_write_timeout(Some(ANSWER_WITHIN))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.bearer,
            body.len(),
        )?;
        let mut bytes = Vec::new();
        stream
            .read_to_end(&mut bytes)
            .context(format_args!("{method} {path}"))?;
        // A 204 has neither a body nor a content-length.
        if bytes.starts_with(b"HTTP/1.1 204 ") {
            return Ok(Reply {
                status: 204,
                body: String::new(),
            });
        }
        let head = parse_head(&bytes)
            .and_then(|head| head.ok_or("the answer ends in its head"))
            .context(format_args!("{method} {path}"))?;
        let body = bytes
            .get(head.body..head.end)
            .ok_or_else(|| Error("a cut answer".into()))?;
        Ok(Reply {
            status: head.status,
            body: String::from_utf8_lossy(body).into_owned(),
        })
    }
}
