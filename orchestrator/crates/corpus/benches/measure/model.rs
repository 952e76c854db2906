//! A model whose vectors lie around 200 topics, as those of texts do.

use async_trait::async_trait;
use lyra_domain::NliJudgement;
use lyra_research::ports::{Inference, JudgeKind, Models, TextRole};

const DIMENSION: usize = 384;
const TOPICS: u64 = 200;

/// The same numbers for the same seed (`SplitMix64`), each in [−1, 1).
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}

/// A text's vector: that of its topic and one of its own, of length 1.
fn vector(text: &str) -> Vec<f32> {
    let seed = text.bytes().fold(17_u64, |seed, byte| seed.wrapping_mul(1_099_511_628_211) ^ u64::from(byte));
    let (mut own, mut topic) = (Draw(seed), Draw(seed % TOPICS));
    let mut numbers: Vec<f32> = (0..DIMENSION).map(|_| own.number() + topic.number()).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    for number in &mut numbers {
        *number /= length;
    }
    numbers
}

/// Embeds by drawing; judges nothing.
pub(crate) struct Generated;

#[async_trait]
impl Inference for Generated {
    async fn models(&self) -> lyra_research::Result<Models> {
        Ok(Models {
            embedder: "generated".to_owned(),
            dimension: DIMENSION,
            classifier: "none".to_owned(),
            languages: Vec::new(),
            judge: JudgeKind::Pairs,
            prompts_known: true,
            threshold: None,
        })
    }

    async fn embed(&self, _: TextRole, texts: &[String]) -> lyra_research::Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    async fn judge(&self, _: &[(String, String)]) -> lyra_research::Result<Vec<Option<NliJudgement>>> {
        Ok(Vec::new())
    }
}
