//! What a test needs before its first credit: a project, its keys and a product.

use crate::client::Client;
use serde_json::{Value, json};

/// A project with one credit product, as created by the admin API.
#[derive(Debug, Clone)]
pub struct Project {
    /// The project's id, `proj_…`.
    pub id: String,
    /// Its first publishable key.
    pub publishable: String,
    /// Its first secret key.
    pub secret: String,
    /// The id of its credit product.
    pub product: String,
}

impl Project {
    /// Creates a project and its product with the administrator's client.
    pub async fn create(admin: &Client) -> Self {
        let projects = "/api/admin/v1/projects";
        let project = admin
            .post(projects, &json!({"name": "Test"}))
            .await
            .expect(201);
        let id = text(&project, "id");
        let product = admin
            .post(
                &format!("{projects}/{id}/products"),
                &json!({"name": "Credits", "type": "credits", "creditUnit": "credits"}),
            )
            .await
            .expect(201);
        Self {
            id,
            publishable: text(&project, "publishableKey"),
            secret: text(&project, "secretKey"),
            product: text(&product, "id"),
        }
    }
}

fn text(body: &Value, field: &str) -> String {
    body[field]
        .as_str()
        .unwrap_or_else(|| panic!("no `{field}` in {body}"))
        .to_owned()
}
