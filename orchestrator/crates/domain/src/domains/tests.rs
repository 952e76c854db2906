use super::*;
use proptest::prelude::*;

fn policy() -> DomainPolicy {
    let listed = |text: &str| DomainPattern::listed(text).unwrap();
    DomainPolicy {
        deny: vec![listed("spam.example.com"), listed("*.farm.org")],
        user_overrides: [
            (
                "blog.gov.uk".to_owned(),
                DomainSetting { category: Some(DomainCategory::Low), requests_per_second: Some(0.2) },
            ),
            ("slow.org".to_owned(), DomainSetting { category: None, requests_per_second: Some(0.1) }),
        ]
        .into(),
        allow: vec![
            (listed("*.gov.uk"), DomainCategory::Government),
            (listed("*.uk"), DomainCategory::Low),
            (listed("who.int"), DomainCategory::Primary),
        ],
        requests_per_second: [(DomainCategory::Government, 2.0)].into(),
        ..DomainPolicy::default()
    }
}

fn rule(pattern: &str, decision: OverrideDecision, at: i64) -> DomainOverride {
    let updated_at = jiff::Timestamp::from_second(at).unwrap();
    DomainOverride { pattern: DomainPattern::parse(pattern).unwrap(), decision, updated_at }
}

#[track_caller]
fn check(host: &str, overrides: &[DomainOverride], category: DomainCategory, by: &DecidedBy) {
    let found = decide(host, &policy(), overrides, |domain| domain == "bad.net");
    assert_eq!((found.category, &found.decided_by), (category, by), "{host}");
}

#[test]
fn the_order_of_decision() {
    use DomainCategory::{Blocked, Government, Low, Primary, Unverified};
    use OverrideDecision::{Block, Unblock};
    let by = |pattern: &str| DecidedBy::Allowlist(pattern.to_owned());
    check("www.example.org", &[], Unverified, &DecidedBy::Default);
    check("www.WHO.int.", &[], Primary, &by("who.int"));
    check("data.gov.uk", &[], Government, &by("*.gov.uk"));
    check("shop.co.uk", &[], Low, &by("*.uk"));
    check("blog.gov.uk", &[], Low, &DecidedBy::UserOverride("blog.gov.uk".to_owned()));
    check("slow.org", &[], Unverified, &DecidedBy::Default);
    check("spam.example.com", &[], Blocked, &DecidedBy::Denylist("spam.example.com".to_owned()));
    check("good.example.com", &[], Unverified, &DecidedBy::Default);
    check("a.b.farm.org", &[], Blocked, &DecidedBy::Denylist("*.farm.org".to_owned()));
    check("x.bad.net", &[], Blocked, &DecidedBy::DynamicBlock);
    let block = DecidedBy::Override("who.int".to_owned());
    check("www.who.int", &[rule("who.int", Block, 1)], Blocked, &block);
    check("x.bad.net", &[rule("bad.net", Unblock, 1)], Unverified, &DecidedBy::Default);
    check("spam.example.com", &[rule("*.example.com", Unblock, 1)], Unverified, &DecidedBy::Default);
}

#[test]
fn the_closest_override_wins_then_the_newest() {
    use OverrideDecision::{Block, Unblock};
    let blocked = |host: &str, overrides: &[DomainOverride]| {
        decide(host, &DomainPolicy::default(), overrides, |_| false).category == DomainCategory::Blocked
    };
    let rules = [
        rule("a.x.example.com", Unblock, 1),
        rule("*.example.com", Block, 9),
        rule("*.x.example.com", Unblock, 2),
    ];
    assert!(
        blocked("b.example.com", &rules)
            && !blocked("b.x.example.com", &rules)
            && !blocked("a.x.example.com", &rules)
    );
    assert!(!blocked("example.com", &rules), "`*.` is what is below");
    assert!(blocked("example.com", &[rule("example.com", Unblock, 1), rule("example.com", Block, 2)]));
    assert!(!blocked("example.com", &[rule("example.com", Unblock, 3), rule("example.com", Block, 2)]));
}

#[test]
fn weights_and_rates() {
    let found = decide("data.gov.uk", &policy(), &[], |_| false);
    assert_eq!((found.domain.as_str(), found.weight, found.requests_per_second), ("data.gov.uk", 0.95, 2.0));
    assert_eq!(decide("slow.org", &policy(), &[], |_| false).requests_per_second, 0.1);
    let policy = DomainPolicy { weights: [(DomainCategory::Unverified, 0.5)].into(), ..policy() };
    assert_eq!(decide("a.example", &policy, &[], |_| false).weight, 0.5);
}

#[test]
fn patterns() {
    for text in ["example.com", "*.example.com", "a.example.co.jp", "*.例え.jp", "EXAMPLE.com"] {
        assert!(DomainPattern::parse(text).is_ok(), "{text}");
    }
    for text in [
        "*",
        "*.com",
        "com",
        "co.jp",
        "*.co.jp",
        "a.*.com",
        "ex*mple.com",
        "",
        ".",
        "*.",
        "a..b",
        "-a.com",
        "a b.com",
        "http://a.com",
    ] {
        let error = DomainPattern::parse(text).unwrap_err();
        assert!(error.to_string().contains("write `example.com`"), "{text}");
    }
    assert_eq!(DomainPattern::listed("*.gov").unwrap().to_string(), "*.gov");
}

#[test]
fn hosts_without_a_registrable_domain_stand_for_themselves() {
    for host in ["localhost", "192.168.0.1", "[::1]", "co.uk", "github.io"] {
        assert_eq!(registrable_domain(host), None, "{host}");
        assert_eq!(decide(host, &DomainPolicy::default(), &[], |_| false).domain, host);
    }
    assert_eq!(registrable_domain("www.Example.CO.UK").as_deref(), Some("example.co.uk"));
    assert_eq!(registrable_domain("me.github.io").as_deref(), Some("me.github.io"));
}

/// The official test vectors of the public suffix list.
#[test]
fn golden_public_suffix_vectors() {
    let shared = std::env::var_os("LYRA_SHARED").map_or_else(
        || concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared").into(),
        std::path::PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(shared.join("data/public_suffix_list/tests/tests.txt")) else {
        eprintln!("skipped: {} has no public suffix vectors", shared.display());
        return;
    };
    let vectors: Vec<(&str, &str)> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .filter_map(|line| line.split_once(' '))
        .collect();
    assert!(vectors.len() > 70, "{}", vectors.len());
    for (host, expect) in vectors {
        let expect = Some(expect).filter(|text| *text != "null");
        assert_eq!(registrable_domain(host).as_deref(), expect, "{host}");
    }
}

proptest! {
    #[test]
    fn any_host_gets_a_decision(host in any::<String>()) {
        let found = decide(&host, &policy(), &[], |_| false);
        prop_assert!((0.0..=1.0).contains(&found.weight));
    }

    #[test]
    fn a_registrable_domain_ends_its_host_and_is_its_own(host in "([a-z0-9]{1,8}\\.){0,4}[a-z]{2,8}") {
        if let Some(domain) = registrable_domain(&host) {
            prop_assert!(host.ends_with(&domain));
            prop_assert_eq!(registrable_domain(&domain), Some(domain));
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_none(text in any::<String>()) {
        if let Ok(pattern) = DomainPattern::parse(&text) {
            prop_assert_eq!(DomainPattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }
}

#[test]
fn rules_of_one_moment_decide_as_the_function_does() {
    let rules = DomainRules {
        confirmed: ["unknown.example".to_owned()].into(),
        policy: Arc::new(policy()),
        overrides: vec![rule("*.bad.net", OverrideDecision::Unblock, 1)],
        blocked: ["bad.net".to_owned(), "worse.net".to_owned()].into(),
    };
    assert_eq!(rules.decide("x.worse.net").category, DomainCategory::Blocked);
    assert_eq!(rules.decide("x.bad.net").category, DomainCategory::Unverified);
    // A suffix matches what is below it.
    assert_eq!(rules.decide("bad.net").category, DomainCategory::Blocked);
    let confirmed = rules.decide("www.unknown.example");
    assert_eq!((confirmed.category, confirmed.decided_by), (DomainCategory::Low, DecidedBy::Confirmed));
    assert!(rules.is_unblocked("X.bad.net.") && !rules.is_unblocked("bad.net"));
}

#[test]
fn hosts_of_addresses() {
    for (url, host) in [
        ("https://example.org/a?b#c", "example.org"),
        ("http://user:word@example.org:8443", "example.org"),
        ("http://[::1]:80/x", "[::1]"),
        ("https://example.org?q=a/b", "example.org"),
        ("corpus:tea/1", ""),
    ] {
        assert_eq!(host_of(url), host, "{url}");
    }
}
