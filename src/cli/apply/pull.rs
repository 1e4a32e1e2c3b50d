//! `scrip pull`: a project's catalog as the file that `scrip apply` takes.

use std::collections::HashSet;

use api_types::{
    RateCard, RateCards,
    admin::{self, Products},
};
use clap::Args;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{file, plan::fields_of};
use crate::cli::{
    Failure, print,
    project::{Project, ProjectArgs},
    remote,
};

/// Which catalog to print.
#[derive(Debug, Args)]
pub struct PullArgs {
    #[command(flatten)]
    project: ProjectArgs,
}

pub(in crate::cli) fn run(args: &PullArgs) -> Result<(), Failure> {
    let text = remote::wait(async {
        let project: Project = args.project.open().await?;
        let settings: admin::Project = project.remote.get(&project.path("")).await?;
        let Products { products } = project.remote.get(&project.path("/products")).await?;
        let RateCards { rate_cards } = project.remote.get(&project.path("/rate-cards")).await?;
        catalog(&settings, &products, &rate_cards)
    })?;
    print::line(text.trim());
    Ok(())
}

fn catalog(
    project: &admin::Project,
    products: &[admin::Product],
    cards: &[RateCard],
) -> Result<String, Failure> {
    let mut names = HashSet::new();
    if let Some(twice) = products.iter().find(|product| !names.insert(&product.name)) {
        return Err(Failure(format!(
            "several products are called \"{}\", and the file tells them apart by name: rename one",
            twice.name
        )));
    }
    let name_of = |id: &str| {
        let product = products.iter().find(|product| product.id == id);
        product.map(|product| product.name.as_str())
    };
    let mut text = String::new();
    let mut settings = declared::<file::ProjectSettings>(json!({ "name": "" }), project)?;
    settings.retain(|(name, _)| !["provider", "mails"].contains(&name.as_str()));
    let mails = mails(&project.mails)?;
    if !mails.is_empty() {
        settings.push(("mails".into(), mails.into()));
    }
    if project
        .provider
        .as_ref()
        .is_some_and(|it| it.kind == "sandbox")
    {
        settings.push(("provider".into(), json!("sandbox")));
    }
    table(&mut text, "[project]", &settings)?;
    for product in products {
        let required = json!({ "name": "", "type": "credits" });
        table(
            &mut text,
            "[[products]]",
            &declared::<file::Product>(required, product)?,
        )?;
        for price in &product.prices {
            let required = json!({ "amountCents": 0, "currency": "", "interval": "one_time" });
            let mut fields = declared::<file::Price>(required, price)?;
            if let Some(id) = &price.credits_product_id {
                fields.push(("creditsProduct".into(), json!(name_of(id))));
            }
            if !price.active {
                fields.push(("active".into(), json!(false)));
            }
            table(&mut text, "[[products.prices]]", &fields)?;
        }
    }
    for card in cards {
        let mut fields = vec![
            ("slug".into(), json!(card.slug)),
            ("product".into(), json!(name_of(&card.product_id))),
        ];
        if card.effective_from > jiff::Timestamp::now() {
            fields.push(("effectiveFrom".into(), json!(card.effective_from)));
        }
        table(&mut text, "[[rateCards]]", &fields)?;
        text.push_str("rates = [\n");
        for rate in &card.rates {
            text.push_str(&format!("    {},\n", inline(rate)?));
        }
        text.push_str("]\n");
    }
    Ok(text)
}

/// What the file has of mails, without what a new project has.
fn mails(mails: &admin::Mails) -> Result<Map<String, Value>, Failure> {
    let mails = declared::<file::ProjectMails>(json!({}), mails)?;
    let mails = mails.into_iter().filter(|(name, value)| match value {
        Value::String(text) => name != "locale" || text != "en",
        other => ![json!(false), json!([])].contains(other),
    });
    let mails = mails.map(|(name, value)| (name, without_nulls(value)));
    Ok(mails.collect())
}

/// What the file has of a record, without what it would take by default. `required` has no default and comes first.
fn declared<T: Serialize + DeserializeOwned>(
    required: Value,
    found: &impl Serialize,
) -> Result<Vec<(String, Value)>, Failure> {
    let defaults: T = serde_json::from_value(required.clone()).map_err(Failure::new)?;
    let found = fields_of(found)?;
    let is_required = |name: &str| required.get(name).is_some();
    let fields = fields_of(&defaults)?.into_iter();
    let fields = fields.filter_map(|(name, default)| {
        let value = found.get(&name)?;
        let is_default = *value == default && !is_required(&name);
        (!is_default && !value.is_null()).then(|| (name, value.clone()))
    });
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(name, _)| !is_required(name));
    Ok(fields)
}

/// A value as TOML can have it.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(without_nulls).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            fields.collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

fn table(text: &mut String, heading: &str, fields: &[(String, Value)]) -> Result<(), Failure> {
    text.push_str(&format!("\n{heading}\n"));
    for (name, value) in fields {
        text.push_str(&format!("{name} = {}\n", inline(value)?));
    }
    Ok(())
}

/// A value of TOML on one line.
fn inline(value: &impl Serialize) -> Result<String, Failure> {
    let mut text = String::new();
    value
        .serialize(toml::ser::ValueSerializer::new(&mut text))
        .map_err(Failure::new)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_without_what_a_new_project_has_but_a_name_may_be_a_language() {
        let found = json!({
            "lowBalance": true, "topUpFailed": false, "limitReached": false, "receipt": false, "locale": "en", "name": "en",
            "color": null, "replyTo": null, "footer": "en", "templates": [],
        });
        let found: admin::Mails = serde_json::from_value(found).unwrap();
        let wanted = json!({"lowBalance": true, "name": "en", "footer": "en"});
        assert_eq!(Value::Object(mails(&found).unwrap()), wanted);
    }
}
