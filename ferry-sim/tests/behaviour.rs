//! Runs as behaviours of the specification: what is written is TLA+, and what is spoiled is spoiled as it is said.

use ferry_sim::{
    behaviour::{
        self, Actor, Behaviour, Came, Committed, Corruption, Line, Manner, Point, Points,
        Projection, Said, Submitted, WriteError, Writes,
    },
    points::Whose,
};

const SIMULATIONS: [Whose; 2] = [Whose::Fenced, Whose::Projected];

fn some(whose: Whose) -> Vec<Behaviour> {
    let of_seeds = (0..12).flat_map(|seed| behaviour::of_seed(whose, seed));
    of_seeds.filter(|it| it.is_specified(whose)).collect()
}

fn module(behaviours: &[Behaviour]) -> String {
    let mut module = Vec::new();
    behaviour::write_module(&mut module, "Traces", behaviours).expect("a vector takes all");
    String::from_utf8(module).expect("text")
}

/// Holds brackets and quotes against each other; what is left open, or closed too often.
fn unbalanced(module: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut rest = module;
    while let Some(first) = rest.chars().next() {
        let pair = rest.get(..2).unwrap_or_default();
        let token = match pair {
            "<<" | ">>" | "|-" => pair,
            _ => &rest[..first.len_utf8()],
        };
        rest = &rest[token.len()..];
        match token {
            "<<" | "[" | "{" => open.push(token),
            ">>" | "]" | "}" => {
                let closes = [("<<", ">>"), ("[", "]"), ("{", "}")];
                let last = open.pop().unwrap_or("nothing");
                if !closes.contains(&(last, token)) {
                    return Some(format!("{token} closes {last} before {rest:.60}"));
                }
            }
            "\"" => {
                let Some(end) = rest
                    .find(['"', '\n'])
                    .filter(|&end| rest[end..].starts_with('"'))
                else {
                    return Some(format!("a quote is open before {rest:.60}"));
                };
                rest = &rest[end + 1..];
            }
            _ => {}
        }
    }
    open.pop().map(|last| format!("{last} is left open"))
}

#[test]
fn what_is_written_is_a_module_with_a_record_for_each_line() {
    for whose in SIMULATIONS {
        let behaviours = some(whose);
        let text = module(&behaviours);
        assert_eq!(unbalanced(&text), None);
        assert!(text.starts_with("---- MODULE Traces ----\n"), "{text:.60}");
        assert!(text.ends_with(">>\n====\n"));
        let lines: usize = behaviours.iter().map(|it| it.lines.len()).sum();
        assert_eq!(text.matches("[act |-> \"").count(), lines);
        assert_eq!(text.matches("[seed |-> ").count(), behaviours.len());
    }
    assert!(unbalanced("<<[a |-> {1}]").is_some());
    assert!(unbalanced("[a |-> \"b]").is_some());
    assert!(unbalanced("<<1]").is_some());
}

fn submitted(number: u64, nth: u64) -> Submitted {
    let cents = -5;
    Submitted { number, nth, cents }
}

#[test]
fn lines_are_written_as_the_specification_reads_them() {
    let commit = Committed {
        on: 2,
        adds: vec![submitted(7, 1), submitted(9, 2)],
    };
    let projection = Projection {
        by: Actor::Resumer(1),
        writes: Writes::Show,
        version: 3,
        to: 4,
    };
    let behaviour = Behaviour {
        seed: 17,
        key: 3,
        window: 8,
        is_apart: true,
        panics: vec![submitted(7, 1)],
        has_startled: false,
        has_parted_twins: false,
        is_whole: false,
        lines: vec![
            Line::Submit(0, submitted(7, 1)),
            Line::Submit(0, submitted(9, 2)),
            Line::Read {
                node: 0,
                version: 2,
                inputs: 2,
                is_settling: false,
            },
            Line::Commit(0, commit.clone()),
            Line::Land(commit, 3),
            Line::InDoubt(0),
            Line::Answer(0, submitted(7, 1), Said::Applied(4), Manner::Projected),
            Line::Answer(0, submitted(9, 2), Said::NotCommitted, Manner::Overtaken),
            Line::Look(Actor::Node(2), 3),
            Line::Arrive(projection),
            Line::Told(Actor::Resumer(1), Came::Unknown),
            Line::Crash(0),
            Line::Delete,
        ],
        corrupted_at: None,
    };
    expect_test::expect![[r#"
        ---- MODULE Traces ----
        EXTENDS Integers, Sequences

        Traces == <<
        [seed |-> 17, key |-> 3, window |-> 8, layout |-> "apart",
         inputs |-> {1007, 1009}, panics |-> {<<1007, 1, -5>>}, whole |-> FALSE,
         lines |-> <<
          [act |-> "Submit", node |-> 0, s |-> <<1007, 1, -5>>],
          [act |-> "Submit", node |-> 0, s |-> <<1009, 2, -5>>],
          [act |-> "Read", node |-> 0, ver |-> 2, take |-> 2, settles |-> FALSE],
          [act |-> "Commit", node |-> 0, on |-> 2, adds |-> <<<<1007, 1, -5>>, <<1009, 2, -5>>>>],
          [act |-> "Land", ver |-> 3, on |-> 2, adds |-> <<<<1007, 1, -5>>, <<1009, 2, -5>>>>],
          [act |-> "InDoubt", node |-> 0],
          [act |-> "TellProjected", node |-> 0, s |-> <<1007, 1, -5>>, kind |-> "applied", at |-> 4],
          [act |-> "Overtake", node |-> 0, s |-> <<1009, 2, -5>>, kind |-> "not committed", at |-> 0],
          [act |-> "Look", by |-> 2, ver |-> 3],
          [act |-> "Arrive", by |-> 11, kind |-> "show", ver |-> 3, to |-> 4],
          [act |-> "IsUnknown", by |-> 11],
          [act |-> "Crash", node |-> 0],
          [act |-> "Delete"]>>]>>
        ====
    "#]]
    .assert_eq(&module(&[behaviour]));
}

/// What may be done to lines.
enum Change {
    /// One line is another.
    OneIsOther,
    /// A commit is another, where it is sent and where it lands.
    CommitIsOther,
    Added,
    Removed,
    Moved,
}

fn change(corruption: Corruption) -> Change {
    match corruption {
        Corruption::DoubtDenied
        | Corruption::LostEntry
        | Corruption::AppliedTwice
        | Corruption::WrongPlace
        | Corruption::DeclinedWhole
        | Corruption::LateProjected => Change::OneIsOther,
        Corruption::Swapped => Change::CommitIsOther,
        Corruption::OldVersion | Corruption::StaleProjection => Change::Added,
        Corruption::Unanswered | Corruption::Unread => Change::Removed,
        Corruption::EarlyAnswer | Corruption::EarlyProjected | Corruption::MarkerFirst => {
            Change::Moved
        }
        _ => panic!("what does {} change?", corruption.name()),
    }
}

fn sorted(lines: &[Line]) -> Vec<String> {
    let mut lines: Vec<_> = lines.iter().map(|line| format!("{line:?}")).collect();
    lines.sort();
    lines
}

fn is_changed_so(before: &[Line], after: &[Line], at: usize, change: &Change) -> bool {
    let differ = || before.iter().zip(after).filter(|(one, other)| one != other);
    match change {
        Change::OneIsOther => before.len() == after.len() && differ().count() == 1,
        Change::CommitIsOther => {
            let is_commit = |line: &Line| matches!(line, Line::Commit(..) | Line::Land(..));
            before.len() == after.len() && differ().all(|(one, _)| is_commit(one))
        }
        Change::Added => {
            let mut without = after.to_vec();
            without.remove(at);
            without == before
        }
        Change::Removed => {
            let mut without = before.to_vec();
            without.remove(at);
            without == after
        }
        Change::Moved => before != after && sorted(before) == sorted(after),
    }
}

#[test]
fn each_way_to_spoil_a_behaviour_does_what_it_says_from_the_line_on_that_it_says() {
    for whose in SIMULATIONS {
        let behaviours = some(whose);
        for &corruption in Corruption::ALL
            .iter()
            .filter(|corruption| corruption.is_for(whose))
        {
            assert_eq!(Corruption::named(corruption.name()), Some(corruption));
            let mut spoiled = 0;
            for (before, after) in
                (behaviours.iter()).filter_map(|it| Some((it, corruption.applied_to(it)?)))
            {
                spoiled += 1;
                let at = after.corrupted_at.expect("a line") - 1;
                let name = corruption.name();
                assert_eq!(before.lines[..at], after.lines[..at], "{name}");
                assert_ne!(before.lines.get(at), after.lines.get(at), "{name}");
                let is_so = is_changed_so(&before.lines, &after.lines, at, &change(corruption));
                assert!(is_so, "{name}, seed {}, key {}", before.seed, before.key);
            }
            assert!(spoiled > 0, "{} is done to none", corruption.name());
        }
    }
}

#[test]
fn an_input_whose_id_would_be_one_of_another_behaviour_is_refused_before_anything_is_written() {
    let of_number = |number| Behaviour {
        lines: vec![Line::Submit(0, submitted(number, 1))],
        ..some(Whose::Fenced).swap_remove(0)
    };
    let write = |number| {
        let mut module = Vec::new();
        let written = behaviour::write_module(&mut module, "Traces", &[of_number(number)]);
        (written, module.len())
    };
    assert!(matches!(write(999), (Ok(()), 1..)));
    let (refused, length) = write(1_000);
    let Err(WriteError::NumberTooLarge { number, .. }) = &refused else {
        panic!("{refused:?}")
    };
    assert_eq!((*number, length), (1_000, 0));
    let words = refused.expect_err("refused").to_string();
    assert!(
        words.contains("number 1000") && words.contains("up to 999"),
        "{words}"
    );
}

#[test]
fn what_occurs_is_counted_and_what_does_not_is_missed() {
    let mut points = Points::default();
    let missing = points.missing(Whose::Fenced, 200).count();
    let asked = |point: &&Point| point.least(Whose::Fenced) > 0;
    assert_eq!(missing, Point::ALL.iter().filter(asked).count());
    for behaviour in some(Whose::Fenced) {
        let of_one = Points::of(&behaviour.lines);
        let commits = |line: &&Line| matches!(line, Line::Commit(..));
        let commits = behaviour.lines.iter().filter(commits).count();
        assert_eq!(of_one.count(Point::Committed), commits as u64);
        points.add(&of_one);
    }
    assert!(points.count(Point::Refused) > points.count(Point::RefusedByItself));
    assert!(points.missing(Whose::Fenced, 1).count() < missing);
}

#[test]
fn a_run_is_written_the_same_each_time() {
    for whose in SIMULATIONS {
        assert_eq!(behaviour::of_seed(whose, 3), behaviour::of_seed(whose, 3));
    }
}
