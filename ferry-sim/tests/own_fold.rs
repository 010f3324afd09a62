//! The simulations on a fold of the user's: sound, and with the mistakes that folds have.

use std::{collections::BTreeMap, time::Duration};

use ferry_core::{Fold, Projection, RecordOf, Schema, Step, StepOf};
use ferry_sim::{
    Chance, FencedWriterSimulation, ProjectedWorkload, Report, Size, Unusable, Workload,
    check::{self, Failed},
    checkers::Property,
};

/// Documents: an edit replaces the text, if it was made on the revision that is there.
#[derive(Clone, Debug)]
struct Edits {
    mistake: Option<Mistake>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    ForgetsTheId,
    AnswersRetriesAnew,
    TakesAnyContent,
    IsNeverPending,
    IncludesAll,
}

#[derive(Clone, Debug, PartialEq)]
struct Edit {
    id: String,
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Saved {
    As { revision: u64 },
    TooLong,
    OtherText,
}

#[derive(Clone, Default)]
struct Document {
    text: String,
    revision: u64,
    edits: BTreeMap<String, (String, u64)>,
    shown: Option<Tag>,
}

/// As an object store has them.
#[derive(Clone, Debug, PartialEq)]
struct Tag(String);

struct Documents;

impl Schema for Documents {
    type Key = (u32, &'static str);
    type Id = String;
    type State = Document;
    type Version = Tag;
    type Entry = Edit;
    type Error = std::io::Error;
}

impl Fold for Edits {
    type Schema = Documents;
    type Input = Edit;
    type Outcome = Saved;

    fn id(&self, edit: &Edit) -> String {
        edit.id.clone()
    }

    fn empty(&self, _: &(u32, &'static str)) -> Document {
        Document::default()
    }

    fn step(&self, document: &mut Document, edit: &Edit) -> StepOf<Self> {
        if let Some((text, revision)) = document.edits.get(&edit.id) {
            if *text != edit.text && self.mistake != Some(Mistake::TakesAnyContent) {
                return Step::Mismatch(Saved::OtherText);
            }
            let revision = match self.mistake {
                Some(Mistake::AnswersRetriesAnew) => document.revision,
                _ => *revision,
            };
            return Step::Already(Saved::As { revision });
        }
        if edit.text.len() > 40 {
            return Step::Refused(Saved::TooLong);
        }
        document.revision += 1;
        document.text.clone_from(&edit.text);
        if self.mistake != Some(Mistake::ForgetsTheId) {
            let saved = (edit.text.clone(), document.revision);
            document.edits.insert(edit.id.clone(), saved);
        }
        let revision = document.revision;
        Step::Applied(edit.clone(), Saved::As { revision })
    }
}

impl Projection for Edits {
    /// The ids of the edits that it shows.
    type View = Vec<String>;

    fn pending(&self, record: &RecordOf<Documents>) -> bool {
        self.mistake != Some(Mistake::IsNeverPending)
            && record.state.shown.as_ref() != Some(&record.version)
    }

    fn includes(&self, shown: &Vec<String>, edit: &Edit) -> bool {
        self.mistake == Some(Mistake::IncludesAll) || shown.contains(&edit.id)
    }
}

impl Workload for Edits {
    type Fold = Self;

    fn fold(&self) -> Self {
        self.clone()
    }

    fn key(&self, nth: u32) -> (u32, &'static str) {
        (nth, "document")
    }

    fn input(&self, nth: u64, chance: &mut Chance) -> Edit {
        let length = chance.below(50) as usize;
        Edit {
            id: format!("edit {nth}"),
            text: "x".repeat(length),
        }
    }

    fn other_content(&self, edit: &Edit) -> Option<Edit> {
        let text = format!("{}!", edit.text);
        let id = edit.id.clone();
        Some(Edit { id, text })
    }

    fn version(&self, nth: u64) -> Tag {
        Tag(format!("{:016x}", nth.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

impl ProjectedWorkload for Edits {
    fn view(&self, shown: &[&Edit]) -> Option<Vec<String>> {
        Some(shown.iter().map(|edit| edit.id.clone()).collect())
    }

    fn marker(&self, document: &Document) -> Option<Tag> {
        document.shown.clone()
    }

    fn mark(&self, document: &mut Document, marker: Option<Tag>) {
        document.shown = marker;
    }
}

fn with(mistake: Mistake) -> Edits {
    Edits {
        mistake: Some(mistake),
    }
}

/// What a check has found.
#[track_caller]
fn wrong(failed: Option<Failed>) -> Report {
    match failed {
        Some(Failed::Wrong(wrong)) => wrong.report,
        other => panic!("nothing is found: {other:?}"),
    }
}

#[test]
fn a_sound_fold_and_its_projection_hold() {
    let sound = Edits { mistake: None };
    check::fold(sound.clone()).seeds(0..20).run().assert_held();
    check::projection(sound).seeds(0..20).run().assert_held();
}

#[test]
fn the_mistakes_that_folds_have_are_found_and_told() {
    for (mistake, property) in [
        (Mistake::ForgetsTheId, Property::AppliedOnce),
        (Mistake::AnswersRetriesAnew, Property::TrueAnswers),
        (Mistake::TakesAnyContent, Property::TrueAnswers),
    ] {
        let failed = check::fold(with(mistake)).run().failed;
        let told = failed.as_ref().map(Failed::to_string).unwrap_or_default();
        let report = wrong(failed);
        assert!(
            report.violates(property),
            "{mistake:?}: {:?}",
            report.violations
        );
        let seed = report.seed;
        let again = format!("run it alone by `.seeds({seed}..{})`", seed + 1);
        assert!(told.contains(&again), "{told}");
        assert!(told.contains("look at "), "{told}");
        assert!(
            told.contains(" is (") && told.contains("\"document\")"),
            "{told}"
        );
        assert!(told.contains("commit of ["), "{told}");
    }
}

/// Nobody has the rights to edit.
#[derive(Clone, Debug)]
struct ReadOnly(Edits);

impl Fold for ReadOnly {
    type Schema = Documents;
    type Input = Edit;
    type Outcome = <Edits as Fold>::Outcome;

    fn id(&self, edit: &Edit) -> String {
        self.0.id(edit)
    }

    fn empty(&self, key: &(u32, &'static str)) -> Document {
        self.0.empty(key)
    }

    fn step(&self, document: &mut Document, edit: &Edit) -> StepOf<Self> {
        match self.0.step(&mut document.clone(), edit) {
            Step::Applied(_, outcome) => Step::Refused(outcome),
            other @ (Step::Already(_) | Step::Refused(_) | Step::Mismatch(_) | Step::TooOld(_)) => {
                other
            }
        }
    }
}

impl Workload for ReadOnly {
    type Fold = Self;

    fn fold(&self) -> Self {
        self.clone()
    }

    fn key(&self, nth: u32) -> (u32, &'static str) {
        self.0.key(nth)
    }

    fn input(&self, nth: u64, chance: &mut Chance) -> Edit {
        self.0.input(nth, chance)
    }

    fn version(&self, nth: u64) -> Tag {
        self.0.version(nth)
    }
}

#[test]
fn a_fold_that_applies_nothing_at_all_is_not_taken_for_sound() {
    let read_only = ReadOnly(Edits { mistake: None });
    let failed = check::fold(read_only.clone()).seeds(0..10).run().failed;
    let told = failed.as_ref().map(Failed::to_string).unwrap_or_default();
    assert!(matches!(failed, Some(Failed::NothingApplied(10))), "{told}");
    assert!(told.contains("whether `step` declines all"), "{told}");
    // A seed by itself may be looked at.
    check::fold(read_only).seeds(3..4).run().assert_held();
}

#[test]
fn a_record_that_is_never_pending_is_never_shown_and_that_is_found() {
    let failed = check::projection(with(Mistake::IsNeverPending))
        .run()
        .failed;
    let report = wrong(failed);
    assert!(report.violates(Property::Projected) || report.violates(Property::TrueAnswers));
}

#[test]
#[should_panic(expected = "run it alone by `.seeds(0..1)`")]
fn a_fold_that_panics_where_nothing_can_catch_it_is_told() {
    #[derive(Clone, Debug)]
    struct Hopeless;

    impl Workload for Hopeless {
        type Fold = Edits;

        fn fold(&self) -> Edits {
            Edits { mistake: None }
        }

        fn key(&self, nth: u32) -> (u32, &'static str) {
            self.fold().key(nth)
        }

        fn input(&self, nth: u64, chance: &mut Chance) -> Edit {
            self.fold().input(nth, chance)
        }

        fn version(&self, nth: u64) -> Tag {
            self.fold().version(nth)
        }

        fn drawn(&self, _: &mut Chance) -> Self {
            panic!("nothing to draw")
        }
    }

    check::fold(Hopeless).seeds(0..1).run().assert_held();
}

#[test]
fn a_projection_that_says_of_too_much_that_the_view_includes_it_is_found() {
    let failed = check::projection(with(Mistake::IncludesAll)).run().failed;
    assert!(wrong(failed).violates(Property::TrueAnswers));
}

/// Edits with something wrong with the workload itself.
#[derive(Clone, Debug)]
struct Repeating {
    keys: u32,
    versions: u64,
    ids: u64,
    keeps_ids: bool,
}

impl Default for Repeating {
    /// Nothing is wrong.
    fn default() -> Self {
        Self {
            keys: u32::MAX,
            versions: u64::MAX,
            ids: u64::MAX,
            keeps_ids: true,
        }
    }
}

impl Workload for Repeating {
    type Fold = Edits;

    fn fold(&self) -> Edits {
        Edits { mistake: None }
    }

    fn key(&self, nth: u32) -> (u32, &'static str) {
        (nth % self.keys, "document")
    }

    fn input(&self, nth: u64, chance: &mut Chance) -> Edit {
        self.fold().input(nth % self.ids, chance)
    }

    fn other_content(&self, edit: &Edit) -> Option<Edit> {
        let id = match self.keeps_ids {
            true => edit.id.clone(),
            false => format!("{}!", edit.id),
        };
        let text = format!("{}!", edit.text);
        Some(Edit { id, text })
    }

    fn version(&self, nth: u64) -> Tag {
        self.fold().version(nth % self.versions)
    }
}

#[test]
fn a_workload_that_repeats_itself_is_refused_before_a_run() {
    let usual = Repeating::default();
    for (workload, unusable, told) in [
        (
            Repeating {
                keys: 5,
                ..usual.clone()
            },
            Unusable::SameKey(0, 5),
            "`Workload::key` gives the same key for 0 and for 5: give each number a key of its own",
        ),
        (
            Repeating {
                versions: 256,
                ..usual.clone()
            },
            Unusable::SameVersion(1, 257),
            "`Workload::version` gives the same version for 1 and for 257: give each number a version of its own",
        ),
        (
            Repeating {
                ids: 100,
                ..usual.clone()
            },
            Unusable::SameId(1, 101),
            "`Workload::input` gives inputs with the same id for 1 and for 101: give each number an id of its own",
        ),
        (
            Repeating {
                keeps_ids: false,
                ..usual.clone()
            },
            Unusable::OtherId(1),
            "`Workload::other_content` gives an input with another id than that of input 1: give one with the same id",
        ),
    ] {
        let checked = check::fold(workload).run();
        assert_eq!(checked.seeds, 0);
        match checked.failed {
            Some(failed @ Failed::Unusable(found)) => {
                assert_eq!(found, unusable);
                let expected = format!("nothing was run: {told}");
                assert!(failed.to_string().starts_with(&expected), "{failed}");
            }
            other => panic!("{unusable:?} is not found: {other:?}"),
        }
    }
    check::fold(usual).seeds(0..1).run().assert_held();
}

#[test]
fn a_run_with_none_of_something_is_refused() {
    let usual = Size::new();
    for (size, unusable) in [
        (usual.nodes(0), Unusable::NoNodes),
        (usual.keys(0), Unusable::NoKeys),
        (usual.inputs(0), Unusable::NoInputs),
        (usual.duration(Duration::ZERO), Unusable::NoTime),
    ] {
        let checked = check::fold(Edits { mistake: None }).size(size).run();
        assert_eq!(checked.seeds, 0);
        assert!(matches!(checked.failed, Some(Failed::Unusable(found)) if found == unusable));
    }
}

#[test]
fn a_check_without_seeds_is_refused() {
    let checked = check::fold(Edits { mistake: None }).seeds(5..5).run();
    assert_eq!(checked.seeds, 0);
    assert!(matches!(
        checked.failed,
        Some(Failed::Unusable(Unusable::NoSeeds))
    ));
}

#[test]
#[should_panic(expected = "`Size::keys` is 0: give one or more")]
fn a_simulation_with_none_of_something_is_refused() {
    let mut simulation = FencedWriterSimulation::default();
    simulation.size = simulation.size.keys(0);
    let _report = simulation.run(1);
}
