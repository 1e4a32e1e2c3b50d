//! The calls of the admin API that `scrip apply` needs.

use api_types::admin::{CreatedProject, Price, Product, Products, Project, Projects};
use serde_json::Value;

use super::remote::{ApiClient, Error};

/// A client for one server, with an administrator's token.
pub(super) struct AdminClient(pub(super) ApiClient);

impl AdminClient {
    pub(super) async fn projects(&self) -> Result<Vec<Project>, Error> {
        let Projects { projects } = self.0.get("/projects").await?;
        Ok(projects)
    }

    pub(super) async fn create_project(&self, body: &Value) -> Result<CreatedProject, Error> {
        self.0.post("/projects", body).await
    }

    pub(super) async fn update_project(&self, id: &str, body: &Value) -> Result<Project, Error> {
        self.0.patch(&format!("/projects/{id}"), body).await
    }

    pub(super) async fn products(&self, project: &str) -> Result<Vec<Product>, Error> {
        let path = format!("/projects/{project}/products");
        let Products { products } = self.0.get(&path).await?;
        Ok(products)
    }

    pub(super) async fn create_product(
        &self,
        project: &str,
        body: &Value,
    ) -> Result<Product, Error> {
        self.0
            .post(&format!("/projects/{project}/products"), body)
            .await
    }

    pub(super) async fn update_product(
        &self,
        project: &str,
        id: &str,
        body: &Value,
    ) -> Result<Product, Error> {
        self.0
            .patch(&format!("/projects/{project}/products/{id}"), body)
            .await
    }

    pub(super) async fn create_price(
        &self,
        project: &str,
        product: &str,
        body: &Value,
    ) -> Result<Price, Error> {
        let path = format!("/projects/{project}/products/{product}/prices");
        self.0.post(&path, body).await
    }

    pub(super) async fn update_price(
        &self,
        project: &str,
        product: &str,
        id: &str,
        body: &Value,
    ) -> Result<Price, Error> {
        let path = format!("/projects/{project}/products/{product}/prices/{id}");
        self.0.patch(&path, body).await
    }
}
