use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(system: System, written: &[&str], expect: &str) {
    for text in written {
        assert_eq!(Code::parse(system, text).as_ref().map(Code::as_str), Ok(expect), "{text:?}");
    }
}

#[test]
fn written_forms_of_ipc_and_cpc() {
    let forms = [
        "H01L33/20",
        "H01L 33/20",
        "h01l 33/20",
        "H01L  33/20        20100101AFI20100312BHJP        ",
        "H01L033/20",
        "H01L 033/20",
        "H01L-033/20",
        "H01L-33/20",
        "H01L0033200000",
        "H01L 33/20 (2010.01)",
        "H01L33/20 20100101",
        "Ｈ０１Ｌ　３３／２０",
        "7H 01L 33/20 A",
        " H01L 33/20;",
        "H01L33/20 F I",
        "H01L  33/    20            A I",
    ];
    check(System::Ipc, &forms, "H01L33/20");
    check(System::Cpc, &forms, "H01L33/20");
    check(System::Ipc, &["IPC: H01L33/20", "ipc:H01L 33/20"], "H01L33/20");
    check(System::Ipc, &["H01L33", "H01L 33", "H01L 33/", "H01L033", "H01L 33/ 20100101"], "H01L33");
    check(System::Ipc, &["H01L33/00", "H01L 33/00", "H01L0033000000", "H01L 3300"], "H01L33/00");
    check(System::Ipc, &["H01L 3320"], "H01L33/20");
    check(System::Ipc, &["H01L3320"], "H01L3320");
    check(System::Cpc, &["H01L2924", "H01L 2924"], "H01L2924");
    check(System::Ipc, &["H01L", "h01l", "H 01 L", "H01L "], "H01L");
    check(System::Ipc, &["H01"], "H01");
    check(System::Ipc, &["H"], "H");
    // Grants before 2005: three columns for the group, blanks collapsed or not.
    check(System::Ipc, &["G06F  728", "G06F 728", "G06F 7/28", "G06F007/28"], "G06F7/28");
    check(System::Ipc, &["G01G 1904"], "G01G19/04");
    check(System::Ipc, &["H01L 31107"], "H01L31/107");
    check(System::Ipc, &["C07C24900"], "C07C249/00");
    check(System::Ipc, &["A45F  504", "A45F 504"], "A45F5/04");
    // Trailing zeros may belong to the symbol.
    check(System::Cpc, &["H01L 2924/01030", "H01L2924/01030 20130101"], "H01L2924/01030");
    check(System::Cpc, &["Y02E 10/50"], "Y02E10/50");
    check(System::Cpc, &["C12Y 204/01013 201", "C12Y204/01013"], "C12Y204/01013");
}

#[test]
fn written_forms_of_fi() {
    check(
        System::Fi,
        &[
            "H01L33/00,100@A",
            "H01L 33/00 100 A",
            "H01L33/00,100A",
            "H01L33/00&100@A",
            "H01L33/00     100 A",
            "ｈ０１ｌ３３／００，１００＠ａ",
            "H01L33/00 100A",
        ],
        "H01L33/00,100@A",
    );
    check(System::Fi, &["H01L33/00@A", "H01L33/00 A", "H01L33/00A", "H01L 33/00       A"], "H01L33/00@A");
    check(System::Fi, &["A63F7/02,304", "A63F   7/02     304"], "A63F7/02,304");
    check(System::Fi, &["A01D34/10", "A01D  34/10", "A01D 34/10 20060101AFI20091204BHJP"], "A01D34/10");
    check(System::Fi, &["FI: A01D34"], "A01D34");
}

#[test]
fn written_forms_of_f_terms() {
    check(
        System::Ft,
        &[
            "5F044AA01",
            "5F044 AA01",
            "5f044aa01",
            "5F044/AA01",
            "F-term:5F044AA01",
            "5F 044 AA 01",
            "５Ｆ０４４ＡＡ０１",
        ],
        "5F044AA01",
    );
    check(System::Ft, &["5F044AA01.A", "5F044AA01A", "5F044 AA01 A"], "5F044AA01.A");
    check(System::Ft, &["5F044AA", "5F044 AA"], "5F044AA");
    check(System::Ft, &["5F044", "5f044"], "5F044");
}

#[test]
fn written_forms_of_uspc_and_locarno() {
    // As the offices' files have them: three columns of the class, three of the subclass, decimals.
    check(System::Uspc, &["455/556.1", "455556100", "455/556.10", "4555561", "455/556100"], "455/556.1");
    check(System::Uspc, &["D14/138", "D14138", "d14/138"], "D14/138");
    check(System::Uspc, &["D6/334", "D 6334", "D06/334"], "D6/334");
    check(System::Uspc, &["D 8 80", "D8/80"], "D8/80");
    check(System::Uspc, &["379/88.02", "379 8802"], "379/88.02");
    check(System::Uspc, &["714/16", "714 16"], "714/16");
    check(System::Uspc, &["600/300", "600300000", "600300"], "600/300");
    check(System::Uspc, &["PLT/226", "PLT226", "PLT 226"], "PLT/226");
    check(System::Uspc, &["99/421H", "99421H", " 99421 H"], "99/421H");
    check(System::Uspc, &["81 356", "81/356"], "81/356");
    check(System::Uspc, &["623  111", "623/1.11"], "623/1.11");
    check(System::Uspc, &["340172.5", "340/172.5"], "340/172.5");
    check(System::Uspc, &["235 92PL", "235/92 PL"], "235/92PL");
    check(System::Uspc, &["310313 D", "310/313D"], "310/313D");
    check(System::Uspc, &["261DIG 70", "261/DIG.70"], "261/DIG.70");
    check(System::Uspc, &["257E21577", "257/E21.577"], "257/E21.577");
    check(System::Uspc, &["348/E5.038", "348E5038"], "348/E5.038");
    check(System::Uspc, &["16510425"], "165/104.25");
    check(System::Uspc, &["D14"], "D14");
    check(
        System::Locarno,
        &["14-03", "1403", "14/03", "14-3", "LOC (13) Cl. 14-03", "LOC(10) CL. 14-03", "D14 03", "D1403"],
        "14-03",
    );
    check(System::Locarno, &["06", "6"], "06");
    for text in ["", "140", "14-033", "D14", "14-03x"] {
        assert!(Code::parse(System::Locarno, text).is_err(), "{text}");
    }
    for text in ["", "D", "H01L33/20", "X14/138", "14/", "1/1/1"] {
        assert!(Code::parse(System::Uspc, text).is_err(), "{text}");
    }
}

#[test]
fn no_codes() {
    for system in System::ALL {
        for text in [
            "",
            " ",
            "-",
            "solar",
            "H01L33/2",
            "H01L33/2000000",
            "H1L33/20",
            "H01LL33/20",
            "H01L33/20X9",
            "I01L33/20",
            "H01L0/00",
            "5F044AA0",
            "日本",
        ] {
            assert!(Code::parse(system, text).is_err(), "{system} {text:?}");
        }
    }
    let error = Code::parse(System::Ft, "H01L33/20").unwrap_err().to_string();
    assert_eq!(error, "`H01L33/20` is not a valid FT code: write it like `5F044AA01`, `5F044AA` or `5F044`");
    assert!(Code::parse(System::Ipc, "Y02E10/50").is_err(), "Y is CPC's alone");
    for system in System::ALL {
        let has_no_letters = matches!(system, System::Uspc | System::Locarno);
        assert_eq!(Code::parse(system, "33/20").is_ok(), has_no_letters, "{system}");
    }
    assert!(Code::parse(System::Ipc, "5F044AA01").is_err());
}

#[test]
fn the_hierarchy() {
    let code = |system, text| Code::parse(system, text).unwrap();
    let cases = [
        (System::Ipc, "H01L33", "H01L33/20", true),
        (System::Ipc, "H01L33", "H01L33/00", true),
        (System::Ipc, "H01L3", "H01L33/20", false),
        (System::Ipc, "H01L33/2000", "H01L33/20", false),
        (System::Ipc, "H01L33/20", "H01L33/204", false),
        (System::Ipc, "H01L33/00", "H01L33/20", false),
        (System::Ipc, "H01L", "H01L33/20", true),
        (System::Ipc, "H", "H01L33/20", true),
        (System::Fi, "H01L33/00", "H01L33/00,100@A", true),
        (System::Fi, "H01L33/00,100", "H01L33/00,100@A", true),
        (System::Fi, "H01L33/00@A", "H01L33/00,100@A", false),
        (System::Ft, "5F044", "5F044AA01", true),
        (System::Ft, "5F044AA", "5F044AA01", true),
        (System::Ft, "5F044AA01", "5F044AA01.A", true),
        (System::Ft, "5F044AB", "5F044AA01", false),
    ];
    for (system, wide, narrow, expect) in cases {
        assert_eq!(code(system, wide).contains(&code(system, narrow)), expect, "{wide} ⊇ {narrow}");
    }
    // CPC and IPC are one tree, and FI is another.
    assert!(code(System::Ipc, "H01L").contains(&code(System::Cpc, "H01L33/20")));
    assert!(code(System::Cpc, "H01L33/20").contains(&code(System::Ipc, "H01L33/20")));
    assert!(!code(System::Ipc, "H01L").contains(&code(System::Fi, "H01L33/00,100")));
    assert!(code(System::Uspc, "D14").contains(&code(System::Uspc, "D14/138")));
    assert!(!code(System::Uspc, "D1").contains(&code(System::Uspc, "D14/138")));
    assert!(code(System::Locarno, "14").contains(&code(System::Locarno, "14-03")));
    let fine = code(System::Fi, "H01L33/00,100@A");
    let at = |level| fine.at(level).map(|code| code.as_str().to_owned());
    assert_eq!(at(Level::Subclass).as_deref(), Some("H01L"));
    assert_eq!(at(Level::MainGroup).as_deref(), Some("H01L33"));
    assert_eq!(at(Level::Subgroup).as_deref(), Some("H01L33/00"));
    assert_eq!(code(System::Ipc, "H01L").at(Level::MainGroup), None);
    assert_eq!(
        fine.path().collect::<Vec<_>>(),
        ["H", "H01", "H01L", "H01L33", "H01L33/00", "H01L33/00,100", "H01L33/00,100@A"]
    );
}

#[test]
fn systems_of_one_lane() {
    assert!(System::Fi.goes_with(System::Ft) && System::Ft.goes_with(System::Fi));
    assert!(System::Ipc.goes_with(System::Cpc) && !System::Fi.goes_with(System::Ipc));
    assert_eq!("F-Term".parse(), Ok(System::Ft));
    assert_eq!("USPC".parse(), Ok(System::Uspc));
    assert!("eccla".parse::<System>().is_err());
}

/// Normal forms of a system.
fn normal(system: System) -> BoxedStrategy<String> {
    match system {
        System::Ipc => "[A-H][0-9]{2}[A-Z]([1-9][0-9]{0,3}(/[0-9]{2,6})?)?".boxed(),
        System::Cpc => "[A-HY][0-9]{2}[A-Z]([1-9][0-9]{0,3}(/[0-9]{2,6})?)?".boxed(),
        System::Fi => "[A-H][0-9]{2}[A-Z]([1-9][0-9]{0,3}(/[0-9]{2,4}(,[0-9]{3})?(@[A-Z])?)?)?".boxed(),
        System::Ft => "[0-9][A-Z][0-9]{3}([A-Z]{2}([0-9]{2}(\\.[A-Z])?)?)?".boxed(),
        System::Uspc => {
            "([1-9][0-9]{0,2}|D[1-9][0-9]?|PLT)(/[1-9][0-9]{0,2}(\\.[1-9]{1,3})?[A-Z]{0,3})?".boxed()
        }
        System::Locarno => "[0-9]{2}(-[0-9]{2})?".boxed(),
    }
}

fn any_normal() -> impl Strategy<Value = (System, String)> {
    prop::sample::select(System::ALL.to_vec()).prop_flat_map(|system| (Just(system), normal(system)))
}

proptest! {
    #[test]
    fn a_normal_form_is_its_own((system, text) in any_normal()) {
        let code = Code::parse(system, &text).unwrap();
        prop_assert_eq!(code.as_str(), &text);
        prop_assert_eq!(code.path().last(), Some(text.as_str()));
        prop_assert!(code.contains(&code));
    }

    #[test]
    fn padding_case_and_blanks_do_not_matter(group in 1_u32..9999, sub in "[0-9]{2,6}", blanks in " {0,4}", tail in "( 20[0-9]{6}[AC][FL][IN].*)?") {
        let expect = format!("H01L{group}/{sub}");
        for form in [format!("h01l{blanks}{group}/{sub}{tail}"), format!("H01L{blanks}{group:04}/{sub}{tail}")] {
            let code = Code::parse(System::Cpc, &form).unwrap();
            prop_assert_eq!(code.as_str(), &expect);
        }
    }

    #[test]
    fn every_level_contains_the_code_and_the_finer_levels((system, text) in any_normal()) {
        let code = Code::parse(system, &text).unwrap();
        let levels: Vec<Code> = code.path().map(|prefix| Code::parse(system, prefix).unwrap()).collect();
        for (i, coarse) in levels.iter().enumerate() {
            let cut = code.at(coarse.level());
            prop_assert_eq!(cut.as_ref(), Some(coarse));
            for (j, fine) in levels.iter().enumerate() {
                prop_assert_eq!(coarse.contains(fine), i <= j, "{} {}", coarse, fine);
            }
        }
    }

    #[test]
    fn any_text_is_a_code_or_an_error(text in any::<String>()) {
        for system in System::ALL {
            if let Ok(code) = Code::parse(system, &text) {
                prop_assert_eq!(&Code::parse(system, code.as_str()).unwrap(), &code);
            }
        }
    }

    #[test]
    fn near_codes_settle_too(text in "[A-H0-9][0-9A-Z ]{1,6}[0-9 /@,.A-Z-]{0,12}") {
        for system in System::ALL {
            if let Ok(code) = Code::parse(system, &text) {
                prop_assert_eq!(&Code::parse(system, code.as_str()).unwrap(), &code);
            }
        }
    }
}
