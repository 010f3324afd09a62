//! Each safeguard that is left out makes the property fail that it keeps.

use ferry_sim::mutants;

#[test]
fn every_mutant_is_caught_by_the_property_that_it_breaks() {
    for mutant in mutants::ALL {
        let caught = mutant.caught_within(0, 100);
        assert!(
            caught.is_some(),
            "\"{}\" is not caught by {}",
            mutant.name,
            mutant.fails
        );
    }
}
