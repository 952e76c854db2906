//! Languages by the names and codes that reference managers write.

/// ISO 639-1 code, then what else the language is called: ISO 639-2 codes, English and native names, babel's names.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("ar", &["ara", "arabic"]),
    ("bg", &["bul", "bulgarian"]),
    ("ca", &["cat", "catalan"]),
    ("cs", &["cze", "ces", "czech"]),
    ("da", &["dan", "danish"]),
    (
        "de",
        &[
            "ger",
            "deu",
            "german",
            "ngerman",
            "austrian",
            "naustrian",
            "swissgerman",
            "nswissgerman",
            "deutsch",
        ],
    ),
    ("el", &["gre", "ell", "greek"]),
    (
        "en",
        &[
            "eng",
            "english",
            "american",
            "british",
            "canadian",
            "australian",
            "newzealand",
            "usenglish",
            "ukenglish",
            "englisch",
            "anglais",
        ],
    ),
    ("es", &["spa", "spanish", "español", "espanol"]),
    ("et", &["est", "estonian"]),
    ("fa", &["per", "fas", "persian", "farsi"]),
    ("fi", &["fin", "finnish"]),
    ("fr", &["fre", "fra", "french", "francais", "français", "canadien", "acadian"]),
    ("he", &["heb", "hebrew"]),
    ("hi", &["hin", "hindi"]),
    ("hr", &["hrv", "croatian"]),
    ("hu", &["hun", "hungarian", "magyar"]),
    ("id", &["ind", "indonesian", "bahasa"]),
    ("it", &["ita", "italian", "italiano"]),
    ("ja", &["jpn", "japanese", "日本語", "jp"]),
    ("ko", &["kor", "korean", "한국어"]),
    ("lt", &["lit", "lithuanian"]),
    ("lv", &["lav", "latvian"]),
    ("nl", &["dut", "nld", "dutch", "nederlands"]),
    ("no", &["nor", "norwegian", "norsk", "nynorsk", "nb", "nn", "nob", "nno"]),
    ("pl", &["pol", "polish", "polski"]),
    ("pt", &["por", "portuguese", "portuges", "brazil", "brazilian", "português", "portugues"]),
    ("ro", &["rum", "ron", "romanian"]),
    ("ru", &["rus", "russian", "русский"]),
    ("sk", &["slo", "slk", "slovak"]),
    ("sl", &["slv", "slovene", "slovenian"]),
    ("sr", &["srp", "scc", "serbian"]),
    ("sv", &["swe", "swedish", "svenska"]),
    ("th", &["tha", "thai"]),
    ("tr", &["tur", "turkish", "türkçe"]),
    ("uk", &["ukr", "ukrainian"]),
    ("vi", &["vie", "vietnamese"]),
    ("zh", &["chi", "zho", "chinese", "中文", "cn"]),
];

/// The ISO 639-1 code of `eng`, `en-US`, `English`, `ngerman`, `English; German` (the first counts).
pub(crate) fn code(text: &str) -> Option<String> {
    let first: String =
        text.trim().chars().take(40).take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let known = LANGUAGES.iter().find(|(code, names)| *code == first || names.contains(&first.as_str()));
    known.map(|(code, _)| (*code).to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_and_codes() {
        for (text, expect) in [
            ("en-US", Some("en")),
            ("eng", Some("en")),
            ("English; German", Some("en")),
            ("ngerman", Some("de")),
            ("日本語", Some("ja")),
            ("pt_BR", Some("pt")),
            ("Klingon", None),
            ("", None),
        ] {
            assert_eq!(super::code(text).as_deref(), expect, "{text}");
        }
    }
}
