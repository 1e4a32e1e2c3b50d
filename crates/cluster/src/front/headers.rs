//! Which headers concern one connection alone, and which are between processes.

use axum::http::{HeaderMap, HeaderName, header};

/// On a request that another process passes on: its client's address, and a proof that a process of the cluster says so.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("scrip-forwarded");
/// On the answer to such a request: nothing was done, for this process does not lead.
pub(super) const NOT_LEADING: HeaderName = HeaderName::from_static("scrip-not-leading");
/// On such a request, too: the cell that it is meant for. A process of another one may have the address by now.
pub(super) const FOR_CELL: HeaderName = HeaderName::from_static("scrip-cell");
/// On such a request and its answer: whose the credential is, asked and answered.
pub(super) const WHOSE: HeaderName = HeaderName::from_static("scrip-whose");
/// What proxies say of a request's client.
pub(super) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Headers of one connection, beside those that start with `proxy-` and those that `Connection` names. `Expect` is among
/// them: it was met when the body was read.
const OF_A_CONNECTION: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
];

/// Takes out what must not be passed on: the headers of the connection, and those between processes.
pub(super) fn keep_end_to_end(headers: &mut HeaderMap) {
    let mut gone: Vec<HeaderName> = vec![FORWARDED, NOT_LEADING, FOR_CELL, WHOSE];
    for line in headers.get_all(header::CONNECTION) {
        let names = line.as_bytes().split(|&byte| byte == b',');
        gone.extend(names.filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok()));
    }
    let of_proxies = headers
        .keys()
        .filter(|name| name.as_str().starts_with("proxy-"));
    gone.extend(of_proxies.cloned());
    for name in gone.iter().chain(&OF_A_CONNECTION) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_end_to_end_headers_are_kept() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Mine"),
            ("connection", "keep-alive,,x-other"),
            ("keep-alive", "timeout=5"),
            ("x-mine", "1"),
            ("x-other", "2"),
            ("te", "trailers"),
            ("trailer", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "websocket"),
            ("expect", "100-continue"),
            ("proxy-authorization", "Basic eA=="),
            ("proxy-connection", "close"),
            ("scrip-forwarded", "forged"),
            ("scrip-not-leading", "1"),
            ("scrip-cell", "1"),
            ("scrip-whose", "proj_x"),
            ("authorization", "Bearer x"),
            ("cookie", "a=b"),
            ("accept-encoding", "gzip"),
            ("x-repeated", "1"),
            ("x-repeated", "2"),
        ] {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        keep_end_to_end(&mut headers);
        let mut left: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        left.sort_unstable();
        let expected = [
            "accept-encoding",
            "authorization",
            "cookie",
            "x-repeated",
            "x-repeated",
        ];
        assert_eq!(left, expected);
    }
}
