//! Promotion codes, created by the merchant in Stripe and typed by buyers.

use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{CustomerId, PromotionCodeId},
    object::object,
};

/// The most codes of one name to search: a code is unique only among the active ones of each customer.
const MAX_NAMESAKES: u8 = 100;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PromotionCode {
    pub id: PromotionCodeId,
    pub code: String,
    /// The only customer who may use it; `None` for everybody.
    pub customer: Option<CustomerId>,
}

object!(PromotionCodeId => PromotionCode, "promotion_codes", []);

impl Client {
    /// The active code that a buyer may use under this name: their own, or the one for everybody. Stripe checks when
    /// the session is created whether it applies to the purchase.
    /// # Errors
    /// See [`Error`].
    pub async fn find_promotion_code(
        &self,
        code: &str,
        customer: Option<&CustomerId>,
    ) -> Result<Option<PromotionCodeId>, Error> {
        let query = find_form(code);
        let codes = self.list::<PromotionCodeId>(&query, &[]).await?;
        Ok(choose(codes.data, customer).map(|code| code.id))
    }
}

fn find_form(code: &str) -> Form {
    Form::new()
        .with("code", code)
        .with("active", true)
        .with("limit", MAX_NAMESAKES)
}

fn choose(codes: Vec<PromotionCode>, customer: Option<&CustomerId>) -> Option<PromotionCode> {
    let mut for_everybody = None;
    for code in codes {
        match &code.customer {
            None => for_everybody = Some(code),
            Some(only) if Some(only) == customer => return Some(code),
            Some(_) => {}
        }
    }
    for_everybody
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::lines;

    #[test]
    fn a_code_is_looked_up_as_it_was_typed() {
        assert_eq!(
            lines(&find_form("SUMMER 25%")),
            ["code=SUMMER 25%", "active=true", "limit=100"]
        );
    }

    #[test]
    fn a_buyer_gets_their_own_code_or_everybodys() {
        let code = |id: &str, customer: Option<&str>| PromotionCode {
            id: PromotionCodeId::new(id).unwrap(),
            code: "X".into(),
            customer: customer.and_then(|id| CustomerId::new(id).ok()),
        };
        let (all, mine, other) = (
            code("all", None),
            code("mine", Some("cus_me")),
            code("other", Some("cus_other")),
        );
        let me = CustomerId::new("cus_me").ok();
        let chosen = |codes: &[&PromotionCode], customer: Option<&CustomerId>| {
            let codes = codes.iter().map(|&code| code.clone()).collect();
            choose(codes, customer).map(|code| code.id.to_string())
        };
        let id = |text: &str| Some(text.to_owned());
        assert_eq!(chosen(&[&other, &all, &mine], me.as_ref()), id("mine"));
        assert_eq!(chosen(&[&other, &all], me.as_ref()), id("all"));
        assert_eq!(chosen(&[&mine, &all], None), id("all"));
        assert_eq!(chosen(&[&mine, &other], None), None);
        assert_eq!(chosen(&[], None), None);
    }

    #[test]
    fn a_code_is_read() {
        let json = r#"{"id":"promo_1","object":"promotion_code","active":true,"code":"SUMMER",
            "customer":null,"promotion":{"type":"coupon","coupon":"co_1"}}"#;
        let code: PromotionCode = serde_json::from_str(json).unwrap();
        assert_eq!((code.id.as_str(), code.customer), ("promo_1", None));
    }
}
