//! `Applied` and `Sessions` beside models that remember everything.

use std::{collections::BTreeSet, num::NonZeroUsize};

use ferry_core::applied::{Applied, Bounds, Check, Fingerprint, Sessions};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// Few enough ids that they meet again often, and that all can be asked for after every step.
const IDS: u8 = 24;
const CONTENTS: u8 = 2;

/// An input: `IDS` ids, `CONTENTS` contents.
#[derive(Clone, Copy, Debug)]
struct Input {
    id: u8,
    content: u8,
}

impl Arbitrary for Input {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            id: u8::arbitrary(g) % IDS,
            content: u8::arbitrary(g) % CONTENTS,
        }
    }
}

impl Input {
    fn all() -> impl Iterator<Item = Self> {
        (0..IDS).flat_map(|id| (0..CONTENTS).map(move |content| Self { id, content }))
    }

    fn fingerprint(self) -> Fingerprint {
        Fingerprint::of(&[self.content])
    }

    /// For sessions, an id is one of six sessions and one of four sequences.
    fn session(self) -> u8 {
        self.id / 4
    }

    fn sequence(self) -> u64 {
        u64::from(self.id % 4)
    }
}

/// From 1 to 5.
#[derive(Clone, Copy, Debug)]
struct Bound(NonZeroUsize);

impl Arbitrary for Bound {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(NonZeroUsize::MIN.saturating_add(usize::arbitrary(g) % 5))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new((1..self.0.get()).filter_map(NonZeroUsize::new).map(Self))
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Input(Input),
    /// The first is for a window or for sessions, the second for the window of sessions.
    Resize(Bound, Bound),
}

impl Arbitrary for Event {
    fn arbitrary(g: &mut Gen) -> Self {
        if u8::arbitrary(g) % 8 == 0 {
            Self::Resize(Bound::arbitrary(g), Bound::arbitrary(g))
        } else {
            Self::Input(Input::arbitrary(g))
        }
    }
}

/// The inputs that were applied, in order; an input's outcome is its position.
#[derive(Default)]
struct Log(Vec<Input>);

impl Log {
    fn outcome(&self, id: u8) -> Option<usize> {
        self.0.iter().position(|input| input.id == id)
    }

    /// What an input whose id is remembered must be told.
    fn known<'a>(&self, input: Input, outcome: &'a usize) -> Check<'a, usize> {
        if self.0[*outcome].content == input.content {
            Check::Same(outcome)
        } else {
            Check::Mismatch
        }
    }

    fn count(&self, is_counted: impl Fn(Input) -> bool) -> usize {
        self.0.iter().filter(|input| is_counted(**input)).count()
    }
}

/// Applies an input if it is new; if it is not, sees to it that it cannot be recorded either.
fn apply(applied: &mut Applied<u8, usize>, log: &mut Log, input: Input) {
    let is_new = applied.check(&input.id, input.fingerprint()) == Check::New;
    let before = applied.clone();
    let recorded = applied.record(input.id, input.fingerprint(), log.0.len());
    if is_new {
        assert_eq!(recorded, Ok(()));
        log.0.push(input);
    } else {
        let not_new = recorded.unwrap_err();
        assert_eq!((not_new.id, not_new.outcome), (input.id, log.0.len()));
        assert_eq!(*applied, before);
    }
}

fn apply_in_session(sessions: &mut Sessions<u8, usize>, log: &mut Log, input: Input) {
    let (session, sequence) = (input.session(), input.sequence());
    let is_new = sessions.check(&session, sequence, input.fingerprint()) == Check::New;
    let before = sessions.clone();
    let recorded = sessions.record(session, sequence, input.fingerprint(), log.0.len());
    if is_new {
        assert_eq!(recorded, Ok(()));
        log.0.push(input);
    } else {
        let not_new = recorded.unwrap_err();
        assert_eq!(not_new.id, (session, sequence));
        assert_eq!(not_new.outcome, log.0.len());
        assert_eq!(*sessions, before);
    }
}

quickcheck! {
    /// With one window throughout, every answer follows from what was applied, in whatever order.
    fn window_answers_by_how_many_larger_ids_were_applied(window: Bound, inputs: Vec<Input>) -> () {
        let window = window.0;
        let mut applied = Applied::new(window);
        let mut log = Log::default();
        for input in inputs {
            apply(&mut applied, &mut log, input);
            assert_eq!(applied.len(), log.0.len().min(window.get()));
            for asked in Input::all() {
                let larger = log.count(|input| input.id > asked.id);
                let outcome = log.outcome(asked.id);
                let expected = match &outcome {
                    _ if larger >= window.get() => Check::TooOld,
                    Some(outcome) => log.known(asked, outcome),
                    None => Check::New,
                };
                assert_eq!(applied.check(&asked.id, asked.fingerprint()), expected, "{asked:?}");
            }
        }
    }

    /// With a window that changes, what was ever pushed out stays too old.
    fn window_never_takes_back_what_it_forgot(window: Bound, events: Vec<Event>) -> () {
        let mut applied = Applied::new(window.0);
        let mut log = Log::default();
        let mut remembered = BTreeSet::new();
        let mut forgotten = BTreeSet::new();
        for event in events {
            match event {
                Event::Input(input) => {
                    let applied_before = log.0.len();
                    apply(&mut applied, &mut log, input);
                    remembered.extend(log.0[applied_before..].iter().map(|input| input.id));
                }
                Event::Resize(window, _) => applied.resize(window.0),
            }
            let window = applied.window().get();
            while remembered.len() > window {
                forgotten.extend(remembered.pop_first());
            }
            assert!(applied.iter().map(|(&id, ..)| id).eq(remembered.iter().copied()));
            for asked in Input::all() {
                let outcome = log.outcome(asked.id);
                let is_below_forgotten = forgotten.last().is_some_and(|last| asked.id <= *last);
                let is_below_full = remembered.range(asked.id..).count() >= window;
                let expected = match &outcome {
                    Some(outcome) if remembered.contains(&asked.id) => log.known(asked, outcome),
                    _ if is_below_forgotten || is_below_full => Check::TooOld,
                    _ => Check::New,
                };
                assert_eq!(applied.check(&asked.id, asked.fingerprint()), expected, "{asked:?}");
            }
        }
    }

    /// With one pair of bounds throughout, every answer follows from what was applied, and when.
    fn sessions_answer_by_use_and_by_larger_sequences(
        sessions: Bound,
        window: Bound,
        inputs: Vec<Input>
    ) -> () {
        let bounds = Bounds { sessions: sessions.0, window: window.0 };
        let mut sessions = Sessions::new(bounds);
        let mut log = Log::default();
        for input in inputs {
            apply_in_session(&mut sessions, &mut log, input);
            let was_forgotten = |session: u8| {
                let last_use = log.0.iter().rposition(|input| input.session() == session);
                let later = last_use.map(|last| &log.0[last + 1..]).unwrap_or_default();
                let others: BTreeSet<u8> = later.iter().map(|input| input.session()).collect();
                others.len() >= bounds.sessions.get()
            };
            for asked in Input::all() {
                let session = asked.session();
                let outcome = log.outcome(asked.id);
                let was_used = log.count(|input| input.session() == session) > 0;
                let larger = log.count(|input| input.session() == session && input.id > asked.id);
                let is_too_old = if was_used {
                    was_forgotten(session) || larger >= bounds.window.get()
                } else {
                    (session..IDS).any(was_forgotten)
                };
                let expected = match &outcome {
                    _ if is_too_old => Check::TooOld,
                    Some(outcome) => log.known(asked, outcome),
                    None => Check::New,
                };
                let check = sessions.check(&session, asked.sequence(), asked.fingerprint());
                assert_eq!(check, expected, "{asked:?}");
            }
        }
    }

    /// Whatever happens to the bounds: nothing applied is new again, no answer is another's, and no
    /// more is held than the bounds say.
    fn sessions_never_apply_twice(sessions: Bound, window: Bound, events: Vec<Event>) -> () {
        let mut bounds = Bounds { sessions: sessions.0, window: window.0 };
        let mut sessions = Sessions::new(bounds);
        let mut log = Log::default();
        for event in events {
            match event {
                Event::Input(input) => apply_in_session(&mut sessions, &mut log, input),
                Event::Resize(sessions_max, window) => {
                    bounds = Bounds { sessions: sessions_max.0, window: window.0 };
                    sessions.resize(bounds);
                }
            }
            assert!(sessions.len() <= bounds.sessions.get());
            assert!(sessions.iter().all(|(_, held)| held.len() <= bounds.window.get()));
            for asked in Input::all() {
                let check = sessions.check(&asked.session(), asked.sequence(), asked.fingerprint());
                match log.outcome(asked.id) {
                    Some(outcome) => {
                        let is_answer = check == log.known(asked, &outcome);
                        assert!(is_answer || check == Check::TooOld, "{asked:?}: {check:?}");
                    }
                    None => assert!(matches!(check, Check::New | Check::TooOld), "{asked:?}"),
                }
            }
        }
    }

    /// A client with W requests under way, which overtake each other and are sent again when an
    /// answer is lost, is never told that one is too old.
    fn a_client_with_a_window_of_requests_is_always_answered(
        window: Bound,
        deliveries: Vec<(u8, bool)>
    ) -> () {
        let window = window.0;
        let mut sessions = Sessions::new(Bounds { sessions: NonZeroUsize::MIN, window });
        let mut answered = BTreeSet::new();
        for (choice, is_answer_lost) in deliveries {
            let first_unanswered = (0..).find(|sequence| !answered.contains(sequence)).unwrap();
            let under_way: Vec<u64> = (first_unanswered..first_unanswered + window.get() as u64)
                .filter(|sequence| !answered.contains(sequence))
                .collect();
            let sequence = under_way[usize::from(choice) % under_way.len()];
            let fingerprint = Fingerprint::of(&sequence.to_le_bytes());
            match sessions.check(&'c', sequence, fingerprint) {
                Check::New => sessions.record('c', sequence, fingerprint, sequence).unwrap(),
                Check::Same(outcome) => assert_eq!(*outcome, sequence),
                no_answer @ (Check::Mismatch | Check::TooOld) => panic!("{no_answer:?}"),
            }
            if !is_answer_lost {
                answered.insert(sequence);
            }
        }
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use super::*;
    use serde_json::{Value, from_str, json, to_string};

    type Window = Applied<u8, usize>;
    type BySession = Sessions<u8, usize>;

    fn bounds(sessions: usize, window: usize) -> Bounds {
        Bounds {
            sessions: NonZeroUsize::new(sessions).unwrap(),
            window: NonZeroUsize::new(window).unwrap(),
        }
    }

    // A record that was written once must be readable for good: a change here is a new format.
    #[test]
    fn the_window_is_written_like_this() {
        let two = NonZeroUsize::new(2).unwrap();
        let mut applied = Applied::new(two);
        let empty = r#"[1,{"window":2,"floor":null,"held":[]}]"#;
        assert_eq!(to_string(&applied).unwrap(), empty);
        assert_eq!(from_str::<Applied<u128, String>>(empty).unwrap(), applied);

        for (id, outcome) in [(u128::MAX - 1, "a"), (u128::MAX, "b")] {
            let fingerprint = Fingerprint::of(outcome.as_bytes());
            applied.record(id, fingerprint, outcome.to_owned()).unwrap();
        }
        applied.resize(NonZeroUsize::MIN);
        applied.resize(two);
        let written = concat!(
            r#"[1,{"window":2,"floor":[340282366920938463463374607431768211454],"held":["#,
            r#"[340282366920938463463374607431768211455,"#,
            r#""d228cb69721a8caf78912b704e4a8d15","b"]]}]"#,
        );
        assert_eq!(to_string(&applied).unwrap(), written);
        assert_eq!(from_str::<Applied<u128, String>>(written).unwrap(), applied);
    }

    #[test]
    fn sessions_are_written_like_this() {
        let mut sessions = Sessions::new(bounds(2, 1));
        for (session, sequence) in [("p", 1), ("r", 4), ("q", 1), ("r", 5)] {
            let fingerprint = Fingerprint::of(b"");
            let session = session.to_owned();
            sessions
                .record(session, sequence, fingerprint, sequence)
                .unwrap();
        }
        let written = concat!(
            r#"[1,{"sessions":2,"window":1,"floor":["p"],"held":["#,
            r#"{"session":"q","floor":null,"held":[[1,"6c62272e07bb014262b821756295c58d",1]]},"#,
            r#"{"session":"r","floor":[4],"held":[[5,"6c62272e07bb014262b821756295c58d",5]]}]}]"#,
        );
        assert_eq!(to_string(&sessions).unwrap(), written);
        assert_eq!(
            from_str::<Sessions<String, u64>>(written).unwrap(),
            sessions
        );
    }

    // The same content in a format without field names: sixteen bytes are sixteen bytes there.
    #[test]
    fn both_forms_are_written_as_bytes_where_nobody_reads_them() {
        let fingerprint = Fingerprint::from([0xaa; 16]);
        let mut applied = Applied::new(NonZeroUsize::MIN);
        for id in [4_u8, 5] {
            applied.record(id, fingerprint, 9_usize).unwrap();
        }
        let held = [&[5], [0xaa; 16].as_slice(), &[9]].concat();
        let written = postcard::to_allocvec(&applied).unwrap();
        assert_eq!(written, [&[1, 1, 1, 4, 1], held.as_slice()].concat());
        assert_eq!(postcard::from_bytes::<Window>(&written).unwrap(), applied);
        assert!(postcard::from_bytes::<Window>(&[2]).is_err());

        let mut sessions = Sessions::new(bounds(3, 2));
        sessions.record(7_u8, 5, fingerprint, 9_usize).unwrap();
        let written = postcard::to_allocvec(&sessions).unwrap();
        assert_eq!(
            written,
            [&[1, 3, 2, 0, 1, 7, 0, 1], held.as_slice()].concat()
        );
        assert_eq!(
            postcard::from_bytes::<BySession>(&written).unwrap(),
            sessions
        );
    }

    #[test]
    fn a_fingerprint_is_written_with_all_its_digits() {
        let fingerprint = Fingerprint::from(0x0a_u128.to_be_bytes());
        let written = r#""0000000000000000000000000000000a""#;
        assert_eq!(to_string(&fingerprint).unwrap(), written);
        assert_eq!(from_str::<Fingerprint>(written).unwrap(), fingerprint);
    }

    // In JSON an absent floor and a floor that is itself absent would look alike.
    #[test]
    fn an_id_that_is_written_as_nothing_is_still_a_floor() {
        let mut applied = Applied::new(NonZeroUsize::MIN);
        applied.record(None, Fingerprint::of(b""), 0).unwrap();
        applied.record(Some(1), Fingerprint::of(b""), 1).unwrap();
        applied.resize(NonZeroUsize::new(2).unwrap());
        let stored: Applied<Option<u8>, u8> = from_str(&to_string(&applied).unwrap()).unwrap();
        assert_eq!(stored.check(&None, Fingerprint::of(b"")), Check::TooOld);
    }

    #[test]
    fn an_unknown_format_says_what_to_do_whatever_follows() {
        for written in [r#"[2,{"window":2}]"#, r#"[2,"anything"]"#, "[2]", "[2,1,1]"] {
            let error = from_str::<Window>(written).unwrap_err().to_string();
            assert!(error.contains("in format 2"), "{error}");
            assert!(error.contains("reads only format 1"), "{error}");
            assert!(error.contains("update it here"), "{error}");
            let error = from_str::<BySession>(written).unwrap_err().to_string();
            assert!(error.contains("in format 2"), "{error}");
        }
    }

    fn print(content: u8) -> String {
        let bytes = Fingerprint::of(&[content]).to_bytes();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_window_that_cannot_be_is_refused_with_the_reason() {
        let (a, b) = (json!([1, print(0), 0]), json!([2, print(0), 1]));
        let content = |window: i64, floor: Value, held: Value| json!([1, { "window": window, "floor": floor, "held": held }]);
        let none = json!(null);
        let read = |written: &Value| from_str::<Window>(&written.to_string());
        assert!(read(&content(2, none.clone(), json!([a, b]))).is_ok());
        assert!(read(&content(2, json!([0]), json!([a, b]))).is_ok());
        for (written, reason) in [
            (content(0, none.clone(), json!([])), "nonzero"),
            (content(-1, none.clone(), json!([])), "-1"),
            (
                content(1, none.clone(), json!([a, b])),
                "2 are held where at most 1",
            ),
            (content(2, none.clone(), json!([b, a])), "do not go up"),
            (content(2, none.clone(), json!([a, a])), "do not go up"),
            (content(2, json!([1]), json!([a, b])), "do not go up"),
            (content(2, json!([9]), json!([a, b])), "do not go up"),
            (content(2, json!([]), json!([a, b])), "invalid length 0"),
            (
                content(2, none.clone(), json!([[1, "", 0]])),
                "32 lower-case",
            ),
            (
                content(2, none, json!([[1, print(0).to_uppercase(), 0]])),
                "32 lower-case",
            ),
            (
                json!([1, { "window": 1, "floor": null }]),
                "missing field `held`",
            ),
            (json!([1, { "windows": 1 }]), "unknown field `windows`"),
            (json!([1]), "invalid length 1"),
            (json!([]), "invalid length 0"),
            (json!({ "window": 1 }), "pair of format number and content"),
        ] {
            let error = read(&written).unwrap_err().to_string();
            assert!(error.contains(reason), "{written}: {error}");
        }
    }

    #[test]
    fn sessions_that_cannot_be_are_refused_with_the_reason() {
        let held =
            |session: u8, held: Value| json!({ "session": session, "floor": null, "held": held });
        let content = |sessions: usize, floor: Value, held: Value| json!([1, { "sessions": sessions, "window": 1, "floor": floor, "held": held }]);
        let p = held(1, json!([[3, print(0), 0]]));
        let q = held(2, json!([[1, print(0), 1]]));
        let two = held(3, json!([[1, print(0), 0], [2, print(0), 1]]));
        let falling = held(3, json!([[2, print(0), 0], [1, print(0), 1]]));
        let none = json!(null);
        let read = |written: &Value| from_str::<BySession>(&written.to_string());
        assert!(read(&content(2, none.clone(), json!([q, p]))).is_ok());
        assert!(read(&content(2, json!([9]), json!([q, p]))).is_ok());
        for (written, reason) in [
            (content(0, none.clone(), json!([])), "nonzero"),
            (
                content(1, none.clone(), json!([p, q])),
                "2 are held where at most 1",
            ),
            (content(2, none.clone(), json!([p, p])), "held twice"),
            (content(2, json!([1]), json!([p, q])), "held and forgotten"),
            (
                content(2, none.clone(), json!([two])),
                "2 are held where at most 1",
            ),
            (content(2, none, json!([falling])), "do not go up"),
        ] {
            let error = read(&written).unwrap_err().to_string();
            assert!(error.contains(reason), "{written}: {error}");
        }
    }

    /// Text close to what is written: any part may be wrong, most are right.
    #[derive(Clone, Debug)]
    struct AlmostWritten(String);

    impl Arbitrary for AlmostWritten {
        fn arbitrary(g: &mut Gen) -> Self {
            const WRONG: [&str; 5] = ["", "0", "[", "\"", "9999999999999999999999"];
            let mut below = |n: u8| u8::arbitrary(g) % n;
            let held: Vec<Value> = (0..below(4))
                .map(|_| json!([below(9), print(below(2)), below(4)]))
                .collect();
            let floor = if below(2) == 0 {
                json!(null)
            } else {
                json!([below(9)])
            };
            let content = if below(2) == 0 {
                json!({ "window": below(4), "floor": floor, "held": held })
            } else {
                let sessions: Vec<Value> = (0..below(3))
                    .map(|_| json!({ "session": below(4), "floor": floor, "held": held }))
                    .collect();
                let floor = json!([below(4)]);
                json!({ "sessions": below(4), "window": 3, "floor": floor, "held": sessions })
            };
            let mut text = json!([1, content]).to_string();
            if below(4) == 0 {
                let at = usize::from(below(u8::MAX)) % text.len();
                text.replace_range(at..=at, WRONG[usize::from(below(5))]);
            }
            Self(text)
        }
    }

    /// What was read respects its bounds, is written and read again as the same, and goes on.
    fn is_sound_if_read(text: &str) {
        if let Ok(mut applied) = from_str::<Window>(text) {
            assert!(applied.len() <= applied.window().get());
            assert!(applied.iter().map(|(id, ..)| id).is_sorted_by(|a, b| a < b));
            assert_eq!(
                from_str::<Window>(&to_string(&applied).unwrap()).unwrap(),
                applied
            );
            let _ = applied.record(u8::MAX, Fingerprint::of(b""), 0);
            assert!(applied.len() <= applied.window().get());
        }
        if let Ok(mut sessions) = from_str::<BySession>(text) {
            assert!(sessions.len() <= sessions.bounds().sessions.get());
            assert_eq!(sessions.iter().count(), sessions.len());
            assert_eq!(
                from_str::<BySession>(&to_string(&sessions).unwrap()).unwrap(),
                sessions
            );
            let _ = sessions.record(u8::MAX, u64::MAX, Fingerprint::of(b""), 0);
            assert!(sessions.len() <= sessions.bounds().sessions.get());
        }
    }

    fn run_window(applied: &mut Window, events: &[Event]) {
        for (outcome, event) in events.iter().enumerate() {
            match event {
                Event::Input(input) => {
                    let _ = applied.record(input.id, input.fingerprint(), outcome);
                }
                Event::Resize(window, _) => applied.resize(window.0),
            }
        }
    }

    fn run_sessions(sessions: &mut BySession, events: &[Event]) {
        for (outcome, event) in events.iter().enumerate() {
            match event {
                Event::Input(input) => {
                    let (session, sequence) = (input.session(), input.sequence());
                    let _ = sessions.record(session, sequence, input.fingerprint(), outcome);
                }
                Event::Resize(max, window) => {
                    sessions.resize(bounds(max.0.get(), window.0.get()));
                }
            }
        }
    }

    quickcheck! {
        /// What was read goes on exactly as what was written would have.
        fn a_window_survives_being_stored(
            window: Bound,
            before: Vec<Event>,
            after: Vec<Event>
        ) -> () {
            let mut applied = Applied::new(window.0);
            run_window(&mut applied, &before);
            let written = to_string(&applied).unwrap();
            let mut stored: Window = from_str(&written).unwrap();
            assert_eq!(stored, applied);
            assert_eq!(to_string(&stored).unwrap(), written);
            run_window(&mut applied, &after);
            run_window(&mut stored, &after);
            assert_eq!(stored, applied);
        }

        /// What was read goes on exactly as what was written would have.
        fn sessions_survive_being_stored(
            sessions: Bound,
            window: Bound,
            before: Vec<Event>,
            after: Vec<Event>
        ) -> () {
            let mut sessions = Sessions::new(bounds(sessions.0.get(), window.0.get()));
            run_sessions(&mut sessions, &before);
            let written = to_string(&sessions).unwrap();
            let mut stored: BySession = from_str(&written).unwrap();
            assert_eq!(stored, sessions);
            assert_eq!(to_string(&stored).unwrap(), written);
            run_sessions(&mut sessions, &after);
            run_sessions(&mut stored, &after);
            assert_eq!(stored, sessions);
            assert_eq!(to_string(&stored).unwrap(), to_string(&sessions).unwrap());
        }

        fn reading_text_that_is_almost_right_never_panics(text: AlmostWritten) -> () {
            is_sound_if_read(&text.0);
        }

        fn reading_any_bytes_never_panics(bytes: Vec<u8>) -> () {
            assert!(serde_json::from_slice::<Window>(&bytes).is_err());
            assert!(serde_json::from_slice::<BySession>(&bytes).is_err());
            let _ = postcard::from_bytes::<Window>(&bytes);
            let _ = postcard::from_bytes::<BySession>(&bytes);
        }
    }
}
