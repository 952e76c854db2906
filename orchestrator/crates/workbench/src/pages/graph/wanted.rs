//! What the address of the page asks for.

use lyra_domain::TaskId;
use lyra_usecases::{GraphFilter, MOST_NODES, MOST_STEPS, USUAL_NODES};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Kinds of nodes that can be shown, and their texts.
pub(super) const KINDS: [(&str, &str); 3] =
    [("claim", "graph.claims"), ("work", "graph.works"), ("passage", "graph.passages")];
/// Kinds that are shown when none is named.
const USUAL_KINDS: [&str; 2] = ["claim", "work"];
/// Relations that can be shown, and their texts. That passages are part of works is always shown.
pub(super) const RELATIONS: [(&str, &str); 5] = [
    ("supports", "common.supports"),
    ("refutes", "common.refutes"),
    ("neutral", "common.neutral"),
    ("origin", "graph.origin"),
    ("cites", "graph.cites"),
];
/// Numbers of nodes to choose from.
pub(super) const LIMITS: [usize; 3] = [USUAL_NODES, 1_000, MOST_NODES];
/// What is escaped in an address; ids stay readable.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_');
/// Longest text to look for, in characters.
const MOST_TEXT: usize = 200;

/// What the address asks for. What cannot be read asks for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) kinds: Vec<&'static str>,
    pub(super) relations: Vec<&'static str>,
    pub(super) text: String,
    pub(super) around: Vec<String>,
    pub(super) steps: usize,
    pub(super) expand: Vec<String>,
    pub(super) limit: usize,
    /// Where the table of nodes begins.
    pub(super) from: usize,
    /// Whether the table of relations is shown.
    pub(super) edges: bool,
}

impl Wanted {
    pub(super) fn of(pairs: &[(String, String)]) -> Self {
        let all =
            |name: &'static str| pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value);
        let words = |name| {
            all(name).flat_map(|value| value.split(',')).map(str::trim).filter(|word| !word.is_empty())
        };
        let known = |name, of: &[(&'static str, &str)]| {
            let asked: Vec<&str> = words(name).collect();
            of.iter().map(|(word, _)| *word).filter(|word| asked.contains(word)).collect::<Vec<_>>()
        };
        let ids = |name| words(name).map(str::to_owned).take(50).collect();
        let number = |name| all(name).filter_map(|value| value.trim().parse::<usize>().ok()).next_back();
        let (kinds, relations) = (known("kinds", &KINDS), known("relations", &RELATIONS));
        let usual = || RELATIONS.iter().map(|(word, _)| *word).filter(|word| *word != "neutral").collect();
        Self {
            kinds: if kinds.is_empty() { USUAL_KINDS.to_vec() } else { kinds },
            relations: if relations.is_empty() { usual() } else { relations },
            text: all("text")
                .next_back()
                .map(|text| text.trim().chars().take(MOST_TEXT).collect())
                .unwrap_or_default(),
            around: ids("around"),
            steps: number("steps").unwrap_or(1).clamp(1, MOST_STEPS),
            expand: ids("expand"),
            limit: number("limit").unwrap_or(USUAL_NODES).clamp(1, MOST_NODES),
            from: number("from").unwrap_or(0),
            edges: all("edges").any(|value| value == "1"),
        }
    }

    /// The same as the use case asks.
    pub(super) fn filter(&self) -> GraphFilter {
        let mut relations = self.relations.clone();
        if self.kinds.contains(&"passage") {
            relations.push("part_of");
        }
        GraphFilter {
            kinds: self.kinds.join(","),
            relations: relations.join(","),
            text: self.text.clone(),
            around: self.around.join(","),
            steps: Some(self.steps),
            expand: self.expand.join(","),
            limit: Some(self.limit),
        }
    }

    /// Where the page shows what is near a node alone.
    pub(super) fn following(&self, task: &TaskId, node: &str) -> String {
        let near =
            Self { around: vec![node.to_owned()], expand: Vec::new(), text: String::new(), ..self.clone() };
        near.address(task)
    }

    /// The page with this.
    pub(super) fn address(&self, task: &TaskId) -> String {
        let usual = Self::of(&[]);
        let mut fields = self.fields(&usual);
        if self.edges {
            fields.push(("edges", "1".to_owned()));
        }
        if self.from > 0 {
            fields.push(("from", self.from.to_string()));
        }
        written(&format!("/tasks/{task}/graph"), &fields)
    }

    /// The route of the API that answers with this.
    pub(super) fn route(&self, task: &TaskId) -> String {
        let usual = Self::of(&[]);
        let mut fields = self.fields(&usual);
        if self.kinds.contains(&"passage")
            && let Some((_, relations)) = fields.iter_mut().find(|(name, _)| *name == "relations")
        {
            *relations += ",part_of";
        }
        written(&format!("/api/v1/tasks/{task}/graph"), &fields)
    }

    /// What differs from the usual.
    fn fields(&self, usual: &Self) -> Vec<(&'static str, String)> {
        let fields = [
            ("kinds", self.kinds.join(","), usual.kinds.join(",")),
            ("relations", self.relations.join(","), usual.relations.join(",")),
            ("text", self.text.clone(), String::new()),
            ("around", self.around.join(","), String::new()),
            ("steps", self.steps.to_string(), usual.steps.to_string()),
            ("expand", self.expand.join(","), String::new()),
            ("limit", self.limit.to_string(), usual.limit.to_string()),
        ];
        let changed = fields.into_iter().filter(|(_, value, usual)| value != usual);
        changed.map(|(name, value, _)| (name, value)).collect()
    }
}

fn written(path: &str, fields: &[(&str, String)]) -> String {
    let written = |value: &str| {
        value
            .split(',')
            .map(|word| utf8_percent_encode(word, ESCAPED).to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let query: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", written(value))).collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &[(&str, &str)]) -> Wanted {
        let pairs: Vec<(String, String)> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Wanted::of(&pairs)
    }

    #[test]
    fn addresses_keep_what_they_ask_for() {
        let task: TaskId = "task_1".parse().expect("an id");
        assert_eq!(of(&[]).address(&task), "/tasks/task_1/graph");
        let wanted = of(&[
            ("kinds", "claim"),
            ("kinds", "passage"),
            ("text", "a & b"),
            ("around", "n1,n2"),
            ("limit", "5000"),
        ]);
        let address = wanted.address(&task);
        assert_eq!(
            address,
            "/tasks/task_1/graph?kinds=claim,passage&text=a%20%26%20b&around=n1,n2&limit=5000"
        );
        assert!(wanted.filter().relations.ends_with("cites,part_of"));
        assert_eq!(
            of(&[("around", "a"), ("text", "x")]).following(&task, "b"),
            "/tasks/task_1/graph?around=b"
        );
        let route = of(&[("relations", "cites"), ("kinds", "passage")]).route(&task);
        assert_eq!(route, "/api/v1/tasks/task_1/graph?kinds=passage&relations=cites,part_of");
    }

    #[test]
    fn what_cannot_be_read_asks_for_nothing() {
        let odd =
            of(&[("kinds", "star"), ("steps", "many"), ("limit", "0"), ("relations", ","), ("from", "-1")]);
        assert_eq!(odd, Wanted { limit: 1, ..of(&[]) });
        assert_eq!(of(&[("steps", "99")]).steps, 4);
    }
}
