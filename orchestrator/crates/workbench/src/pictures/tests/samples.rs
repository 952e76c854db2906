//! Words for pictures in tests.

use crate::pictures::{
    bar, flow, forest, gauge, history, posterior, reliability, risk_coverage, screening, timeline,
};

macro_rules! texts {
    ($($picture:ident: $($key:ident)*;)*) => {
        $(
            /// Texts that are the names of their fields.
            pub(super) fn $picture() -> $picture::Texts<'static> {
                $picture::Texts { title: "title", description: "description", $($key: stringify!($key)),* }
            }
        )*
    };
}

texts! {
    posterior: probability density mean interval prior deviation alpha beta quantity value;
    forest: source year side weight supports refutes neutral confidence interval posterior rest;
    bar: relation passages supports neutral refutes unjudged;
    gauge: ;
    reliability: confidence accuracy count ideal bin;
    risk_coverage: threshold coverage risk;
    screening: screened included random;
    flow: what count;
    timeline: year supports refutes neutral retracted;
    history: time event confidence uncertainty supports refutes neutral person retracted;
}
