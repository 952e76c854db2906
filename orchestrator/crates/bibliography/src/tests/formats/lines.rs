use crate::tests::{one, outcome, records};
use crate::{Format, Kind};
use lyra_domain::Identifier;

#[test]
fn ris_of_zotero() {
    let record = one(
        "TY  - JOUR\r\nTI  - Naps and <i>memory</i>\r\nAU  - Lee, Ann\r\nAU  - van der Berg, Jan, Jr.\r\n\
         AU  - World Health Organization\r\n\
         T2  - Journal of Sleep\r\nJ2  - J Sleep\r\nAB  - First line\r\nand its end.\r\n\
         DA  - 2019/05/03/\r\nPY  - 2019\r\nDO  - https://doi.org/10.1000/NAP\r\nVL  - 12\r\nIS  - 3\r\nSP  - 101\r\n\
         EP  - 109\r\nSN  - 1234-5678\r\n\
         UR  - https://example.org/a;https://example.org/b\r\nL1  - files/12/Lee.pdf\r\n\
         L1  - https://example.org/a.pdf\r\nL4  - internal-pdf://1/fig.png\r\nKW  - memory\r\nKW  - sleep; naps\r\n\
         N1  - <p>My note</p><p>on it</p>\r\nN1  - Export Date: 1 May 2020\r\nLA  - en-GB\r\nER  - \r\n",
        Format::Ris,
    );
    assert_eq!((record.kind, record.title.as_str()), (Kind::Article, "Naps and memory"));
    assert_eq!(record.authors, ["Ann Lee", "Jan van der Berg Jr.", "World Health Organization"]);
    assert_eq!(record.venue.as_deref(), Some("Journal of Sleep"));
    assert_eq!(record.abstract_text.as_deref(), Some("First line\nand its end."));
    assert_eq!((record.date.as_deref(), record.year), (Some("2019-05-03"), Some(2019)));
    assert_eq!(record.doi.unwrap().as_str(), "10.1000/nap");
    assert_eq!([record.volume, record.issue, record.pages].map(Option::unwrap), ["12", "3", "101-109"]);
    assert_eq!(record.issn, ["1234-5678"]);
    assert_eq!(record.url.as_deref(), Some("https://example.org/a"));
    let files: Vec<_> = record.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["files/12/Lee.pdf", "https://example.org/a.pdf", "internal-pdf://1/fig.png"]);
    assert_eq!(record.tags, ["memory", "sleep", "naps"]);
    assert_eq!(record.notes, ["My note\non it"]);
    assert_eq!(record.language.as_deref(), Some("en"));
}

#[test]
fn ris_of_other_writers() {
    let found = records(
        "Provider: Somebody\nContent: application/x-research-info-systems\n\n\
         TY  - JOUR\nT1  - Scopus\nA1  - Lee, A.\nY1  - 2020///\nN2  - Abstract\n\
         JF  - Full Journal\nJO  - F J\nC7  - e123\n\
         M3  - Article\nDB  - Scopus\nAN  - 99\nER  - \n\n\
         TY  - JOUR\nTI  - Web of Science\nDA  - MAY 8\nPY  - 2020\nT2  - NATURE\nAN  - WOS:000221807500019\nER  -\n\
         TY - JOUR\nTI - EndNote of PubMed\nAN - 12345678\nC2 - PMC123\nM3 - 10.1000/m3\nET - 2020/01/02\nER -\n\
         TY  - CHAP\nTI  - Chapter\nT2  - Book\nA2  - Doe, J.\nSP  - 1-20\nSN  - 978-3-16-148410-0\n\
         TY  - BOOK\nBT  - Whole\nT2  - Series\nSP  - 300\nER  - \n",
        Format::Ris,
    );
    let [scopus, wos, endnote, chapter, book] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((scopus.line, scopus.title.as_str(), scopus.year), (4, "Scopus", Some(2020)));
    assert_eq!(scopus.venue.as_deref(), Some("Full Journal"));
    assert_eq!((scopus.pages.as_deref(), scopus.pmid.as_deref()), (Some("e123"), None));
    assert_eq!((wos.date.as_deref(), wos.pmid.as_deref()), (Some("2020-05-08"), None));
    assert_eq!((endnote.pmid.as_deref(), endnote.pmcid.as_deref()), (Some("12345678"), Some("PMC123")));
    assert_eq!(endnote.doi.as_ref().unwrap().as_str(), "10.1000/m3");
    assert_eq!((chapter.venue.as_deref(), chapter.pages.as_deref()), (Some("Book"), Some("1-20")));
    assert_eq!((chapter.editors[0].as_str(), chapter.isbn[0].as_str()), ("J. Doe", "9783161484100"));
    assert_eq!((book.title.as_str(), book.venue.as_deref(), book.pages.as_deref()), ("Whole", None, None));
}

#[test]
fn ris_of_earlier_versions() {
    let record = one(
        "TY  - ELEC\r\nID  - page_1f\r\nTI  - Naps\r\nAU  - Lee, Ann\r\nPY  - 2020\r\nPB  - example.org\r\n\
         AN  - 23847242\r\nUR  - https://example.org/\r\nY2  - 2026/11/20\r\nKW  - evidence\r\nER  - \r\n",
        Format::Ris,
    );
    assert_eq!((record.kind, record.publisher.as_deref()), (Kind::WebPage, Some("example.org")));
    assert_eq!((record.pmid.as_deref(), record.accessed.as_deref()), (Some("23847242"), Some("2026-11-20")));
}

#[test]
fn ris_of_scopus_has_pubmed_ids() {
    let ids = |lines: &str| {
        let record = one(&format!("TY  - JOUR\nTI  - Naps\n{lines}ER  - \n"), Format::Ris);
        (record.pmid, record.pmcid)
    };
    let (pmid, pmcid) = (Some("31000001".to_owned()), Some("PMC6000001".to_owned()));
    assert_eq!(ids("C2  - 31000001\nDB  - Scopus\n"), (pmid.clone(), None));
    let address = "UR  - https://www.scopus.com/inward/record.uri?eid=2-s2.0-1\n";
    assert_eq!(ids(&format!("{address}C2  - 31000001\n")), (pmid, None));
    assert_eq!(ids("C2  - PMC6000001\nDB  - Scopus\n"), (None, pmcid));
    assert_eq!(ids("C2  - 31000001\n"), (None, None));
    let refer = one("%0 Journal Article\n%T Naps\n%2 31000001\n", Format::Refer);
    assert_eq!((refer.pmid, refer.pmcid), (None, None));
}

#[test]
fn a_wrapped_line_of_ris_is_no_tag() {
    let found = records(
        "TY  - JOUR\nTI  - Sleep\nAB  - Naps of the\nN1 - N3 stages, and of\nUR -bound cells.\nKW  -\nPY  - 2019\nER -\n\
         TY  -JOUR\nTI  -Naps\nPY -2020\nTY - JOUR\nTI - Tea\nER  - \n",
        Format::Ris,
    );
    let [sleep, naps, tea] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(sleep.abstract_text.as_deref(), Some("Naps of the\nN1 - N3 stages, and of\nUR -bound cells."));
    assert_eq!((sleep.year, sleep.notes.len(), sleep.tags.len()), (Some(2019), 0, 0));
    assert_eq!((naps.title.as_str(), naps.year, tea.title.as_str()), ("Naps", Some(2020), "Tea"));
}

#[test]
fn counts_of_web_of_science_are_no_notes() {
    let note =
        |text: &str| one(&format!("TY  - JOUR\nTI  - Naps\nN1  - {text}\nER  - \n"), Format::Ris).notes;
    let counts = "Times Cited in Web of Science Core Collection:  12\nTotal Times Cited:  13\nCited Reference Count:  50";
    assert!(note(counts).is_empty());
    assert_eq!(note(&format!("{counts}\nRead again.")), ["Read again."]);
    assert_eq!(note("Times cited by mothers differ."), ["Times cited by mothers differ."]);
}

#[test]
fn ris_without_beginning_or_content() {
    let (titles, rejected) = outcome(
        "AU  - Lost\nTI  - Without type\nER  - \n\
         TY  - JOUR\nER  - \nTY  - JOUR\nTI  - Good\nER  - \nTI  - Lost\nTY  - BOOK\n\
         TI  - Last",
        Format::Ris,
    );
    assert_eq!(titles, ["Good", "Last"]);
    let lines: Vec<u64> = rejected.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 4, 9]);
    assert!(rejected[0].1.contains("TY  - "), "{rejected:?}");
}

const NBIB: &str = "
PMID- 31000001
OWN - NLM
STAT- MEDLINE
IS  - 1234-5678 (Electronic)
IS  - 8765-4321 (Linking)
VI  - 12
IP  - 3
DP  - 2019 May 3
TI  - Naps improve memory: a randomised
      trial.
PG  - 6913-7
LID - 10.1000/nap [doi]
AB  - BACKGROUND: Naps. RESULTS: They help
      memory.
FAU - Lee, Ann B
AU  - Lee AB
AD  - Somewhere
FAU - van Raaij, M J
AU  - van Raaij MJ
CN  - Nap Study Group
LA  - eng
PT  - Journal Article
PT  - Retracted Publication
RIN - J Sleep. 2021;1(1):1. doi: 10.1000/retraction. PMID: 33000001
UOF - medRxiv. 2019 Jan 1:2019.01.01.123. doi: 10.1101/2019.01.01.123. PMID: 30000001
TA  - J Sleep
JT  - Journal of sleep
MH  - *Memory/physiology
MH  - Memory/drug effects
OT  - naps
PMC - PMC6000001
AID - 10.1000/nap [doi]
AID - S0000(19)1 [pii]
SO  - J Sleep. 2019 May 3;12(3):6913-7.

PMID- 8000002
DP  - 1996 Jul-Aug
TI  - [On sleep].
AU  - Walker JE
AU  - Plato
LA  - ger
PT  - Journal Article
PMID- 9000003
TI  - Retraction: naps.
PT  - Retraction of Publication
ROF - J Sleep. 2019;12(3):1. PMID: 31000001
";

#[test]
fn nbib() {
    let found = records(NBIB, Format::Nbib);
    let [first, second, third] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((first.line, first.key.as_str()), (2, "31000001"));
    assert_eq!(first.title, "Naps improve memory: a randomised trial");
    assert_eq!(first.authors, ["Ann B Lee", "M J van Raaij", "Nap Study Group"]);
    assert_eq!(first.venue.as_deref(), Some("Journal of sleep"));
    assert_eq!((first.date.as_deref(), first.pages.as_deref()), (Some("2019-05-03"), Some("6913-6917")));
    assert_eq!(first.doi.as_ref().unwrap().as_str(), "10.1000/nap");
    assert_eq!((first.pmid.as_deref(), first.pmcid.as_deref()), (Some("31000001"), Some("PMC6000001")));
    assert_eq!(first.issn, ["1234-5678", "8765-4321"]);
    assert_eq!(first.abstract_text.as_deref(), Some("BACKGROUND: Naps. RESULTS: They help memory."));
    assert_eq!(first.tags, ["Memory", "naps"]);
    assert_eq!(first.language.as_deref(), Some("en"));
    assert!(first.is_retracted);
    assert!(first.versions.contains(&Identifier::Pmid("30000001".to_owned())), "{:?}", first.versions);
    assert_eq!((second.title.as_str(), second.date.as_deref()), ("On sleep", Some("1996-07")));
    assert_eq!(second.authors, ["JE Walker", "Plato"]);
    assert_eq!(third.line, 44);
    assert!(!third.is_retracted);
    assert_eq!(third.retracts, [Identifier::Pmid("31000001".to_owned())]);
}

#[test]
fn refer() {
    let found = records(
        "%0 Journal Article\n%T Naps and memory\n%A Lee, Ann\n%A World Health Organization\n%J Journal of Sleep\n\
         %V 12\n%N 3\n%P 101-109\n%@ 1234-5678\n%D 2019\n%8 May 3\n%R 10.1000/nap\n%X One\ntwo.\n%K memory\nsleep\n\
         %> internal-pdf://1/Lee.pdf\n\n%0 Conference Proceedings\n%T Paper\n%B Proceedings\n%E Doe, J.\n%I North\n",
        Format::Refer,
    );
    let [article, paper] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((article.kind, article.title.as_str()), (Kind::Article, "Naps and memory"));
    assert_eq!(article.authors, ["Ann Lee", "World Health Organization"]);
    assert_eq!(
        (article.venue.as_deref(), article.date.as_deref()),
        (Some("Journal of Sleep"), Some("2019-05-03"))
    );
    assert_eq!((article.pages.as_deref(), article.issn[0].as_str()), (Some("101-109"), "1234-5678"));
    assert_eq!(article.tags, ["memory", "sleep"]);
    assert_eq!(article.files[0].path, "internal-pdf://1/Lee.pdf");
    assert_eq!(
        (paper.line, paper.kind, paper.venue.as_deref()),
        (19, Kind::ConferencePaper, Some("Proceedings"))
    );
    assert_eq!((paper.editors[0].as_str(), paper.publisher.as_deref()), ("J. Doe", Some("North")));
}

#[test]
fn web_of_science() {
    let found = records(
        "FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nAU Lee, A\n   Berg, J\n\
         AF Lee, Ann\n   van der Berg, Jan\n\
         TI Naps and\n   memory\nSO JOURNAL OF SLEEP\nLA English\nDT Article; Retracted Publication\nDE naps; memory\n\
         ID SLEEP\nAB One\n   two.\nSN 1234-5678\nEI 8765-4321\nPD MAY 3\nPY 2019\nVL 12\nIS 3\nBP 101\nEP 109\n\
         DI 10.1000/nap\nUT WOS:000221807500019\nPM 31000001\nER\n\nPT B\nAU Doe, J\nTI Book\nER\n\nEF",
        Format::WebOfScience,
    );
    let [article, book] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((article.line, article.key.as_str()), (3, "WOS:000221807500019"));
    assert_eq!(article.title, "Naps and memory");
    assert_eq!(article.authors, ["Ann Lee", "Jan van der Berg"]);
    assert_eq!(
        (article.venue.as_deref(), article.date.as_deref()),
        (Some("JOURNAL OF SLEEP"), Some("2019-05-03"))
    );
    assert_eq!(article.abstract_text.as_deref(), Some("One two."));
    assert_eq!(article.tags, ["naps", "memory", "SLEEP"]);
    assert_eq!((article.pmid.as_deref(), article.pages.as_deref()), (Some("31000001"), Some("101-109")));
    assert!(article.is_retracted);
    assert_eq!((book.kind, book.authors[0].as_str()), (Kind::Book, "J Doe"));
}

#[test]
fn types_of_web_of_science_tell_a_part_from_its_book() {
    let of = |published_in: &str, types: &str| {
        let text = format!(
            "FN Clarivate Analytics Web of Science\nVR 1.0\nPT {published_in}\nAU Doe, J\nTI Naps\n\
             SO Conference on Sleep\nDT {types}\nPU IEEE\nER\n\nEF"
        );
        let record = one(&text, Format::WebOfScience);
        (record.kind, record.venue)
    };
    let venue = || Some("Conference on Sleep".to_owned());
    assert_eq!(of("B", "Proceedings Paper"), (Kind::ConferencePaper, venue()));
    assert_eq!(of("S", "Article; Proceedings\n   Paper"), (Kind::ConferencePaper, venue()));
    assert_eq!(of("B", "Article; Book Chapter"), (Kind::Chapter, venue()));
    assert_eq!(of("J", "Article; Proceedings Paper"), (Kind::Article, venue()));
    assert_eq!(of("B", "Book"), (Kind::Book, None));
}
