//! The current catalog, and the only way to change it: decide on the current one, log the documents, publish the next
//! one. One change at a time.

use std::sync::Arc;

use actors::{Cipher, Handle, notes};
use arc_swap::{ArcSwap, Guard};
use domain::{
    Timestamp,
    catalog::{Document, KeyKind, Price, Product, Project, Refusal},
    id::{PriceId, ProductId, ProjectId},
};
use persistence::Note;
use tokio::sync::{Mutex, watch};

use super::{
    Authenticated, Catalog, Error, MintedKey, NewPrice, NewProduct, NewProject, PriceChange,
    ProductChange, ProjectCatalog, ProjectCellNote,
    cells::Elsewhere,
    key_uses::{self, KeyUses},
    new_id,
    rates::RatesCache,
};

/// The current catalog, and the way to change it. Cheap to clone.
#[derive(Clone)]
pub struct CatalogStore {
    pub(super) shared: Arc<CatalogState>,
    end: End,
}

#[derive(Clone, Default)]
enum End {
    #[default]
    Made,
    MadeWith(Vec<Note>),
    Drafted,
}

pub(super) struct CatalogState {
    current: ArcSwap<Catalog>,
    pub(super) handle: Handle,
    pub(super) cipher: Cipher,
    pub(super) key_uses: KeyUses,
    pub(super) rates: RatesCache,
    turn: Mutex<()>,
    changed: watch::Sender<()>,
}

impl CatalogStore {
    /// Indexes the projects of a `cell`, as [`super::own_cell`] says, in the catalog that was recovered at start.
    /// `cipher` encrypts providers' secrets.
    /// # Errors
    /// [`Error::Stored`] or [`Error::Notes`] when it cannot be read, [`Error::Damaged`] when documents contradict each
    /// other.
    pub fn load(handle: Handle, cipher: Cipher, cell: i16) -> Result<Self, Error> {
        let cells = notes::all::<ProjectCellNote>(&handle)?
            .into_iter()
            .collect();
        let (own, elsewhere) = Elsewhere::part(handle.documents()?, cell, &cells);
        let rates = RatesCache::default();
        rates.recall(&handle, &own)?;
        let catalog = Catalog::of_cell(cell, elsewhere).with(own, &rates)?;
        rates.clear();
        key_uses::recall(&handle, catalog.last_uses())?;
        let current = ArcSwap::from_pointee(catalog);
        Ok(Self {
            shared: Arc::new(CatalogState {
                current,
                handle,
                cipher,
                key_uses: KeyUses::default(),
                rates,
                turn: Mutex::new(()),
                changed: watch::Sender::new(()),
            }),
            end: End::Made,
        })
    }

    /// The same catalog, whose changes are decided and returned, but not made.
    #[must_use]
    pub fn draft(&self) -> Self {
        Self {
            end: End::Drafted,
            ..self.clone()
        }
    }

    /// The same catalog, which logs these notes together with a change, all or none.
    #[must_use]
    pub fn with_notes(&self, notes: Vec<Note>) -> Self {
        Self {
            end: End::MadeWith(notes),
            ..self.clone()
        }
    }

    /// The current catalog. Lock-free; not to be held across an await.
    pub fn current(&self) -> Guard<Arc<Catalog>> {
        self.shared.current.load()
    }

    /// The access of the key with this SHA-256, unless it is unknown, revoked or expired. Notes its use.
    pub fn authenticate(&self, key_sha256: &[u8; 32], now: Timestamp) -> Option<Authenticated> {
        let uses = &self.shared.key_uses;
        self.current().authenticate_use(key_sha256, now, uses)
    }

    /// A project as it is now.
    /// # Errors
    /// [`Refusal::ProjectNotFound`].
    pub fn project(&self, id: ProjectId) -> Result<Arc<ProjectCatalog>, Error> {
        self.current()
            .project(&id)
            .map(Arc::clone)
            .ok_or(Refusal::ProjectNotFound(id).into())
    }

    /// A receiver that is notified of every change.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.shared.changed.subscribe()
    }

    /// Creates a project with a key of each kind: publishable, then secret.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Error::Randomness`], [`Error::Wallets`]
    /// when it cannot be logged.
    pub async fn create_project(
        &self,
        new: NewProject,
    ) -> Result<(Project, MintedKey, MintedKey), Error> {
        self.change(move |_, now| {
            let project = new.decide(ProjectId(new_id()), now)?;
            let publishable = MintedKey::draw(project.id, KeyKind::Publishable, now)?;
            let secret = MintedKey::draw(project.id, KeyKind::Secret, now)?;
            let documents = vec![
                Document::Project(project.clone()),
                Document::Key(publishable.stored.clone()),
                Document::Key(secret.stored.clone()),
            ];
            Ok((documents, (project, publishable, secret)))
        })
        .await
    }

    /// Creates a product.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it
    /// cannot be logged.
    pub async fn create_product(
        &self,
        project: ProjectId,
        new: NewProduct,
    ) -> Result<Product, Error> {
        self.put(Document::Product, move |catalog, now| {
            let product = new.decide((project, ProductId(new_id())), now)?;
            find(catalog, project)?;
            Ok(product)
        })
        .await
    }

    /// Changes a product.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Refusal::ProductNotFound`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn update_product(
        &self,
        project: ProjectId,
        id: ProductId,
        change: ProductChange,
    ) -> Result<Product, Error> {
        change.check()?;
        self.put(Document::Product, move |catalog, _| {
            let catalog = find(catalog, project)?;
            let old = catalog.product(&id).ok_or(Refusal::ProductNotFound(id))?;
            let has_prices = catalog.prices(&id).next().is_some();
            change.decide(old, has_prices)
        })
        .await
    }

    /// Creates a price.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Refusal::ProductNotFound`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn create_price(
        &self,
        project: ProjectId,
        product: ProductId,
        new: NewPrice,
    ) -> Result<Price, Error> {
        self.put(Document::Price, move |catalog, now| {
            let price = new.decide((project, product, PriceId(new_id())), now)?;
            let catalog = find(catalog, project)?;
            let price = price.fits(catalog.by_id())?;
            price.checked_for_offer(catalog.active_prices(&product), "interval")
        })
        .await
    }

    /// Changes a price.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule; [`Refusal::ProjectNotFound`], [`Refusal::ProductNotFound`],
    /// [`Refusal::PriceNotFound`]; [`Error::Wallets`] when it cannot be logged.
    pub async fn update_price(
        &self,
        project: ProjectId,
        product: ProductId,
        id: PriceId,
        change: PriceChange,
    ) -> Result<Price, Error> {
        change.check()?;
        self.put(Document::Price, move |catalog, _| {
            let catalog = find(catalog, project)?;
            if catalog.product(&product).is_none() {
                return Err(Refusal::ProductNotFound(product));
            }
            let old = catalog.price(&product, &id);
            let old = old.ok_or(Refusal::PriceNotFound(id))?;
            let price = change.decide(old)?;
            match price.active && !old.active {
                true => price.checked_for_offer(catalog.active_prices(&product), "active"),
                false => Ok(price),
            }
        })
        .await
    }

    /// Moves projects to a new cell. It is the process's last act; the new cell continues from a copy of this log.
    /// # Errors
    /// [`Refusal::ProjectNotFound`] for one that is neither this cell's nor was moved there before, [`Error::Wallets`]
    /// when it could not be logged or the outcome is unknown.
    pub async fn split(&self, projects: Vec<ProjectId>, to: i16) -> Result<(), Error> {
        let _turn = self.shared.turn.lock().await;
        self.may_split(&projects, to)?;
        let notes = projects.iter();
        let notes = notes.map(|project| notes::put::<ProjectCellNote>(project, &to));
        self.shared.handle.split(to, notes.collect()).await?;
        Ok(())
    }

    /// Whether [`CatalogStore::split`] would move these projects.
    /// # Errors
    /// [`Refusal::ProjectNotFound`].
    pub fn may_split(&self, projects: &[ProjectId], to: i16) -> Result<(), Refusal> {
        let catalog = self.current();
        let is_gone = |project: &&ProjectId| {
            let cell = catalog.cell_of_project(project);
            cell != Some(catalog.cell()) && cell != Some(to)
        };
        match projects.iter().find(is_gone) {
            Some(project) => Err(Refusal::ProjectNotFound(*project)),
            None => Ok(()),
        }
    }

    /// Changes one document, which is also the answer.
    async fn put<D: Clone + Send + 'static>(
        &self,
        document: fn(D) -> Document,
        decide: impl FnOnce(&Catalog, Timestamp) -> Result<D, Refusal> + Send + 'static,
    ) -> Result<D, Error> {
        self.change(move |catalog, now| {
            let decided = decide(catalog, now)?;
            Ok((vec![document(decided.clone())], decided))
        })
        .await
    }

    /// Changes a document that is found in its project by `old`. One that stays as it is is not logged again.
    pub(super) async fn replace<D: Clone + PartialEq + Send + 'static>(
        &self,
        project: ProjectId,
        document: fn(D) -> Document,
        old: impl FnOnce(&ProjectCatalog) -> Result<&D, Refusal> + Send + 'static,
        change: impl FnOnce(&D, Timestamp) -> Result<D, Refusal> + Send + 'static,
    ) -> Result<D, Error> {
        self.change(move |catalog, now| {
            let old = old(find(catalog, project)?)?;
            let changed = change(old, now)?;
            let documents = (changed != *old).then(|| document(changed.clone()));
            Ok((documents.into_iter().collect(), changed))
        })
        .await
    }

    /// Runs a change in its own task, so that a caller who disconnects cannot leave it logged but not published.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Catalog, Timestamp) -> Result<(Vec<Document>, T), Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.change_after(move |catalog, now| {
            let (documents, answer) = decide(catalog, now)?;
            Ok((Vec::new(), documents, answer))
        })
        .await
    }

    /// The same, with notes that are logged before the documents that name them, however many they are.
    pub(super) async fn change_after<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Catalog, Timestamp) -> Result<(Vec<Note>, Vec<Document>, T), Error>
        + Send
        + 'static,
    ) -> Result<T, Error> {
        let Self { shared, end } = self.clone();
        let change = async move {
            let _turn = shared.turn.lock().await;
            let current = shared.current.load_full();
            let (before, documents, answer) = decide(&current, shared.handle.now())?;
            if documents.is_empty() {
                return Ok(answer);
            }
            let next = current.with(documents.clone(), &shared.rates)?;
            let mut notes = places(&current, &documents);
            match end {
                End::Made => {}
                End::MadeWith(beside) => notes.extend(beside),
                End::Drafted => return Ok(answer),
            }
            notes::put_all(&shared.handle, before).await?;
            shared.handle.put_documents(documents, notes).await?;
            shared.current.store(Arc::new(next));
            shared.changed.send_replace(());
            Ok(answer)
        };
        // After a panic or a cancellation the outcome is unknown.
        actors::detached(change)
            .await
            .unwrap_or(Err(Error::Wallets(actors::Error::Unavailable)))
    }
}

/// The cell of a project that these documents create; the first cell needs no note.
fn places(catalog: &Catalog, documents: &[Document]) -> Vec<Note> {
    let made = documents.iter().filter_map(|document| match document {
        Document::Project(project) if catalog.project(&project.id).is_none() => Some(project.id),
        _ => None,
    });
    let cell = catalog.cell();
    made.filter(|_| cell != 0)
        .map(|project| notes::put::<ProjectCellNote>(&project, &cell))
        .collect()
}

pub(super) fn find(catalog: &Catalog, id: ProjectId) -> Result<&ProjectCatalog, Refusal> {
    let project = catalog.project(&id).map(AsRef::as_ref);
    project.ok_or(Refusal::ProjectNotFound(id))
}
