//! One visitor for each kind of credential.

use reqwest::RequestBuilder;

/// What a visitor's credential is, as far as it decides what they may see. Shops are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Nobody, or the holder of an ended credential.
    Stranger,
    Publishable(usize),
    Secret(usize),
    /// A restricted key, and what it can do.
    Restricted(usize, &'static [&'static str]),
    /// A session of a wallet, named by its user or code.
    Session(usize, String),
    /// The server that a shop's webhooks go to.
    Receiver(usize),
    Viewer(usize),
    Support(usize),
    Operator(usize),
    Owner,
    Administrator,
    /// A person at a terminal with the administrator's token who did not ask for a secret.
    Terminal,
}

impl Holder {
    pub(crate) fn reads_pages_of(&self, shop: usize) -> bool {
        matches!(self, Self::Terminal) || *self == Self::Viewer(shop) || self.sees_secrets_of(shop)
    }

    pub(crate) fn sees_secrets_of(&self, shop: usize) -> bool {
        *self == Self::Support(shop) || self.manages(shop)
    }

    pub(crate) fn manages(&self, shop: usize) -> bool {
        matches!(self, Self::Owner | Self::Administrator) || *self == Self::Operator(shop)
    }
}

/// A visitor of the walk.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) name: String,
    pub(crate) holder: Holder,
    bearer: Option<String>,
    cookie: Option<String>,
    /// The recovery code in the header that replaces it in paths.
    pub(crate) code: Option<String>,
}

impl Visitor {
    pub(crate) fn nobody() -> Self {
        Self {
            name: "nobody".into(),
            holder: Holder::Stranger,
            bearer: None,
            cookie: None,
            code: None,
        }
    }

    pub(crate) fn with_key(name: &str, holder: Holder, key: &str) -> Self {
        Self {
            name: name.into(),
            holder,
            bearer: Some(key.into()),
            ..Self::nobody()
        }
    }

    pub(crate) fn with_cookie(name: &str, holder: Holder, cookie: &str) -> Self {
        Self {
            name: name.into(),
            holder,
            cookie: Some(cookie.into()),
            ..Self::nobody()
        }
    }

    /// The same with a recovery code.
    pub(crate) fn and_code(&self, name: &str, code: &str) -> Self {
        Self {
            name: name.into(),
            code: Some(code.into()),
            ..self.clone()
        }
    }

    /// Whether they come by the dashboard.
    pub(crate) fn is_signed_in(&self) -> bool {
        self.cookie.is_some()
    }

    /// Whether they come by an API.
    pub(crate) fn is_program(&self) -> bool {
        self.cookie.is_none()
    }

    /// A request of theirs.
    pub(crate) fn sign(&self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some(key) = &self.bearer {
            request = request.bearer_auth(key);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        if let Some(code) = &self.code {
            request = request.header("x-wallet-code", code);
        }
        request
    }
}
