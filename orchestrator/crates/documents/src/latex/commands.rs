//! What commands mean that leave no text, or only some of it.

/// Arguments of a command that do not hold text: `m` in braces, `o` in brackets. What follows them is text again.
pub(super) fn dropped(name: &str) -> Option<&'static str> {
    Some(match name {
        "label" | "vspace" | "hspace" | "bibliographystyle" | "theoremstyle" | "pagestyle"
        | "thispagestyle" | "pagenumbering" | "hypersetup" | "graphicspath" | "geometry" | "colorbox"
        | "linespread" | "scalebox" | "cline" | "index" | "glossary" | "phantom" | "hphantom"
        | "vphantom" | "institute" | "email" | "thanks" | "orcid" | "orcidID" | "corref" | "nocite"
        | "tableofcontents*" | "hypertarget" | "hyperlink" | "inst" | "titlerunning" | "authorrunning"
        | "tnotetext" | "fnref" | "pdfbookmark" | "ccsdesc" | "acmConference" | "usetikzlibrary"
        | "newcounter" | "stepcounter" | "refstepcounter" | "usetheme" | "usecolortheme" | "stackengine"
        | "sisetup" | "lstset" | "tikzset" | "IEEEauthorblockA" | "acmDOI" | "acmISBN" | "acmYear"
        | "setcopyright" | "urlstyle" | "fontfamily" | "ensuremathfont" | "bibcommenthead" | "ref"
        | "eqref" | "pageref" | "vref" | "nameref" | "subref" | "includepdf" | "setstretch"
        | "enlargethispage" => "m",
        "includegraphics" | "usepackage" | "documentclass" | "documentstyle" | "RequirePackage" | "color"
        | "textcolor" | "todo" | "marginpar" | "cmidrule" | "affil" | "affiliation" | "address" | "ead"
        | "cortext" | "fntext" | "rotatebox" | "captionsetup" | "altaffiliation" | "parbox"
        | "footnotetext" | "raisebox" | "addbibresource" => "om",
        "setlength" | "addtolength" | "setcounter" | "addtocounter" | "fontsize" | "multicolumn"
        | "resizebox" | "markboth" | "fcolorbox" => "mm",
        "multirow" => "ommo",
        "rule" => "omm",
        "definecolor" | "addcontentsline" | "fancyhf" => "mmm",
        "newtheorem" => "momo",
        "newenvironment" | "renewenvironment" => "moomm",
        "hyperref" | "printbibliography" | "footnotemark" | "linebreak" | "pagebreak" | "newline" => "o",
        _ => return None,
    })
}

/// Kinds of environments that hold formulas.
pub(super) fn is_formula(environment: &str) -> bool {
    matches!(
        environment.trim_end_matches('*'),
        "equation"
            | "align"
            | "gather"
            | "multline"
            | "eqnarray"
            | "displaymath"
            | "math"
            | "alignat"
            | "flalign"
            | "dmath"
            | "IEEEeqnarray"
            | "subequations"
            | "aligned"
    )
}

/// Arguments of an environment that do not hold text.
pub(super) fn environment(name: &str) -> &'static str {
    match name.trim_end_matches('*') {
        "tabular" | "longtable" | "array" | "supertabular" | "tabu" if !name.ends_with('*') => "om",
        "tabular" | "tabularx" | "tabulary" => "mom",
        "minipage" | "wrapfigure" | "subfigure" | "subtable" | "column" | "adjustbox" => "oom",
        "wraptable" => "omm",
        "thebibliography" | "multicols" | "spacing" => "m",
        "figure" | "table" | "sidewaystable" | "sidewaysfigure" | "itemize" | "enumerate" | "description"
        | "columns" | "threeparttable" | "tablenotes" | "Highlighting" | "algorithm" | "algorithmic" => "o",
        _ => "",
    }
}

pub(super) fn is_table(environment: &str) -> bool {
    let name = environment.trim_end_matches('*');
    matches!(name, "tabular" | "tabularx" | "tabulary" | "longtable" | "supertabular" | "tabu" | "array")
}

/// What statements of theorems and the like begin with.
pub(super) fn statement(environment: &str) -> Option<&'static str> {
    Some(match environment.trim_end_matches('*') {
        "theorem" | "thm" => "Theorem. ",
        "lemma" | "lem" => "Lemma. ",
        "proposition" | "prop" => "Proposition. ",
        "corollary" | "cor" => "Corollary. ",
        "definition" | "defn" => "Definition. ",
        "remark" | "rem" => "Remark. ",
        "example" => "Example. ",
        "conjecture" => "Conjecture. ",
        "proof" => "Proof. ",
        _ => return None,
    })
}

/// What a reference by its kind refers to, told by the label's front: `fig:results`.
pub(super) fn referred(label: &str) -> &'static str {
    match label.split(':').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "fig" | "figure" => "the figure",
        "tab" | "tbl" | "table" => "the table",
        "eq" | "eqn" | "equation" => "the equation",
        "sec" | "section" | "subsec" | "app" | "appendix" => "the section",
        "alg" | "algorithm" => "the algorithm",
        "thm" | "theorem" => "the theorem",
        _ => "",
    }
}

/// The combining character of an accent.
pub(super) fn accent(name: &str) -> Option<char> {
    Some(match name {
        "`" => '\u{300}',
        "'" => '\u{301}',
        "^" => '\u{302}',
        "~" => '\u{303}',
        "=" => '\u{304}',
        "u" => '\u{306}',
        "." => '\u{307}',
        "\"" => '\u{308}',
        "r" => '\u{30A}',
        "H" => '\u{30B}',
        "v" => '\u{30C}',
        "d" => '\u{323}',
        "c" => '\u{327}',
        "k" => '\u{328}',
        "b" => '\u{331}',
        _ => return None,
    })
}
