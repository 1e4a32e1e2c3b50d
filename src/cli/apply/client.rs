//! The admin API, as far as commands need it. A refusal becomes one plain sentence.

use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Failure;
use crate::admin::{
    PREFIX,
    view::{CreatedProject, Price, Product, Products, Project, Projects},
};

/// One server, one token.
pub(in crate::cli) struct Client {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Client {
    pub(in crate::cli) fn new(url: &str, token: &str) -> Result<Self, Failure> {
        // Refused only where one is chosen already; any will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder()
            .timeout(std::time::Duration::from_secs(30))
            .build()
            .map_err(Failure::new)?;
        let base = format!("{}{PREFIX}", url.trim_end_matches('/'));
        Ok(Self {
            http,
            base,
            token: token.into(),
        })
    }

    pub(super) async fn projects(&self) -> Result<Vec<Project>, Failure> {
        let Projects { projects } = self.send(Method::GET, "/projects", None).await?;
        Ok(projects)
    }

    pub(super) async fn create_project(&self, body: &Value) -> Result<CreatedProject, Failure> {
        self.send(Method::POST, "/projects", Some(body)).await
    }

    pub(super) async fn update_project(&self, id: &str, body: &Value) -> Result<Project, Failure> {
        self.send(Method::PATCH, &format!("/projects/{id}"), Some(body))
            .await
    }

    pub(super) async fn products(&self, project: &str) -> Result<Vec<Product>, Failure> {
        let path = format!("/projects/{project}/products");
        let Products { products } = self.send(Method::GET, &path, None).await?;
        Ok(products)
    }

    pub(super) async fn create_product(
        &self,
        project: &str,
        body: &Value,
    ) -> Result<Product, Failure> {
        self.send(
            Method::POST,
            &format!("/projects/{project}/products"),
            Some(body),
        )
        .await
    }

    pub(super) async fn update_product(
        &self,
        project: &str,
        id: &str,
        body: &Value,
    ) -> Result<Product, Failure> {
        self.send(
            Method::PATCH,
            &format!("/projects/{project}/products/{id}"),
            Some(body),
        )
        .await
    }

    pub(super) async fn create_price(
        &self,
        project: &str,
        product: &str,
        body: &Value,
    ) -> Result<Price, Failure> {
        let path = format!("/projects/{project}/products/{product}/prices");
        self.send(Method::POST, &path, Some(body)).await
    }

    pub(super) async fn update_price(
        &self,
        project: &str,
        product: &str,
        id: &str,
        body: &Value,
    ) -> Result<Price, Failure> {
        let path = format!("/projects/{project}/products/{product}/prices/{id}");
        self.send(Method::PATCH, &path, Some(body)).await
    }

    pub(in crate::cli) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Failure> {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = request.bearer_auth(&self.token);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request
            .send()
            .await
            .map_err(|error| Failure(format!("no answer from {}: {}", self.base, root(&error))))?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.map_err(|error| {
                Failure(format!(
                    "{} does not answer as Scrip does: {error}",
                    self.base
                ))
            });
        }
        if status == StatusCode::UNAUTHORIZED {
            return Err(Failure(
                "the server does not know this administrator token".into(),
            ));
        }
        let body: Value = response.json().await.unwrap_or_default();
        let text = |field| body.get(field).and_then(Value::as_str);
        let message = text("message").unwrap_or("it gives no reason");
        let param = text("param")
            .map(|param| format!("{param}: "))
            .unwrap_or_default();
        Err(Failure(format!(
            "the server refused ({}): {param}{message}",
            status.as_u16()
        )))
    }
}

/// What is at the bottom of an error, such as a refused connection.
fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
