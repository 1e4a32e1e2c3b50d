//! An identity provider that says what the test wants, right or wrong.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use data_encoding::{BASE64, BASE64URL_NOPAD};
use parking_lot::Mutex;
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData as _, SigningKey as _};
use scrip::catalog::sha256;
use serde_json::{Value, json};

pub(crate) const CLIENT: &str = "scrip";
pub(crate) const SECRET: &str = "what the provider gave";

/// What it answers.
pub(crate) struct Script {
    /// The claims of the next ID token; its nonce is that of the sign-in unless they have one.
    pub(crate) claims: Value,
    /// What its endpoint for people says.
    pub(crate) person: Option<Value>,
    /// The header of the next ID token.
    pub(crate) header: Value,
    /// Whether another key signs than the one that it shows.
    pub(crate) forged: bool,
    /// Whether the token has no signature at all.
    pub(crate) unsigned: bool,
    /// The issuer that its discovery document names, if not its own.
    pub(crate) issuer: Option<String>,
    /// How many bytes are added to its discovery document.
    pub(crate) padding: usize,
    nonce: String,
    challenge: String,
    key: KeyPair,
    /// How often it gave tokens, and how often its discovery document was read.
    pub(crate) exchanges: u32,
    pub(crate) discoveries: u32,
}

#[derive(Clone)]
pub(crate) struct IdentityProvider {
    pub(crate) url: String,
    pub(crate) script: Arc<Mutex<Script>>,
}

fn key() -> KeyPair {
    KeyPair::generate_for(&PKCS_ED25519).unwrap()
}

impl IdentityProvider {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let script = Script {
            claims: json!({}),
            person: None,
            header: json!({"alg": "EdDSA", "kid": "1"}),
            forged: false,
            unsigned: false,
            issuer: None,
            padding: 0,
            nonce: String::new(),
            challenge: String::new(),
            key: key(),
            exchanges: 0,
            discoveries: 0,
        };
        let provider = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            script: Arc::new(Mutex::new(script)),
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .route("/person", get(person))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    /// What the service asked for with a sign-in.
    pub(crate) fn expect(&self, nonce: &str, challenge: &str) {
        let mut script = self.script.lock();
        script.nonce = nonce.to_owned();
        script.challenge = challenge.to_owned();
    }

    /// Signs with another key from now on, which has another name.
    pub(crate) fn rotate(&self) {
        let mut script = self.script.lock();
        script.key = key();
        script.header = json!({"alg": "EdDSA", "kid": "2"});
    }
}

async fn discovery(State(provider): State<IdentityProvider>) -> Json<Value> {
    let mut script = provider.script.lock();
    script.discoveries += 1;
    let url = &provider.url;
    Json(json!({
        "issuer": script.issuer.as_ref().unwrap_or(url),
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "userinfo_endpoint": format!("{url}/person"),
        "jwks_uri": format!("{url}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
        "padding": "x".repeat(script.padding),
    }))
}

async fn keys(State(provider): State<IdentityProvider>) -> Json<Value> {
    let script = provider.script.lock();
    let public = BASE64URL_NOPAD.encode(script.key.der_bytes());
    Json(json!({"keys": [{
        "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": script.header["kid"], "x": public,
    }]}))
}

async fn token(
    State(provider): State<IdentityProvider>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let form = url::form_urlencoded::parse(body.as_bytes());
    let form: Vec<_> = form.into_owned().collect();
    let field = |name: &str| {
        let found = form.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    let basic = format!("{CLIENT}:{}", SECRET.replace(' ', "+"));
    let basic = format!("Basic {}", BASE64.encode(basic.as_bytes()));
    let mut script = provider.script.lock();
    script.exchanges += 1;
    let challenge = BASE64URL_NOPAD.encode(&sha256(field("code_verifier").as_bytes()));
    if headers["authorization"] != basic.as_str() || challenge != script.challenge {
        let wrong = Json(json!({"error": "invalid_grant"}));
        return (StatusCode::BAD_REQUEST, wrong).into_response();
    }
    let mut claims = script.claims.clone();
    if claims.get("nonce").is_none() {
        claims["nonce"] = script.nonce.clone().into();
    }
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let signed = format!("{}.{}", part(&script.header), part(&claims));
    let signature = match (script.unsigned, script.forged) {
        (true, _) => Vec::new(),
        (false, true) => key().sign(signed.as_bytes()).unwrap(),
        (false, false) => script.key.sign(signed.as_bytes()).unwrap(),
    };
    let signature = BASE64URL_NOPAD.encode(&signature);
    Json(json!({
        "access_token": "an access token",
        "token_type": "Bearer",
        "id_token": format!("{signed}.{signature}"),
    }))
    .into_response()
}

async fn person(State(provider): State<IdentityProvider>, headers: HeaderMap) -> Response {
    assert_eq!(headers["authorization"], "Bearer an access token");
    match provider.script.lock().person.clone() {
        Some(person) => Json(person).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
