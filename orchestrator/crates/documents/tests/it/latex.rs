//! LaTeX source.

use crate::{outline, paper};
use lyra_documents::Format;

const PAPER: &str = r#"% A comment
\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\newcommand{\drug}[1]{drug #1}
\newcommand{\best}[2][first]{#1 of #2}
\def\be{\begin{equation}}
\def\ee{\end{equation}}
\newcommand{\R}{\mathbb{R}}
\DeclareMathOperator*{\argmax}{arg\,max}
\title{Naps \& Memory\thanks{Funded.}: \\ A \emph{Trial}}
\author{Ada Lovelace$^{1}$\thanks{Equal.} \\ Engines Ltd \and Charles Babb\^age \and Kurt G{\"o}del}
\date{31 May 2024}
\begin{document}
\maketitle
\begin{abstract}
Naps help~\cite{smith}.

A lot.
\end{abstract}
\section*{Introduction}\label{sec:intro}
This is 10\% of ``quoted'' text -- see Figure~\ref{fig:a} --- by M\"uller, Erd\H{o}s, \'{E}cole, na\"{\i}ve and \v{C}apek
with \drug{X}, \best{two} and \best[last]{three}.\footnote{A \textbf{note} with $x^2$.} % gone
More \citep[see][p.~3]{smith,doe} and $p \leq 0.05$ in $\R^{n}$;
{\em emphasis}, \textcolor{red}{red} and \href{http://a.b/%7E}{link} \url{http://c.d/e_f%20}.
\iffalse hidden \ifx a b c \fi text \fi
\be
E = mc^2
\ee
ends here.
\subsection{Detail}
\begin{itemize}
  \item One
  \item[Two] second
\end{itemize}
\begin{table}[ht]\centering
\caption[short]{Counts of \drug{Y}}
\begin{tabular}{l|c}
\hline
a & b \\[2pt]
1 & \multicolumn{1}{c}{2} \\
\end{tabular}
\end{table}
\begin{verbatim}
x & y % z
\end{verbatim}
Inline \verb|a_b%c| text. \input{more/text}
\begin{comment}
nothing
\end{comment}
\begin{theorem}[Main] It holds. \end{theorem}
\begin{thebibliography}{9}
\bibitem{smith} J. Smith. \newblock \emph{Sleep}. 2020. doi:10.1000/s
\bibitem[Doe(2019)]{doe} J. Doe. Dreams (2019).
\end{thebibliography}
\end{document}
ignored
"#;

#[test]
fn latex_gives_metadata_sections_and_references() {
    let paper = paper(PAPER.as_bytes(), Format::Latex);
    assert_eq!(paper.title.as_deref(), Some("Naps & Memory: A Trial"));
    assert_eq!(paper.authors, ["Ada Lovelace", "Charles Babbâge", "Kurt Gödel"]);
    assert_eq!(paper.date.as_deref(), Some("2024-05-31"));
    assert_eq!(paper.abstract_text.as_deref(), Some("Naps help [1].\nA lot."));
    assert_eq!(
        outline(&paper),
        [
            "# Introduction",
            "text: This is 10% of “quoted” text – see Figure — by Müller, Erdős, École, naïve and Čapek with drug X, first of two and last of \
             three. More [1, 2] and p ≤ 0.05 in R^n; emphasis, red and link http://c.d/e_f%20. E = mc^2 ends here.",
            "note: A note with x^2.",
            "## Detail",
            "item: One",
            "item: Two: second",
            "caption: Counts of drug Y",
            "table: a | b\n1 | 2",
            "code: x & y % z",
            "text: Inline a_b%c text.",
            "text: Theorem. Main. It holds.",
        ]
    );
    let cited: Vec<_> = paper.references.iter().map(|cited| (cited.text.as_str(), cited.year)).collect();
    assert_eq!(
        cited,
        [("J. Smith. Sleep. 2020. doi:10.1000/s", Some(2020)), ("J. Doe. Dreams (2019).", Some(2019))]
    );
    assert_eq!(paper.left_out, ["`more/text`, another file, which \\input names"]);
}

#[test]
fn a_part_without_document_is_all_text() {
    let paper =
        paper(b"\\chapter{One}\nText.\n\n\\section{Two}\nMore $unclosed text.\n\nNext.", Format::Latex);
    assert_eq!(
        outline(&paper),
        ["# One", "text: Text.", "## Two", "text: More unclosed text.", "text: Next."]
    );
}

#[test]
fn macros_without_end_stop() {
    let source = r"\newcommand{\a}{\a\a x}\newcommand{\b}[1]{#1#1#1\b{#1#1}}Before. \a \b{yyyy} After.";
    let paper = paper(source.as_bytes(), Format::Latex);
    assert!(outline(&paper)[0].starts_with("text: Before."));
    assert_eq!(paper.left_out, ["text after macros that expand without end"]);
}
