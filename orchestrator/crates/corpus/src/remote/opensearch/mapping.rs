//! Settings and mapping of the indices that Lyra maintains, and whether an index has them.

use crate::backend::FeatureScope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Version of what follows, in the index's `_meta`. An index of an older one is rebuilt by an import that asks for it.
pub(crate) const VERSION: u64 = 1;

/// How texts are cut into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Analyzer {
    /// English stems, and Japanese, Chinese, and Korean by characters and their pairs: as local corpora have it.
    #[default]
    Mixed,
    /// English stems, without stop words.
    English,
    /// Japanese words by the dictionary of the plugin `analysis-kuromoji`.
    Japanese,
    /// Words as they are written.
    Plain,
}

impl Analyzer {
    /// The name in configuration, settings, and `_meta`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::English => "english",
            Self::Japanese => "japanese",
            Self::Plain => "plain",
        }
    }

    /// Name of the analyzer of texts, and of queries.
    pub(super) fn pair(self) -> (&'static str, &'static str) {
        match self {
            Self::Mixed => ("lyra_mixed", "lyra_mixed_query"),
            Self::English => ("lyra_english", "lyra_english"),
            Self::Japanese => ("lyra_japanese", "lyra_japanese"),
            Self::Plain => ("lyra_plain", "lyra_plain"),
        }
    }

    fn definitions(self) -> Value {
        match self {
            // What `lyra_text::fulltext` does: a character takes a position, its pair with the next stands there too, a
            // mark of CJK text takes one and leaves it empty. The filter of pairs closes gaps that it finds, so the marks
            // go after it.
            Self::Mixed => json!({
                "char_filter": {"lyra_marks": {
                    "type": "pattern_replace",
                    "pattern": "[\\u3001-\\u3004\\u3006-\\u3020\\u3030\\u303B-\\u303F\\u30FB\\uFE30-\\uFE4F\\uFF01-\\uFF0F\\uFF1A-\\uFF20\\uFF3B-\\uFF40\\uFF5B-\\uFF65]",
                    "replacement": " lyramark ",
                }},
                "filter": {
                    "lyra_gaps": {"type": "stop", "stopwords": ["lyramark"]},
                    "lyra_pairs": {"type": "cjk_bigram", "output_unigrams": true},
                    "lyra_pairs_only": {"type": "cjk_bigram"},
                    "lyra_stems": {"type": "stemmer", "language": "porter2"},
                },
                "analyzer": {
                    "lyra_mixed": {
                        "type": "custom", "tokenizer": "standard", "char_filter": ["lyra_marks"],
                        "filter": ["cjk_width", "lowercase", "lyra_pairs", "lyra_gaps", "lyra_stems"],
                    },
                    "lyra_mixed_query": {
                        "type": "custom", "tokenizer": "standard", "char_filter": ["lyra_marks"],
                        "filter": ["cjk_width", "lowercase", "lyra_pairs_only", "lyra_gaps", "lyra_stems"],
                    },
                },
            }),
            Self::English => json!({
                "filter": {
                    "lyra_possessives": {"type": "stemmer", "language": "possessive_english"},
                    "lyra_stems": {"type": "stemmer", "language": "porter2"},
                },
                "analyzer": {"lyra_english": {
                    "type": "custom", "tokenizer": "standard",
                    "filter": ["lyra_possessives", "lowercase", "stop", "lyra_stems"],
                }},
            }),
            Self::Japanese => json!({"analyzer": {"lyra_japanese": {
                "type": "custom", "tokenizer": "kuromoji_tokenizer",
                "filter": ["kuromoji_baseform", "kuromoji_part_of_speech", "cjk_width", "kuromoji_stemmer", "lowercase"],
            }}}),
            Self::Plain => json!({"analyzer": {"lyra_plain": {
                "type": "custom", "tokenizer": "standard", "filter": ["cjk_width", "lowercase"],
            }}}),
        }
    }
}

/// Field of a scope's vectors.
pub(super) fn vector_field(scope: FeatureScope) -> String {
    format!("vector_{}", scope.name())
}

/// What an index is made for.
#[derive(Debug, Clone)]
pub(super) struct Plan<'a> {
    /// The corpus, and when it was created: what tells whose the index is.
    pub(super) corpus: &'a str,
    pub(super) created: &'a str,
    pub(super) analyzer: Analyzer,
    pub(super) shards: u32,
    /// Scopes with vectors, and numbers per vector.
    pub(super) scopes: &'a [FeatureScope],
    pub(super) dimension: usize,
}

impl Plan<'_> {
    /// The body that creates the index.
    pub(super) fn body(&self) -> Value {
        json!({
            "settings": {"index": {
                "number_of_shards": self.shards,
                // A copy as soon as there is a second node.
                "auto_expand_replicas": "0-1",
                "knn": true,
                "max_result_window": crate::backend::MAX_TOP_K,
                "analysis": self.analyzer.definitions(),
                // Occurrences by the length of the field, times the query's boost. `score.rs` makes BM25F of the sum.
                "similarity": {"lyra_occurrences": {
                    "type": "scripted",
                    "discount_overlaps": false,
                    "script": {"source": "double average = field.sumTotalTermFreq / (double) field.docCount; return query.boost * doc.freq / (0.25 + 0.75 * doc.length / average);"},
                }},
            }},
            "mappings": self.mappings(),
        })
    }

    /// The mapping.
    pub(super) fn mappings(&self) -> Value {
        let (analyzer, search_analyzer) = self.analyzer.pair();
        let lane = || {
            json!({
                "type": "text", "analyzer": analyzer, "search_analyzer": search_analyzer, "similarity": "lyra_occurrences",
            })
        };
        let words = || json!({"type": "text", "analyzer": analyzer, "search_analyzer": search_analyzer});
        let exact = || json!({"type": "keyword"});
        let mut properties = json!({
            "id": exact(), "title": lane(), "abst": lane(), "claim": lane(), "desc": lane(),
            // Title and text as evidence is searched: by BM25.
            "paper": words(), "notes": words(),
            "applicants": words(), "cross_en_applicants": words(),
            "ipc_codes": exact(), "cpc_codes": exact(), "fi_codes": exact(), "ft_codes": exact(),
            "app_id": exact(), "pub_id": exact(), "exam_id": exact(), "country": exact(), "lang": exact(),
            "app_date": {"type": "date", "format": "yyyy-MM-dd"}, "pub_date": {"type": "date", "format": "yyyy-MM-dd"},
            "year": {"type": "integer"},
            "tag": exact(), "collection": exact(), "tags": exact(), "collections": exact(),
            // Scopes with a vector, and the checksum of the document.
            "embedded": exact(), "hash": {"type": "keyword", "index": false, "doc_values": false},
            "stored": {"type": "object", "enabled": false},
        });
        for field in ["title", "abst"] {
            properties[field]["copy_to"] = json!("paper");
        }
        properties["title"]["fields"] = json!({"words": words()});
        for scope in self.scopes {
            properties[vector_field(*scope)] = vector(self.dimension);
        }
        json!({"dynamic": "strict", "_meta": self.meta(), "properties": properties})
    }

    fn meta(&self) -> Value {
        json!({"lyra": {
            "mapping": VERSION, "corpus": self.corpus, "created": self.created, "analyzer": self.analyzer.name(),
        }})
    }

    /// What of an index's mapping is not as expected, in words.
    pub(super) fn differences(&self, found: &Value) -> Vec<String> {
        let mut differences = Vec::new();
        let expected = self.mappings();
        compare(&expected["properties"], &found["properties"], "", &mut differences);
        differences
    }
}

fn vector(dimension: usize) -> Value {
    json!({
        "type": "knn_vector", "dimension": dimension,
        "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil", "parameters": {"m": 16, "ef_construction": 128}},
    })
}

/// What a scope that is added later adds to the mapping.
pub(super) fn added(scopes: &[FeatureScope], dimension: usize) -> Value {
    let mut properties = json!({});
    for scope in scopes {
        properties[vector_field(*scope)] = vector(dimension);
    }
    json!({"properties": properties})
}

fn compare(expected: &Value, found: &Value, above: &str, differences: &mut Vec<String>) {
    for (name, want) in expected.as_object().into_iter().flatten() {
        let (have, name) = (&found[name], format!("{above}{name}"));
        if have.is_null() {
            differences.push(format!("`{name}` is missing"));
            continue;
        }
        for key in ["type", "analyzer", "search_analyzer", "similarity", "dimension", "copy_to"] {
            let (want, have) = (&want[key], &have[key]);
            // An object has no type, and one field or a list of one are the same.
            let have = have.as_array().and_then(|list| list.first()).unwrap_or(have);
            // A search analyzer that is the analyzer is not written.
            let is_same = want == have || want.is_null() || (key == "search_analyzer" && have.is_null());
            let is_object = key == "type" && want == "object" && have.is_null();
            if !is_same && !is_object {
                differences.push(format!("`{name}` has {key} {have} where {want} is expected"));
            }
        }
        if want["fields"].is_object() {
            compare(&want["fields"], &have["fields"], &format!("{name}."), differences);
        }
    }
}

/// Fields that lanes over an index of others use, by kind. Those that it does not have hold nothing.
pub(super) fn foreign_differences(found: &Value, vectors: &[(&str, usize)]) -> Vec<String> {
    let text = ["title", "abst", "claim", "desc", "applicants", "cross_en_applicants"];
    let exact =
        ["ipc_codes", "cpc_codes", "fi_codes", "ft_codes", "app_id", "pub_id", "exam_id", "country", "lang"];
    let mut differences = Vec::new();
    let mut check = |name: &str, kinds: &[&str]| {
        let kind = found["properties"][name]["type"].as_str();
        if kind.is_some_and(|kind| !kinds.contains(&kind)) {
            differences.push(format!(
                "`{name}` is of type {} where {} is needed",
                kind.unwrap_or_default(),
                kinds.join(" or ")
            ));
        }
    };
    for name in text {
        check(name, &["text", "match_only_text"]);
    }
    for name in exact {
        check(name, &["keyword"]);
    }
    for name in ["app_date", "pub_date"] {
        check(name, &["date"]);
    }
    check("year", &["integer", "long", "short"]);
    for (name, dimension) in vectors {
        let field = &found["properties"][*name];
        if field["type"] != "knn_vector" {
            differences.push(format!("`{name}` is not a knn_vector"));
        } else if let Some(has) =
            field["dimension"].as_u64().filter(|has| *has != *dimension as u64 && *dimension > 0)
        {
            differences
                .push(format!("`{name}` has vectors of {has} numbers, and the embedder makes {dimension}"));
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(dimension: usize) -> Plan<'static> {
        Plan {
            corpus: "c",
            created: "2026-01-01T00:00:00Z",
            analyzer: Analyzer::Mixed,
            shards: 1,
            scopes: &[FeatureScope::Wide],
            dimension,
        }
    }

    #[test]
    fn a_mapping_is_compared_field_by_field() {
        assert_eq!(plan(4).differences(&plan(4).mappings()), [""; 0]);
        let mut other = plan(3).mappings();
        other["properties"]["country"]["type"] = json!("text");
        other["properties"].as_object_mut().unwrap().remove("tag");
        assert_eq!(
            plan(4).differences(&other),
            [
                "`country` has type \"text\" where \"keyword\" is expected",
                "`tag` is missing",
                "`vector_wide` has dimension 3 where 4 is expected",
            ]
        );
    }

    #[test]
    fn indices_of_others_may_lack_fields() {
        let found = json!({"properties": {"title": {"type": "text"}, "lang": {"type": "text"}, "v": {"type": "knn_vector", "dimension": 3}}});
        let differences = foreign_differences(&found, &[("v", 4), ("w", 4)]);
        assert_eq!(
            differences,
            [
                "`lang` is of type text where keyword is needed",
                "`v` has vectors of 3 numbers, and the embedder makes 4",
                "`w` is not a knn_vector",
            ]
        );
    }
}
