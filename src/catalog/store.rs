//! The current catalog, and the one way to change it: decide against the current one, log the
//! documents, publish the next one. One change at a time.

use std::sync::Arc;

use actors::Handle;
use arc_swap::{ArcSwap, Guard};
use domain::{
    Timestamp,
    catalog::{ApiKey, Document, KeyKind, Price, Product, Project},
    id::{KeyId, PriceId, ProductId, ProjectId},
};
use tokio::sync::Mutex;

use super::{
    Catalog, Error, MintedKey, NewPrice, NewProduct, NewProject, PriceChange, ProductChange,
    ProjectCatalog, ProjectChange,
};

/// The catalog. Cheap to clone.
#[derive(Clone)]
pub struct CatalogStore {
    shared: Arc<Shared>,
}

struct Shared {
    current: ArcSwap<Catalog>,
    handle: Handle,
    turn: Mutex<()>,
}

impl CatalogStore {
    /// Indexes the catalog that was recovered at start.
    pub fn load(handle: Handle) -> Result<Self, Error> {
        let catalog = Catalog::default().with(handle.documents()?)?;
        let current = ArcSwap::from_pointee(catalog);
        Ok(Self {
            shared: Arc::new(Shared {
                current,
                handle,
                turn: Mutex::new(()),
            }),
        })
    }

    /// The catalog as it is now. Lock-free; not to be held across an await.
    #[must_use]
    pub fn current(&self) -> Guard<Arc<Catalog>> {
        self.shared.current.load()
    }

    /// A project as it is now.
    pub fn project(&self, id: ProjectId) -> Result<Arc<ProjectCatalog>, Error> {
        self.current()
            .project(&id)
            .map(Arc::clone)
            .ok_or(Error::ProjectNotFound(id))
    }

    /// Makes a project with a key of each kind: publishable, then secret.
    pub async fn create_project(
        &self,
        new: NewProject,
    ) -> Result<(Project, MintedKey, MintedKey), Error> {
        self.change(move |_, now| {
            let project = new.decide(now)?;
            let publishable = MintedKey::draw(project.id, KeyKind::Publishable, now)?;
            let secret = MintedKey::draw(project.id, KeyKind::Secret, now)?;
            let documents = vec![
                Document::Project(project.clone()),
                Document::Key(publishable.key.clone()),
                Document::Key(secret.key.clone()),
            ];
            Ok((documents, (project, publishable, secret)))
        })
        .await
    }

    /// Changes a project.
    pub async fn update_project(
        &self,
        id: ProjectId,
        change: ProjectChange,
    ) -> Result<Project, Error> {
        self.change(move |catalog, _| {
            let project = change.decide(find(catalog, id)?.project.clone())?;
            Ok((vec![Document::Project(project.clone())], project))
        })
        .await
    }

    /// Adds a key to a project.
    pub async fn create_key(&self, project: ProjectId, kind: KeyKind) -> Result<MintedKey, Error> {
        self.change(move |catalog, now| {
            find(catalog, project)?;
            let minted = MintedKey::draw(project, kind, now)?;
            Ok((vec![Document::Key(minted.key.clone())], minted))
        })
        .await
    }

    /// Ends a key, for the next request. Ending it again changes nothing.
    pub async fn revoke_key(&self, project: ProjectId, id: KeyId) -> Result<ApiKey, Error> {
        self.change(move |catalog, now| {
            let mut key = find(catalog, project)?
                .key(&id)
                .ok_or(Error::KeyNotFound(id))?
                .clone();
            if key.revoked_at.is_some() {
                return Ok((Vec::new(), key));
            }
            key.revoked_at = Some(now);
            Ok((vec![Document::Key(key.clone())], key))
        })
        .await
    }

    /// Makes a product.
    pub async fn create_product(
        &self,
        project: ProjectId,
        new: NewProduct,
    ) -> Result<Product, Error> {
        self.change(move |catalog, now| {
            let product = new.decide(find(catalog, project)?.project.id, now)?;
            Ok((vec![Document::Product(product.clone())], product))
        })
        .await
    }

    /// Changes a product.
    pub async fn update_product(
        &self,
        project: ProjectId,
        id: ProductId,
        change: ProductChange,
    ) -> Result<Product, Error> {
        self.change(move |catalog, _| {
            let product = change.decide(find(catalog, project)?, id)?;
            Ok((vec![Document::Product(product.clone())], product))
        })
        .await
    }

    /// Makes a price.
    pub async fn create_price(
        &self,
        project: ProjectId,
        product: ProductId,
        new: NewPrice,
    ) -> Result<Price, Error> {
        self.change(move |catalog, now| {
            let price = new.decide(find(catalog, project)?, product, now)?;
            Ok((vec![Document::Price(price.clone())], price))
        })
        .await
    }

    /// Changes a price.
    pub async fn update_price(
        &self,
        project: ProjectId,
        product: ProductId,
        id: PriceId,
        change: PriceChange,
    ) -> Result<Price, Error> {
        self.change(move |catalog, _| {
            let price = change.decide(find(catalog, project)?, product, id)?;
            Ok((vec![Document::Price(price.clone())], price))
        })
        .await
    }

    /// Runs a change in a task of its own: a caller who goes away must not leave a change logged
    /// but not published.
    async fn change<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Catalog, Timestamp) -> Result<(Vec<Document>, T), Error> + Send + 'static,
    ) -> Result<T, Error> {
        let shared = Arc::clone(&self.shared);
        let task = tokio::spawn(async move {
            let _turn = shared.turn.lock().await;
            let current = shared.current.load_full();
            let (documents, answer) = decide(&current, shared.handle.now())?;
            if documents.is_empty() {
                return Ok(answer);
            }
            let next = current.with(documents.clone())?;
            shared.handle.put_documents(documents).await?;
            shared.current.store(Arc::new(next));
            Ok(answer)
        });
        // A task that panicked or was cancelled says nothing about what was logged.
        task.await
            .unwrap_or(Err(Error::Wallets(actors::Error::Unavailable)))
    }
}

fn find(catalog: &Catalog, id: ProjectId) -> Result<&ProjectCatalog, Error> {
    catalog
        .project(&id)
        .map(AsRef::as_ref)
        .ok_or(Error::ProjectNotFound(id))
}
