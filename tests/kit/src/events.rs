//! A stream of server-sent events, read as a browser's `fetch` reads it.

use crate::client::{Client, Reply};
use reqwest::Method;
use serde_json::Value;
use std::time::Duration;

/// Longer than any test: a stream has no end of its own.
const FOR_EVER: Duration = Duration::from_secs(1_000_000);

/// A stream that was opened.
pub struct Events {
    response: reqwest::Response,
    unread: String,
}

/// What comes over a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    /// An event: its number, its name and its data.
    Event(i64, String, Value),
    /// A comment, by which the server says that it is there.
    Comment,
}

impl Events {
    /// Opens the stream at `path`.
    /// # Errors
    /// The reply, where it is a refusal.
    pub async fn open(client: &Client, path: &str) -> Result<Self, Reply> {
        Self::send(client.request(Method::GET, path)).await
    }

    /// Opens a stream by this request.
    /// # Errors
    /// The reply, where it is a refusal.
    pub async fn send(request: reqwest::RequestBuilder) -> Result<Self, Reply> {
        let response = request.timeout(FOR_EVER).send().await.expect("an answer");
        if response.status() != 200 {
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let body = response.json().await.unwrap_or_default();
            return Err(Reply {
                status,
                headers,
                body,
            });
        }
        let kind = response.headers()["content-type"].clone();
        assert_eq!(kind, "text/event-stream");
        Ok(Self {
            response,
            unread: String::new(),
        })
    }

    /// The headers that came first.
    pub fn headers(&self) -> &reqwest::header::HeaderMap {
        self.response.headers()
    }

    /// The next event or comment; `None` when the stream has come to its end.
    pub async fn line(&mut self) -> Option<StreamItem> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let line = parse(block);
                self.unread = rest.to_owned();
                return Some(line);
            }
            let chunk = self.response.chunk().await.expect("an orderly end")?;
            self.unread
                .push_str(std::str::from_utf8(&chunk).expect("text"));
        }
    }

    /// The next event's number and data; `None` at the end.
    pub async fn event(&mut self) -> Option<(i64, Value)> {
        loop {
            match self.line().await? {
                StreamItem::Event(id, name, data) => {
                    assert_eq!(name, "balance");
                    return Some((id, data));
                }
                StreamItem::Comment => {}
            }
        }
    }

    /// Reads on to the first event with this balance of the wallet's first product.
    pub async fn balance(&mut self, wanted: i64) -> Value {
        loop {
            let (_, data) = self.event().await.expect("the stream goes on");
            if data["balances"][0]["balance"] == wanted {
                return data;
            }
        }
    }

    /// Reads to the end; returns the events on the way.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some((_, data)) = self.event().await {
            rest.push(data);
        }
        rest
    }
}

fn parse(block: &str) -> StreamItem {
    if block.starts_with(':') {
        assert_eq!(block.lines().count(), 1, "{block}");
        return StreamItem::Comment;
    }
    let field = |name: &str| {
        let mut fields = block.lines().filter_map(|line| line.strip_prefix(name));
        let field = fields.next().unwrap_or_else(|| panic!("{name} in {block}"));
        assert_eq!(fields.next(), None, "{block}");
        field.to_owned()
    };
    let id = field("id: ").parse().expect("a number");
    let data = serde_json::from_str(&field("data: ")).expect("JSON");
    StreamItem::Event(id, field("event: "), data)
}
