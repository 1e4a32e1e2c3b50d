//! How a browser reaches the dashboard: whether its cookie may and must be a secure one, and whether a form
//! came from a page of this server.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use catalog::is_loopback;
use identity::SESSION_SECONDS;
use url::Url;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A cookie: its name over TLS and its name within one machine. With the `__Host-` prefix browsers accept the cookie only
/// over TLS, from this host and for all its paths.
#[derive(Debug, Clone, Copy)]
pub(super) struct CookieNames {
    secure: &'static str,
    plain: &'static str,
}

/// Holds a session's name.
pub(super) const SESSION: CookieNames = CookieNames {
    secure: "__Host-scrip_dashboard",
    plain: "scrip_dashboard",
};
/// Holds what shows that somebody signed in in this browser before.
pub(super) const BROWSER: CookieNames = CookieNames {
    secure: "__Host-scrip_browser",
    plain: "scrip_browser",
};
/// Holds a sign-in that goes on at an identity provider.
pub(super) const ATTEMPT: CookieNames = CookieNames {
    secure: "__Host-scrip_attempt",
    plain: "scrip_attempt",
};

/// How browsers reach the service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Site {
    /// Its address from outside, without a slash at the end; `None`: where it listens.
    pub public_url: Option<String>,
    /// Whether the service itself speaks TLS.
    pub speaks_tls: bool,
}

/// A connection over which a secret may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// Over TLS, which ends here or at a proxy.
    Tls,
    /// Without TLS, within one machine.
    Loopback,
}

impl Transport {
    /// The channel that a form came through, if a secret may be sent over it. The `Origin` header goes first:
    /// only the browser knows whether there was TLS in front of a proxy.
    pub(super) fn of(headers: &HeaderMap, site: &Site) -> Option<Self> {
        let seen = text(headers, &header::ORIGIN).and_then(|origin| Url::parse(origin).ok());
        let url = match seen {
            Some(url) => url,
            None if is_tls(site) => return Some(Self::Tls),
            None => Url::parse(&format!("http://{}", host(headers))).ok()?,
        };
        match url.scheme() {
            "https" => Some(Self::Tls),
            _ => is_loopback(&url).then_some(Self::Loopback),
        }
    }

    /// The cookie that holds a session's name.
    pub(super) fn cookie(self, name: &str) -> Option<HeaderValue> {
        self.written(SESSION, name, SESSION_SECONDS)
    }

    /// The cookies that delete a cookie, for either channel.
    pub(super) fn no_cookies(names: CookieNames) -> impl Iterator<Item = HeaderValue> {
        [Self::Tls, Self::Loopback]
            .into_iter()
            .filter_map(move |cookies| cookies.written(names, "", 0))
    }

    /// A cookie that lives for so many seconds.
    pub(super) fn written(
        self,
        names: CookieNames,
        value: &str,
        seconds: i64,
    ) -> Option<HeaderValue> {
        let (name, secure) = match self {
            Self::Tls => (names.secure, "; Secure"),
            Self::Loopback => (names.plain, ""),
        };
        let rest = format!("; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
        HeaderValue::from_str(&format!("{name}={value}{rest}")).ok()
    }
}

/// The `Host` header: what the browser calls this server.
pub(super) fn host(headers: &HeaderMap) -> &str {
    text(headers, &header::HOST).unwrap_or_default()
}

/// The name of the session from a request's cookies.
pub(super) fn session_name<'a>(headers: &'a HeaderMap, site: &Site) -> Option<&'a str> {
    kept(headers, site, SESSION)
}

/// What a browser keeps in a cookie. The secure one goes first, and is the only one read where everything is TLS: a
/// neighbouring host that can set the plain one must not replace a session.
pub(super) fn kept<'a>(headers: &'a HeaderMap, site: &Site, names: CookieNames) -> Option<&'a str> {
    value(headers, names.secure).or_else(|| match is_tls(site) {
        true => None,
        false => value(headers, names.plain),
    })
}

/// A cookie's value.
pub(super) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter();
    let pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(known, value)| (known == name).then_some(value))
}

/// Whether a form was sent from a page of this server, by the browser's headers. A client that sends neither
/// header is not a browser, or an old one: the form's token then has to suffice.
pub(super) fn is_own(headers: &HeaderMap, site: &Site) -> bool {
    if let Some(site) = headers.get(SEC_FETCH_SITE) {
        return site == "same-origin";
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        return true;
    };
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    let own = site.public_url.as_deref();
    let host = origin.split_once("://").map(|(_, host)| host);
    own == Some(origin) || host == text(headers, &header::HOST)
}

fn is_tls(site: &Site) -> bool {
    let public = site.public_url.as_deref();
    site.speaks_tls || public.is_some_and(|url| url.starts_with("https:"))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |&(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    fn local() -> Site {
        Site::default()
    }

    fn public(url: &str) -> Site {
        Site {
            public_url: Some(url.into()),
            ..local()
        }
    }

    #[test]
    fn secrets_go_through_tls_or_stay_on_the_machine() {
        let of = |pairs: &[(&'static str, &str)]| Transport::of(&headers(pairs), &local());
        for host in [
            "127.0.0.1:8787",
            "localhost:8787",
            "[::1]:8787",
            "localhost",
        ] {
            assert_eq!(of(&[("host", host)]), Some(Transport::Loopback), "{host}");
        }
        for host in ["192.0.2.1:8787", "pay.example", "localhost.example", ""] {
            assert_eq!(of(&[("host", host)]), None, "{host}");
        }
        // A proxy on the same machine that rewrites the host.
        let behind = |origin| of(&[("host", "127.0.0.1:8787"), ("origin", origin)]);
        assert_eq!(behind("https://pay.example"), Some(Transport::Tls));
        assert_eq!(behind("http://pay.example"), None);
        let transport = Transport::of(&headers(&[("host", "x")]), &public("https://pay.example"));
        assert_eq!(transport, Some(Transport::Tls));
    }

    #[test]
    fn forms_of_other_sites_are_known_by_what_the_browser_says() {
        let own = |pairs: &[(&'static str, &str)]| is_own(&headers(pairs), &local());
        let host = ("host", "pay.example");
        assert!(own(&[host]));
        assert!(own(&[host, ("sec-fetch-site", "same-origin")]));
        for site in ["cross-site", "same-site", "none"] {
            let lied = [
                host,
                ("sec-fetch-site", site),
                ("origin", "https://pay.example"),
            ];
            assert!(!own(&lied), "{site}");
        }
        assert!(own(&[host, ("origin", "https://pay.example")]));
        for origin in [
            "https://evil.example",
            "null",
            "https://pay.example:444",
            "",
        ] {
            assert!(!own(&[host, ("origin", origin)]), "{origin}");
        }
        let inner = headers(&[("host", "127.0.0.1"), ("origin", "https://pay.example")]);
        assert!(is_own(&inner, &public("https://pay.example")));
    }

    #[test]
    fn where_all_is_tls_the_plain_cookie_is_not_read() {
        let both = "a=b; scrip_dashboard=plain; __Host-scrip_dashboard=secure";
        let both = headers(&[("cookie", both)]);
        assert_eq!(session_name(&both, &local()), Some("secure"));
        let plain = headers(&[("cookie", "scrip_dashboard=plain")]);
        assert_eq!(session_name(&plain, &local()), Some("plain"));
        let tls = public("https://pay.example");
        assert_eq!(session_name(&plain, &tls), None);
    }

    #[test]
    fn cookies_are_kept_from_scripts_and_other_sites() {
        let secure = Transport::Tls.cookie("abc").unwrap();
        assert_eq!(
            secure,
            "__Host-scrip_dashboard=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure"
        );
        let plain = Transport::Loopback.cookie("abc").unwrap();
        assert_eq!(
            plain,
            "scrip_dashboard=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200"
        );
    }
}
