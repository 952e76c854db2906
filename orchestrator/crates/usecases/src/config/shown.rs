//! Values for display: addresses without passwords and keys.

use serde_json::Value;

/// A value without secrets in its addresses.
pub(super) fn value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(address(&text)),
        Value::Array(items) => items.into_iter().map(self::value).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, inner)| (key, self::value(inner))).collect(),
        other => other,
    }
}

/// An address without user, password and query; any other text unchanged.
pub(crate) fn address(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?…"));
    let host = rest.split('/').next().unwrap_or_default();
    // A password may hold an `@` that should have been escaped; what follows the last one is the host.
    match host.rsplit_once('@') {
        Some((user, _)) => format!("{scheme}://…{}{query}", &rest[user.len()..]),
        None => format!("{scheme}://{rest}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_in_addresses_are_left_out() {
        for (text, shown) in [
            ("http://user:hidden@host:1/a@b", "http://…@host:1/a@b"),
            ("http://user:hid@den@host/", "http://…@host/"),
            ("https://host/v1?api_key=hidden", "https://host/v1?…"),
            ("http://127.0.0.1:8421", "http://127.0.0.1:8421"),
            ("warn,lyra=debug", "warn,lyra=debug"),
            ("a@b", "a@b"),
        ] {
            assert_eq!(address(text), shown);
        }
        let nested = json!({"list": ["http://u:hidden@h"], "n": 1});
        assert_eq!(value(nested), json!({"list": ["http://…@h"], "n": 1}));
    }
}
