//! Generated documents, four of five in English-like words and one in Japanese, and queries over them.

use lyra_corpus::backend::{Filter, RawFilter};
use serde_json::json;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Queries of a kind.
pub(crate) const QUERIES: usize = 40;
const WORDS: usize = 50_000;

/// The same numbers in every run (`SplitMix64`).
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, below: usize) -> usize {
        (self.unit() * below as f64) as usize
    }

    /// A rank of the vocabulary, about as often as its rank's inverse.
    pub(crate) fn rank(&mut self) -> usize {
        ((WORDS as f64).powf(self.unit()) - 1.0) as usize
    }
}

/// A word of the vocabulary: syllables that spell its rank.
pub(crate) fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 32] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta",
        "ve", "wi", "xo", "zu", "bra", "cle", "dri", "flo", "gru", "pla", "ste", "tri", "sno", "chu", "sha",
        "the",
    ];
    let mut rest = rank + 32;
    let mut text = String::new();
    while rest > 0 {
        text.push_str(SYLLABLES[rest % 32]);
        rest /= 32;
    }
    text
}

/// A Japanese word of two to four characters.
fn japanese(rank: usize) -> String {
    const HAN: &str = "光電池太陽熱素子膜層板軸刃装置方法材料基板回路信号制御通信端末画像処理検査測定加工形成接続配線電極絶縁半導体発光受光集積冷却圧縮燃焼触媒樹脂繊維";
    let chars: Vec<char> = HAN.chars().collect();
    let length = 2 + rank % 3;
    (0..length).map(|nth| chars[(rank / (nth + 1) + nth * 17 + rank) % chars.len()]).collect()
}

fn text(draw: &mut Draw, in_japanese: bool, words: usize) -> String {
    let mut text = String::new();
    for nth in 0..words {
        let rank = draw.rank();
        if in_japanese {
            text.push_str(&japanese(rank));
            text.push_str(if nth % 12 == 11 { "。" } else { ["の", "を", "に", "は"][rank % 4] });
        } else {
            text.push_str(&word(rank));
            text.push_str(if nth % 15 == 14 { ". " } else { " " });
        }
    }
    text
}

pub(crate) fn generate(path: &Path, size: usize) -> std::io::Result<u64> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let mut draw = Draw(7);
    let mut bytes = 0;
    for nth in 0..size {
        let in_japanese = nth % 5 == 4;
        let class = ["H01L", "G06F", "A61B", "B60L", "C08F"][draw.below(5)];
        let code = format!("{class}{}/{:02}", 1 + draw.below(60), 2 * draw.below(50));
        let line = json!({
            "id": format!("D{nth:07}"),
            "title": text(&mut draw, in_japanese, 8),
            "abstract": text(&mut draw, in_japanese, 60),
            "claims": [text(&mut draw, in_japanese, 40), text(&mut draw, in_japanese, 15)],
            "description": text(&mut draw, in_japanese, 100),
            "lang": if in_japanese { "ja" } else { "en" },
            "country": if in_japanese { "JP" } else { "US" },
            "pub_date": format!("{}-{:02}-{:02}", 2000 + draw.below(25), 1 + draw.below(12), 1 + draw.below(28)),
            if in_japanese { "fi" } else { "cpc" }: [code],
        })
        .to_string();
        bytes += line.len() as u64 + 1;
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    Ok(bytes)
}

/// Queries of one kind, the same in every run.
pub(crate) fn queries(kind: &str) -> Vec<(String, Vec<Filter>)> {
    let mut draw = Draw(99);
    let mut usual = |from: usize, to: usize| word(from + draw.below(to - from));
    let filter = |value: serde_json::Value| {
        Filter::check_all(&serde_json::from_value::<Vec<RawFilter>>(value).expect("a list")).expect("filters")
    };
    (0..QUERIES)
        .map(|nth| {
            let none = Vec::new();
            match kind {
                "word" => (usual(20, 2_000), none),
                "wide (12 words, OR)" => {
                    ((0..12).map(|_| usual(50, 5_000)).collect::<Vec<_>>().join(" OR "), none)
                }
                "AND of 3" => (format!("{} {} {}", usual(5, 200), usual(5, 400), usual(20, 800)), none),
                "structured" => (
                    format!(
                        "({} OR {} OR {}) ({} OR {}) NOT {}",
                        usual(50, 2_000),
                        usual(50, 2_000),
                        usual(50, 2_000),
                        usual(50, 2_000),
                        usual(20, 500),
                        usual(5, 200)
                    ),
                    none,
                ),
                "phrase" => (format!("\"{} {}\"", usual(0, 60), usual(0, 60)), none),
                "proximity" => (
                    format!(
                        "*N5\"({} {}) ({} {})\"",
                        usual(10, 400),
                        usual(10, 400),
                        usual(10, 400),
                        usual(10, 400)
                    ),
                    none,
                ),
                "truncated" => (format!("{}*", usual(20, 2_000)), none),
                "truncated proximity" => (format!("{}* NEAR/5 *{}", usual(40, 400), usual(40, 400)), none),
                "capitals" => (format!("={}", usual(20, 2_000)), none),
                "Japanese" => (format!("{} AND {}", japanese(nth * 7 + 3), japanese(nth * 3 + 11)), none),
                "Japanese proximity" => {
                    (format!("*N10\"{} {}\"", japanese(nth * 7 + 3), japanese(nth * 3 + 11)), none)
                }
                _ => (
                    format!("{} OR {}", usual(20, 2_000), usual(20, 2_000)),
                    filter(json!([
                        {"field": "cpc", "include_codes": ["H01L"]},
                        {"field": "pub_date", "include_range": {"from": "2010-01-01", "to": "2019-12-31"}},
                    ])),
                ),
            }
        })
        .collect()
}
