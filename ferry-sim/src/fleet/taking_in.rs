//! What a node does with a request: it takes the input in, by one of the handle's calls, and answers.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::drive::Runtime;
use futures_channel::oneshot;
use futures_lite::future::or;

use super::{Up, client::Errand};
use crate::{
    history::{Heard, HeardBy, SubmissionId},
    kind::Kind,
    points::Point,
    sent::{Held, Sent},
    weak::{Awaited, submit_on},
    workload::Workload,
    world::World,
};

/// After every so many submissions somebody looks at what the node shows of itself.
const LOOKS_EVERY: u64 = 4;

/// Of an input that has come in no attempt yet.
const NO_ATTEMPT: SubmissionId = SubmissionId(u64::MAX);

/// By which call of the handle an input is handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is taken in at once or not at all.
    AtOnce,
    /// It waits for room, and is taken in.
    WhenFree,
    /// Its caller waits for a place, and then hands it in on that.
    Reserving,
}

/// What a client asks of a node.
#[derive(Debug)]
pub(super) struct Request<W: Workload> {
    pub(super) errand: Errand<W>,
    pub(super) within: Option<Duration>,
    pub(super) way: Way,
    /// Whether the node's own caller goes when the client has gone.
    pub(super) drops_its_future: bool,
}

/// The attempt, and its answer; `None`: it was rejected.
type TakenIn<K> = (SubmissionId, Option<Awaited<K>>);

impl<K: Kind> World<K> {
    /// What a node does with a request.
    pub(super) async fn taken_in(
        self: Arc<Self>,
        up: Up<K>,
        request: Request<K::Load>,
        mut reply: oneshot::Sender<HeardBy<K::Load>>,
    ) {
        let drops_its_future = request.drops_its_future;
        let entering = self.enters(&up, &request);
        let entered = match drops_its_future {
            true => {
                let gone = async {
                    reply.cancellation().await;
                    None
                };
                or(entering, gone).await
            }
            false => entering.await,
        };
        // Its client has gone, or there will be no room any more.
        let Some((submission, answer)) = entered else {
            return;
        };
        if submission.0 % LOOKS_EVERY == 0 {
            self.look(&up);
        }
        drop(up);
        let answer = match answer {
            None => Some(Heard::Rejected),
            Some(answer) if drops_its_future => {
                let answer = async { Some(answer.await) };
                let gone = async {
                    reply.cancellation().await;
                    None
                };
                or(answer, gone).await
            }
            Some(answer) => Some(answer.await),
        };
        match answer {
            Some(answer) => {
                self.answered(submission, answer.clone());
                // Its client may have gone.
                let _heard = reply.send(answer);
            }
            None => {
                self.deserted(submission);
                self.met(Point::Deserted);
            }
        }
    }

    /// `None`: there is no room, and will be none, for whoever waits for it before there is an input.
    async fn enters(
        self: &Arc<Self>,
        up: &Up<K>,
        request: &Request<K::Load>,
    ) -> Option<TakenIn<K>> {
        let way = match up.can_wait(self) {
            true => request.way,
            false => Way::AtOnce,
        };
        let Errand { key, .. } = request.errand;
        let asked = self.process.now();
        let taken_in = match way {
            Way::AtOnce => {
                let (submission, sent) = self.named(up, request, request.within);
                (submission, up.submit(self, key, sent, request.within))
            }
            Way::WhenFree => {
                let process = self.process.clone();
                let (held, named) = Held::unnamed(request.sent(NO_ATTEMPT), process);
                let answer = up.submit_when_free(self, key, held).await;
                // No task has run since it was taken in.
                let (submission, _) = self.named(up, request, None);
                named.is(submission);
                (submission, answer)
            }
            Way::Reserving => {
                let kept = up.reserve().await?;
                let (submission, sent) = self.named(up, request, request.within);
                let answer = submit_on(kept, self, key, sent, request.within);
                (submission, answer)
            }
        };
        if self.process.now() > asked {
            self.met(Point::WaitedForRoom);
        }
        Some(taken_in)
    }

    /// The input of an attempt that begins.
    fn named(
        &self,
        up: &Up<K>,
        request: &Request<K::Load>,
        within: Option<Duration>,
    ) -> (SubmissionId, Sent<K::Load>) {
        let Errand {
            key,
            number,
            content,
            quirk,
            ..
        } = &request.errand;
        let submission = self.submitted(up.life, *key, *number, content, *quirk, within);
        (submission, request.sent(submission))
    }
}

impl<W: Workload> Request<W> {
    fn sent(&self, submission: SubmissionId) -> Sent<W> {
        let Errand {
            number,
            content,
            quirk,
            ..
        } = &self.errand;
        Sent {
            number: *number,
            content: Arc::clone(content),
            submission,
            quirk: *quirk,
        }
    }
}
