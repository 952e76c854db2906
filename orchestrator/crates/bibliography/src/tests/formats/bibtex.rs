use crate::tests::{one, outcome, records};
use crate::{Format, Kind};

#[test]
fn zotero_and_better_bibtex() {
    let record = one(
        r"
@article{leeNapsMemory2019,
	title = {Naps and {Memory} in {München}: a {\textless}i{\textgreater}randomised{\textless}/i{\textgreater} trial},
	shorttitle = {Naps},
	author = {Lee, Ann and {van der Berg}, Jan and {The Nap Group}},
	journaltitle = {Journal of Sleep \& Memory},
	date = {2019-05-03},
	volume = {12},
	number = {3},
	pages = {101--109},
	issn = {1234-5678, 8765-432X},
	doi = {10.1000/Nap\_1},
	url = {https://example.org/nap\_1?a=b\%20c},
	urldate = {2020-01-01},
	abstract = {Naps help.
They do so at {$\alpha$} = 0.05.

A second paragraph.},
	langid = {english},
	keywords = {memory, Sleep,memory},
	note = {PMID: 12345678
PMCID: PMC123456
Read this again},
	file = {Full Text PDF:files/12/Lee - 2019.pdf:application/pdf;Snapshot:files/13/x.html:text/html},
}
",
        Format::BibTex,
    );
    assert_eq!(record.line, 2);
    assert_eq!(record.key, "leeNapsMemory2019");
    assert_eq!(record.kind, Kind::Article);
    assert_eq!(record.accessed.as_deref(), Some("2020-01-01"));
    assert_eq!(record.title, "Naps and Memory in München: a randomised trial");
    assert_eq!(record.authors, ["Ann Lee", "Jan van der Berg", "The Nap Group"]);
    assert_eq!(record.venue.as_deref(), Some("Journal of Sleep & Memory"));
    assert_eq!((record.date.as_deref(), record.year), (Some("2019-05-03"), Some(2019)));
    assert_eq!(
        [&record.volume, &record.issue, &record.pages].map(|x| x.as_deref().unwrap()),
        ["12", "3", "101-109"]
    );
    assert_eq!(record.issn, ["1234-5678", "8765-432X"]);
    assert_eq!(record.doi.unwrap().as_str(), "10.1000/nap_1");
    assert_eq!(record.url.as_deref(), Some("https://example.org/nap_1?a=b%20c"));
    assert_eq!(
        record.abstract_text.as_deref(),
        Some("Naps help. They do so at α = 0.05.\nA second paragraph.")
    );
    assert_eq!(record.language.as_deref(), Some("en"));
    assert_eq!(record.tags, ["memory", "Sleep"]);
    assert_eq!((record.pmid.as_deref(), record.pmcid.as_deref()), (Some("12345678"), Some("PMC123456")));
    assert_eq!(record.notes, ["Read this again"]);
    let files: Vec<_> = record.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["files/12/Lee - 2019.pdf", "files/13/x.html"]);
    assert_eq!(record.files[0].media_type.as_deref(), Some("application/pdf"));
}

#[test]
fn abbreviations_cross_references_and_months() {
    let found = records(
        r#"
@String(acta = "Acta " # {Somnologica})
@STRING{pub = {North Press}, misspelt = {x}}
@preamble{"\newcommand{\x}{y}"}
@comment{jabref-meta: databaseType:bibtex;}
@Article{a1, title = "A {"}quoted{"} title", journal = ACTA, year = 1999,
  month = 10 # "~" # may, publisher = pub # { Ltd}}
@InProceedings(p1, title = {Paper}, crossref = {Conf20}, pages = {1--2})
@inproceedings{p2, title = {Other}, crossref = {conf20}, year = 2021}
@proceedings{conf20, title = {Proceedings of Naps}, year = 2020, month = jul, editor = {Doe, J.}, publisher = pub}
@article{u, title = {Unknown}, journal = undefinedname, month = sep, year = {2001}}
"#,
        Format::BibTex,
    );
    let [article, first, second, whole, unknown] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(article.title, "A \"quoted\" title");
    assert_eq!(article.venue.as_deref(), Some("Acta Somnologica"));
    assert_eq!(article.publisher.as_deref(), Some("North Press Ltd"));
    assert_eq!(article.date.as_deref(), Some("1999-05-10"));
    for paper in [first, second] {
        assert_eq!(paper.kind, Kind::ConferencePaper);
        assert_eq!(paper.venue.as_deref(), Some("Proceedings of Naps"));
        assert_eq!((paper.editors[0].as_str(), paper.publisher.as_deref()), ("J. Doe", Some("North Press")));
    }
    assert_eq!((first.date.as_deref(), second.year), (Some("2020-07"), Some(2021)));
    assert_eq!((whole.kind, whole.title.as_str()), (Kind::Proceedings, "Proceedings of Naps"));
    assert_eq!((unknown.venue.as_deref(), unknown.date.as_deref()), (Some("undefinedname"), Some("2001-09")));
}

#[test]
fn preprints_theses_and_pages() {
    let found = records(
        r"
@misc{a, title={One}, eprint={1706.03762v5}, archivePrefix={arXiv}, primaryClass={cs.CL}, year={2017}}
@article{b, title={Two}, journal={arXiv preprint arXiv:1706.03762}, year={2017}}
@article{c, title={Three}, eprint={9901001}, primaryclass={hep-th}, eprinttype={arxiv}}
@article{d, title={Four}, eprint={123456}, eprinttype={pubmed}, journal={J}}
@phdthesis{e, title={Five}, school={Uni X}, year={n.d.}}
@misc{f, title={Six}, howpublished={\url{https://example.org/a_b}}, type={Master's thesis}}
@online{g, title={Seven}, subtitle={Or Eight?}, url={\url{https://arxiv.org/abs/2101.00001}}}
@book{h, title={Nine}, isbn={978-3-16-148410-0}, author={A and others}, groups={Sleep, To read}, mendeley-groups={X/Y}}
@incollection{i, title={Ten}, booktitle={Whole}, note={Retracted}}
",
        Format::BibTex,
    );
    let kinds: Vec<Kind> = found.iter().map(|record| record.kind).collect();
    assert_eq!(
        kinds,
        [
            Kind::Preprint,
            Kind::Preprint,
            Kind::Preprint,
            Kind::Article,
            Kind::Thesis,
            Kind::Thesis,
            Kind::Preprint,
            Kind::Book,
            Kind::Chapter
        ]
    );
    let arxiv: Vec<_> = found.iter().map(|record| record.arxiv.as_ref().map(ToString::to_string)).collect();
    assert_eq!(arxiv[..3], ["1706.03762", "1706.03762", "hep-th/9901001"].map(|id| Some(id.to_owned())));
    assert_eq!((found[3].pmid.as_deref(), &found[3].arxiv), (Some("123456"), &None));
    assert_eq!((found[4].publisher.as_deref(), found[4].year), (Some("Uni X"), None));
    assert_eq!(found[5].url.as_deref(), Some("https://example.org/a_b"));
    assert_eq!(found[6].title, "Seven: Or Eight?");
    assert_eq!(found[7].isbn, ["9783161484100"]);
    assert_eq!(found[7].authors, ["A"]);
    assert_eq!(found[7].collections, ["Sleep", "To read", "X/Y"]);
    assert!(found[8].is_retracted);
    assert_eq!(found[8].venue.as_deref(), Some("Whole"));
}

#[test]
fn a_broken_entry_costs_itself() {
    let (titles, rejected) = outcome(
        "@article{good1, title = {First}}\n@article{broken, title = {Unclosed\n@article{good2, title = {Second}}\n\
         @misc{empty, year = 2020}\nfree text (x@y.org) @ home\n@article{good3 title = {No comma}, title = {Third}}\n\
         @article{, title = {{\\nokey}}}\n@article{end, title = {x",
        Format::BibTex,
    );
    assert_eq!(titles, ["First", "Second", "Third", "nokey"]);
    assert_eq!(
        rejected,
        [
            (2, "@article is not closed: a closing delimiter is missing".to_owned()),
            (4, "no title, no identifier, and no abstract".to_owned()),
            (8, "@article is not closed: a closing delimiter is missing".to_owned()),
        ]
    );
}

#[test]
fn a_path_of_windows_closes_its_field() {
    let found = records(
        "@article{a, file = {C:\\Users\\x\\},\n title = {Naps}, year = {2019}}\n@misc{b, title = {A \\} and \\{}, year = {2020}}",
        Format::BibTex,
    );
    let [first, second] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((first.key.as_str(), first.title.as_str(), first.year), ("a", "Naps", Some(2019)));
    assert_eq!((second.title.as_str(), second.year), ("A } and {", Some(2020)));
}

#[test]
fn old_encodings() {
    let text = b"@book{k, title = {Verhandlungen \xFCber M\xFCnchen und Gr\xF6\xDFe}}";
    let record = crate::read(text, Format::BibTex).next().unwrap().unwrap();
    assert_eq!(record.title, "Verhandlungen über München und Größe");
}

/// What the `biblatex` crate reads in well-formed files is read in the same way.
#[test]
fn agrees_with_the_biblatex_crate() {
    use biblatex::{Bibliography, ChunksExt};
    let text = r#"
@string{acta = {Acta}}
@article{one, title = {The {DNA} of M{\"u}nchen -- {\v S}koda \& Co},
  author = {Curie, Marie and Ludwig van Beethoven and {A Group}},
  journal = acta # { Nova}, year = 1999, volume = "12", pages = {1--9}, doi = {10.1000/x}}
@book{two, title = "Caf{\'e} \ss{} na{\"i}ve",
  author = {de la Cruz, Ana and King, Jr, Martin Luther}, year = 2001, publisher = {P}}
@inproceedings{three, title = {Deep $x$}, crossref = {four}, author = {Ek, Bo}}
@proceedings{four, title = {Whole}, year = 2003}
"#;
    let theirs = Bibliography::parse(text).unwrap();
    let ours = records(text, Format::BibTex);
    assert_eq!(theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(ours.key, theirs.key);
        assert_eq!(ours.title, theirs.title().unwrap().format_verbatim().replace('$', ""));
        let names: Vec<String> = theirs
            .author()
            .unwrap_or_default()
            .into_iter()
            .map(|p| [p.given_name, p.prefix, p.name, p.suffix].join(" "))
            .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(ours.authors, names);
        if let Ok(venue) = theirs.journal().or_else(|_| theirs.book_title()) {
            assert_eq!(ours.venue.as_deref(), Some(venue.format_verbatim().as_str()));
        }
        assert_eq!(ours.doi.as_ref().map(ToString::to_string), theirs.doi().ok());
    }
}
