//! Sends operations and writes their responses down. Any response that the API does not allow here fails the
//! test at once.

use super::{
    diary::{Answer, Diary},
    operation::Operation,
};
use kit::{Client, Project, Reply, ledger};
use reqwest::Method;
use serde_json::Value;
use std::sync::Arc;

/// The header that identifies requests in recordings of the server's sockets.
pub(crate) const OPERATION_HEADER: &str = "x-test-operation";

/// One client of the server, with connections of its own.
pub(crate) struct DiaryClient {
    client: Client,
    product: String,
    diary: Arc<Diary>,
}

/// The result of a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    Done,
    /// A 503, or some refused items of a batch; with the code. What was refused may have been applied or not.
    Refused(String),
    /// No complete response came. The operation may have been applied or not.
    Lost(reqwest::Error),
}

impl DiaryClient {
    /// A diary_client at the server's address `base`.
    pub(crate) fn new(base: &str, project: &Project, diary: &Arc<Diary>) -> Self {
        Self {
            client: Client::new(base, &project.secret),
            product: project.product.clone(),
            diary: Arc::clone(diary),
        }
    }

    /// Writes a new operation down and sends it.
    pub(crate) async fn perform(&self, build: impl FnOnce(usize) -> Operation) -> Outcome {
        self.send(self.diary.note(build)).await
    }

    /// Sends an operation of the diary, for the first time or again.
    pub(crate) async fn send(&self, number: usize) -> Outcome {
        let operation = self.diary.record(number).operation;
        let hold_id = match operation {
            Operation::Settle { hold, .. } => self.diary.record(hold).hold_id,
            _ => None,
        };
        let (path, body) = operation.request(&self.product, hold_id.as_deref());
        let method = if body.is_some() {
            Method::POST
        } else {
            Method::GET
        };
        let mut request = self
            .client
            .request(method, &path)
            .header(OPERATION_HEADER, number);
        if let Some(body) = &body {
            request = request.json(body);
        }
        match Client::send(request).await {
            Ok(reply) if reply.status == 200 => {
                if let Some((code, done)) = refused_items(&operation, &reply.body) {
                    self.diary.answer_in_part(number, &done);
                    return Outcome::Refused(code);
                }
                self.diary.answer(number, read(&operation, &reply.body));
                Outcome::Done
            }
            Ok(reply) if reply.status == 503 => Outcome::Refused(refusal(&reply)),
            Ok(reply) => panic!(
                "{operation:?} was answered {}: {}",
                reply.status, reply.body
            ),
            Err(error) => Outcome::Lost(error),
        }
    }

    /// Sends all unanswered operations again, oldest first; each must succeed now.
    pub(crate) async fn resend_unanswered(&self) {
        for number in self.diary.unanswered() {
            let outcome = self.send(number).await;
            assert!(
                matches!(outcome, Outcome::Done),
                "resending {:?}: {outcome:?}",
                self.diary.record(number).operation
            );
        }
    }
}

/// The code of a 503, which must have a `Retry-After`.
fn refusal(reply: &Reply) -> String {
    assert!(
        reply.headers.contains_key("retry-after"),
        "a 503 without Retry-After: {}",
        reply.body
    );
    reply.code().to_owned()
}

/// If some items of a batch were refused because of the log or the load: the code, and for each item whether it
/// was done.
fn refused_items(operation: &Operation, body: &Value) -> Option<(String, Vec<bool>)> {
    let (Operation::Batch(_), Some(results)) = (operation, body["results"].as_array()) else {
        return None;
    };
    let mut codes = results
        .iter()
        .filter_map(|result| result["error"]["code"].as_str());
    let code = codes.next()?.to_owned();
    assert!(
        ["unavailable", "overloaded"].contains(&code.as_str()),
        "an item was refused: {body}"
    );
    let done: Vec<_> = results
        .iter()
        .map(|result| result["deducted"].is_boolean())
        .collect();
    // A refusal of the whole request must have an error status, so that proxies see it, too.
    assert!(
        done.contains(&true),
        "nothing of a batch was done, and it was answered 200: {code}"
    );
    Some((code, done))
}

/// Reads what the books need from a 200; panics if it does not say that the operation was done.
fn read(operation: &Operation, body: &Value) -> Answer {
    let says = |field: &str, body: &Value| {
        assert!(
            body[field].is_boolean(),
            "no `{field}` in the answer to {operation:?}: {body}"
        );
    };
    let mut answer = Answer::default();
    let body = match (operation, body["results"].as_array()) {
        (Operation::Batch(_), _) | (_, None) => body,
        (_, Some(results)) => &results[0],
    };
    match operation {
        Operation::Grant(_) => says("credited", body),
        Operation::Deduct(_) | Operation::Settle { .. } => says("deducted", body),
        Operation::Batch(items) => {
            let results = body["results"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            assert_eq!(results.len(), items.len(), "a result for each item: {body}");
            results.iter().for_each(|result| says("deducted", result));
        }
        Operation::Hold(_) => {
            let id = body["holdId"].as_str();
            answer.hold_id = Some(
                id.unwrap_or_else(|| panic!("no `holdId` in {body}"))
                    .to_owned(),
            );
        }
        Operation::Read { .. } => {
            answer.revealed = ledger::page(body)
                .into_iter()
                .filter_map(|entry| entry.key)
                .collect();
        }
    }
    answer
}
