//! Japanese questions: the predicate stands at the end, and か after it.

use super::Statement;

/// The statement of a yes/no question, or of one that asks how something affects something.
pub(super) fn statement(question: &str) -> Option<Statement> {
    let asked = question.trim_end_matches(['?', '？', '。', '．', '.', ' ', '　', '！', '!']);
    if asked.contains(['?', '？', '。', '\n']) {
        return None;
    }
    let effect = EFFECTS.iter().find_map(|&(form, stated)| {
        let (subject, rest) = asked.split_once(form)?;
        let told = rest.is_empty() || ENDINGS.contains(&rest);
        (told && !subject.is_empty() && (subject.contains('は') || subject.contains('が')))
            .then(|| format!("{subject}{stated}。"))
    });
    if let Some(text) = effect {
        return (!asks(&text)).then_some(Statement { text, open: true });
    }
    if asks(asked) || !(asked.contains('は') || asked.contains('が') || asked.contains('も')) {
        return None;
    }
    let body = ENDINGS.iter().find_map(|ending| asked.strip_suffix(ending));
    let Some(body) = body else {
        // No question: a statement, when its predicate shows.
        return PLAIN
            .iter()
            .any(|ending| asked.ends_with(ending))
            .then(|| Statement { text: format!("{asked}。"), open: false });
    };
    let polite =
        POLITE.iter().find_map(|&(ending, plain)| Some(format!("{}{plain}", body.strip_suffix(ending)?)));
    let body = polite.as_deref().unwrap_or(body);
    let text = if PLAIN.iter().any(|ending| body.ends_with(ending)) {
        format!("{body}。")
    } else if NOMINAL.iter().any(|ending| body.ends_with(ending)) {
        format!("{body}である。")
    } else {
        return None;
    };
    Some(Statement { text, open: false })
}

/// It asks for more than yes or no, or for one of two.
fn asks(text: &str) -> bool {
    INTERROGATIVES.iter().any(|word| text.contains(word))
}

/// How a question ends, longer ones first where one ends another.
const ENDINGS: &[&str] = &[
    "のでしょうか",
    "のだろうか",
    "のですか",
    "んですか",
    "でしょうか",
    "だろうか",
    "かどうか",
    "か否か",
    "のか",
    "か",
];

/// How a predicate ends that needs nothing more.
const PLAIN: &[&str] = &[
    "する",
    "なる",
    "ある",
    "いる",
    "れる",
    "せる",
    "える",
    "げる",
    "ける",
    "める",
    "てる",
    "べる",
    "ねる",
    "じる",
    "きる",
    "がる",
    "まる",
    "わる",
    "かる",
    "ます",
    "です",
    "ない",
    "した",
    "った",
    "れた",
    "いた",
    "せた",
    "えた",
    "げた",
    "ました",
    "ません",
    "高い",
    "低い",
    "多い",
    "少ない",
    "長い",
    "短い",
    "速い",
    "早い",
    "遅い",
    "強い",
    "弱い",
    "良い",
    "よい",
    "いい",
    "悪い",
    "やすい",
    "にくい",
    "大きい",
    "小さい",
    "安い",
    "及ぼす",
    "減らす",
    "増やす",
    "もたらす",
    "起こす",
    "引き起こす",
    "下回る",
    "上回る",
    "劣る",
    "勝る",
    "防ぐ",
    "導く",
    "伴う",
    "役立つ",
    "つながる",
];

/// Polite endings, and the plain form of each.
const POLITE: &[(&str, &str)] =
    &[("します", "する"), ("いです", "い"), ("れます", "れる"), ("えます", "える"), ("げます", "げる")];

/// How a predicate ends that stands with である.
const NOMINAL: &[&str] = &[
    "的",
    "有効",
    "有害",
    "無害",
    "安全",
    "危険",
    "有益",
    "必要",
    "十分",
    "重要",
    "可能",
    "不可能",
    "原因",
    "同等",
    "有用",
    "有利",
    "不利",
    "有望",
];

/// Questions for an effect, and how it is stated.
const EFFECTS: &[(&str, &str)] = &[
    ("にどのような影響を与える", "に影響を与える"),
    ("にどんな影響を与える", "に影響を与える"),
    ("にどのような影響を及ぼす", "に影響を及ぼす"),
    ("にどんな影響を及ぼす", "に影響を及ぼす"),
    ("にどのように影響する", "に影響する"),
    ("にどう影響する", "に影響する"),
];

const INTERROGATIVES: &[&str] = &[
    "なぜ",
    "何",
    "なに",
    "どの",
    "どう",
    "どんな",
    "どれ",
    "どちら",
    "どこ",
    "どっち",
    "いつ",
    "誰",
    "だれ",
    "いくつ",
    "いくら",
    "どのくらい",
    "それとも",
    "べき",
    "私",
    "あなた",
];
