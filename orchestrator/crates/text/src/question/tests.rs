use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(question: &str, claim: &str) {
    let code = if question.is_ascii() { "en" } else { "ja" };
    let found = proposition(question, Some(code)).map(|found| (found.claim, found.open));
    assert_eq!(found, Some((claim.to_owned(), false)), "{question}");
}

#[track_caller]
fn check_open(question: &str, claim: &str) {
    let found = proposition(question, None).map(|found| (found.claim, found.open));
    assert_eq!(found, Some((claim.to_owned(), true)), "{question}");
}

#[track_caller]
fn topic(question: &str) {
    assert_eq!(proposition(question, None), None, "{question}");
}

#[test]
fn questions_with_do() {
    check("Does a short nap improve memory?", "A short nap improves memory.");
    check("do immigrants commit more crimes", "Immigrants commit more crimes.");
    check("Did the lockdown really reduce air pollution???", "The lockdown reduced air pollution.");
    check("Does lead exposure lower IQ?", "Lead exposure lowers IQ.");
    check("Does untreated hearing loss lead to dementia?", "Untreated hearing loss leads to dementia.");
    check("Does a wage increase cause inflation?", "A wage increase causes inflation.");
    check("Does exercise help reduce pain?", "Exercise helps reduce pain.");
    check("Does sleep affect weight?", "Sleep affects weight.");
    check("Do helminths impair immunity to coinfections?", "Helminths impair immunity to coinfections.");
    check("Does p53 phosphorylation disrupt binding?", "p53 phosphorylation disrupts binding.");
    check("Does TDP-43 associate with stress granules?", "TDP-43 associates with stress granules.");
    check("Does STAT3 recruit coactivators?", "STAT3 recruits coactivators.");
    check("Does early rescue therapy increase survival?", "Early rescue therapy increases survival.");
    check("Did online associate degrees increase earnings?", "Online associate degrees increased earnings.");
    check("Did the cells undergo apoptosis?", "The cells underwent apoptosis.");
    check("Does loss of PTEN mimic insulin?", "Loss of PTEN mimics insulin.");
    check(
        "Does the use of antibiotics in early childhood increase the risk of obesity?",
        "The use of antibiotics in early childhood increases the risk of obesity.",
    );
    check(
        "For adults, does salt restriction lower blood pressure?",
        "For adults, salt restriction lowers blood pressure.",
    );
    check("Tutoring after school: does it raise grades?", "Tutoring after school raises grades.");
}

#[test]
fn help_and_what_it_helps_to_do() {
    check("Does meditation help patients reduce anxiety?", "Meditation helps patients reduce anxiety.");
    check("Does reading help children learn?", "Reading helps children learn.");
    check("Does intermittent fasting help you lose weight?", "Intermittent fasting helps you lose weight.");
    check("Did the drug help patients lose weight?", "The drug helped patients lose weight.");
    check("Do apps help people sleep better?", "Apps help people sleep better.");
    check("Does caffeine make athletes run faster?", "Caffeine makes athletes run faster.");
    check("Does Rust let programmers avoid data races?", "Rust lets programmers avoid data races.");
    check("Does stress cause people to gain weight?", "Stress causes people to gain weight.");
    check("Does root cause analysis reduce errors?", "Root cause analysis reduces errors.");
    check("Does peer help with homework improve grades?", "Peer help with homework improves grades.");
}

#[test]
fn joined_verbs_have_one_form() {
    check("Does yoga improve mood and reduce stress?", "Yoga improves mood and reduces stress.");
    check("Did the drug reduce pain and improve sleep?", "The drug reduced pain and improved sleep.");
    check("Does yoga improve and maintain balance?", "Yoga improves and maintains balance.");
    check("Does yoga help people relax and reduce stress?", "Yoga helps people relax and reduce stress.");
    check("Does yoga improve strength and balance?", "Yoga improves strength and balance.");
}

#[test]
fn negated_questions() {
    check("Do vaccines not cause autism?", "Vaccines do not cause autism.");
    check("Does coffee not cause cancer?", "Coffee does not cause cancer.");
    check("Did the drug not reduce mortality?", "The drug did not reduce mortality.");
    check("Don't vaccines cause autism?", "Vaccines cause autism.");
    check("Are vaccines not safe?", "Vaccines are not safe.");
    check("Does aspirin never cause bleeding?", "Aspirin never causes bleeding.");
}

#[test]
fn questions_with_other_auxiliaries() {
    check("Is coffee a diuretic?", "Coffee is a diuretic.");
    check("Is Rust safer than C++ for memory bugs?", "Rust is safer than C++ for memory bugs.");
    check("Are women better at chess than men?", "Women are better at chess than men.");
    check("were the pyramids built by slaves", "The pyramids were built by slaves.");
    check("Is red meat linked to bowel cancer?", "Red meat is linked to bowel cancer.");
    check("Is aspirin still worth taking?", "Aspirin is still worth taking.");
    check("Are surgical trials often discontinued early?", "Surgical trials are often discontinued early.");
    check("Is chlamydia prevalent in young adults?", "Chlamydia is prevalent in young adults.");
    check("Is it safe to take ibuprofen in pregnancy?", "It is safe to take ibuprofen in pregnancy.");
    check(
        "Is there a link between sugar and hyperactivity?",
        "There is a link between sugar and hyperactivity.",
    );
    check("Is there any evidence that naps help memory?", "Naps help memory.");
    check("isn't it true that money doesn't make people happier?", "Money doesn't make people happier.");
    check("Can dogs detect cancer by smell?", "Dogs can detect cancer by smell.");
    check(
        "Will sea level rise make islands uninhabitable?",
        "Sea level rise will make islands uninhabitable.",
    );
    check("Has free trade destroyed jobs in the US?", "Free trade has destroyed jobs in the US.");
    check("has organic farming lower yields than others", "Organic farming has lower yields than others.");
}

#[test]
fn the_first_of_several_questions() {
    check("Is nuclear power cheaper than coal and is it safer?", "Nuclear power is cheaper than coal.");
    check(
        "Does shift work raise the risk of cancer? Does it cause diabetes?",
        "Shift work raises the risk of cancer.",
    );
    check("Does school feeding improve attendance, and for whom?", "School feeding improves attendance.");
    check("Does coffee raise blood pressure and does tea lower it?", "Coffee raises blood pressure.");
    check("Is tea healthy and are energy drinks harmful?", "Tea is healthy.");
    check("Do naps improve memory but did the trial last too short?", "Naps improve memory.");
    check("Do vaccines cause autism, yes or no?", "Vaccines cause autism.");
    check("Do smokers sleep less and have worse moods?", "Smokers sleep less and have worse moods.");
    check(
        "Is meat bad for people who smoke and are obese?",
        "Meat is bad for people who smoke and are obese.",
    );
    check("Coffee is safe and is a diuretic.", "Coffee is safe and is a diuretic.");
    check(
        "Is it true that statins lower cholesterol and do not cause cancer?",
        "Statins lower cholesterol and do not cause cancer.",
    );
}

#[test]
fn questions_for_an_effect() {
    check_open("What is the effect of sleep loss on memory?", "Sleep loss affects memory.");
    check_open("What are the effects of statins on muscles?", "Statins affect muscles.");
    check_open("How does alcohol affect sleep?", "Alcohol affects sleep.");
    check_open("How do wind turbines affect birds?", "Wind turbines affect birds.");
    check_open("What impact does remote work have on output?", "Remote work affects output.");
    check_open("睡眠不足は免疫にどのような影響を与えるか？", "睡眠不足は免疫に影響を与える。");
}

#[test]
fn statements_are_their_own_claims() {
    check(
        "Foreign aid increases corruption in recipient countries.",
        "Foreign aid increases corruption in recipient countries.",
    );
    check("universal basic income makes people work less", "Universal basic income makes people work less.");
    check("Dogs can smell Parkinson's before diagnosis", "Dogs can smell Parkinson's before diagnosis.");
}

#[test]
fn japanese_questions() {
    check("昼寝は記憶を改善するか？", "昼寝は記憶を改善する。");
    check("短い昼寝は成人の記憶を改善しますか。", "短い昼寝は成人の記憶を改善する。");
    check("在宅勤務は生産性を下げるのか", "在宅勤務は生産性を下げる。");
    check("運動は認知機能低下の予防に有効か", "運動は認知機能低下の予防に有効である。");
    topic("なぜ空は青いのか");
    topic("昼寝と仮眠はどちらが良いか");
}

#[test]
fn topics_have_no_claim() {
    for text in [
        "",
        "?",
        "aspirin colorectal cancer prevention",
        "minimum wage increases employment effects",
        "why vaccines cause autism",
        "Which alloys can be used for cryogenic tanks?",
        "How much fibre is too much?",
        "heat pump vs gas boiler for running costs",
        "Is aspirin or ibuprofen better for headaches?",
        "Should I take aspirin?",
        "Is it too late?",
        "Would it reduce transfusions?",
        "Is meat eaten with salt linked to cancer?",
        "Do you need 8 hours of sleep?",
    ] {
        topic(text);
    }
}

#[test]
fn opposites() {
    let found = proposition("Does a short nap improve memory?", None).and_then(|found| found.opposite);
    assert_eq!(found.as_deref(), Some("A short nap impairs memory."));
}

fn holds(question: &str) -> Result<(), TestCaseError> {
    for code in [None, Some("en"), Some("ja"), Some("de")] {
        if let Some(found) = proposition(question, code) {
            prop_assert!(found.claim.ends_with(['.', '。']), "{}", found.claim);
            prop_assert!(!found.claim.contains(['?', '？']), "{}", found.claim);
            prop_assert!(found.opposite.is_none_or(|opposite| opposite != found.claim));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn anything_may_be_asked(text in any::<String>()) {
        holds(&text)?;
    }

    #[test]
    fn any_order_of_words_may_be_asked(
        text in "((does|is|are|can|has|did|what|how|the|effect|of|on|naps|memory|help|improve|lead|to|better|than|linked|or|and|it|that|there|İ|,|:|-|\\?|\\.|昼寝|は|改善する|か) ?){0,14}"
    ) {
        holds(&text)?;
    }
}
