//! Normalizes alternative forms of arguments that AIs use: wrappers, maps instead of lists, ids instead of objects.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// Wrappers that some clients put around the arguments.
const WRAPPERS: [&str; 3] = ["params", "request", "lanes"];

/// Unwraps the arguments.
pub(super) fn unwrapped(arguments: &mut JsonObject) {
    for name in WRAPPERS {
        if let Some(Value::Object(_)) = arguments.get(name)
            && let Some(Value::Object(inner)) = arguments.remove(name)
        {
            for (key, value) in inner {
                arguments.entry(key).or_insert(value);
            }
        }
    }
}

/// Of a lane's search: names of fields, filters.
pub(super) fn search(arguments: &mut JsonObject) {
    unwrapped(arguments);
    one_search(arguments);
}

fn one_search(arguments: &mut JsonObject) {
    if let Some(Value::Object(boosts)) = arguments.get_mut("field_boosts") {
        fields(boosts);
    }
    if let Some(Value::Array(filters)) = arguments.get_mut("filters") {
        filters.iter_mut().filter_map(Value::as_object_mut).for_each(filter);
    }
}

/// `abstract`, `claims` and `description` as the corpora call them.
pub(super) fn fields(map: &mut JsonObject) {
    for (other, name) in [("abstract", "abst"), ("claims", "claim"), ("description", "desc")] {
        if let Some(value) = map.remove(other) {
            map.entry(name).or_insert(value);
        }
    }
}

/// Numbers in lists of values become strings; a range may be a list of two.
fn filter(filter: &mut JsonObject) {
    let as_text = |value: &mut Value| {
        if let Value::Number(number) = value {
            *value = Value::String(number.to_string());
        }
    };
    for list in ["include_values", "exclude_values", "include_codes", "exclude_codes"] {
        match filter.get_mut(list) {
            Some(Value::Array(values)) => values.iter_mut().for_each(as_text),
            Some(value @ Value::String(_)) => *value = json!([value.clone()]),
            _ => {}
        }
    }
    if let Some(range) = filter.get_mut("include_range") {
        if let Value::Array(ends) = range
            && let [from, to] = ends.as_slice()
        {
            *range = json!({ "from": from, "to": to });
        }
        if let Value::Object(ends) = range {
            ends.values_mut().for_each(as_text);
        }
    }
}

/// Of several lanes: a map of lanes by name, and parameters beside the name of the lane.
pub(super) fn lanes(arguments: &mut JsonObject) {
    for name in ["params", "request"] {
        if let Some(Value::Object(inner)) = arguments.remove(name) {
            arguments.extend(inner);
        }
    }
    if let Some(Value::Object(map)) = arguments.get_mut("lanes") {
        if let Some(inner @ Value::Array(_)) = map.get("lanes").cloned() {
            arguments.insert("lanes".into(), inner);
        } else {
            let list = std::mem::take(map)
                .into_iter()
                .map(|(name, lane)| match lane {
                    Value::Object(mut lane) => {
                        lane.entry("lane_name").or_insert(Value::String(name));
                        Value::Object(lane)
                    }
                    other => other,
                })
                .collect();
            arguments.insert("lanes".into(), Value::Array(list));
        }
    }
    let Some(Value::Array(list)) = arguments.get_mut("lanes") else { return };
    for lane in list.iter_mut().filter_map(Value::as_object_mut) {
        // Search parameters move into `params`.
        let own: Vec<String> = lane
            .keys()
            .filter(|key| !["lane_name", "tool", "params", "lane"].contains(&key.as_str()))
            .cloned()
            .collect();
        let mut params = match lane.remove("params") {
            Some(Value::Object(params)) => params,
            Some(other) => {
                lane.insert("params".into(), other);
                continue;
            }
            None => JsonObject::new(),
        };
        for key in own {
            if let Some(value) = lane.remove(&key) {
                params.entry(key).or_insert(value);
            }
        }
        if let Some(physical) = lane.remove("lane") {
            params.entry("lane").or_insert(physical);
        }
        one_search(&mut params);
        lane.insert("params".into(), Value::Object(params));
    }
}

/// Of a blend or a change of one.
pub(super) fn recipe(arguments: &mut JsonObject) {
    if let Some(Value::Array(runs)) = arguments.get_mut("runs") {
        for run in runs {
            match run {
                Value::String(id) => *run = json!({ "run_id": id }),
                Value::Object(fields) => {
                    if let Some(id) = fields.remove("run_id_lane") {
                        fields.entry("run_id").or_insert(id);
                    }
                    if let Some(name) = fields.remove("lane_name") {
                        fields.entry("lane").or_insert(name);
                    }
                }
                _ => {}
            }
        }
    } else if let Some(Value::Object(runs)) = arguments.get("runs") {
        let list = runs.iter().map(|(lane, id)| json!({ "lane": lane, "run_id": id })).collect();
        arguments.insert("runs".into(), Value::Array(list));
    }
    for name in ["weights", "lane_weights"] {
        if let Some(Value::Object(map)) = arguments.get(name) {
            let list = map.iter().map(|(lane, weight)| json!({ "lane": lane, "weight": weight })).collect();
            arguments.insert(name.into(), Value::Array(list));
        }
    }
    if let Some(Value::Object(map)) = arguments.get("target_profile") {
        let mut list = Vec::new();
        for (key, value) in map {
            match value {
                // Codes by system.
                Value::Object(codes) => list.extend(
                    codes
                        .iter()
                        .map(|(code, weight)| json!({ "code": format!("{key}:{code}"), "weight": weight })),
                ),
                weight => list.push(json!({ "code": key, "weight": weight })),
            }
        }
        arguments.insert("target_profile".into(), Value::Array(list));
    }
    if let Some(Value::Array(codes)) = arguments.get_mut("target_profile") {
        // As get_provenance proposes them, with counts.
        for code in codes.iter_mut().filter_map(Value::as_object_mut) {
            code.retain(|key, _| key == "code" || key == "weight");
        }
    }
    if let Some(Value::Object(map)) = arguments.get("facet_terms") {
        let list = map.iter().map(|(facet, terms)| json!({ "facet": facet, "terms": terms })).collect();
        arguments.insert("facet_terms".into(), Value::Array(list));
    }
    if let Some(Value::Object(peek)) = arguments.get_mut("peek") {
        if let Some(count) = peek.remove("count") {
            peek.entry("limit").or_insert(count);
        }
        texts(peek);
    }
}

/// Of reading texts: limits of fields.
pub(super) fn texts(arguments: &mut JsonObject) {
    if let Some(Value::Object(chars)) = arguments.get_mut("per_field_chars") {
        fields(chars);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tidy: fn(&mut JsonObject), given: Value, expect: &Value) {
        let Value::Object(mut arguments) = given else { panic!("an object") };
        tidy(&mut arguments);
        assert_eq!(&Value::Object(arguments), expect);
    }

    #[test]
    fn searches() {
        let plain = json!({"query": "led", "filters": [{"field": "pubyear", "include_values": ["2020"]}]});
        let numbers = json!({"query": "led", "filters": [{"field": "pubyear", "include_values": [2020]}]});
        check(search, json!({ "params": numbers }), &plain);
        check(
            search,
            json!({"request": {"filters": [{"field": "pubyear", "include_values": "2020"}]}, "query": "led"}),
            &plain,
        );
        check(
            search,
            json!({"query": "a", "field_boosts": {"abstract": 1, "title": 2}, "filters": [{"field": "pub_date", "include_range": [2019, "2020-01-01"]}]}),
            &json!({"query": "a", "field_boosts": {"abst": 1, "title": 2},
                   "filters": [{"field": "pub_date", "include_range": {"from": "2019", "to": "2020-01-01"}}]}),
        );
    }

    #[test]
    fn several_lanes() {
        let plain = json!({"lanes": [{"lane_name": "recall", "tool": "rrf_search_fulltext_raw", "params": {"query": "led"}}]});
        for given in [
            plain.clone(),
            json!({"request": plain}),
            json!({"lanes": plain}),
            json!({"lanes": {"recall": {"tool": "rrf_search_fulltext_raw", "query": "led"}}}),
            json!({"lanes": [{"lane_name": "recall", "tool": "rrf_search_fulltext_raw", "query": "led"}]}),
        ] {
            check(lanes, given, &plain);
        }
    }

    #[test]
    fn recipes() {
        check(
            recipe,
            json!({
                "runs": ["fulltext-1", {"lane": "b", "run_id_lane": "semantic-2"}], "weights": {"code": 0.5},
                "target_profile": {"fi": {"H04L1/00": 0.9}, "cpc:H01L": 1}, "facet_terms": {"A": ["led"]},
                "peek": {"count": 3, "per_field_chars": {"claims": 100}},
            }),
            &json!({
                "runs": [{"run_id": "fulltext-1"}, {"lane": "b", "run_id": "semantic-2"}],
                "weights": [{"lane": "code", "weight": 0.5}],
                "target_profile": [{"code": "cpc:H01L", "weight": 1}, {"code": "fi:H04L1/00", "weight": 0.9}],
                "facet_terms": [{"facet": "A", "terms": ["led"]}],
                "peek": {"limit": 3, "per_field_chars": {"claim": 100}},
            }),
        );
        check(
            recipe,
            json!({"runs": {"wide": "fulltext-1"}}),
            &json!({"runs": [{"lane": "wide", "run_id": "fulltext-1"}]}),
        );
    }
}
