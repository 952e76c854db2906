//! Lanes as data: `config/lanes.yaml`, or the file that replaces it.

use crate::{AppError, Remedy};
use anyhow::Context;
use lyra_corpus::backend::{FeatureScope, FieldBoosts};
use lyra_fusion::WordList;
use lyra_store::RunKind;
use lyra_wire::fusion::LaneInfo;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The built-in lanes.
const BUILT_IN: &str = include_str!("../../../../../config/lanes.yaml");

/// The configured lanes, and the words that wide queries should not require.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    presets: BTreeMap<String, Preset>,
    pub(super) general: WordList,
    pub(super) use_case: Vec<String>,
}

/// A lane's defaults, which a call can override.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Preset {
    pub(super) name: String,
    pub(super) how: How,
    pub(super) wide: bool,
    about: String,
}

/// How a lane searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum How {
    FullText(FieldBoosts),
    Semantic(FeatureScope),
    /// A semantic lane that must be enabled.
    OriginalDense(FeatureScope),
}

impl How {
    pub(super) fn kind(self) -> RunKind {
        match self {
            Self::FullText(_) => RunKind::Fulltext,
            Self::Semantic(_) => RunKind::Semantic,
            Self::OriginalDense(_) => RunKind::OriginalDense,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lanes: BTreeMap<String, Entry>,
    #[serde(default)]
    general_words: Vec<String>,
    #[serde(default)]
    use_case_words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: RunKind,
    boosts: Option<FieldBoosts>,
    scope: Option<FeatureScope>,
    #[serde(default)]
    wide: bool,
    #[serde(default)]
    about: String,
}

impl Lanes {
    /// Reads the file, or the built-in lanes when none is given.
    ///
    /// # Errors
    /// An unreadable file, an unknown key, or a lane with conflicting parts.
    pub(super) fn open(file: Option<&Path>) -> anyhow::Result<Self> {
        match file {
            Some(path) => {
                let place = || format!("fusion.lanes_file: {}", path.display());
                Self::from_yaml(&std::fs::read_to_string(path).with_context(place)?).with_context(place)
            }
            None => Self::from_yaml(BUILT_IN),
        }
    }

    fn from_yaml(text: &str) -> anyhow::Result<Self> {
        let File { lanes, general_words, use_case_words } = serde_saphyr::from_str(text)?;
        let presets: anyhow::Result<BTreeMap<String, Preset>> = lanes
            .into_iter()
            .map(|(name, entry)| {
                Ok((name.clone(), entry.preset(&name).with_context(|| format!("lane `{name}`"))?))
            })
            .collect();
        let presets = presets?;
        anyhow::ensure!(!presets.is_empty(), "it defines no lanes");
        let general = WordList::new(general_words.iter().map(String::as_str));
        Ok(Self { presets, general, use_case: use_case_words })
    }

    /// Every lane, by name.
    pub(super) fn list(&self) -> Vec<LaneInfo> {
        self.presets
            .values()
            .map(|preset| LaneInfo {
                lane: preset.name.clone(),
                kind: preset.how.kind().to_string(),
                boosts: match preset.how {
                    How::FullText(boosts) => Some([boosts.title, boosts.abst, boosts.claim, boosts.desc]),
                    _ => None,
                },
                feature_scope: match preset.how {
                    How::Semantic(scope) | How::OriginalDense(scope) => Some(scope.name()),
                    How::FullText(_) => None,
                },
                about: preset.about.clone(),
            })
            .collect()
    }

    /// A full-text lane that is not expected to find much, if there is one.
    pub(super) fn narrow(&self) -> Option<&str> {
        let is_narrow = |preset: &&Preset| !preset.wide && matches!(preset.how, How::FullText(_));
        self.presets.values().find(is_narrow).map(|preset| preset.name.as_str())
    }

    /// The lane with that name, also as `fulltext_…` or by its kind; the default is `semantic` for semantic searches,
    /// else `wide`.
    pub(super) fn find(&self, name: Option<&str>, semantic: bool) -> Result<&Preset, AppError> {
        let name = name.unwrap_or(if semantic { "semantic" } else { "wide" });
        let bare = name.strip_prefix("fulltext_").unwrap_or(if name == "fulltext" { "wide" } else { name });
        let found = self.presets.get(name).or_else(|| self.presets.get(bare)).ok_or_else(|| {
            let known: Vec<&str> = self.presets.keys().map(String::as_str).collect();
            AppError::invalid(
                format!("unknown lane `{name}`"),
                format!("the lanes are {}; to name a search yourself, use `lane_name`", known.join(", ")),
            )
        })?;
        if semantic == matches!(found.how, How::FullText(_)) {
            return Err(AppError::invalid(
                format!("the lane `{name}` is of the kind {}", found.how.kind()),
                Remedy::SearchLane { semantic: !semantic },
            ));
        }
        Ok(found)
    }
}

impl Entry {
    fn preset(self, name: &str) -> anyhow::Result<Preset> {
        let how = match (self.kind, self.boosts, self.scope) {
            (RunKind::Fulltext, Some(boosts), None) if boosts.are_sound() => How::FullText(boosts),
            (RunKind::Fulltext, ..) => anyhow::bail!(
                "a fulltext lane has `boosts` such as {{title: 80, abst: 10, claim: 5, desc: 1}}, one above 0, and \
                 no `scope`"
            ),
            (RunKind::Semantic, None, scope) => How::Semantic(scope.unwrap_or_default()),
            (RunKind::OriginalDense, None, scope) => How::OriginalDense(scope.unwrap_or_default()),
            (RunKind::Semantic | RunKind::OriginalDense, Some(_), _) => {
                anyhow::bail!("a {} lane has a `scope` and no `boosts`", self.kind)
            }
            (RunKind::Fusion, ..) => anyhow::bail!("`kind` is fulltext, semantic or original_dense"),
        };
        Ok(Preset { name: name.to_owned(), how, wide: self.wide, about: self.about })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lanes_of_the_repository() {
        let lanes = Lanes::open(None).unwrap();
        let boosts = |name: &str| match lanes.find(Some(name), false).unwrap().how {
            How::FullText(b) => [b.title, b.abst, b.claim, b.desc],
            other => panic!("{other:?}"),
        };
        assert_eq!(boosts("wide"), [80.0, 10.0, 5.0, 1.0]);
        assert_eq!(boosts("fulltext_recall"), [40.0, 10.0, 5.0, 4.0]);
        assert_eq!(boosts("precision"), [80.0, 20.0, 40.0, 40.0]);
        assert_eq!(boosts("problem"), [40.0, 10.0, 5.0, 4.0]);
        assert!(lanes.find(None, false).unwrap().wide);
        assert_eq!(lanes.find(None, true).unwrap().how, How::Semantic(FeatureScope::Wide));
        assert_eq!(lanes.list().len(), 6);
        let error = lanes.find(Some("narrow"), false).unwrap_err();
        assert!(error.remedy.unwrap().advice().unwrap().contains("precision"));
        let error = lanes.find(Some("semantic"), false).unwrap_err();
        assert_eq!(error.remedy, Some(Remedy::SearchLane { semantic: true }));
    }

    #[test]
    fn a_file_in_its_place_is_checked() {
        let lanes =
            Lanes::from_yaml("lanes: {mine: {kind: semantic, scope: claims_only, about: Claims.}}").unwrap();
        assert_eq!(lanes.list()[0].feature_scope, Some("claims_only"));
        for (text, expect) in [
            ("lanes: {a: {kind: fulltext}}", "`boosts`"),
            ("lanes: {a: {kind: semantic, boosts: {title: 1}}}", "no `boosts`"),
            ("lanes: {a: {kind: dense}}", "dense"),
            ("lanes: {}", "no lanes"),
            ("lanes: {a: {kind: semantic, weight: 2}}", "weight"),
        ] {
            let error = format!("{:#}", Lanes::from_yaml(text).unwrap_err());
            assert!(error.contains(expect), "{text}: {error}");
        }
    }
}
