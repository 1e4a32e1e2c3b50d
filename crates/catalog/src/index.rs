//! The whole catalog as requests see it: one immutable value. A change makes a new one that shares every unchanged
//! project.

mod authentication;

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use actors::Scope;
use domain::{
    Timestamp,
    catalog::{
        Account, ApiKey, Document, Endpoint, EndpointStatus, KeyKind, Price, Product, Products,
        Project, Provider, ProviderEpoch, Sandbox,
    },
    id::{EndpointId, KeyId, PriceId, ProductId, ProjectId},
    project_event::LowBalance,
    rate_card::RateCardSlug,
    wallet::{FreeGrantRule, debt_limit::DebtLimit},
};

use super::{
    Error,
    cells::Elsewhere,
    key_hash::{ByHash, KeyHash},
    key_uses::LastUse,
    rates::{CardRates, RatesCache},
};
use authentication::KnownKey;

pub use authentication::Authenticated;

/// The provider epoch of a project that never had a provider.
static NOBODY: ProviderEpoch = ProviderEpoch {
    number: 0,
    account: None,
    leaving: false,
};

/// The catalogs of all projects at one moment.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    projects: BTreeMap<ProjectId, Arc<ProjectCatalog>>,
    /// API keys that are not revoked.
    keys: ByHash<KnownKey>,
    /// The cell whose projects these are.
    cell: i16,
    elsewhere: Arc<Elsewhere>,
}

/// One project with everything that belongs to it.
#[derive(Debug, Clone)]
pub struct ProjectCatalog {
    /// The project's name and settings.
    pub project: Project,
    /// What its wallets need of the catalog to decide commands.
    pub scope: Scope,
    keys: BTreeMap<KeyId, (ApiKey, Arc<LastUse>)>,
    products: Products,
    prices: BTreeMap<(ProductId, PriceId), Price>,
    provider: Option<Provider>,
    endpoints: BTreeMap<EndpointId, Endpoint>,
    rate_cards: BTreeMap<RateCardSlug, Arc<CardRates>>,
    only_credit_product: Option<ProductId>,
}

impl Catalog {
    /// The catalog of a cell's own projects, before it has any.
    pub(super) fn of_cell(cell: i16, elsewhere: Elsewhere) -> Self {
        Self {
            cell,
            elsewhere: Arc::new(elsewhere),
            ..Self::default()
        }
    }

    /// The cell whose projects these are.
    pub const fn cell(&self) -> i16 {
        self.cell
    }

    /// Whether projects moved from or to another cell by a split.
    pub fn has_moved(&self) -> bool {
        !self.elsewhere.is_empty()
    }

    /// The cell of a project, as far as this log knows; `None` if it never had it.
    pub fn cell_of_project(&self, id: &ProjectId) -> Option<i16> {
        match self.projects.contains_key(id) {
            true => Some(self.cell),
            false => self.elsewhere.project(id),
        }
    }

    /// The project with this identifier, if there is one.
    pub fn project(&self, id: &ProjectId) -> Option<&Arc<ProjectCatalog>> {
        self.projects.get(id)
    }

    /// All projects, in the order in which they were made.
    pub fn projects(&self) -> impl Iterator<Item = &Arc<ProjectCatalog>> {
        self.projects.values()
    }

    /// A new catalog with these documents, each in place of its former version.
    pub(super) fn with(&self, documents: Vec<Document>, rates: &RatesCache) -> Result<Self, Error> {
        let mut touched: BTreeMap<ProjectId, ProjectCatalog> = BTreeMap::new();
        let (projects, others): (Vec<_>, Vec<_>) = documents
            .into_iter()
            .partition(|document| matches!(document, Document::Project(_)));
        for document in projects.into_iter().chain(others) {
            let id = document.project();
            let project = match touched.entry(id) {
                Entry::Occupied(occupied) => occupied.into_mut(),
                Entry::Vacant(vacant) => vacant.insert(self.start(id, &document)?),
            };
            project.put(document, rates)?;
        }
        let mut next = self.clone();
        for (id, mut project) in touched {
            project.derive()?;
            next.replace(id, Arc::new(project));
        }
        Ok(next)
    }

    /// The project that documents are applied to: the existing one, or a new one if `first` creates it.
    fn start(&self, id: ProjectId, first: &Document) -> Result<ProjectCatalog, Error> {
        match (self.projects.get(&id), first) {
            (Some(project), _) => Ok(ProjectCatalog::clone(project)),
            (None, Document::Project(project)) => Ok(ProjectCatalog::new(project.clone())),
            (None, _) => Err(Error::Damaged(format!("there is no project {id}"))),
        }
    }

    fn replace(&mut self, id: ProjectId, project: Arc<ProjectCatalog>) {
        for (key, last_use) in project.keys.values() {
            let hash = KeyHash(key.hash);
            if key.revoked_at.is_some() {
                self.keys.remove(&hash);
            } else {
                let (kind, can) = match key.kind {
                    KeyKind::Restricted => (KeyKind::Secret, Some(Arc::new(key.can.clone()))),
                    kind => (kind, None),
                };
                let project = Arc::clone(&project);
                self.keys.insert(
                    hash,
                    KnownKey {
                        opens: Authenticated {
                            project,
                            key: key.id,
                            kind,
                            can,
                        },
                        expires_at: key.expires_at,
                        last_use: Arc::clone(last_use),
                    },
                );
            }
        }
        self.projects.insert(id, project);
    }
}

impl ProjectCatalog {
    fn new(project: Project) -> Self {
        let scope = Scope {
            project: project.id,
            free_grants: Arc::from([]),
            low_balances: Arc::from([]),
            debt_limits: Arc::from([]),
            limits: None,
            free_grants_for_code_wallets: project.free_grants_for_code_wallets,
            ahead_millis: 0,
        };
        Self {
            project,
            scope,
            keys: BTreeMap::new(),
            products: Products::new(),
            prices: BTreeMap::new(),
            provider: None,
            endpoints: BTreeMap::new(),
            rate_cards: BTreeMap::new(),
            only_credit_product: None,
        }
    }

    fn put(&mut self, document: Document, rates: &RatesCache) -> Result<(), Error> {
        match document {
            Document::Project(project) => self.project = project,
            Document::Key(key) => {
                let former = self.keys.remove(&key.id);
                let last_use = former.map(|(_, last_use)| last_use).unwrap_or_default();
                self.keys.insert(key.id, (key, last_use));
            }
            Document::Product(product) => drop(self.products.insert(product.id, product)),
            Document::Price(price) => drop(self.prices.insert((price.product, price.id), price)),
            Document::Provider(provider) => self.provider = Some(provider),
            Document::Endpoint(endpoint) if endpoint.status == EndpointStatus::Deleted => {
                self.endpoints.remove(&endpoint.id);
            }
            Document::Endpoint(endpoint) => drop(self.endpoints.insert(endpoint.id, endpoint)),
            Document::RateCard(card) => {
                let former = self.rate_cards.get(&card.slug).map(AsRef::as_ref);
                let slug = card.slug.clone();
                let card = CardRates::of(card, former, rates)?;
                self.rate_cards.insert(slug, Arc::new(card));
            }
        }
        Ok(())
    }

    /// Precomputes values for requests.
    fn derive(&mut self) -> Result<(), Error> {
        if let Some(price) = self
            .prices
            .values()
            .find(|p| !self.products.contains_key(&p.product))
        {
            return Err(Error::Damaged(format!("{} has no product", price.id)));
        }
        let mut with_unit = self
            .products
            .values()
            .filter(|product| product.holds_credits());
        self.only_credit_product = match (with_unit.next(), with_unit.next()) {
            (Some(only), None) => Some(only.id),
            _ => None,
        };
        let rules = self
            .products
            .values()
            .filter(|product| product.active)
            .filter_map(|product| {
                let grant = product.free_grant?;
                Some(FreeGrantRule {
                    product: product.id,
                    credits: grant.credits,
                    period: grant.period,
                })
            });
        // Balances of an inactive product can be spent, and run low.
        let low_balances = self.products.values().filter_map(|product| {
            Some(LowBalance {
                product: product.id,
                credits: product.low_balance?,
            })
        });
        let debt_limits = self
            .products
            .values()
            .filter(|product| product.debt_limit > 0);
        let debt_limits = debt_limits.map(|product| DebtLimit {
            product: product.id,
            credits: product.debt_limit,
        });
        self.scope = Scope {
            project: self.project.id,
            free_grants: rules.collect(),
            low_balances: low_balances.collect(),
            debt_limits: debt_limits.collect(),
            limits: Some(self.limits())
                .filter(|limits| !limits.is_empty())
                .map(Arc::new),
            free_grants_for_code_wallets: self.project.free_grants_for_code_wallets,
            ahead_millis: self.provider.as_ref().map_or(0, Provider::ahead_millis),
        };
        Ok(())
    }

    /// A product, active or not.
    pub fn product(&self, id: &ProductId) -> Option<&Product> {
        self.products.get(id)
    }

    /// All products, active or not, in the order in which they were made.
    pub fn products(&self) -> impl Iterator<Item = &Product> {
        self.products.values()
    }

    /// The identifiers of all products.
    pub fn product_ids(&self) -> Vec<ProductId> {
        self.products.keys().copied().collect()
    }

    /// All products by identifier, in the form that the domain's rules take.
    pub(super) const fn by_id(&self) -> &Products {
        &self.products
    }

    /// A price of a product, active or not.
    pub fn price(&self, product: &ProductId, id: &PriceId) -> Option<&Price> {
        self.prices.get(&(*product, *id))
    }

    /// All prices of a product, active or not, in the order in which they were made.
    pub fn prices(&self, product: &ProductId) -> impl Iterator<Item = &Price> {
        let bounds = (*product, PriceId(u128::MIN))..=(*product, PriceId(u128::MAX));
        self.prices.range(bounds).map(|(_, price)| price)
    }

    /// The active prices of a product, in the order in which they were made.
    pub fn active_prices(&self, product: &ProductId) -> impl Iterator<Item = &Price> {
        self.prices(product).filter(|price| price.active)
    }

    /// The one product with a credit unit, active or not; `None` when there are none or several.
    pub const fn only_credit_product(&self) -> Option<ProductId> {
        self.only_credit_product
    }

    /// A price by its identifier alone, active or not.
    pub fn any_price(&self, id: &PriceId) -> Option<&Price> {
        self.prices.values().find(|price| price.id == *id)
    }

    /// A price that is offered, with its product: both are active.
    pub fn offered(&self, id: &PriceId) -> Option<(&Product, &Price)> {
        let price = self.any_price(id).filter(|price| price.active)?;
        let product = self.product(&price.product)?;
        product.active.then_some((product, price))
    }

    /// The payment provider, if one was ever set.
    pub const fn provider(&self) -> Option<&Provider> {
        self.provider.as_ref()
    }

    /// Whether a payment provider takes the project's money now.
    pub fn has_provider(&self) -> bool {
        self.provider()
            .is_some_and(|provider| provider.account != Account::None)
    }

    /// The provider epoch of the account that takes the project's money now.
    pub fn epoch(&self) -> &ProviderEpoch {
        self.provider.as_ref().map_or(&NOBODY, |it| &it.epoch)
    }

    /// The sandbox's settings, if the sandbox is the provider.
    pub fn sandbox(&self) -> Option<Sandbox> {
        let provider = self.provider.as_ref();
        let provider = provider.filter(|provider| provider.account == Account::Sandbox);
        provider.map(|provider| provider.sandbox)
    }

    /// A rate card that is not closed.
    pub fn rate_card(&self, slug: &RateCardSlug) -> Option<&Arc<CardRates>> {
        let card = self.rate_cards.get(slug);
        card.filter(|found| found.card.closed_at.is_none())
    }

    /// A rate card, closed or not.
    pub fn any_rate_card(&self, slug: &RateCardSlug) -> Option<&Arc<CardRates>> {
        self.rate_cards.get(slug)
    }

    /// The rate cards, closed or not, by name.
    pub fn any_rate_cards(&self) -> impl Iterator<Item = &Arc<CardRates>> {
        self.rate_cards.values()
    }

    /// The rate cards that are not closed, by name.
    pub fn rate_cards(&self) -> impl Iterator<Item = &Arc<CardRates>> {
        let cards = self.any_rate_cards();
        cards.filter(|found| found.card.closed_at.is_none())
    }

    /// A webhook endpoint, active or not.
    pub fn endpoint(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.endpoints.get(id)
    }

    /// All webhook endpoints, in the order in which they were made.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.endpoints.values()
    }

    /// A key, revoked or not.
    pub fn key(&self, id: &KeyId) -> Option<&ApiKey> {
        self.keys.get(id).map(|(key, _)| key)
    }

    /// The start of the UTC day on which a key was last used; `None`: it never was.
    pub fn key_last_used(&self, id: &KeyId) -> Option<Timestamp> {
        self.keys.get(id)?.1.day()
    }

    /// All keys, revoked ones too, in the order in which they were made.
    pub fn keys(&self) -> impl Iterator<Item = &ApiKey> {
        self.keys.values().map(|(key, _)| key)
    }
}
