//! An operation has one name: in the description, at the terminal, and, as far as each goes, in the clients.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::run;

/// Each operation of the API with the method of the clients for TypeScript, Python and Rust that calls it.
const METHODS: &str = "
    cancel_subscription     cancelSubscription  cancel_subscription  cancel_subscription
    checkout                checkout            checkout             checkout
    create_wallet           createWallet        create_wallet        create_wallet
    credit                  credit              credit               credit
    credit_batch            creditBatch         credit_batch         credit_batch
    deduct                  deduct              deduct               deduct
    deduct_batch            deductBatch         deduct_batch         deduct_batch
    deduct_external         deduct              deduct               deduct
    draw_hold               draw                draw                 draw
    estimate                estimate            estimate             estimate
    extend_hold             extend              extend               extend
    forgive_debt            -                   forgive              forgive
    freeze_wallet           freeze              freeze               freeze
    hold_batch              holdBatch           hold_batch           hold_batch
    put_external_limits     setLimits           set_limits           set_limits
    put_limits              setLimits           set_limits           set_limits
    list_events             events              events               events
    list_orders             orders              orders               orders
    me                      me                  me                   me
    open_external_portal    portal              portal               portal
    open_external_wallet    ensureWallet        ensure_wallet        open_wallet
    open_portal             portal              portal               portal
    place_external_hold     hold                place_hold           hold
    place_hold              hold                place_hold           hold
    products                products            products             products
    rate_card               rateCard            rate_card            rate_card
    rate_cards              rateCards           rate_cards           rate_cards
    read_external_limits    limits              limits               limits
    read_limits             limits              limits               limits
    read_external_ledger    ledger              ledger               ledger
    read_external_wallet    wallet              wallet               wallet
    read_hold               getHold             get_hold             read_hold
    read_ledger             ledger              ledger               ledger
    read_order              order               order                order
    read_usage              usage               usage                usage
    read_wallet             wallet              code_wallet          wallet
    recover                 recover             recover              recover
    refund_order            refund              refund               refund
    release_hold            release             release              release
    resume_subscription     resumeSubscription  resume_subscription  resume_subscription
    reverse_deduction       reverseDeduction    reverse_deduction    reverse_deduction
    revoke_sessions         revokeSessions      revoke_sessions      revoke_sessions
    rotate_code             rotate              rotate               rotate_code
    set_debt_limit          -                   set_debt_limit       set_debt_limit
    set_feature             grantFeature        grant_feature        grant_feature
    settle_batch            settleBatch         settle_batch         settle_batch
    settle_hold             settle              settle               settle
    start_session           session             session              session
    stream_external_wallet  -                   -                    -
    stream_wallet           -                   -                    -
    read_auto_top_up        readAutoTopUp       read_auto_top_up     read_auto_top_up
    remove_payment_method   removePaymentMethod remove_payment_method remove_payment_method
    set_auto_top_up         setAutoTopUp        set_auto_top_up      set_auto_top_up
    set_up_payment_method   setUpPaymentMethod  set_up_payment_method set_up_payment_method
    update_wallet           updateWallet        update_wallet        update_wallet
";

/// All files of a folder of the clients in one text.
fn sources(folder: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(folder);
    let files = fs::read_dir(folder).unwrap();
    let files = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file());
    files
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

fn operations(words: &[&str]) -> BTreeSet<String> {
    let document: Value = serde_json::from_slice(&run(words).stdout).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let all = paths.flat_map(|path| path.as_object().unwrap().values());
    let ids = all.filter_map(|operation| operation["operationId"].as_str());
    ids.map(str::to_owned).collect()
}

#[test]
fn an_operation_is_called_the_same_everywhere() {
    let rows = METHODS.lines().filter(|line| !line.is_empty());
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split_whitespace().collect()).collect();
    let described = operations(&["openapi"]);
    let ids: BTreeSet<String> = rows
        .iter()
        .filter_map(|row| row.first())
        .map(ToString::to_string)
        .collect();
    assert_eq!(ids, described);

    let clients = ["server/src", "python/src/scrip_wallet/_async", "rust/src"].map(sources);
    let begins = [
        &["async "][..],
        &["async def ", "def "],
        &["pub async fn ", "pub fn "],
    ];
    for row in &rows {
        for ((method, source), begins) in row[1..].iter().zip(&clients).zip(begins) {
            let is_defined = begins.iter().any(|begin| {
                ["(", "<"]
                    .iter()
                    .any(|end| source.contains(&format!("{begin}{method}{end}")))
            });
            assert!(
                is_defined || *method == "-",
                "{}: {method} is no method",
                row[0]
            );
        }
    }

    let listed = String::from_utf8(run(&["api"]).stdout).unwrap();
    let (listed, _) = listed.split_once("\nExamples:").unwrap();
    let verbs = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let verbs: BTreeSet<String> = verbs
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    let all = described
        .iter()
        .cloned()
        .chain(operations(&["openapi", "--admin"]));
    let kebab = |id: String| -> String {
        let letters = id.chars().map(|c| match c {
            '_' => "-".to_owned(),
            c if c.is_ascii_uppercase() => format!("-{}", c.to_ascii_lowercase()),
            c => c.to_string(),
        });
        letters.collect()
    };
    assert_eq!(verbs, all.map(kebab).collect());
}
