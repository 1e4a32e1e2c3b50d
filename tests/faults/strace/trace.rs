//! Parses the output of `strace -f -y -o`. Its lines are in the order in which calls began and ended, as far as
//! one could have caused the other: a thread continues only after its line is written.

use std::collections::HashMap;

/// One system call. `began` and `ended` are line numbers and so comparable over all threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) thread: String,
    pub(crate) name: String,
    /// The arguments as printed when the call began, and what was added when it ended.
    pub(crate) arguments: String,
    /// The text after `=`; `None` if the call never ended.
    pub(crate) result: Option<String>,
    pub(crate) began: usize,
    pub(crate) ended: usize,
}

impl Call {
    /// What `-y` prints for the first argument, a descriptor: a path or a socket.
    pub(crate) fn object(&self) -> Option<&str> {
        let (descriptor, rest) = self.arguments.split_once('<')?;
        if !descriptor.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // Sockets contain `->`; a path with a `>` does not occur here.
        let (object, _) = rest.split_once(">,").or_else(|| rest.split_once(">)"))?;
        Some(object)
    }

    /// Whether it is a call that makes a file durable.
    pub(crate) fn syncs(&self) -> bool {
        matches!(self.name.as_str(), "fsync" | "fdatasync")
    }

    /// Whether it succeeded.
    pub(crate) fn succeeded(&self) -> bool {
        self.result
            .as_ref()
            .is_some_and(|result| !result.starts_with(['-', '?']))
    }

    /// Whether strace injected its failure.
    pub(crate) fn injected(&self) -> bool {
        self.result
            .as_ref()
            .is_some_and(|result| result.ends_with("(INJECTED)"))
    }
}

/// All calls of a trace, in the order in which they began.
pub(crate) fn parse(text: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut under_way: HashMap<&str, usize> = HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let Some((thread, rest)) = line.split_once(char::is_whitespace) else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(end) = rest.strip_prefix("<... ") {
            let start = under_way
                .remove(thread)
                .and_then(|place| calls.get_mut(place));
            if let (Some(call), Some((_, end))) = (start, end.split_once(" resumed>")) {
                let (added, result) = split_result(end);
                call.arguments.push_str(added);
                call.result = result;
                call.ended = number;
            }
        } else if let Some((name, arguments)) = begin(rest) {
            let (arguments, result) = match arguments.strip_suffix("<unfinished ...>") {
                Some(arguments) => (arguments.trim_end(), None),
                None => split_result(arguments),
            };
            if result.is_none() {
                under_way.insert(thread, calls.len());
            }
            calls.push(Call {
                thread: thread.to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                ended: if result.is_some() { number } else { usize::MAX },
                result,
                began: number,
            });
        }
    }
    calls
}

/// The largest number of syncs by one thread.
pub(crate) fn most_syncs_of_a_thread(calls: &[Call]) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for call in calls.iter().filter(|call| call.syncs()) {
        *counts.entry(&call.thread).or_default() += 1;
    }
    counts.values().copied().max().unwrap_or_default()
}

/// Name and arguments of a line that begins a call; signals and exits are not calls.
fn begin(line: &str) -> Option<(&str, &str)> {
    let (name, arguments) = line.split_once('(')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!name.is_empty() && name.bytes().all(plain)).then_some((name, arguments))
}

fn split_result(text: &str) -> (&str, Option<String>) {
    match text.rsplit_once(" = ") {
        Some((arguments, result)) => (arguments.trim_end(), Some(result.trim().to_owned())),
        None => (text, None),
    }
}

#[test]
fn calls_are_read_with_the_order_of_their_beginnings_and_ends() {
    let calls = parse(
        "7  pwrite64(3</d/db>, \"a = b\", 5, 0 <unfinished ...>\n\
         8  fsync(3</d/db>)   = -1 EIO (Input/output error) (INJECTED)\n\
         7  <... pwrite64 resumed>) = 5\n\
         9  sendto(5<socket:[12]>, \"HTTP/1.1 200 OK\", 15, 0, NULL, 0) = 15\n\
         9  +++ exited with 0 +++\n",
    );
    let order: Vec<_> = calls.iter().map(|call| (call.began, call.ended)).collect();
    assert_eq!(order, [(0, 2), (1, 1), (3, 3)]);
    assert_eq!(calls[0].object(), Some("/d/db"));
    assert!(calls[0].succeeded());
    assert!(calls[1].injected() && !calls[1].succeeded());
    assert_eq!(calls[1].object(), Some("/d/db"));
    assert_eq!(calls[2].object(), Some("socket:[12]"));
    assert_eq!(most_syncs_of_a_thread(&calls), 1);
}
