//! The current catalog, and the only way to change it: decide on the current one, log the documents, publish the next
//! one. One change at a time.

use std::sync::Arc;

use actors::{Cipher, Handle, notes};
use arc_swap::{ArcSwap, Guard};
use domain::{
    Timestamp,
    catalog::{
        Account, AccountCheck, ApiKey, Ciphertext, Document, KeyKind, Price, Product, Project,
        Provider, ProviderAccount, ProviderEpoch, Refusal, Sandbox, Stripe, StripeAccount,
    },
    id::{KeyId, PriceId, ProductId, ProjectId},
};
use persistence::Note;
use secrecy::SecretString;
use tokio::sync::{Mutex, watch};

use super::{
    Authenticated, Catalog, Error, KeyChange, MintedKey, NewKey, NewPrice, NewProduct, NewProject,
    PriceChange, ProductChange, ProjectCatalog, ProjectCellNote, ProjectChange, ProviderChange,
    SandboxChange,
    cells::Elsewhere,
    key_uses::{self, KeyUses},
    new_id,
};

/// The current catalog, and the way to change it. Cheap to clone.
#[derive(Clone)]
pub struct CatalogStore {
    pub(super) shared: Arc<CatalogState>,
    end: End,
}

/// What happens to a decided change.
#[derive(Clone, Default)]
enum End {
    ///  It is logged.
    #[default]
    Made,
    /// It is logged together with notes, all or none.
    MadeWith(Vec<Note>),
    /// It is only returned.
    Drafted,
}

pub(super) struct CatalogState {
    current: ArcSwap<Catalog>,
    pub(super) handle: Handle,
    pub(super) cipher: Cipher,
    pub(super) key_uses: KeyUses,
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
        let catalog = Catalog::of_cell(cell, elsewhere).with(own)?;
        key_uses::recall(&handle, catalog.last_uses())?;
        let current = ArcSwap::from_pointee(catalog);
        Ok(Self {
            shared: Arc::new(CatalogState {
                current,
                handle,
                cipher,
                key_uses: KeyUses::default(),
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
                Document::Key(publishable.key.clone()),
                Document::Key(secret.key.clone()),
            ];
            Ok((documents, (project, publishable, secret)))
        })
        .await
    }

    /// Changes a project, and its payment provider if there is one to set.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it
    /// cannot be logged.
    pub async fn update_project(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: Option<ProviderChange>,
    ) -> Result<Project, Error> {
        let provider = provider.map(|provider| (provider, AccountCheck::default()));
        self.update(id, change, provider).await
    }

    /// As [`Self::update_project`], with the result of checking the provider.
    /// # Errors
    /// As for [`Self::update_project`].
    pub async fn set_provider(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: ProviderChange,
        account_check: AccountCheck,
    ) -> Result<Project, Error> {
        self.update(id, change, Some((provider, account_check)))
            .await
    }

    async fn update(
        &self,
        id: ProjectId,
        change: ProjectChange,
        provider: Option<(ProviderChange, AccountCheck)>,
    ) -> Result<Project, Error> {
        change.check()?;
        let cipher = self.shared.cipher.clone();
        let provider = provider.map(|(provider, account_check)| {
            Ok::<_, Refusal>((provider.seal(&cipher)?, account_check))
        });
        let provider = provider.transpose()?;
        self.change(move |catalog, now| {
            let current = find(catalog, id)?;
            let project = change.decide(&current.project)?;
            let mut documents = vec![Document::Project(project.clone())];
            if let Some((provider, account_check)) = provider {
                let provider =
                    provider.decide(id, current.provider(), account_check, &cipher, now)?;
                documents.push(Document::Provider(provider));
            }
            Ok((documents, project))
        })
        .await
    }

    /// Adds a webhook secret to a project's Stripe account, if `epoch` is still its provider's.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it
    /// cannot be logged.
    pub async fn add_webhook_secret(
        &self,
        project: ProjectId,
        epoch: u32,
        secret: SecretString,
    ) -> Result<(), Error> {
        let change = ProviderChange::Stripe {
            secret_key: None,
            webhook_secret: Some(secret),
        };
        let cipher = self.shared.cipher.clone();
        let change = change.seal(&cipher)?;
        self.change_provider(project, move |current, now| {
            let same = current.epoch.number == epoch;
            if !same || !matches!(current.account, Account::Stripe(_)) {
                return Ok(None);
            }
            let account_check = AccountCheck::default();
            let changed = change.decide(project, Some(current), account_check, &cipher, now);
            changed.map(Some)
        })
        .await
    }

    /// Marks a Stripe account as verified, unless its key changed since `checked`, and stores which account it is if that
    /// could be read.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it cannot be logged.
    pub async fn mark_provider_verified(
        &self,
        project: ProjectId,
        checked: &Stripe,
        account: Option<StripeAccount>,
    ) -> Result<(), Error> {
        let checked_key = checked.secret_key.clone();
        self.change_provider(project, move |current, _| {
            let Account::Stripe(stripe) = &current.account else {
                return Ok(None);
            };
            let same = stripe.secret_key == checked_key && !stripe.verified;
            let mut epoch = current.epoch.clone();
            // A known account stays: only somebody who sets a key may begin another epoch.
            if epoch.account == Some(ProviderAccount::Stripe(None)) {
                epoch.account = Some(ProviderAccount::Stripe(account));
            }
            Ok(same.then(|| Provider {
                account: Account::Stripe(Stripe {
                    verified: true,
                    ..stripe.clone()
                }),
                epoch,
                ..current.clone()
            }))
        })
        .await
    }

    /// Stores that everything begun before the provider's `epoch` has ended.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Error::Wallets`] when it cannot be logged.
    pub async fn finish_leaving_provider(
        &self,
        project: ProjectId,
        epoch: u32,
    ) -> Result<(), Error> {
        self.change_provider(project, move |current, _| {
            let leaving = current.epoch.number == epoch && current.epoch.leaving;
            Ok(leaving.then(|| Provider {
                epoch: ProviderEpoch {
                    leaving: false,
                    ..current.epoch.clone()
                },
                ..current.clone()
            }))
        })
        .await
    }

    /// Changes a project's provider, if it ever had one. `change` returns `None` to leave it as it is.
    async fn change_provider(
        &self,
        project: ProjectId,
        change: impl FnOnce(&Provider, Timestamp) -> Result<Option<Provider>, Refusal> + Send + 'static,
    ) -> Result<(), Error> {
        self.change(move |catalog, now| {
            let current = find(catalog, project)?.provider();
            let changed = current.map(|current| change(current, now)).transpose()?;
            let documents = changed.flatten().map(Document::Provider);
            Ok((documents.into_iter().collect(), ()))
        })
        .await
    }

    /// Changes how a project's sandbox delivers webhooks.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Refusal::NoSandbox`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn update_sandbox(
        &self,
        project: ProjectId,
        change: SandboxChange,
    ) -> Result<Sandbox, Error> {
        change.check()?;
        self.change_sandbox(project, move |sandbox, _| change.decide(sandbox))
            .await
    }

    /// Moves a sandbox's clock to `ahead_millis` ahead of the server's; it never goes back.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::NoSandbox`], [`Error::Wallets`] when it cannot be logged.
    pub async fn advance_sandbox(
        &self,
        project: ProjectId,
        ahead_millis: i64,
    ) -> Result<Sandbox, Error> {
        self.change_sandbox(project, move |sandbox, _| {
            Ok(sandbox.with_clock_ahead(ahead_millis))
        })
        .await
    }

    async fn change_sandbox(
        &self,
        project: ProjectId,
        change: impl FnOnce(Sandbox, Timestamp) -> Result<Sandbox, Refusal> + Send + 'static,
    ) -> Result<Sandbox, Error> {
        self.change(move |catalog, now| {
            let catalog = find(catalog, project)?;
            let sandbox = catalog.sandbox().ok_or(Refusal::NoSandbox)?;
            let sandbox = change(sandbox, now)?;
            let provider = catalog.provider().map(|provider| Provider {
                sandbox,
                ..provider.clone()
            });
            let provider = provider.map(Document::Provider);
            Ok((provider.into_iter().collect(), sandbox))
        })
        .await
    }

    /// Decrypts a secret of a provider's account; `None` if it was encrypted under another server key.
    pub fn open_secret(&self, secret: &Ciphertext) -> Option<String> {
        String::from_utf8(self.shared.cipher.open(&secret.0)?).ok()
    }

    /// Adds an API key to a project.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Error::Randomness`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn create_key(
        &self,
        project: ProjectId,
        new: impl Into<NewKey>,
    ) -> Result<MintedKey, Error> {
        let new = new.into();
        self.change(move |catalog, now| {
            let minted = MintedKey::draw(project, new, now)?;
            find(catalog, project)?;
            Ok((vec![Document::Key(minted.key.clone())], minted))
        })
        .await
    }

    /// Changes an API key's name or end, effective with the next request.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule, [`Refusal::ProjectNotFound`], [`Refusal::KeyNotFound`],
    /// [`Error::Wallets`] when it cannot be logged.
    pub async fn update_key(
        &self,
        project: ProjectId,
        id: KeyId,
        change: KeyChange,
    ) -> Result<ApiKey, Error> {
        self.change(move |catalog, now| {
            let key = find(catalog, project)?.key(&id);
            let key = change.decide(key.ok_or(Refusal::KeyNotFound(id))?, now)?;
            Ok((vec![Document::Key(key.clone())], key))
        })
        .await
    }

    /// Revokes an API key, effective with the next request. Revoking it again changes nothing.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::KeyNotFound`], [`Error::Wallets`] when it cannot be logged.
    pub async fn revoke_key(&self, project: ProjectId, id: KeyId) -> Result<ApiKey, Error> {
        self.change(move |catalog, now| {
            let key = find(catalog, project)?.key(&id);
            let key = key.ok_or(Refusal::KeyNotFound(id))?;
            match key.revoke(now) {
                Some(revoked) => Ok((vec![Document::Key(revoked.clone())], revoked)),
                None => Ok((Vec::new(), key.clone())),
            }
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
        self.change(move |catalog, now| {
            let product = new.decide((project, ProductId(new_id())), now)?;
            find(catalog, project)?;
            Ok((vec![Document::Product(product.clone())], product))
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
        self.change(move |catalog, _| {
            let catalog = find(catalog, project)?;
            let old = catalog.product(&id).ok_or(Refusal::ProductNotFound(id))?;
            let has_prices = catalog.prices(&id).next().is_some();
            let product = change.decide(old, has_prices)?;
            Ok((vec![Document::Product(product.clone())], product))
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
        self.change(move |catalog, now| {
            let price = new.decide((project, product, PriceId(new_id())), now)?;
            let catalog = find(catalog, project)?;
            let price = price.fits(catalog.by_id())?;
            let price = price.checked_for_offer(catalog.active_prices(&product), "interval")?;
            Ok((vec![Document::Price(price.clone())], price))
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
        self.change(move |catalog, _| {
            let catalog = find(catalog, project)?;
            if catalog.product(&product).is_none() {
                return Err(Refusal::ProductNotFound(product).into());
            }
            let old = catalog.price(&product, &id);
            let old = old.ok_or(Refusal::PriceNotFound(id))?;
            let mut price = change.decide(old)?;
            if price.active && !old.active {
                price = price.checked_for_offer(catalog.active_prices(&product), "active")?;
            }
            Ok((vec![Document::Price(price.clone())], price))
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

    /// Runs a change in its own task, so that a caller who disconnects cannot leave it logged but not published.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&Catalog, Timestamp) -> Result<(Vec<Document>, T), Error> + Send + 'static,
    ) -> Result<T, Error> {
        let Self { shared, end } = self.clone();
        let change = async move {
            let _turn = shared.turn.lock().await;
            let current = shared.current.load_full();
            let (documents, answer) = decide(&current, shared.handle.now())?;
            if documents.is_empty() {
                return Ok(answer);
            }
            let next = current.with(documents.clone())?;
            let mut notes = places(&current, &documents);
            match end {
                End::Made => {}
                End::MadeWith(beside) => notes.extend(beside),
                End::Drafted => return Ok(answer),
            }
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
