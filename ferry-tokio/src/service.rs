//! A handle as a service, to be put under the layers of `tower`.

use std::{
    error::Error,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use ferry_core::{
    Failure,
    drive::{Carries, Ferry, Place, Submission},
    per_key::Reason,
};

/// A handle as a [`tower::Service`](tower_service::Service): a request is a key and an input.
///
/// `poll_ready` is back-pressure: it waits, in the order of arrival, until there is room in the process, and sets it aside
/// for the next call. A key's own bound (`max_queueing_per_key`) is not known until the call, and rejects it then. Each clone
/// waits for a place of its own. One that is ready keeps its place until it is called or dropped; one that has waited gets its
/// place when its turn comes, polled or not, and keeps it likewise. So poll a service that has waited, or drop it. Where nobody
/// is to wait, take one that is [`rejecting`](Self::rejecting). Under `load_shed`, that takes the place of the layer; or take a
/// clone for each request, and no clone that was shed stays in the way of others.
///
/// Under a time-out layer, an input whose time is up is withdrawn if it still waits; one in flight is carried to its end,
/// unheard. Under a retry layer, send the same id again: nothing is applied twice.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// use std::time::Duration;
/// use tower::{Service, ServiceBuilder, ServiceExt};
///
/// let ferry = ferry_tokio::Builder::new().per_key(|_key: u64, inputs: Vec<u64>| async { inputs })?;
/// let mut service = ServiceBuilder::new()
///     .load_shed()
///     .timeout(Duration::from_secs(1))
///     .service(ferry_tokio::FerryService::new(ferry));
/// assert_eq!(service.ready().await?.call((7, 42)).await?, 42);
/// # Ok(())
/// # }
/// ```
pub struct FerryService<C: Carries> {
    ferry: Ferry<C>,
    room: Room<C>,
}

/// What is known of room for the next call.
enum Room<C: Carries> {
    /// It is asked for by the call, which takes what there is.
    AtTheCall,
    Unasked,
    Awaited(Pin<Box<dyn Future<Output = Result<Place<C>, Reason>> + Send + Sync>>),
    SetAside(Place<C>),
}

impl<C: Carries> FerryService<C> {
    /// The handle as a service that waits for room.
    #[must_use]
    pub fn new(ferry: Ferry<C>) -> Self {
        let room = Room::Unasked;
        Self { ferry, room }
    }

    /// The handle as a service that is always ready: a request for which there is no room is rejected at once by the call, with
    /// [`Reason::QueueFull`]. It sheds load by itself, and nothing is set aside for it.
    #[must_use]
    pub fn rejecting(ferry: Ferry<C>) -> Self {
        let room = Room::AtTheCall;
        Self { ferry, room }
    }

    /// The handle itself.
    #[must_use]
    pub fn get_ref(&self) -> &Ferry<C> {
        &self.ferry
    }

    fn is_ready(&self) -> bool {
        matches!(self.room, Room::AtTheCall | Room::SetAside(_))
    }
}

impl<C: Carries> tower_service::Service<(C::Key, C::Input)> for FerryService<C> {
    type Response = C::Answer;
    type Error = ServiceError<C::Error>;
    type Future = Answering<C>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        loop {
            self.room = match &mut self.room {
                Room::AtTheCall | Room::SetAside(_) => return Poll::Ready(Ok(())),
                Room::Awaited(awaited) => match ready!(awaited.as_mut().poll(context)) {
                    Ok(place) => Room::SetAside(place),
                    Err(reason) => {
                        self.room = Room::Unasked;
                        return Poll::Ready(Err(ServiceError::Rejected(reason)));
                    }
                },
                Room::Unasked => match self.ferry.try_reserve() {
                    Ok(place) => Room::SetAside(place),
                    Err(_) => Room::Awaited(Box::pin(self.ferry.reserve())),
                },
            };
        }
    }

    /// # Panics
    ///
    /// When the service waits for room, and `poll_ready` did not say that it is ready.
    fn call(&mut self, (key, input): (C::Key, C::Input)) -> Answering<C> {
        let submitted = match std::mem::replace(&mut self.room, Room::Unasked) {
            Room::SetAside(place) => place.submit(key, input),
            Room::AtTheCall => {
                self.room = Room::AtTheCall;
                self.ferry.submit(key, input)
            }
            Room::Unasked | Room::Awaited(_) => {
                panic!("`call` without `poll_ready`: await `ServiceExt::ready` first")
            }
        };
        Answering(match submitted {
            Ok(submission) => Way::Accepted(submission),
            Err(rejected) => Way::Rejected(Some(rejected.reason)),
        })
    }
}

impl<C: Carries> Clone for FerryService<C> {
    /// One of the same kind. If it waits for room, it is not ready yet, whether or not this one is.
    fn clone(&self) -> Self {
        let ferry = self.ferry.clone();
        match self.room {
            Room::AtTheCall => Self::rejecting(ferry),
            Room::Unasked | Room::Awaited(_) | Room::SetAside(_) => Self::new(ferry),
        }
    }
}

impl<C: Carries> From<Ferry<C>> for FerryService<C> {
    fn from(ferry: Ferry<C>) -> Self {
        Self::new(ferry)
    }
}

impl<C: Carries> fmt::Debug for FerryService<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FerryService")
            .field("ferry", &self.ferry)
            .field("is_ready", &self.is_ready())
            .finish()
    }
}

/// Completes with the answer; see [`Submission`] for what dropping it does.
#[must_use = "dropping it withdraws the input if that still waits"]
pub struct Answering<C: Carries>(Way<C>);

enum Way<C: Carries> {
    Accepted(Submission<C::Answer, C::Error>),
    /// `None` once it was told.
    Rejected(Option<Reason>),
}

impl<C: Carries> Future for Answering<C> {
    type Output = Result<C::Answer, ServiceError<C::Error>>;

    /// # Panics
    ///
    /// When polled again after it has completed.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Way::Accepted(submission) => {
                let answer = ready!(Pin::new(submission).poll(context));
                Poll::Ready(answer.map_err(ServiceError::Failed))
            }
            Way::Rejected(reason) => match reason.take() {
                Some(reason) => Poll::Ready(Err(ServiceError::Rejected(reason))),
                None => panic!("`Answering` polled after it completed"),
            },
        }
    }
}

impl<C: Carries> fmt::Debug for Answering<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answering").finish_non_exhaustive()
    }
}

/// Why a request was not answered with an outcome. The request is not handed back: layers that send it again keep a copy.
#[derive(Debug)]
pub enum ServiceError<E> {
    /// It was not accepted. Nothing was written.
    Rejected(Reason),
    /// It was accepted, and has failed.
    Failed(Failure<E>),
}

impl<E: fmt::Display> fmt::Display for ServiceError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(reason) => write!(f, "rejected: {reason}"),
            Self::Failed(failure) => failure.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for ServiceError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Rejected(_) => None,
            Self::Failed(failure) => failure.source(),
        }
    }
}
