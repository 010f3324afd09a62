//! How spans hang together, and what is loud.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use ferry_tokio::{BlockingStore, Commit, CommitError, Fault, Fold, RecordOf, Schema, StepOf};
use tracing::{Dispatch, Instrument, Level, dispatcher, info_span};

use super::{
    purses::{Broken, Goes, Id, Input, Key, Purses, SECRET, Shelf, What, input, put},
    seeing::Told,
    stories::{Handles, builder},
};

#[tokio::test(start_paused = true)]
async fn a_batch_follows_from_where_its_inputs_came_from() {
    let (told, _guard) = Told::here();
    let shelf = Shelf::default();
    let ferry = builder().fold_write(Purses, shelf.clone()).unwrap();
    let submit = |id| ferry.submit(Key::new(1), put(id)).unwrap();
    shelf.commits([Goes::Slow]);
    let first = submit(1);
    let (one, other) = (info_span!("one"), info_span!("other"));
    let mut kept = one.in_scope(|| vec![submit(2), submit(3)]);
    kept.extend(other.in_scope(|| [submit(4)]));
    kept.push(submit(5));
    first.await.unwrap();
    for submission in kept {
        submission.await.unwrap();
    }

    let batches = told.named("ferry.batch");
    let [one, other] = ["one", "other"].map(|name| told.named(name)[0].0);
    let follows: Vec<_> = batches
        .iter()
        .map(|(_, batch)| batch.follows.clone())
        .collect();
    assert_eq!(follows, [vec![], vec![one, other]]);
    let inputs: Vec<_> = batches
        .iter()
        .map(|(_, batch)| batch.fields["inputs"].clone())
        .collect();
    assert_eq!(inputs, ["1", "4"]);
}

#[tokio::test(start_paused = true)]
async fn links_are_bounded() {
    let (told, _guard) = Told::here();
    let shelf = Shelf::default();
    let ferry = builder().fold_write(Purses, shelf.clone()).unwrap();
    let submit = |id| ferry.submit(Key::new(1), put(id)).unwrap();
    shelf.commits([Goes::Slow]);
    let first = submit(1);
    let callers: Vec<_> = (0..200).map(|_| info_span!("caller")).collect();
    let others = callers
        .iter()
        .zip(2..)
        .map(|(caller, id)| caller.in_scope(|| submit(id)));
    let others: Vec<_> = others.collect();
    first.await.unwrap();
    for submission in others {
        submission.await.unwrap();
    }
    let (_, batch) = &told.named("ferry.batch")[1];
    assert_eq!(
        (batch.follows.len(), &*batch.fields["inputs"]),
        (128, "200")
    );
}

#[tokio::test(start_paused = true)]
async fn a_span_is_not_kept_open_for_a_link() {
    let (told, _guard) = Told::here();
    let shelf = Shelf::default();
    let ferry = builder().fold_write(Purses, shelf.clone()).unwrap();
    shelf.commits([Goes::Slow]);
    let submit = |id| ferry.submit(Key::new(1), put(id)).unwrap();
    let first = submit(1);
    let second = info_span!("caller").in_scope(|| submit(2));
    assert!(!told.named("caller")[0].1.is_open);
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(told.named("ferry.batch")[1].1.follows, [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn tries_are_below_their_batch_and_the_store_below_its_try() {
    let (told, _guard) = Told::here();
    let shelf = Shelf::default().looked_at_by(|| drop(info_span!("select")));
    let ferry = builder().fold_write(Purses, shelf.clone()).unwrap();
    shelf.commits([Goes::Refused]);
    ferry.submit(Key::new(1), put(1)).unwrap().await.unwrap();
    ferry.close().await;

    let batches = told.named("ferry.batch");
    let tries = told.named("ferry.try");
    let selects = told.named("select");
    let [(batch, seen)] = &batches[..] else {
        panic!("{batches:?}")
    };
    assert_eq!(seen.parent, None);
    assert_eq!(
        (&*seen.fields["tries"], &*seen.fields["end"]),
        ("2", "answered")
    );
    let said =
        |at: usize| ["number", "read", "commit"].map(|field| tries[at].1.fields[field].as_str());
    assert_eq!(
        [said(0), said(1)],
        [["1", "absent", "refused"], ["2", "absent", "landed"]]
    );
    for ((place, span), (_, select)) in tries.iter().zip(&selects) {
        assert_eq!((span.parent, select.parent), (Some(*batch), Some(*place)));
    }
    let events = told.events();
    assert_eq!(events.len(), 1);
    assert_eq!(
        (&*events[0].message, events[0].parent),
        ("a pause", Some(*batch))
    );
    // Between two tries, and in neither of them.
    assert!(told.spans().iter().all(|span| !span.is_open));
}

/// Blocks, on a thread that the subscriber has to be told of.
struct Blocking {
    dispatch: Dispatch,
    within: Arc<Mutex<Vec<&'static str>>>,
}

impl Schema for Blocking {
    type Key = Key;
    type Id = Id;
    type State = ();
    type Version = ();
    type Entry = ();
    type Error = Broken;
}

impl BlockingStore for Blocking {
    fn read(&self, _key: &Key, _ids: &[Id]) -> Result<Option<RecordOf<Self>>, Fault<Broken>> {
        let current = dispatcher::with_default(&self.dispatch, || {
            tracing::Span::current().metadata().map(|span| span.name())
        });
        self.within.lock().unwrap().extend(current);
        Ok(None)
    }

    fn commit(&self, _key: &Key, _: Commit<'_, Self>) -> Result<(), CommitError<Broken>> {
        Ok(())
    }
}

struct Nothing;

impl Fold for Nothing {
    type Schema = Blocking;
    type Input = Input;
    type Outcome = ();

    fn id(&self, input: &Input) -> Id {
        Purses.id(input)
    }

    fn empty(&self, _key: &Key) {}

    fn step(&self, _state: &mut (), _input: &Input) -> StepOf<Self> {
        ferry_tokio::Step::Applied((), ())
    }
}

#[tokio::test]
async fn a_store_that_blocks_is_below_its_try_too() {
    let (_told, _guard) = Told::here();
    let dispatch = dispatcher::get_default(Dispatch::clone);
    let within = Arc::default();
    let store = Blocking {
        dispatch,
        within: Arc::clone(&within),
    };
    let ferry = builder().fold_write_blocking(Nothing, store).unwrap();
    ferry.submit(Key::new(1), put(1)).unwrap().await.unwrap();
    ferry.close().await;
    assert_eq!(*within.lock().unwrap(), ["ferry.try"]);
}

#[tokio::test(start_paused = true)]
async fn a_resume_follows_from_all_whom_it_answers() {
    let (told, _guard) = Told::here();
    let shelf = Shelf::default();
    let ferry = builder().projected_write(Purses, shelf.clone()).unwrap();
    shelf.projections([Goes::Permanent]);
    ferry.submit(Key::new(1), put(1)).unwrap().await.unwrap();
    let resume = |name: &str| {
        let caller = info_span!("caller", name);
        caller
            .in_scope(|| ferry.resume(&Key::new(1)))
            .instrument(caller.clone())
    };
    let (one, other) = (resume("one"), resume("other"));
    one.await.unwrap();
    other.await.unwrap();
    let callers: Vec<_> = told
        .named("caller")
        .into_iter()
        .map(|(place, _)| place)
        .collect();
    let resumes = told.named("ferry.resume");
    let [(resume, seen)] = &resumes[..] else {
        panic!("{resumes:?}")
    };
    assert_eq!(seen.follows, callers);
    let projections = told.named("ferry.project");
    let parents: Vec<_> = projections.iter().map(|(_, span)| span.parent).collect();
    assert_eq!(
        parents,
        [Some(told.named("ferry.batch")[0].0), Some(*resume)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_sweep_is_where_it_is_awaited_and_its_resumes_follow_from_it() {
    let (told, _guard) = Told::here();
    let ferry = builder().projected_write(Purses, Shelf::default()).unwrap();
    let caller = info_span!("caller");
    async { ferry.sweep([Key::new(1)]).await }
        .instrument(caller)
        .await;
    let (sweep, seen) = told.named("ferry.sweep").remove(0);
    assert_eq!(seen.parent, Some(told.named("caller")[0].0));
    assert_eq!(told.named("ferry.resume")[0].1.follows, [sweep]);
    assert_eq!(
        (&*seen.fields["taken"], &*seen.fields["was_cut_short"]),
        ("1", "false")
    );
}

#[tokio::test(start_paused = true)]
async fn what_ends_well_is_quiet() {
    let (told, _guard) = Told::here();
    let shelf = Shelf::default();
    let ferry = builder()
        .max_queueing(3)
        .projected_write(Purses, shelf.clone())
        .unwrap();
    let submit = |input| ferry.submit(Key::new(1), input);
    let goes = [
        Goes::Refused,
        Goes::Transient,
        Goes::Throttled,
        Goes::InDoubt,
        Goes::Lost,
    ];
    for (id, go) in (1..).zip(goes) {
        shelf.commits([go]);
        shelf.projections([go]);
        let (first, twin) = (submit(put(id)).unwrap(), submit(put(id)).unwrap());
        let declined = submit(input(100 + id, What::Take(99))).unwrap();
        drop(submit(put(100)).unwrap_err());
        first.await.unwrap();
        twin.await.unwrap();
        declined.await.unwrap();
    }
    shelf.commits([Goes::Slow]);
    let first = submit(put(50)).unwrap();
    drop(submit(put(51)).unwrap());
    let second = Duration::from_secs(1);
    let expired = ferry.submit_within(Key::new(1), put(52), second).unwrap();
    expired.await.unwrap_err();
    first.await.unwrap();
    ferry.close().await;
    assert!(told.events().iter().any(|event| event.message == "a pause"));
    assert_eq!(told.loud(), []);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_fails_is_told_once() {
    let (told, _guard) = Told::here();
    let shelf = Shelf::default();
    let ferry = builder().fold_write(Purses, shelf.clone()).unwrap();
    shelf.commits([Goes::Slow, Goes::Refused, Goes::Refused, Goes::Refused]);
    let submit = |id| ferry.submit(Key::new(1), put(id)).unwrap();
    let first = submit(1);
    let others: Vec<_> = (2..40).map(submit).collect();
    first.await.unwrap();
    for submission in others {
        submission.await.unwrap_err();
    }
    assert_eq!(told.loud(), [(Level::WARN, "inputs failed".to_owned())]);
    let event = told.events().into_iter().next_back().unwrap();
    let said = ["failed", "inputs", "cause"].map(|field| event.fields[field].as_str());
    assert_eq!(said, ["38", "38", "refused"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_of_the_users_is_told() {
    let (told, _guard) = Told::here();
    Handles::new().go_through_everything().await;
    let spans = told.spans().into_iter().map(|span| span.fields);
    let events = told.events().into_iter().map(|event| event.fields);
    for (field, value) in spans.chain(events).flatten() {
        assert!(!value.contains(SECRET), "{field}: {value}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_hears_only_warnings_hears_them_whole() {
    let (told, _guard) = Told::from(Level::WARN);
    let shelf = Shelf::default();
    let ferry = builder()
        .name("lonely")
        .fold_write(Purses, shelf.clone())
        .unwrap();
    shelf.commits([Goes::Permanent]);
    let caller = info_span!("caller");
    let submission = caller.in_scope(|| ferry.submit(Key::new(1), put(1)).unwrap());
    submission.await.unwrap_err();
    assert_eq!(told.spans().len(), 0);
    let events = told.events();
    assert_eq!((events.len(), &*events[0].fields["handle"]), (1, "lonely"));
}
