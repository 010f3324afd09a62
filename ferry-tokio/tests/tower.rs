//! A handle under the layers of `tower`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use ferry_tokio::{BatchCall, Failure, Ferry, FerryService, OwnCallOf, Reason, ServiceError};
use tokio::sync::Semaphore;
use tower::{
    BoxError, Service, ServiceBuilder, ServiceExt, load_shed::error::Overloaded, retry::Policy,
    timeout::error::Elapsed,
};

/// Lets a batch through for each permit, and remembers it.
struct Lock {
    open: Semaphore,
    passed: Mutex<Vec<Vec<u64>>>,
}

impl BatchCall for Lock {
    type Key = u64;
    type Input = u64;
    type Outcome = u64;

    async fn call(&self, _key: &u64, inputs: &mut Vec<u64>, outcomes: &mut Vec<u64>) {
        self.open.acquire().await.unwrap().forget();
        self.passed.lock().unwrap().push(inputs.clone());
        outcomes.append(inputs);
    }
}

type Locked = Ferry<OwnCallOf<Arc<Lock>>>;

/// A handle with room for so many, and what holds its batches up.
fn locked(room: usize) -> (Locked, Arc<Lock>) {
    let lock = Arc::new(Lock {
        open: Semaphore::new(0),
        passed: Mutex::default(),
    });
    let builder = ferry_tokio::Builder::new().max_queueing(room);
    (builder.batch_call(Arc::clone(&lock)).unwrap(), lock)
}

async fn is_ready<S: Service<R>, R>(service: &mut S) -> bool {
    let ready = std::pin::pin!(service.ready());
    futures_lite::future::poll_once(ready).await.is_some()
}

#[tokio::test]
async fn a_service_is_ready_when_there_is_room_and_keeps_it() {
    let (ferry, lock) = locked(1);
    let mut service = FerryService::new(ferry.clone());
    assert!(is_ready(&mut service).await);
    // It is set aside.
    assert_eq!(ferry.submit(1, 1).unwrap_err().reason, Reason::QueueFull);
    let answering = service.call((7, 42));
    assert!(!is_ready(&mut service).await);
    lock.open.add_permits(1);
    assert_eq!(answering.await.unwrap(), 42);
    assert!(is_ready(&mut service).await);
}

#[tokio::test]
async fn services_become_ready_in_the_order_in_which_they_asked() {
    let (ferry, _lock) = locked(1);
    let first = FerryService::new(ferry);
    let (mut second, mut third) = (first.clone(), first.clone());
    let mut first = first;
    assert!(is_ready(&mut first).await);
    assert!(!is_ready(&mut second).await);
    assert!(!is_ready(&mut third).await);
    drop(first);
    assert!(!is_ready(&mut third).await);
    assert!(is_ready(&mut second).await);
    // A clone of one that is ready is not.
    assert!(!is_ready(&mut second.clone()).await);
    drop(second);
    assert!(is_ready(&mut third).await);
}

#[tokio::test]
async fn a_place_goes_to_the_call_and_not_to_who_waits_for_one() {
    let (ferry, lock) = locked(1);
    let mut ready = FerryService::new(ferry);
    let mut waiting = ready.clone();
    assert!(is_ready(&mut ready).await);
    assert!(!is_ready(&mut waiting).await);
    let called = ready.call((7, 1));
    assert!(!is_ready(&mut waiting).await);
    lock.open.add_permits(2);
    assert_eq!(called.await.unwrap(), 1);
    let next = waiting.ready().await.unwrap().call((7, 2));
    assert_eq!(next.await.unwrap(), 2);
}

#[tokio::test]
#[should_panic(expected = "`call` without `poll_ready`")]
async fn a_call_without_room_is_refused_loudly() {
    let (ferry, _lock) = locked(1);
    drop(FerryService::new(ferry).call((7, 42)));
}

#[tokio::test]
async fn what_a_key_has_no_room_for_is_rejected_by_the_call() {
    let builder = ferry_tokio::Builder::new()
        .max_queueing(2)
        .max_queueing_per_key(1);
    let ferry = builder
        .per_key(|_: u64, inputs: Vec<u64>| async { inputs })
        .unwrap();
    let mut service = FerryService::from(ferry);
    let first = service.ready().await.unwrap().call((7, 1));
    let second = service.ready().await.unwrap().call((7, 2));
    assert!(matches!(
        second.await,
        Err(ServiceError::Rejected(Reason::KeyFull))
    ));
    assert_eq!(first.await.unwrap(), 1);
}

#[tokio::test]
async fn a_closed_handle_is_never_ready() {
    let (ferry, _lock) = locked(1);
    let mut waiting = FerryService::new(ferry.clone());
    let mut ready = waiting.clone();
    assert!(is_ready(&mut ready).await);
    assert!(!is_ready(&mut waiting).await);
    ferry.close().await;
    let told = waiting.ready().await.map(drop);
    assert!(matches!(told, Err(ServiceError::Rejected(Reason::Closed))));
    let answer = ready.call((7, 42)).await;
    assert!(matches!(
        answer,
        Err(ServiceError::Rejected(Reason::Closed))
    ));
    assert_eq!(
        answer.unwrap_err().to_string(),
        format!("rejected: {}", Reason::Closed)
    );
}

#[tokio::test]
async fn load_is_shed_where_there_is_no_room() {
    let (ferry, lock) = locked(1);
    let service = ServiceBuilder::new()
        .load_shed()
        .service(FerryService::new(ferry));
    let (mut one, mut other) = (service.clone(), service);
    let accepted = one.ready().await.unwrap().call((7, 1));
    let shed = other.ready().await.unwrap().call((7, 2)).await;
    assert!(shed.unwrap_err().is::<Overloaded>());
    // What was shed stands in the line as long as it is there.
    drop(other);
    lock.open.add_permits(2);
    assert_eq!(accepted.await.unwrap(), 1);
    let again = one.ready().await.unwrap().call((7, 3));
    assert_eq!(again.await.unwrap(), 3);
    assert_eq!(*lock.passed.lock().unwrap(), [[1], [3]]);
}

#[tokio::test]
async fn one_that_rejects_is_always_ready_and_in_nobodys_way() {
    let (ferry, lock) = locked(1);
    let mut rejecting = FerryService::rejecting(ferry.clone());
    let mut another = rejecting.clone();
    assert!(is_ready(&mut rejecting).await && is_ready(&mut another).await);
    // Nothing is set aside for either.
    let accepted = ferry.submit(7, 1).unwrap();
    for service in [&mut rejecting, &mut another] {
        let shed = service.ready().await.unwrap().call((7, 2)).await;
        assert!(matches!(
            shed,
            Err(ServiceError::Rejected(Reason::QueueFull))
        ));
    }
    lock.open.add_permits(2);
    assert_eq!(accepted.await.unwrap(), 1);
    // It need not be asked whether it is ready.
    assert_eq!(rejecting.call((7, 3)).await.unwrap(), 3);
    assert_eq!(*lock.passed.lock().unwrap(), [[1], [3]]);
}

#[test]
fn a_service_goes_wherever_a_handle_does() {
    fn anywhere<T: Clone + Send + Sync + Unpin + 'static>() {}
    anywhere::<FerryService<OwnCallOf<Arc<Lock>>>>();
}

#[tokio::test(start_paused = true)]
async fn an_input_whose_time_is_up_is_withdrawn_if_it_still_waits() {
    let (ferry, lock) = locked(10);
    let mut service = ServiceBuilder::new()
        .timeout(Duration::from_secs(1))
        .service(FerryService::new(ferry.clone()));
    let in_flight = service.ready().await.unwrap().call((7, 1));
    let waiting = service.ready().await.unwrap().call((7, 2));
    let (in_flight, waiting) = tokio::join!(in_flight, waiting);
    assert!(in_flight.unwrap_err().is::<Elapsed>());
    assert!(waiting.unwrap_err().is::<Elapsed>());
    assert_eq!(ferry.stats().counters.withdrawn, 1);
    // The other is carried to its end.
    lock.open.add_permits(10);
    ferry.close().await;
    assert_eq!(*lock.passed.lock().unwrap(), [[1]]);
}

#[tokio::test]
async fn no_more_are_under_way_than_a_limit_allows() {
    let (ferry, lock) = locked(10);
    let service = ServiceBuilder::new()
        .concurrency_limit(1)
        .service(FerryService::new(ferry.clone()));
    let (mut one, mut other) = (service.clone(), service);
    let first = one.ready().await.unwrap().call((7, 1));
    assert!(!is_ready(&mut other).await);
    assert_eq!(ferry.stats().queueing, 1);
    lock.open.add_permits(2);
    assert_eq!(first.await.unwrap(), 1);
    assert_eq!(other.ready().await.unwrap().call((7, 2)).await.unwrap(), 2);
}

#[tokio::test]
async fn requests_may_be_buffered() {
    let (ferry, lock) = locked(1);
    let service = ServiceBuilder::new()
        .buffer(16)
        .service(FerryService::new(ferry.clone()));
    lock.open.add_permits(8);
    let answers = (0..8).map(|input| service.clone().oneshot((input, input)));
    let answers: Vec<_> = answers.map(tokio::spawn).collect();
    for (input, answer) in (0..8).zip(answers) {
        assert_eq!(answer.await.unwrap().unwrap(), input);
    }
    assert_eq!(ferry.stats().counters.batched, 8);
}

/// Sends again what is in doubt, under the same id.
#[derive(Clone)]
struct Again;

type Deposit = (u64, i64);

impl Policy<(u64, Deposit), i64, BoxError> for Again {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _request: &mut (u64, Deposit),
        result: &mut Result<i64, BoxError>,
    ) -> Option<Self::Future> {
        let error = result.as_ref().err()?;
        let failed = error.downcast_ref::<ServiceError<Unreachable>>()?;
        matches!(failed, ServiceError::Failed(Failure::InDoubt(_))).then(|| std::future::ready(()))
    }

    fn clone_request(&mut self, request: &(u64, Deposit)) -> Option<(u64, Deposit)> {
        Some(*request)
    }
}

type Unreachable = std::convert::Infallible;

#[tokio::test]
async fn what_is_in_doubt_may_be_sent_again() {
    // Applies what it is given, and then panics the first time: whoever waits is in doubt.
    let balances: Arc<Mutex<BTreeMap<u64, i64>>> = Arc::default();
    let applied = Arc::clone(&balances);
    let ferry = ferry_tokio::Builder::new()
        .per_key(move |_account: u64, deposits: Vec<Deposit>| {
            let applied = Arc::clone(&applied);
            async move {
                let mut applied = applied.lock().unwrap();
                let is_first = applied.is_empty();
                applied.extend(deposits.iter().copied());
                let sum = applied.values().sum();
                drop(applied);
                assert!(!is_first, "the answer is lost");
                vec![sum; deposits.len()]
            }
        })
        .unwrap();
    let mut service = ServiceBuilder::new()
        .retry(Again)
        .map_err(BoxError::from)
        .service(FerryService::new(ferry.clone()));
    let answer = service.ready().await.unwrap().call((7, (1, 10))).await;
    assert_eq!(answer.unwrap(), 10);
    assert_eq!(ferry.stats().counters.batches, 2);
    assert_eq!(*balances.lock().unwrap(), BTreeMap::from([(1, 10)]));
}
