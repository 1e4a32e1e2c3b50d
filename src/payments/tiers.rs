//! Recurring prices in the provider's catalog, made there the first time that they are bought, and
//! the portal's configuration, which lists them so that customers can switch.
//!
//! The provider's own catalog is what counts: each price is found there by ours. What is remembered
//! here only saves asking.

use dashmap::DashMap;
use data_encoding::HEXLOWER;
use domain::{
    catalog::{Interval, Price, Product},
    id::{PriceId, ProjectId},
};
use sha2::{Digest as _, Sha256};

use super::{Error, Payments};
use crate::{
    catalog::ProjectCatalog,
    notes::{Key, Note},
    provider::stripe::{
        Client, OperationKey,
        id::{ConfigurationId, StripePriceId},
        portal::{MAX_PRODUCTS, NewConfiguration, PortalProduct},
        prices::{Cycle, NewPrice, StoredPrice},
    },
};

/// What is remembered.
#[derive(Default)]
pub(super) struct Tiers {
    prices: DashMap<(ProjectId, PriceId), StoredPrice>,
    ours: DashMap<(ProjectId, StripePriceId), PriceId>,
    /// By project and the hash of what is offered.
    portals: DashMap<(ProjectId, [u8; 16]), ConfigurationId>,
}

impl Tiers {
    /// Remembers a portal's configuration.
    pub(super) fn restore(&self, project: ProjectId, offer: [u8; 16], id: ConfigurationId) {
        self.portals.insert((project, offer), id);
    }
}

impl Payments {
    /// The provider's price for one of ours that recurs.
    pub(super) async fn tier(
        &self,
        client: &Client,
        product: &Product,
        price: &Price,
    ) -> Result<StoredPrice, Error> {
        let tiers = &self.0.tiers;
        let key = (price.project, price.id);
        if let Some(known) = tiers.prices.get(&key) {
            return Ok(known.clone());
        }
        let stored = match client.find_price(price.id).await? {
            Some(stored) => stored,
            None => {
                let operation = operation(&format!("price/{}", price.id))?;
                client
                    .create_price(&new_price(product, price), &operation)
                    .await?
            }
        };
        tiers.prices.insert(key, stored.clone());
        let id = (price.project, stored.id.clone());
        tiers.ours.insert(id, price.id);
        Ok(stored)
    }

    /// Forgets what was remembered of a price: the provider does not know it any more.
    pub(super) fn forget_tier(&self, price: &Price) {
        self.0.tiers.prices.remove(&(price.project, price.id));
    }

    /// Our price behind one of the provider's, if there is one.
    pub(super) async fn our_price(
        &self,
        client: &Client,
        project: ProjectId,
        id: &StripePriceId,
    ) -> Result<Option<PriceId>, Error> {
        let key = (project, id.clone());
        if let Some(known) = self.0.tiers.ours.get(&key) {
            return Ok(Some(*known));
        }
        let ours = client.price(id).await?.metadata.price;
        if let Some(ours) = ours {
            self.0.tiers.ours.insert(key, ours);
        }
        Ok(ours)
    }

    /// A configuration of the portal under which subscriptions can be switched between these prices.
    pub(super) async fn portal_configuration(
        &self,
        client: &Client,
        project: &ProjectCatalog,
        offered: &[(&Product, &Price)],
    ) -> Result<ConfigurationId, Error> {
        let mut products = Vec::new();
        for (product, price) in offered.iter().take(MAX_PRODUCTS) {
            let stored = self.tier(client, product, price).await?;
            products.push(PortalProduct {
                product: stored.product,
                prices: vec![stored.id],
            });
        }
        let configuration = NewConfiguration { products };
        // Named by what it says: another offer is another configuration, the same one is made once.
        let project = project.project.id;
        let mut offer = [0; 16];
        let hash = Sha256::digest(configuration.form().encode());
        offer.copy_from_slice(hash.split_at(16).0);
        if let Some(known) = self.0.tiers.portals.get(&(project, offer)) {
            return Ok(known.clone());
        }
        let operation = operation(&format!("portal/{project}/{}", HEXLOWER.encode(&offer)))?;
        let made = client
            .create_configuration(&configuration, &operation)
            .await?;
        self.0.tiers.restore(project, offer, made.id.clone());
        let note = Note::Portal {
            project,
            offer,
            id: made.id.clone(),
        };
        self.0.handle.put_notes(vec![note.put()]).await?;
        Ok(made.id)
    }

    /// Forgets a project's configurations: the provider does not know one of them any more.
    pub(super) async fn forget_portals(&self, project: ProjectId) -> Result<(), Error> {
        let portals = &self.0.tiers.portals;
        let keys: Vec<_> = portals.iter().map(|entry| *entry.key()).collect();
        let of_project = keys.into_iter().filter(|(whose, _)| *whose == project);
        let notes = of_project.map(|(project, offer)| {
            portals.remove(&(project, offer));
            Key::Portal(project, offer).forget()
        });
        Ok(self.0.handle.put_notes(notes.collect()).await?)
    }
}

fn new_price(product: &Product, price: &Price) -> NewPrice {
    let name = match &price.label {
        Some(label) => format!("{} {label}", product.name),
        None => product.name.clone(),
    };
    NewPrice {
        price: price.id,
        name,
        currency: price.currency.clone(),
        amount_cents: price.amount_cents,
        cycle: match price.interval {
            Interval::Year => Cycle::Year,
            Interval::Month | Interval::OneTime => Cycle::Month,
        },
    }
}

/// Names an operation of ours.
pub(super) fn operation(name: &str) -> Result<OperationKey, Error> {
    OperationKey::new(name).ok_or(Error::Defect("an operation's name is none"))
}
