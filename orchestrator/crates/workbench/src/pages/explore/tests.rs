use super::*;

#[test]
fn a_statement_in_an_address_is_one_value() {
    assert_eq!(with_sql("SELECT 'a&b'\n#"), "/explore?sql=SELECT%20%27a%26b%27%0A%23#own");
}

#[test]
fn a_view_s_statement_holds_nothing_but_its_name() {
    assert_eq!(views::statement("contradictions"), "SELECT *\nFROM v_contradictions\nLIMIT 50");
    assert_eq!(views::statement("v_a; DROP TABLE x"), "SELECT *\nFROM v_aDROPTABLEx\nLIMIT 50");
}
