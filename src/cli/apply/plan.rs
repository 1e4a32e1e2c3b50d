//! Plans what has to change. A pure function of the file and the server's catalog.

pub(super) mod rate_cards;

use std::collections::{BTreeSet, HashSet};

use api_types::admin;
use domain::money::money;
use serde_json::{Map, Value, json};

use super::{Failure, file};

/// What to do with the project.
#[derive(Debug, PartialEq)]
pub(super) enum Project<'a> {
    /// It exists, and needs this change, if any.
    Found {
        project: &'a admin::Project,
        change: Option<Value>,
    },
    /// It has to be created, and then changed.
    Missing {
        create: Value,
        change: Option<Value>,
    },
}

/// A product of the file; steps are in the file's order.
#[derive(Debug, PartialEq)]
pub(super) struct ProductStep {
    /// `None`: it has to be created.
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// The fields to send; `None`: it stays as it is.
    pub(super) fields: Option<Value>,
}

/// A price to create or change. Prices that stay as they are have no step.
#[derive(Debug, PartialEq)]
pub(super) struct PriceStep {
    /// `None` in a dry run that would have created it.
    pub(super) product: Option<String>,
    /// `None`: it has to be created.
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) fields: Value,
    pub(super) active: bool,
}

impl PriceStep {
    /// Whether it deactivates a price.
    pub(super) fn switches_off(&self) -> bool {
        self.id.is_some() && self.fields.get("active") == Some(&Value::Bool(false))
    }
}

/// Finds the project by the command line's `--project`, or else by the file's name.
pub(super) fn project<'a>(
    file: &file::File,
    wanted: Option<&str>,
    projects: &'a [admin::Project],
) -> Result<Project<'a>, Failure> {
    let settings = file.project.clone().unwrap_or_default();
    let name = wanted.or(settings.name.as_deref()).ok_or_else(|| {
        Failure("name the project, with --project or as `name` under [project]".into())
    })?;
    let mut found = projects
        .iter()
        .filter(|project| project.id == name || project.name == name);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(Failure(format!(
            "several projects are called \"{name}\": use --project with an id"
        ))),
        (Some(project), None) => {
            let mut change = settings_of(&settings)?;
            if project
                .provider
                .as_ref()
                .is_some_and(|set| set.kind == "sandbox")
            {
                change.remove("provider");
            }
            // Of the mails, too, an omitted setting stays as it is.
            if let Some(Value::Object(mails)) = change.remove("mails")
                && let Some(changed) = changed_fields(mails, &project.mails)?
            {
                change.insert("mails".into(), changed);
            }
            let change = changed_fields(change, project)?;
            Ok(Project::Found { project, change })
        }
        (None, _) if wanted.is_some() => Err(Failure(format!("there is no project \"{name}\""))),
        (None, _) => {
            let mut change = settings_of(&settings)?;
            change.remove("name");
            let mut create = json!({ "name": name });
            if let (Some(create), Some(mode)) = (create.as_object_mut(), change.remove("mode")) {
                create.insert("mode".into(), mode);
            }
            let change = (!change.is_empty()).then_some(Value::Object(change));
            Ok(Project::Missing { create, change })
        }
    }
}

/// The settings that the file has.
fn settings_of(settings: &file::ProjectSettings) -> Result<Map<String, Value>, Failure> {
    let mut settings = fields_of(settings)?;
    settings.retain(|_, value| !value.is_null());
    if let Some(Value::Object(mails)) = settings.get_mut("mails") {
        mails.retain(|_, value| !value.is_null());
    }
    if let Some(provider) = settings.get_mut("provider") {
        *provider = json!({ "kind": provider });
    }
    Ok(settings)
}

/// The fields of a record as the admin API has them.
pub(super) fn fields_of(record: &impl serde::Serialize) -> Result<Map<String, Value>, Failure> {
    match serde_json::to_value(record).map_err(Failure::new)? {
        Value::Object(fields) => Ok(fields),
        _ => Ok(Map::new()),
    }
}

/// The wanted fields that differ from what the server has; `None` if all are equal.
fn changed_fields(
    wanted: Map<String, Value>,
    found: &impl serde::Serialize,
) -> Result<Option<Value>, Failure> {
    let found = fields_of(found)?;
    let changed: Map<_, _> = wanted
        .into_iter()
        .filter(|(name, value)| found.get(name) != Some(value))
        .collect();
    Ok((!changed.is_empty()).then_some(Value::Object(changed)))
}

/// Plans a step for each product of the file.
pub(super) fn products(
    wanted: &[file::Product],
    found: &[admin::Product],
) -> Result<Vec<ProductStep>, Failure> {
    let mut named = HashSet::new();
    if let Some(twice) = wanted
        .iter()
        .find(|product| !named.insert(product.name.as_str()))
    {
        return Err(Failure(format!(
            "the file has two products \"{}\"",
            twice.name
        )));
    }
    wanted
        .iter()
        .map(|product| product_step(product, found))
        .collect()
}

fn product_step(wanted: &file::Product, found: &[admin::Product]) -> Result<ProductStep, Failure> {
    let fields = fields_of(wanted)?;
    let found = find_product(wanted, found)?;
    Ok(ProductStep {
        id: found.map(|found| found.id.clone()),
        name: wanted.name.clone(),
        fields: match found {
            None => Some(Value::Object(fields)),
            Some(found) => changed_fields(fields, found)?,
        },
    })
}

fn find_product<'a>(
    wanted: &file::Product,
    found: &'a [admin::Product],
) -> Result<Option<&'a admin::Product>, Failure> {
    if let Some(id) = &wanted.id {
        let product = found.iter().find(|product| product.id == *id);
        return product
            .map(Some)
            .ok_or_else(|| Failure(format!("product \"{}\": unknown id {id}", wanted.name)));
    }
    let mut same_name = found.iter().filter(|product| product.name == wanted.name);
    match (same_name.next(), same_name.next()) {
        (first, None) => Ok(first),
        _ => Err(Failure(format!(
            "several products are called \"{}\": give the right one's `id` in the file",
            wanted.name
        ))),
    }
}

/// Plans the steps for prices, once the products exist. `ids` are the products' ids in the file's order; `None`
/// for those that a dry run would have created.
pub(super) fn prices(
    wanted: &[file::Product],
    ids: &[Option<String>],
    found: &[admin::Product],
) -> Result<Vec<PriceStep>, Failure> {
    let id_of = |name: &str| {
        let position = wanted.iter().position(|product| product.name == name);
        position.and_then(|at| ids.get(at).cloned()).ok_or_else(|| {
            Failure(format!(
                "creditsProduct \"{name}\" is not the name of a product in the file"
            ))
        })
    };
    let mut steps = Vec::new();
    for (product, id) in wanted.iter().zip(ids) {
        let there = found.iter().find(|found| Some(&found.id) == id.as_ref());
        let mut free: Vec<&admin::Price> = there
            .map(|product| product.prices.iter().collect())
            .unwrap_or_default();
        for price in &product.prices {
            let target = price.credits_product.as_deref().map(id_of).transpose()?;
            let name = described(product, price);
            // In a dry run the product it fills may not exist yet.
            let target = target.flatten();
            if let Some(step) = price_step(price, id.as_ref(), target.as_deref(), name, &mut free)?
            {
                steps.push(step);
            }
        }
    }
    Ok(steps)
}

/// Of several prices with the same terms, picks one with the same label, otherwise an active one. Each is
/// picked once.
fn price_step(
    wanted: &file::Price,
    product: Option<&String>,
    target: Option<&str>,
    name: String,
    free: &mut Vec<&admin::Price>,
) -> Result<Option<PriceStep>, Failure> {
    let terms = terms(wanted, target)?;
    let best = free
        .iter()
        .enumerate()
        .filter(|(_, price)| has_terms(price, &terms))
        .max_by_key(|(at, price)| {
            (
                price.label == wanted.label,
                price.active == wanted.active,
                std::cmp::Reverse(*at),
            )
        })
        .map(|(at, _)| at);
    if let (Some(at), Some(product)) = (best, product) {
        let price = free.remove(at);
        let fields = [
            ("label".to_owned(), json!(wanted.label)),
            ("active".to_owned(), json!(wanted.active)),
            ("limits".to_owned(), json!(wanted.limits)),
        ];
        let change = changed_fields(Map::from_iter(fields), price)?;
        return Ok(change.map(|fields| PriceStep {
            product: Some(product.clone()),
            id: Some(price.id.clone()),
            name,
            fields,
            active: wanted.active,
        }));
    }
    let mut create = terms;
    create.insert("label".into(), json!(wanted.label));
    create.insert("limits".into(), json!(wanted.limits));
    Ok(Some(PriceStep {
        product: product.cloned(),
        id: None,
        name,
        fields: Value::Object(create),
        active: wanted.active,
    }))
}

/// What never changes of a price once it is created: all that the API takes but the label and the limits.
fn terms(wanted: &file::Price, target: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let mut terms = fields_of(wanted)?;
    terms.remove("label");
    terms.remove("limits");
    terms.insert("creditsProductId".into(), json!(target));
    Ok(terms)
}

fn has_terms(found: &admin::Price, terms: &Map<String, Value>) -> bool {
    let Ok(found) = fields_of(found) else {
        return false;
    };
    let sorted = |features: &Value| -> BTreeSet<String> {
        let texts = features.as_array().into_iter().flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    terms.iter().all(|(name, wanted)| match found.get(name) {
        Some(found) if name == "features" => sorted(wanted) == sorted(found),
        found => found == Some(wanted),
    })
}

fn described(product: &file::Product, price: &file::Price) -> String {
    let label = price
        .label
        .as_ref()
        .map(|label| format!(" \"{label}\""))
        .unwrap_or_default();
    format!(
        "{label} {} of \"{}\"",
        money(price.amount_cents, &price.currency),
        product.name
    )
    .trim_start()
    .to_owned()
}

/// Active products and prices on the server that the file does not declare.
pub(super) fn undeclared(
    wanted: &[file::Product],
    ids: &[Option<String>],
    found: &[admin::Product],
) -> Vec<String> {
    let mut left = Vec::new();
    for product in found.iter().filter(|product| product.active) {
        let declared = wanted
            .iter()
            .zip(ids)
            .find(|(_, id)| id.as_ref() == Some(&product.id));
        let Some((declared, _)) = declared else {
            left.push(format!("product \"{}\" ({})", product.name, product.id));
            continue;
        };
        let target = |price: &file::Price| {
            let name = price.credits_product.as_ref()?;
            let at = wanted.iter().position(|product| product.name == *name)?;
            ids.get(at).cloned().flatten()
        };
        let meant = |found: &admin::Price| {
            let same = |price: &file::Price| {
                let terms = terms(price, target(price).as_deref());
                terms.is_ok_and(|terms| has_terms(found, &terms))
            };
            declared.prices.iter().any(same)
        };
        for price in product
            .prices
            .iter()
            .filter(|price| price.active && !meant(price))
        {
            left.push(format!(
                "price {} of \"{}\" ({})",
                money(price.amount_cents, &price.currency),
                product.name,
                price.id
            ));
        }
    }
    left
}

#[cfg(test)]
mod tests;
