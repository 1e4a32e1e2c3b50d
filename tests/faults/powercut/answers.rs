//! Which operations were acknowledged, read from the traffic on the server's sockets.

use super::event::Event;
use crate::books::diary_client::OPERATION_HEADER;
use std::collections::HashMap;

/// Follows each connection: one request at a time, each with its operation's number in a header.
#[derive(Default)]
pub(crate) struct Answers {
    asked: HashMap<String, usize>,
}

impl Answers {
    /// Takes the next event; returns the operation that it acknowledges, if any.
    pub(crate) fn see(&mut self, event: &Event) -> Option<usize> {
        match event {
            Event::Received { socket, data } => {
                if let Some(number) = number(data) {
                    self.asked.insert(socket.clone(), number);
                }
                None
            }
            // The first digit gives the status; later parts of a response begin otherwise.
            Event::Sent { socket, data } if data.starts_with(b"HTTP/1.1 ") => {
                let number = self.asked.remove(socket)?;
                data.starts_with(b"HTTP/1.1 2").then_some(number)
            }
            Event::ProcessEnded { .. } => {
                self.asked.clear();
                None
            }
            _ => None,
        }
    }
}

/// The number in the operation header of a request.
fn number(data: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(data);
    let (_, rest) = text.split_once(&format!("{OPERATION_HEADER}: "))?;
    let (number, _) = rest.split_once("\r\n")?;
    number.parse().ok()
}

#[test]
fn an_answer_belongs_to_the_last_request_on_its_socket() {
    let received = |socket: &str, text: &str| Event::Received {
        socket: socket.into(),
        data: text.into(),
    };
    let sent = |socket: &str, text: &str| Event::Sent {
        socket: socket.into(),
        data: text.into(),
    };
    let mut answers = Answers::default();
    let events = [
        received("a", "POST / HTTP/1.1\r\nx-test-operation: 1\r\n\r\n{}"),
        received("b", "POST / HTTP/1.1\r\nx-test-operation: 2\r\n\r\n{"),
        received("b", "}"),
        sent("b", "HTTP/1.1 200 OK\r\n"),
        sent("b", "the rest of a long answer"),
        sent("a", "HTTP/1.1 503 Service Unavailable\r\n"),
        received("a", "GET / HTTP/1.1\r\n\r\n"),
        sent("a", "HTTP/1.1 200 OK\r\n"),
    ];
    let seen: Vec<_> = events
        .iter()
        .filter_map(|event| answers.see(event))
        .collect();
    assert_eq!(seen, [2]);
}
