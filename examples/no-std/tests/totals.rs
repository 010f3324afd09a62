//! The loop for bare metal, on a machine that has an operating system.

use ferry_no_std::{Flash, Reading, Readings, total};

fn reading(number: u32, units: u64) -> Reading {
    Reading { number, units }
}

#[test]
fn readings_are_totalled_once_though_answers_are_lost() {
    let mut flash = Flash::default();
    flash.answers_lost = 1;
    let readings = [
        (1, reading(1, 10)),
        (1, reading(2, 5)),
        (2, reading(1, 7)),
        (1, reading(3, 1)),
    ];
    let mut totals = total(&mut flash, readings);
    totals.sort_unstable();
    assert_eq!(totals, [7, 10, 15, 16]);
    let record = flash.read(1).unwrap();
    assert_eq!(record.state, Readings { total: 16, last: 3 });
}
