//! A cluster that speaks TLS with a certificate of its own authority, and knows its users.

use super::{backend, bench, import, on_cluster};
use crate::remote::{lane, run};
use crate::support::{Hashing, documents};
use lyra_corpus::OpenSearchConfig;
use secrecy::SecretString;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// The cluster for a user, or `None` with a printed reason.
fn config(user: &str, password: &str) -> Option<OpenSearchConfig> {
    let of = |name: &str| std::env::var(format!("LYRA_OPENSEARCH_SECURED{name}"));
    let (Ok(url), Ok(ca_file)) = (of(""), of("_CA")) else {
        eprintln!("skipped: LYRA_OPENSEARCH_SECURED names no cluster; tests/opensearch/run.sh starts one");
        return None;
    };
    let settings = OpenSearchConfig {
        user: Some(user.to_owned()),
        password: Some(SecretString::from(password)),
        ca_file: Some(PathBuf::from(ca_file)),
        timeout: Duration::from_secs(20),
        ..super::config(&[url])
    };
    Some(settings)
}

/// What an import into it says.
async fn refusal(config: OpenSearchConfig) -> String {
    let bench = bench(config);
    let file = bench.file("a.jsonl", &documents(3));
    import(&bench, file, &on_cluster(), &Hashing::default()).await.unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_and_users_on_a_real_cluster() {
    let Some(admin) = config("admin", "admin") else { return };
    let bench = bench(admin.clone());
    let report =
        import(&bench, bench.file("a.jsonl", &documents(30)), &on_cluster(), &Hashing::default()).await;
    assert_eq!(report.unwrap().documents, 30);
    let found = run(&backend(&bench), &lane("c", "naps", &json!([]), 5)).await.unwrap();
    assert!(!found.hits.is_empty());
    bench.corpora.remove("c").await.unwrap();

    let error = refusal(OpenSearchConfig { ca_file: None, ..admin.clone() }).await;
    assert!(error.contains("no authority that this machine trusts has signed it"), "{error}");
    assert!(error.contains("ca_file"), "{error}");
    let elsewhere = admin.urls[0].replace("127.0.0.1", "localhost");
    let error = refusal(OpenSearchConfig { urls: vec![elsewhere], ..admin.clone() }).await;
    assert!(error.contains("it is for another host"), "{error}");
    let plain = admin.urls[0].replace("https", "http");
    let error = refusal(OpenSearchConfig { urls: vec![plain], ..admin }).await;
    assert!(error.contains("cannot reach"), "{error}");

    let error = refusal(config("admin", "wrong").unwrap()).await;
    assert!(error.contains("the cluster refuses user and password (401)"), "{error}");
    assert!(!error.contains("wrong"), "{error}");
    let error = refusal(config("readall", "readall").unwrap()).await;
    assert!(error.contains("the user may not do that (403)"), "{error}");
}
