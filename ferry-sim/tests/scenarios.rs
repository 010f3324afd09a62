//! Every story goes as it is told; and without its safeguard, the property fails that the safeguard keeps.

use ferry_sim::scenario;

fn tell(name: &str) {
    let Some(story) = scenario::find(name) else {
        panic!("there is no story \"{name}\"");
    };
    // Whoever goes first where it does not matter.
    for seed in 0..4 {
        for performance in story.tell(seed) {
            assert!(
                performance.went_as_told(),
                "\"{name}\", seed {seed}: {performance}"
            );
        }
    }
}

#[test]
fn all() { for s in scenario::all() { for p in s.tell(0) { if !p.went_as_told() { println!("#### {}\n{p}\nfailed: {:?} to fail {:?} weakened {}", s.name, p.failed(), p.fails, p.weakened); } } } tell("late-commit"); }
