//! Parses as much of HTTP/1.1 as the measured servers use: a status line and a content length.

use memchr::memmem;

/// The parsed head of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// The response's status.
    pub(crate) status: u16,
    /// Offset at which the body begins.
    pub(crate) body: usize,
    /// Offset at which the body ends.
    pub(crate) end: usize,
}

const LENGTH: &[u8] = b"\r\ncontent-length: ";

/// Parses a head; `Ok(None)` while it is incomplete.
pub(crate) fn parse_head(bytes: &[u8]) -> Result<Option<Head>, &'static str> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = bytes.get(..end).unwrap_or_default();
    let status = number(
        head.strip_prefix(b"HTTP/1.1 ")
            .and_then(|rest| rest.get(..3)),
    );
    let status = status.ok_or("the answer has no status line")?;
    // hyper writes header names in lower case.
    let at = memmem::find(head, LENGTH).ok_or("the answer has no content-length")?;
    let length = head
        .get(at + LENGTH.len()..)
        .and_then(|rest| rest.split(|&b| b == b'\r').next());
    let length = number(length).ok_or("the answer's content-length is no number")?;
    let body = end + 4;
    Ok(Some(Head {
        status: status as u16,
        body,
        end: body + length,
    }))
}

fn number(digits: Option<&[u8]>) -> Option<usize> {
    std::str::from_utf8(digits?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let text = b"HTTP/1.1 402 Payment Required\r\nx: y\r\ncontent-length: 12\r\n\r\n";
        let head = Head {
            status: 402,
            body: text.len(),
            end: text.len() + 12,
        };
        assert_eq!(parse_head(text), Ok(Some(head)));
        assert_eq!(parse_head(&text[..text.len() - 1]), Ok(None));
        assert!(parse_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse_head(b"SMTP\r\ncontent-length: 1\r\n\r\n").is_err());
    }
}
