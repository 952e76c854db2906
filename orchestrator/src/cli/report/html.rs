//! The report as one self-contained HTML page: no script, nothing fetched from elsewhere, every text escaped.

use super::{SHOWN_CLUSTERS, cited, counted, gaps, link, place, spread, years};
use lyra_domain::{BetaConfidence, Citation, ClaimReport, Evidence, Relation};
use lyra_text::terminal::escaped;
use lyra_usecases::answer::{Answer, Cluster, Finding, Verdict};
use std::fmt::Write;

/// The page.
pub(super) fn answer(answer: &Answer, extent: &str) -> String {
    let task = &answer.progress.task;
    let question = text(&task.query);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{question}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{question}</h1>\n",
        text(task.config.language.as_deref().or_else(|| lyra_text::language(&task.query)).unwrap_or("en")),
    );
    match &answer.verdict {
        Some(verdict) => verdict_of(&mut out, verdict),
        None => topic(&mut out, &answer.clusters),
    }
    let _ =
        write!(out, "<h2>Findings</h2>\n<p class=\"quiet\">{}</p>\n<ol class=\"findings\">\n", text(extent));
    for finding in &answer.findings {
        finding_of(&mut out, finding);
    }
    out.push_str("</ol>\n");
    list(&mut out, "Not covered", &gaps(&answer.not_covered));
    list(&mut out, "Notes", &answer.notes);
    let _ = write!(
        out,
        "<footer>{} · made by Lyra {} · supports and refutes are a model's reading of single passages</footer>\n</main>\n</body>\n</html>\n",
        text(task.id.as_str()),
        env!("CARGO_PKG_VERSION")
    );
    out
}

fn list(out: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(out, "<h2>{heading}</h2>\n<ul>\n");
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", text(line));
    }
    out.push_str("</ul>\n");
}

fn verdict_of(out: &mut String, verdict: &Verdict) {
    let report = &verdict.report;
    let _ = write!(
        out,
        "<section class=\"answer\">\n<h2>Answer</h2>\n<p class=\"claim\">{}</p>\n{}\n<p>{}</p>\n",
        text(&report.claim.claim_text),
        gauge(&report.posterior),
        text(&spread(verdict))
    );
    if !report.has_evidence() {
        out.push_str("<p class=\"quiet\">No passage takes a side; a confidence of 0.5 means that nothing is known.</p>\n");
    }
    sides(out, report, true);
    out.push_str("</section>\n");
}

fn topic(out: &mut String, clusters: &[Cluster]) {
    let groups = counted(clusters.len() as u64, "group");
    let _ = write!(
        out,
        "<section class=\"answer\">\n<h2>Answer</h2>\n<p>A topic, no claim to judge; the findings form {groups}.</p>\n<ul>\n"
    );
    for cluster in clusters.iter().take(SHOWN_CLUSTERS) {
        let years = years(cluster.years).map(|years| format!(", {years}")).unwrap_or_default();
        let (findings, works) =
            (counted(cluster.findings as u64, "finding"), counted(cluster.works as u64, "work"));
        let _ = writeln!(
            out,
            "<li>{} <span class=\"quiet\">{findings} from {works}{years}</span></li>",
            text(&cluster.text)
        );
    }
    out.push_str("</ul>\n</section>\n");
}

fn finding_of(out: &mut String, finding: &Finding) {
    let report = &finding.report;
    let _ = write!(out, "<li>\n<p class=\"claim\">{}</p>\n", text(&report.claim.claim_text));
    let origins = finding.origins();
    for origin in &origins {
        let _ = writeln!(out, "<p class=\"source\">Found in {}</p>", source(&origin.citation));
    }
    if let Some(origin) = origins.first() {
        let _ = writeln!(
            out,
            "<details><summary>The passage</summary><blockquote>{}</blockquote></details>",
            text(origin.text.trim())
        );
    }
    let _ = write!(
        out,
        "{}\n<p class=\"quiet\">controversy {:.3} · supports {} · refutes {} · neutral {} · independent sources {}</p>\n",
        gauge(&report.posterior),
        report.posterior.controversy(),
        report.supporting_count,
        report.refuting_count,
        report.neutral_count,
        report.independent_sources
    );
    sides(out, report, false);
    out.push_str("</li>\n");
}

/// The mean of the posterior on a scale from 0 to 1, with a standard deviation to each side.
fn gauge(posterior: &BetaConfidence) -> String {
    let (mean, deviation) = (posterior.confidence(), posterior.uncertainty());
    let left = (mean - deviation).max(0.0);
    let width = (mean + deviation).min(1.0) - left;
    format!(
        "<div class=\"gauge\" role=\"img\" aria-label=\"confidence {mean:.3} plus or minus {deviation:.3}\">\
         <span class=\"scale\"><i style=\"left:{:.1}%;width:{:.1}%\"></i><b style=\"left:{:.1}%\"></b></span>\
         <span>confidence {mean:.3} ± {deviation:.3}</span></div>",
        left * 100.0,
        width * 100.0,
        mean * 100.0
    )
}

fn sides(out: &mut String, report: &ClaimReport, open: bool) {
    if !report.has_evidence() {
        return;
    }
    let open = if open { " open" } else { "" };
    let _ = write!(out, "<details{open}><summary>Evidence</summary>\n<div class=\"sides\">\n");
    for (relation, heading) in [(Relation::Supports, "For"), (Relation::Refutes, "Against")] {
        let all: Vec<&Evidence> = report.evidence.iter().filter(|e| e.relation == relation).collect();
        let _ = write!(out, "<div class=\"{relation}\">\n<h3>{heading} ({})</h3>\n", all.len());
        for evidence in all {
            let _ = writeln!(
                out,
                "<blockquote>{}<footer>{:.3} · {}</footer></blockquote>",
                text(evidence.text.trim()),
                evidence.nli_confidence.get(),
                source(&evidence.citation())
            );
        }
        out.push_str("</div>\n");
    }
    out.push_str("</div>\n</details>\n");
}

fn source(citation: &Citation) -> String {
    let cited = text(&cited(citation));
    match (link(citation), place(citation)) {
        (Some(link), Some(place)) => {
            format!("{cited} <a rel=\"noreferrer\" href=\"{}\">{}</a>", text(&link), text(&place))
        }
        (_, Some(place)) => format!("{cited} {}", text(&place)),
        (_, None) => cited,
    }
}

/// Text that can stand in an element and in a quoted attribute.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escaped(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1c2430;--quiet:#5c6675;--line:#d9dee6;--page:#fff;--card:#f6f8fa;--for:#1a7f4b;--against:#b3392f;--mark:#2f5fb3}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ee;--quiet:#98a2b3;--line:#343b47;--page:#14181f;--card:#1c222b;--for:#57c78a;--against:#f08a80;--mark:#8ab0f0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:52rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1.5rem}
h2{font-size:1.1rem;margin:2.25rem 0 .5rem}
h3{font-size:.95rem;margin:.25rem 0}
.answer{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.25rem 1.25rem 1rem}
.answer h2{margin-top:1rem}
.answer .claim{font-size:1.15rem}
.claim{font-weight:600;margin:.25rem 0}
.quiet,.source,footer{color:var(--quiet);font-size:.9rem}
.source{margin:.15rem 0}
.findings>li{padding:1rem 0;border-top:1px solid var(--line)}
.gauge{display:flex;gap:.75rem;align-items:center;margin:.5rem 0;font-variant-numeric:tabular-nums}
.scale{position:relative;flex:0 0 12rem;height:.5rem;border-radius:.25rem;background:linear-gradient(90deg,var(--against),var(--line) 45% 55%,var(--for))}
.scale i,.scale b{position:absolute;display:block}
.scale i{top:-.15rem;height:.8rem;border-radius:.4rem;background:var(--mark);opacity:.35}
.scale b{top:-.3rem;width:.2rem;height:1.1rem;margin-left:-.1rem;background:var(--mark)}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr));gap:1.25rem}
.supports h3{color:var(--for)}
.refutes h3{color:var(--against)}
blockquote{margin:.5rem 0;padding:.1rem 0 .1rem .75rem;border-left:3px solid var(--line);overflow-wrap:anywhere}
.supports blockquote{border-color:var(--for)}
.refutes blockquote{border-color:var(--against)}
summary{cursor:pointer;color:var(--mark)}
a{color:var(--mark)}
@media print{details{display:block}.answer{break-inside:avoid}}
";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_in_texts_is_shown() {
        assert_eq!(
            text("<img src=x onerror='a'>&\u{202e}"),
            r"&lt;img src=x onerror=&#39;a&#39;&gt;&amp;\u{202e}"
        );
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        let citation = |url: Option<&str>, doi: Option<&str>| Citation {
            title: "T".to_owned(),
            authors: Vec::new(),
            year: None,
            venue: None,
            doi: doi.map(str::to_owned),
            url: url.map(str::to_owned),
            doc_id: None,
            section: None,
            is_retracted: None,
        };
        assert!(!source(&citation(Some("javascript:alert(1)"), None)).contains("href"));
        assert!(
            source(&citation(Some("https://a.example/\"x"), None))
                .contains("href=\"https://a.example/%22x\"")
        );
        assert!(source(&citation(None, Some("10.1000/a<b"))).contains("https://doi.org/10.1000/a%3Cb"));
    }

    proptest! {
        #[test]
        fn no_text_opens_a_tag_or_ends_an_attribute(given in any::<String>()) {
            prop_assert!(!text(&given).contains(['<', '>', '"', '\'']));
        }
    }
}
