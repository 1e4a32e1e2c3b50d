//! The order that durability demands: a request is received, its entry is written, that file is synced by a
//! call that begins after the write has ended, and only then the response is sent.

use super::trace::Call;
use crate::books::Record;
use crate::books::diary_client::OPERATION_HEADER;
use std::path::Path;

/// The calls of a trace, to check their order.
pub(crate) struct Order<'a> {
    calls: &'a [Call],
    data_dir: String,
}

impl<'a> Order<'a> {
    /// Selects writes and syncs of files below `data_dir`.
    pub(crate) fn new(calls: &'a [Call], data_dir: &Path) -> Self {
        Self {
            calls,
            data_dir: format!("{}/", data_dir.display()),
        }
    }

    /// Panics if a write among the operations was answered too early; returns the number of answered ones.
    pub(crate) fn assert<'b>(
        &self,
        operations: impl Iterator<Item = (usize, &'b Record)>,
    ) -> usize {
        let mut answered = 0;
        for (number, record) in operations.filter(|(_, record)| record.operation.writes()) {
            let keys = record.operation.keys();
            match self.check(number, &keys) {
                Ok(Some(_)) => answered += 1,
                Ok(None) => assert!(!record.answered, "no trace of the answer to {record:?}"),
                Err(problem) => panic!("{:?}: {problem}", record.operation),
            }
        }
        answered
    }

    /// The index of the 2xx response to an operation, or `None`; an error if one of its `keys` was not written
    /// and synced between the request and that response.
    fn check(&self, number: usize, keys: &[&str]) -> Result<Option<usize>, String> {
        // strace prints line ends escaped.
        let header = format!(r"{OPERATION_HEADER}: {number}\r\n");
        let received = self
            .calls
            .iter()
            .find(|call| receives(call) && call.arguments.contains(&header));
        let Some(received) = received else {
            return Ok(None);
        };
        let answer = self.calls.iter().find(|call| {
            call.began > received.ended
                && call.object() == received.object()
                && sends(call)
                && call.arguments.contains("\"HTTP/1.1 ")
        });
        let Some(answer) = answer.filter(|call| call.arguments.contains("\"HTTP/1.1 2")) else {
            return Ok(None);
        };
        let (after, before) = (received.ended, answer.began);
        if keys.is_empty() {
            self.check_any(after, before)?;
        }
        for key in keys {
            self.check_key(key, after, before)?;
        }
        Ok(Some(answer.began))
    }

    /// Checks the first write that contains `key`, which is the log's.
    fn check_key(&self, key: &str, after: usize, before: usize) -> Result<(), String> {
        match self
            .writes(after, before)
            .find(|write| write.arguments.contains(key))
        {
            None => Err(format!("`{key}` was answered before it was written")),
            Some(write) if self.synced(write, before) => Ok(()),
            Some(_) => Err(format!("`{key}` was answered before it was synced")),
        }
    }

    /// Checks a settlement, which has no key: some write between must have been synced.
    fn check_any(&self, after: usize, before: usize) -> Result<(), String> {
        if self
            .writes(after, before)
            .any(|write| self.synced(write, before))
        {
            return Ok(());
        }
        Err("it was answered before anything was written and synced".to_owned())
    }

    fn synced(&self, write: &Call, before: usize) -> bool {
        self.calls.iter().any(|call| {
            call.syncs()
                && call.succeeded()
                && write.ended < call.began
                && call.ended < before
                && call.object() == write.object()
        })
    }

    /// Writes to files of the data directory between two calls.
    fn writes(&self, after: usize, before: usize) -> impl Iterator<Item = &Call> {
        self.calls
            .iter()
            .filter(move |call| after < call.began && call.ended < before && self.writes_data(call))
    }

    fn writes_data(&self, call: &Call) -> bool {
        let writes = ["write", "writev", "pwrite64", "pwritev", "pwritev2"];
        writes.contains(&call.name.as_str())
            && call
                .object()
                .is_some_and(|path| path.starts_with(&self.data_dir))
    }
}

fn receives(call: &Call) -> bool {
    ["read", "readv", "recvfrom", "recvmsg"].contains(&call.name.as_str())
}

fn sends(call: &Call) -> bool {
    ["write", "writev", "sendto", "sendmsg"].contains(&call.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::{super::trace::parse, *};

    const REQUEST: &str = r#"1 recvfrom(9<socket:[5]>, "POST / HTTP/1.1\r\nx-test-operation: 4\r\n\r\nkey-4", 99, 0, NULL, NULL) = 50"#;
    const WRITE: &str = r#"2 pwrite64(3</d/db>, "..key-4..", 9, 0) = 9"#;
    const OTHER_WRITE: &str = r#"2 pwrite64(3</d/db>, "..key-3..", 9, 0) = 9"#;
    const SYNC: &str = "2 fsync(3</d/db>) = 0";
    const FAILED_SYNC: &str = "2 fsync(3</d/db>) = -1 EIO (Input/output error) (INJECTED)";
    const OTHER_SYNC: &str = "2 fsync(4</d/other>) = 0";
    const ANSWER: &str =
        r#"1 sendto(9<socket:[5]>, "HTTP/1.1 200 OK\r\n", 17, MSG_NOSIGNAL, NULL, 0) = 17"#;
    const REFUSAL: &str =
        r#"1 sendto(9<socket:[5]>, "HTTP/1.1 503 \r\n", 17, MSG_NOSIGNAL, NULL, 0) = 17"#;

    fn check(lines: &[&str]) -> Result<Option<usize>, String> {
        let calls = parse(&lines.join("\n"));
        Order::new(&calls, Path::new("/d")).check(4, &["key-4"])
    }

    #[test]
    fn an_honest_order_is_accepted_and_every_false_one_found() {
        assert_eq!(check(&[REQUEST, WRITE, SYNC, ANSWER]), Ok(Some(3)));
        assert_eq!(check(&[REQUEST, WRITE, FAILED_SYNC, REFUSAL]), Ok(None));
        assert_eq!(check(&[REQUEST, WRITE]), Ok(None));

        let false_orders: [&[&str]; 6] = [
            &[REQUEST, ANSWER, WRITE, SYNC],
            &[REQUEST, WRITE, ANSWER, SYNC],
            &[REQUEST, SYNC, WRITE, ANSWER],
            &[REQUEST, WRITE, FAILED_SYNC, ANSWER],
            &[REQUEST, WRITE, OTHER_SYNC, ANSWER],
            &[REQUEST, OTHER_WRITE, SYNC, ANSWER],
        ];
        for false_order in false_orders {
            assert!(check(false_order).is_err(), "{false_order:?}");
        }
    }

    #[test]
    fn a_sync_begun_before_the_end_of_the_write_does_not_cover_it() {
        let start = "2 fsync(3</d/db> <unfinished ...>";
        let ended = "2 <... fsync resumed>) = 0";
        let write = r#"3 pwrite64(3</d/db>, "..key-4..", 9, 0) = 9"#;
        assert!(check(&[REQUEST, start, write, ended, ANSWER]).is_err());
    }
}
