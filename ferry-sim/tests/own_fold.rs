//! The simulations on a fold of the user's: sound, and with the mistakes that folds have.

use std::collections::BTreeMap;

use ferry_core::{Fold, Projection, RecordOf, Schema, Step, StepOf};
use ferry_sim::{Chance, ProjectedWorkload, Workload, check, checkers::Property};

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
    type View = ();

    fn pending(&self, record: &RecordOf<Documents>) -> bool {
        self.mistake != Some(Mistake::IsNeverPending)
            && record.state.shown.as_ref() != Some(&record.version)
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
        let failed = failed.unwrap_or_else(|| panic!("{mistake:?} is not found"));
        let report = failed.report.as_ref().expect("it does not panic");
        assert!(
            report.violates(property),
            "{mistake:?}: {:?}",
            report.violations
        );
        let told = failed.to_string();
        let again = format!(
            "run it alone by `.seeds({}..{})`",
            failed.seed,
            failed.seed + 1
        );
        assert!(told.contains(&again), "{told}");
        assert!(told.contains("commit of ["), "{told}");
    }
}

#[test]
fn a_record_that_is_never_pending_is_never_shown_and_that_is_found() {
    let failed = check::projection(with(Mistake::IsNeverPending))
        .run()
        .failed;
    let report = failed
        .and_then(|failed| failed.report)
        .expect("it is found");
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

        fn key(&self, _: u32) -> (u32, &'static str) {
            panic!("no key")
        }

        fn input(&self, nth: u64, chance: &mut Chance) -> Edit {
            self.fold().input(nth, chance)
        }

        fn version(&self, nth: u64) -> Tag {
            self.fold().version(nth)
        }
    }

    check::fold(Hopeless).seeds(0..1).run().assert_held();
}
