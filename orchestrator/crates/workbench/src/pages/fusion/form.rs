//! The queries of lanes: what the address asks for, and the form for them.

use super::{Fields, HERE};
use crate::words::Words;
use lyra_usecases::fusion::{Fusion, LaneOutcome, LaneSearch, NamedLane, check_query, written_filter};
use lyra_wire::fusion::{LaneInfo, QueryFault};
use maud::{Markup, html};

/// Lanes that an empty form has.
const FIRST: [&str; 2] = ["wide", "semantic"];
/// Most lanes of one search.
const MOST: usize = 10;
/// Documents of a lane without a number.
const LANE_DOCS: usize = 800;

/// A lane of the form, as it was filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LaneWanted {
    pub(super) lane: String,
    pub(super) query: String,
    pub(super) filters: String,
    pub(super) top_k: String,
}

/// What the address asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    corpus: String,
    lanes: Vec<LaneWanted>,
    /// Whether to search.
    pub(super) go: bool,
}

impl Wanted {
    pub(super) fn of(fields: &Fields) -> Self {
        let mut wanted = Self::default();
        let mut more = false;
        for (name, value) in fields {
            let has_room = wanted.lanes.len() < MOST;
            match (name.as_str(), wanted.lanes.last_mut()) {
                ("corpus", _) => wanted.corpus.clone_from(value),
                ("go", _) => wanted.go = true,
                ("more", _) => more = true,
                ("lane", _) if has_room => {
                    wanted.lanes.push(LaneWanted { lane: value.clone(), ..LaneWanted::default() });
                }
                ("query", Some(lane)) => lane.query.clone_from(value),
                ("filters", Some(lane)) => lane.filters.clone_from(value),
                ("top_k", Some(lane)) => lane.top_k.clone_from(value),
                _ => {}
            }
        }
        let empty = |lane: &str| LaneWanted { lane: lane.to_owned(), ..LaneWanted::default() };
        if wanted.lanes.is_empty() {
            wanted.lanes = FIRST.map(empty).to_vec();
        } else if more && wanted.lanes.len() < MOST {
            wanted.lanes.push(empty("precision"));
        }
        wanted
    }

    pub(super) fn corpus(&self) -> Option<&str> {
        Some(self.corpus.trim()).filter(|corpus| !corpus.is_empty())
    }

    /// The searches of the lanes with a query, each with a name of its own.
    pub(super) fn lanes(&self, fusion: &Fusion) -> Vec<NamedLane> {
        self.named()
            .into_iter()
            .map(|(_, lane_name, lane)| {
                let filters: Result<Vec<_>, _> =
                    lane.filters.lines().filter(|line| !line.trim().is_empty()).map(written_filter).collect();
                let search = filters.map(|filters| LaneSearch {
                    corpus: self.corpus().map(str::to_owned),
                    semantic: fusion.is_semantic(&lane.lane),
                    lane: Some(lane.lane.clone()),
                    text: lane.query.clone(),
                    filters,
                    // An invalid number is refused with the valid range.
                    top_k: match lane.top_k.trim() {
                        "" => LANE_DOCS,
                        number => number.parse().unwrap_or(0),
                    },
                    ..LaneSearch::default()
                });
                NamedLane { lane_name, tool: lane.lane.clone(), search }
            })
            .collect()
    }

    /// Place in the form, name, and content of each lane with a query.
    fn named(&self) -> Vec<(usize, String, &LaneWanted)> {
        let mut named: Vec<(usize, String, &LaneWanted)> = Vec::new();
        for (at, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| !lane.query.trim().is_empty()) {
            let same = named.iter().filter(|(_, _, other)| other.lane == lane.lane).count();
            let name = if same == 0 { lane.lane.clone() } else { format!("{} {}", lane.lane, same + 1) };
            named.push((at, name, lane));
        }
        named
    }
}

/// The form, with the errors of the lanes that could not be searched.
pub(super) fn form(
    words: Words,
    wanted: &Wanted,
    corpora: &[String],
    lanes: &[LaneInfo],
    outcomes: &[LaneOutcome],
) -> Markup {
    let failures: Vec<(usize, &LaneOutcome)> =
        wanted.named().into_iter().map(|(at, ..)| at).zip(outcomes).collect();
    html! {
        form.stack method="get" action=(HERE) data-lanes
            data-found=(words.t("fusion.fault_found")) data-reading=(words.t("fusion.reading"))
            data-write=(words.t("fusion.fault_write")) data-notes=(words.t("fusion.query_notes")) {
            label.field {
                (words.t("fusion.corpus"))
                select name="corpus" {
                    option value="" { (words.t("fusion.only_corpus")) }
                    @for corpus in corpora {
                        option value=(corpus) selected[wanted.corpus() == Some(corpus)] { (corpus) }
                    }
                }
            }
            @for (at, lane) in wanted.lanes.iter().enumerate() {
                @let failure = failures.iter().find(|(place, _)| *place == at).and_then(|(_, outcome)| outcome.found.as_ref().err());
                (block(words, at + 1, lane, lanes, failure))
            }
            details.small #fusion-syntax {
                summary { (words.t("fusion.syntax")) }
                p { (words.t("fusion.syntax_note")) }
                ul.stack.tight {
                    @for (example, text) in [
                        ("(led OR \"light emitting diode\") AND heat", "fusion.syntax_words"),
                        ("heat NEAR/5 sink  (led OR diode) ADJ/3 lamp", "fusion.syntax_near"),
                        ("measur*  fi?er  =LED", "fusion.syntax_open"),
                        ("title:lamp NOT ipc:H01K", "fusion.syntax_field"),
                    ] {
                        li { code { (example) } " " span.quiet { (words.t(text)) } }
                    }
                }
                p { (words.t("fusion.filter_note")) " " code { "ipc=H01L33,F21V" } " · " code { "country!=US" } " · " code { "pubyear=2010..2020" } }
            }
            div.row.middle {
                button.button.main name="go" value="1" { (words.t("fusion.run")) }
                @if wanted.lanes.len() < MOST {
                    button.button name="more" value="1" { (words.t("fusion.more_lane")) }
                }
                p.small.quiet { (words.t("fusion.run_note")) }
            }
        }
    }
}

/// One lane of the form.
fn block(
    words: Words,
    n: usize,
    lane: &LaneWanted,
    lanes: &[LaneInfo],
    failure: Option<&lyra_usecases::AppError>,
) -> Markup {
    let id = format!("lane-{n}");
    let is_semantic = lanes.iter().any(|known| known.lane == lane.lane && known.kind != "fulltext");
    let fault = failure.and_then(|_| check_query(&lane.query).fault).filter(|_| !is_semantic);
    let filters = format!("{id}-filters");
    html! {
        fieldset.card.stack.tight.lane id=(id) data-lane {
            legend.pill { (words.with("fusion.lane_n", &[("n", &n.to_string())])) }
            div.row {
                label.field.grows {
                    (words.t("fusion.lane"))
                    select name="lane" {
                        @for known in lanes {
                            option value=(known.lane) data-kind=(known.kind) selected[known.lane == lane.lane] {
                                (known.lane) " (" (kind(words, &known.kind)) ")"
                            }
                        }
                    }
                }
                label.field.amount {
                    (words.t("fusion.top_k"))
                    input type="number" name="top_k" min="1" max="10000" value=(lane.top_k) placeholder=(LANE_DOCS);
                }
            }
            label.field {
                (words.t("fusion.query"))
                textarea.code name="query" rows="3" maxlength="20000" spellcheck="false" autocapitalize="off"
                    aria-describedby={ (id) "-fault" } aria-invalid=[fault.as_ref().map(|_| "true")] { (lane.query) }
            }
            (place(words, &id, &lane.query, fault.as_ref()))
            @if let (Some(error), None) = (failure, &fault) { (super::failed(error)) }
            details id=(filters) open[!lane.filters.is_empty()] {
                summary.small { (words.t("fusion.filters")) }
                label.field {
                    (words.t("fusion.filters_label"))
                    textarea.code name="filters" rows="2" maxlength="4000" spellcheck="false" { (lane.filters) }
                }
            }
        }
    }
}

/// Where a query cannot be read, and what could stand there. A module fills the same parts while one types.
fn place(words: Words, id: &str, query: &str, fault: Option<&QueryFault>) -> Markup {
    html! {
        div.fault.stack.tight id={ (id) "-fault" } data-fault role=[fault.map(|_| "alert")] hidden[fault.is_none()] {
            p.code data-place {
                @if let Some(fault) = fault {
                    @let chars: Vec<char> = query.chars().collect();
                    @let (start, end) = (fault.position - 1, fault.position - 1 + fault.length);
                    (chars[..start].iter().collect::<String>())
                    mark { @if fault.length == 0 { "▲" } @else { (chars[start..end].iter().collect::<String>()) } }
                    (chars[end..].iter().collect::<String>())
                }
            }
            p.small data-message {
                @if let Some(fault) = fault {
                    (words.with("fusion.fault_found", &[
                        ("n", &fault.position.to_string()), ("found", &fault.found), ("expected", &fault.expected),
                    ]))
                    @if let Some(form) = &fault.suggestion { " " (words.with("fusion.fault_write", &[("form", form)])) }
                }
            }
        }
        p.small.quiet.code data-reading-of hidden {}
    }
}

/// What a kind of lane is called.
pub(super) fn kind(words: Words, kind: &str) -> &str {
    match kind {
        "fulltext" => words.t("fusion.kind_fulltext"),
        "semantic" | "original_dense" => words.t("fusion.kind_semantic"),
        "fusion" => words.t("fusion.kind_fusion"),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn lanes_of_an_address_keep_their_order_and_get_names() {
        let wanted = Wanted::of(&fields(&[
            ("corpus", "lamps"),
            ("lane", "wide"),
            ("query", "led"),
            ("lane", "semantic"),
            ("query", " "),
            ("lane", "wide"),
            ("query", "lamp"),
            ("filters", "ipc=H01L"),
            ("go", "1"),
        ]));
        let named: Vec<(usize, String)> =
            wanted.named().into_iter().map(|(at, name, _)| (at, name)).collect();
        assert_eq!(named, [(0, "wide".to_owned()), (2, "wide 2".to_owned())]);
        assert!(wanted.go && wanted.corpus() == Some("lamps") && wanted.lanes.len() == 3);
    }

    #[test]
    fn a_form_begins_with_two_lanes_and_grows() {
        assert_eq!(Wanted::of(&Vec::new()).lanes.len(), 2);
        let more = Wanted::of(&fields(&[("lane", "wide"), ("query", "led"), ("more", "1")]));
        assert_eq!((more.lanes.len(), more.lanes[0].query.as_str()), (2, "led"));
        let many = fields(&[("lane", "wide"); 30]);
        assert_eq!(Wanted::of(&many).lanes.len(), MOST);
    }
}
