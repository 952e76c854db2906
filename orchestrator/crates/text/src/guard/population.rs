//! Population: of which beings a claim speaks, and of which others the passage.
//!
//! Only said where the passage speaks of living things, and of none of those of the claim. On training claims
//! (`tests/guards.rs`, n = 154) 92 % of the passages where it is said are silent, 3 % support the claim: it rules support out.

use super::Side;
use super::term::Words;

/// How the beings of a claim differ from those of the passage.
pub(super) fn difference(claim: &str, passage: &Words) -> Option<(String, Option<Side>)> {
    let claimed = Words::of(claim);
    let named = |words: &Words| -> Vec<&'static str> {
        GROUPS.iter().filter(|(_, forms, _)| words.matches(forms)).map(|(name, ..)| *name).collect()
    };
    let (in_claim, in_passage) = (named(&claimed), named(passage));
    let other = in_passage.iter().find(|group| !in_claim.contains(group))?;
    let missing = in_claim.first()?;
    let spoken_of = GROUPS
        .iter()
        .filter(|(name, ..)| in_claim.contains(name))
        .any(|(_, forms, also)| passage.matches(forms) || passage.matches(also));
    (!spoken_of).then(|| {
        (format!("population: {missing} in the claim, {other} in the passage"), Some(Side::Supports))
    })
}

/// Groups of beings, with the words that name them, and further words by which a passage may speak of them. The further ones
/// are wide: "individuals" and "workers" may be bees, but a passage on them may well be on people.
const GROUPS: &[(&str, &str, &str)] = &[
    (
        "humans",
        "human humans patient patients outpatient* inpatient* people person persons men women woman adults child \
         children childhood schoolchild* infants toddler* babies boys girls teen teens teenage teenager* adolescent* \
         adolescence student students volunteers participants smoker* nurse nurses mothers fathers parents veterans \
         pensioners elderly",
        "human* person* man male males female females infant* newborn* baby boy girl pupil* volunteer* \
         participant* subject subjects individual* population* cohort* clinical* trial* worker* employee* user users \
         respondent* resident* citizen* consumer* household* mother father parent veteran* soldier* athlet* \
         survivor* case cases hospital* passenger* pilots",
    ),
    ("mice", "mice mouse murine rodent*", "animal animals"),
    ("rats", "rat rats rodent*", "animal animals"),
    ("pigs", "pig pigs porcine swine piglet*", "animal animals"),
    ("monkeys", "monkey monkeys macaque* primate primates", "animal animals baboon* chimpanzee*"),
    ("dogs", "dog dogs canine", "animal animals pet pets canines puppies"),
    ("rabbits", "rabbit rabbits", "animal animals"),
    ("zebrafish", "zebrafish", "fish larva*"),
    ("flies", "drosophila flies", "fly"),
    ("worms", "elegans nematode* worm worms", "helminth* hookworm* earthworm* parasit*"),
    ("yeast", "yeast* cerevisiae pombe", "candid* fung*"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(claim: &str, passage: &str, expect: Option<&str>) {
        let found = difference(claim, &Words::of(passage));
        assert_eq!(found.as_ref().map(|(text, _)| text.as_str()), expect, "{claim} | {passage}");
        assert!(found.is_none_or(|(_, side)| side == Some(Side::Supports)));
    }

    #[test]
    fn other_beings() {
        check(
            "The drug works in patients.",
            "Mice lost weight.",
            Some("population: humans in the claim, mice in the passage"),
        );
        check("The drug works in patients.", "Mice and men lost weight.", None);
        check("The drug works in rats.", "Rodents lost weight.", None);
        check("The drug works.", "Mice lost weight.", None);
    }

    #[test]
    fn not_every_population_is_human() {
        let flies = "The number of bees and hover flies fell.";
        check("Neonicotinoids reduce bee populations.", flies, None);
        check("Pesticides kill individual worker bees.", flies, None);
        check("Personality changes little.", "Dogs changed little.", None);
        check("Boycotts lower prices.", "Pigs became cheaper.", None);
        check("Monkeypox spreads at parties.", "It spread among men.", None);
        check(
            "Neonicotinoids harm children.",
            flies,
            Some("population: humans in the claim, flies in the passage"),
        );
    }

    #[test]
    fn people_by_other_names() {
        for people in ["nurses", "mothers", "veterans", "adolescents", "users", "workers", "individuals"] {
            let passage = format!("Statins lowered the mortality of {people}; data of mice agreed.");
            check("Statins lower mortality in women.", &passage, None);
        }
        check(
            "Statins lower the mortality of nurses.",
            "Statins lowered the mortality of rats.",
            Some("population: humans in the claim, rats in the passage"),
        );
    }
}
