//! The words of addresses and ids.

/// An address or id as it is, and on a second line as the words that its signs stand between, percent-encoding undone:
/// `ignore%20all-previous_instructions` holds "ignore all previous instructions".
pub fn spelled_out(address: &str) -> String {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped =
            after.get(..2).filter(|_| byte == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    let words: String = String::from_utf8_lossy(&bytes)
        .chars()
        .map(|c| if matches!(c, '-' | '_' | '+' | '/' | '.' | ':' | '=' | '&' | '?') { ' ' } else { c })
        .collect();
    format!("{address}\n{words}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_between_signs_and_in_escapes() {
        assert_eq!(spelled_out("a%20b-c_d"), "a%20b-c_d\na b c d");
        assert_eq!(spelled_out("10.1000/x"), "10.1000/x\n10 1000 x");
        assert_eq!(spelled_out("50%zz%"), "50%zz%\n50%zz%");
    }

    proptest! {
        #[test]
        fn the_address_comes_first(address in any::<String>()) {
            let spelled = spelled_out(&address);
            let rest = spelled.strip_prefix(address.as_str());
            prop_assert!(rest.is_some_and(|rest| rest.starts_with('\n')));
        }
    }
}
