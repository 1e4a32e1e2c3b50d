//! Checks all documents of a stored catalog against the rules and against each other. It reports problems in plain
//! sentences and repairs nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
};

use super::{ApiKey, Document, Price, Products, Refusal};
use crate::{
    id::{KeyId, ProductId, ProjectId},
    rate_card::RateCard,
};

/// The problems found, none if the catalog is sound. At most one document of each address may be given.
///
/// Rules for new documents only (amounts that today's providers take) are not checked.
#[must_use]
pub fn verify(documents: &[Document]) -> Vec<String> {
    let index = CatalogIndex::of(documents);
    let mut problems = Problems::default();
    let mut keys = BTreeMap::new();
    for document in documents {
        let project = document.project();
        let name = name(document);
        if !index.projects.contains(&project) {
            problems.push(format!("{name} belongs to {project}, which is missing"));
        }
        match document {
            Document::Project(project) => problems.push_refusal(&name, project.check()),
            Document::Key(key) => {
                problems.push_refusal(&name, key.check());
                check_key_is_unique(&mut keys, key, &mut problems);
            }
            Document::Product(product) => problems.push_refusal(&name, product.check()),
            Document::Price(price) => {
                problems.push_refusal(&name, price.check());
                index.check_price(price, &mut problems);
            }
            Document::Provider(provider) => problems.push_refusal(&name, provider.check()),
            Document::Endpoint(endpoint) => problems.push_refusal(&name, endpoint.check()),
            Document::RateCard(card) => index.check_card(card, &mut problems),
        }
    }
    problems.0
}

fn name(document: &Document) -> String {
    match document {
        Document::Project(project) => project.id.to_string(),
        Document::Key(key) => key.id.to_string(),
        Document::Product(product) => product.id.to_string(),
        Document::Price(price) => price.id.to_string(),
        Document::Provider(provider) => format!("The provider of {}", provider.project),
        Document::Endpoint(endpoint) => endpoint.id.to_string(),
        Document::RateCard(card) => format!("The rate card {}", card.slug.as_str()),
    }
}

fn check_key_is_unique(
    keys_by_hash: &mut BTreeMap<[u8; 32], KeyId>,
    key: &ApiKey,
    problems: &mut Problems,
) {
    if let Some(other) = keys_by_hash.insert(key.hash, key.id) {
        problems.push(format!("{} and {other} are the same key", key.id));
    }
}

#[derive(Default)]
struct Problems(Vec<String>);

impl Problems {
    fn push(&mut self, problem: String) {
        self.0.push(problem);
    }

    fn push_refusal(&mut self, of: impl Display, checked: Result<(), Refusal>) {
        match checked {
            Ok(()) => {}
            Err(Refusal::Invalid { param, message }) => {
                self.push(format!("{of} breaks a rule at {param}: {message}"));
            }
            Err(refusal) => self.push(format!("{of} does not fit: {refusal}")),
        }
    }
}

/// The projects and products that documents may name.
#[derive(Default)]
struct CatalogIndex {
    projects: BTreeSet<ProjectId>,
    products: BTreeMap<ProjectId, Products>,
    owners: BTreeMap<ProductId, ProjectId>,
}

impl CatalogIndex {
    fn of(documents: &[Document]) -> Self {
        let mut index = Self::default();
        for document in documents {
            match document {
                Document::Project(project) => drop(index.projects.insert(project.id)),
                Document::Product(product) => {
                    let products = index.products.entry(product.project).or_default();
                    products.insert(product.id, product.clone());
                    index.owners.insert(product.id, product.project);
                }
                Document::Key(_)
                | Document::Price(_)
                | Document::Provider(_)
                | Document::Endpoint(_)
                | Document::RateCard(_) => {}
            }
        }
        index
    }

    fn check_card(&self, card: &RateCard, problems: &mut Problems) {
        for product in card.versions.iter().map(|version| version.product) {
            if self.owners.get(&product) != Some(&card.project) {
                let slug = card.slug.as_str();
                problems.push(format!(
                    "The rate card {slug} is for {product}, which is not its project's"
                ));
            }
        }
    }

    fn check_price(&self, price: &Price, problems: &mut Problems) {
        let name = price.id;
        let mut sound = true;
        for (product, does) in [
            (Some(price.product), "is a price of"),
            (price.credits_product, "credits"),
        ] {
            let Some(product) = product else { continue };
            match self.owners.get(&product) {
                Some(owner) if *owner == price.project => continue,
                Some(owner) => {
                    problems.push(format!("{name} {does} {product}, which is {owner}'s"))
                }
                None => problems.push(format!("{name} {does} {product}, which is missing")),
            }
            sound = false;
        }
        if let Some(products) = self.products.get(&price.project).filter(|_| sound) {
            problems.push_refusal(name, price.clone().fits(products).map(drop));
        }
    }
}

#[cfg(test)]
mod tests;
