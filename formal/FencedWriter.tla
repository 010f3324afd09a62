---------------------------- MODULE FencedWriter ----------------------------
(***************************************************************************)
(* What a fenced, idempotent write does, and what it promises.              *)
(*                                                                          *)
(* THE WORLD.  One key has one RECORD in a store.  Clients send INPUTS, each *)
(* with an id of the client's choice.  A client that does not know what     *)
(* became of its input sends it again: each time is a SUBMISSION of its own, *)
(* to any node.  A NODE is a process that takes submissions in, in order,   *)
(* and carries them to the record in batches.  Any number of nodes write    *)
(* the same key, and none knows of another: all that they share is the      *)
(* record.                                                                  *)
(*                                                                          *)
(* A record has a LOG, the submissions that were applied, oldest first.     *)
(* What the fold sees of it are the ids in it, and a balance: a deposit      *)
(* brings one, a withdrawal takes one and is DECLINED where nothing is      *)
(* left.  It has a VERSION too, which every commit moves and which never    *)
(* comes again.  No record at all is version 0.                             *)
(*                                                                          *)
(* ONE ROUND TRIP.  A node reads the record, folds its batch over what it   *)
(* has read, and sends a COMMIT: the whole record as it is to be, to be     *)
(* written if the version still is the one that was read.  That condition   *)
(* is the fence.  What the fold finds in the record is not applied again.   *)
(*                                                                          *)
(* What a node does with a try:                                             *)
(*                                                                          *)
(*     at rest --Read--> folded --Commit--> sent --Landed--> landed         *)
(*       ^ ^               | ^               |                | ^ |         *)
(*       | |               +-+               |                +-+ |         *)
(*       | |          AnswerFromRead         |   AnswerFromCommit |         *)
(*       | +-- Refused, NotLanded, InDoubt --+                    |         *)
(*       +---------------- AnswerFromCommit, of the last ---------+         *)
(*                                                                          *)
(* It reads again from where it has folded, too; and is at rest from there  *)
(* when the last of its try has left, by AnswerFromRead, Overtake, Despair  *)
(* or GiveUp.  And what becomes of a submission:                            *)
(*                                                                          *)
(*     Submit --> held --AnswerFromRead, AnswerFromCommit--> answered       *)
(*                | | |                                                     *)
(*                | | +--GiveUp, Overtake, Despair--> answered, by a failure*)
(*                | +--Withdraw: its caller does not wait any more--> gone  *)
(*                +--Crash: its node forgets all that it knows--> gone      *)
(*                                                                          *)
(* (GiveUp: its deadline has passed, or there is no further try.)           *)
(*                                                                          *)
(* WHAT MAY GO WRONG.  A commit that was sent may be lost, may land at any  *)
(* later time (its node may have timed out, read again, or be gone), may    *)
(* arrive twice; its answer may be lost.  Whoever waits may give up.  A     *)
(* node may crash anywhere, and forgets everything.  The record may be      *)
(* deleted.                                                                 *)
(*                                                                          *)
(* WHAT A CALLER CAN HEAR of a submission: that it is applied, and as which *)
(* entry; that it was declined; that its id is known with other content (a  *)
(* mismatch); that its id is too old to be known; that it was not           *)
(* committed, and never will be; that it is in doubt.                       *)
(*                                                                          *)
(* WHAT IS PROMISED is at the end: AppliedOnce, TrueAnswers, NothingLost,   *)
(* InOrder, Accounted, OneAnswer, Answered.                                 *)
(*                                                                          *)
(* HOW TO READ IT.  A guard says what a node KNOWS when it takes a step:    *)
(* its batch, the record as it has read it, what it was told.  The          *)
(* properties say what is TRUE, by what no node can see.  So the guards are *)
(* the rule book of the code, and each action names the code that keeps to  *)
(* them.  Where the code decides by the clock, this lets it happen at any   *)
(* time, or never.                                                          *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  Nodes,
  Deposits, Withdrawals, \* the inputs
  Sends,                 \* how often each may be submitted,
  MaxSends,              \* and all together
  Forked,                \* inputs whose id comes with other content when it is sent again
  MaxBatch,              \* how many submissions one try takes
  MaxFaults,             \* how much goes wrong in a run; Unbounded: no limit
  MaxDeletes,            \* how often the record is deleted
  Window,                \* how many ids the record remembers: the largest; 0: all
  WholeFence,            \* TRUE: a commit is fenced on the marker too, and writes it as it was read
  Reuse,                 \* TRUE: a next batch may be folded on the record just committed
  Flaw                   \* the safeguard that is left out; "none" in earnest

VARIABLES
  \* The store.
  rec,      \* [log, ver, mark]; nobody looks at the marker in here, see ProjectedWriter
  wire,     \* commits that were sent and may yet land: [on, log, adds, mark, belies]
  \* The clients.
  sends,    \* by input: how often it was submitted
  \* What a node knows: all of it is gone when it crashes.
  held,     \* the submissions that it holds, in their order
  take,     \* how many of these, from the front, are in the try at hand
  phase,    \* "rest" | "folded" | "sent" | "landed"
  snap,     \* the record as it was read, and as far as it is known to go on
  fresh,    \* whether that was read after all in the try were submitted
  job,      \* the commit that it waits for
  open,     \* <<s, v>>: a commit on version v that carries s, or the same input, may have landed or may still
  stored,   \* submissions whose input it has seen in the record, and not answered yet
  passed,   \* <<s, t, v>>: a commit on version v may have landed that has t applied and s, before it, declined
  memory,   \* of no use but to a flaw: the inputs that it has applied
  \* What nobody sees, and the properties speak of.
  done,     \* nodes whose commit has landed, and that have not been told
  answers,  \* all that was ever answered: [s, kind, at, true]
  could,    \* <<s, kind>>: since s was submitted it would have been true, at some entry of the log, to answer it so
  overtaken,\* submissions behind which one of the same node that came later has been applied
  carried,  \* <<s, v>>: a commit on version v that carries s, or the same input, was sent, and its node cannot know yet
            \* what became of it: it has read nothing at another version, and was told of no certain failure
  belied,   \* <<s, kind>>: a commit has landed since which it is not true to answer s so
  gone,     \* submissions that were withdrawn, or died with their node
  deleted,  \* inputs whose entries went with a deleted record
  faults, deletes

store  == <<rec, wire>>
known  == <<held, take, phase, snap, fresh, job, open, stored, passed, memory>>
hidden == <<done, answers, could, overtaken, carried, belied, gone, deleted, deletes>>
vars   == <<store, sends, known, hidden, faults>>

Unbounded == 99
Inputs    == Deposits \cup Withdrawals
Id(s)     == s[1]
Range(q)  == {q[k] : k \in DOMAIN q}
Ids(q)    == {q[k][1] : k \in DOMAIN q}
Least(a, b)    == IF a < b THEN a ELSE b
First(q, k)    == SubSeq(q, 1, k)
Without(q, k)  == First(q, k - 1) \o SubSeq(q, k + 1, Len(q))
Place(q, i)    == CHOOSE k \in DOMAIN q : q[k][1] = i /\ \A j \in 1..(k - 1) : q[j][1] # i
Submissions    == Inputs \X (1..Sends)

NoRecord == [log |-> <<>>, ver |-> 0, mark |-> 0]
NoJob    == [on |-> 0, log |-> <<>>, adds |-> <<>>, mark |-> 0, belies |-> {}]

-----------------------------------------------------------------------------
(* The fold: what the user's pure code makes of one submission, on the      *)
(* record as it stands.                                                     *)

Amount(s)  == IF Id(s) \in Withdrawals THEN 0 - 1 ELSE 1
Content(s) == IF Id(s) \in Forked THEN s[2] ELSE 0

RECURSIVE Sum(_, _)
Sum(f, some) == IF some = {} THEN 0 ELSE LET i == CHOOSE i \in some : TRUE IN f[i] + Sum(f, some \ {i})

RECURSIVE Balance(_)
Balance(log) == IF log = <<>> THEN 0 ELSE Balance(First(log, Len(log) - 1)) + Amount(log[Len(log)])

LargerThan(log, i) == Cardinality({j \in Ids(log) : j > i})
Remembers(log, i)  == i \in Ids(log) /\ (Window = 0 \/ LargerThan(log, i) < Window)
IsForgotten(log, i) == Window # 0 /\ ~Remembers(log, i) /\ LargerThan(log, i) >= Window

\* Dedup comes before the business rules: what landed is told so, however things stand by now.
\* Rust: ferry_core::fold::Fold::step
Step(log, s) ==
  CASE Remembers(log, Id(s)) /\ Content(log[Place(log, Id(s))]) = Content(s) -> "already"
    [] Remembers(log, Id(s)) /\ Content(log[Place(log, Id(s))]) # Content(s) -> "mismatch"
    [] IsForgotten(log, Id(s))            -> "too old"
    [] Balance(log) + Amount(s) < 0   -> "declined"
    [] OTHER                              -> "new"

\* The same with what the flaws of a fold leave out.
Fate(n, log, s) ==
  LET rules == IF Balance(log) + Amount(s) < 0 THEN "declined" ELSE "new" IN
  CASE Flaw = "NoDedup" -> rules
    [] Flaw = "MemoryDedup" /\ Id(s) \notin memory[n] \cup Ids(SubSeq(log, Len(snap[n].log) + 1, Len(log))) -> rules
    [] Flaw = "ContentIgnored" /\ Step(log, s) = "mismatch" -> "already"
    [] Flaw = "Forgetful" /\ Step(log, s) = "too old" -> rules
    [] Flaw = "DedupLast" /\ rules = "declined" -> rules
    [] OTHER -> Step(log, s)

\* What is applied of these, in order; each sees what those before it did.
RECURSIVE Applied(_, _, _, _)
Applied(n, log, q, soFar) ==
  IF q = <<>> THEN soFar
  ELSE LET seen == IF Flaw = "TwinsApplied" THEN log ELSE log \o soFar
           more == IF Fate(n, seen, Head(q)) = "new" THEN Append(soFar, Head(q)) ELSE soFar
       IN  Applied(n, log, Tail(q), more)

RECURSIVE Reversed(_)
Reversed(q) == IF q = <<>> THEN <<>> ELSE Append(Reversed(Tail(q)), Head(q))

Taken(n)   == First(held[n], take[n])
Adds(n)    == Applied(n, snap[n].log, IF Flaw = "NewestFirst" THEN Reversed(Taken(n)) ELSE Taken(n), <<>>)
\* What the fold has for the k-th of the try to stand on.
Before(n, k) == snap[n].log \o Applied(n, snap[n].log, First(held[n], k - 1), <<>>)

-----------------------------------------------------------------------------
(* What a node knows of a submission.                                       *)

\* A commit that carries it may be in the record, or come there. Nothing but a read at another version settles it:
\* on another version that commit cannot land any more, and if it has, the record shows it.
IsOpen(n, s) == \E o \in open[n] : o[1] = s

\* The same input is held once more. The two are one input: it may yet be written for the other.
HasTwin(n, s) == \E t \in Range(held[n]) : t # s /\ Id(t) = Id(s)

\* It was declined by a commit that has one behind it applied, and that one is stored: applied now, it would be out of
\* order.
IsLate(n, s) == \E p \in passed[n] :
  /\ p[1] = s /\ Id(p[2]) \in Ids(snap[n].log)
  /\ Flaw = "ForgottenPassed" => Remembers(snap[n].log, Id(p[2]))

CanCommit(n) == /\ phase[n] = "folded"
                /\ Adds(n) # <<>>
                /\ Flaw = "LateApplied" \/ \A s \in Range(Adds(n)) : ~IsLate(n, s)

\* What the fold makes of the k-th of the try, on this log: as what it is answered, its place if it has one, how many
\* entries that rests on, and whether it was there before.
Outcome(n, k, log) ==
  LET s     == held[n][k]
      fate  == Fate(n, log, s)
      after == IF fate = "new" THEN Append(log, s) ELSE log
      isIn  == fate \in {"new", "already"}
  IN [s |-> s, kind |-> IF isIn THEN "applied" ELSE fate, at |-> IF isIn THEN Place(after, Id(s)) ELSE 0,
      rests |-> IF isIn THEN Place(after, Id(s)) ELSE Len(log), isOld |-> fate # "new", after |-> after]

-----------------------------------------------------------------------------
(* What nobody knows: moments.  Answers that rest on no entry are true if   *)
(* they were so at some entry of the log between question and answer.       *)

AllHeld == UNION {Range(held[n]) : n \in Nodes}
Negative == {"declined", "mismatch", "too old"}

\* The log grows from its first k entries to this.
MomentsOf(log, k, some) ==
  {m \in some \X Negative : \E j \in k..Len(log) : Step(First(log, j), m[1]) = m[2]}

-----------------------------------------------------------------------------
InitWith(inputs) ==
        /\ rec = NoRecord /\ wire = {}
        /\ sends = [i \in inputs |-> 0]
        /\ held = [n \in Nodes |-> <<>>]
        /\ take = [n \in Nodes |-> 0]
        /\ phase = [n \in Nodes |-> "rest"]
        /\ snap = [n \in Nodes |-> NoRecord]
        /\ fresh = [n \in Nodes |-> TRUE]
        /\ job = [n \in Nodes |-> NoJob]
        /\ open = [n \in Nodes |-> {}]
        /\ stored = [n \in Nodes |-> {}]
        /\ passed = [n \in Nodes |-> {}]
        /\ memory = [n \in Nodes |-> {}]
        /\ done = {} /\ answers = {} /\ could = {} /\ overtaken = {} /\ carried = {} /\ belied = {} /\ gone = {}
        /\ deleted = {} /\ faults = 0 /\ deletes = 0

Init == InitWith(Inputs)

Fault == IF MaxFaults = Unbounded THEN UNCHANGED faults
         ELSE faults < MaxFaults /\ faults' = faults + 1

\* A client sends its input, or sends it again: it may have given up waiting, or lost the answer.
\* Rust: ferry_core::per_key::PerKey::submit_with
Submit(n, s) ==
  /\ sends[Id(s)] < Sends /\ Sum(sends, Inputs) < MaxSends
  /\ s[2] = sends[Id(s)] + 1
  /\ sends' = [sends EXCEPT ![Id(s)] = s[2]]
  /\ held' = [held EXCEPT ![n] = Append(@, s)]
  /\ could' = could \cup MomentsOf(rec.log, Len(rec.log), {s})
  /\ UNCHANGED <<store, take, phase, snap, fresh, job, open, stored, passed, memory,
                 done, answers, overtaken, carried, belied, gone, deleted, deletes, faults>>

\* A read is served, for a try with the first k of what the node holds. It tells what became of the commits in doubt of
\* these: those on another version than it shows have landed or never will.
\* Rust: ferry_core::fold_write::stages::Reading::resume
Read(n, k) ==
  /\ phase[n] \in {"rest", "folded"} \/ (phase[n] = "landed" /\ take[n] = 0)
  /\ k \in 1..Len(held[n])
  /\ IF CanCommit(n) THEN Fault ELSE UNCHANGED faults
  /\ LET group == Range(First(held[n], k))
         has(s) == Id(s) \in Ids(rec.log) \/ IsForgotten(rec.log, Id(s))
         stale == [log |-> First(rec.log, Len(rec.log) - 1), ver |-> rec.ver - 1, mark |-> rec.mark]
     IN
     /\ \/ snap' = [snap EXCEPT ![n] = rec]
        \/ Flaw = "StaleRead" /\ rec.log # <<>> /\ snap' = [snap EXCEPT ![n] = stale]
     /\ open' = [open EXCEPT ![n] = {o \in @ : o[1] \notin group \/ o[2] = rec.ver}]
     /\ stored' = [stored EXCEPT ![n] = (@ \ group) \cup {s \in group : has(s)}]
     /\ passed' = [passed EXCEPT ![n] =
                     {p \in @ : p[1] \notin group \/ p[3] = rec.ver \/ has(p[2])}]
     /\ carried' = {o \in carried : o[1] \notin group \/ o[2] = rec.ver}
  /\ take' = [take EXCEPT ![n] = k]
  /\ fresh' = [fresh EXCEPT ![n] = TRUE]
  /\ phase' = [phase EXCEPT ![n] = "folded"]
  /\ held' = IF Flaw = "RestForgotten" THEN [held EXCEPT ![n] = First(@, k)] ELSE held
  /\ UNCHANGED <<store, sends, job, memory, done, answers, could, overtaken, belied, gone, deleted, deletes>>

-----------------------------------------------------------------------------
(* Answers.                                                                 *)

\* The k-th is answered, and leaves. In the try there is one less, if it was of it.
Leaves(n, k) ==
  LET s == held[n][k]
      rest == Without(held[n], k)
      left == IF k <= take[n] THEN take[n] - 1 ELSE take[n]
      isOver == phase[n] \in {"folded", "landed"} /\ left = 0
  IN
  /\ held' = [held EXCEPT ![n] = rest]
  /\ take' = [take EXCEPT ![n] = left]
  /\ phase' = IF isOver /\ ~(Reuse /\ phase[n] = "landed" /\ rest # <<>>) THEN [phase EXCEPT ![n] = "rest"] ELSE phase
  /\ open' = [open EXCEPT ![n] = {o \in @ : o[1] # s}]
  /\ stored' = [stored EXCEPT ![n] = @ \ {s}]
  /\ passed' = [passed EXCEPT ![n] = {p \in @ : p[1] # s}]
  /\ could' = {m \in could : m[1] # s}
  /\ carried' = {o \in carried : o[1] # s}

Forgets(n) == snap' = IF phase'[n] = "rest" THEN [snap EXCEPT ![n] = NoRecord] ELSE snap

\* There is a doubt where a commit that carries the input was sent by its node, and has not been settled; where another
\* submission of the input is still held beside this one; where the record has it, or may have forgotten it.
IsDoubtful(s) ==
  \/ \E o \in carried : o[1] = s
  \/ \E n \in Nodes : s \in Range(held[n]) /\ HasTwin(n, s)
  \/ Id(s) \in Ids(rec.log) \cup deleted \/ <<s, "too old">> \in could

Answer(s, kind, at) ==
  [s |-> s, kind |-> kind, at |-> at,
   true |-> CASE kind \in Negative -> <<s, kind>> \in could
              [] kind = "in doubt" -> IsDoubtful(s)
              [] OTHER -> TRUE]

\* From the record as read alone: those before the first that the fold applies. That an input is in the record stays
\* true, from whichever read. A "no" is true of the moment of a read that came after the submission; and only if no commit
\* in doubt may have it applied all the same. The code answers these at once; here it may also be later.
MayAnswerFromRead(n, k) ==
  /\ phase[n] = "folded" /\ k \in 1..take[n]
  /\ Applied(n, snap[n].log, First(held[n], k - 1), <<>>) = <<>>
  /\ LET o == Outcome(n, k, snap[n].log) IN
     /\ o.isOld
     /\ \/ o.kind = "applied"
        \/ o.kind = "too old" /\ fresh[n]
        \/ /\ o.kind \in {"declined", "mismatch"}
           /\ fresh[n] \/ Flaw = "DeclinedUnread"
           /\ <<o.s, snap[n].ver>> \notin open[n] \/ Flaw = "DeclinedInDoubt"

\* Rust: ferry_core::fold_write::fold::answer_settled
AnswerFromRead(n, k) ==
  /\ MayAnswerFromRead(n, k)
  /\ LET o == Outcome(n, k, snap[n].log) IN
     answers' = answers \cup {Answer(o.s, o.kind, o.at)}
  /\ Leaves(n, k) /\ Forgets(n)
  /\ UNCHANGED <<store, sends, fresh, job, memory, done, overtaken, belied, gone, deleted, deletes, faults>>

\* The commit has landed: the first of the try is answered with what the fold made of it, and then the next. The record
\* was as it was read until the commit landed on it, so that a "no" is as true as the rest.
\* Rust: ferry_core::fold_write::fold::answer
AnswerFromCommit(n) ==
  /\ phase[n] = "landed" /\ take[n] > 0
  /\ LET o == Outcome(n, 1, snap[n].log) IN
     /\ answers' = answers \cup {Answer(o.s, o.kind, o.at)}
     /\ memory' = IF Flaw = "MemoryDedup" /\ ~o.isOld THEN [memory EXCEPT ![n] = @ \cup {Id(o.s)}] ELSE memory
     /\ Leaves(n, 1)
     /\ snap' = [snap EXCEPT ![n] = IF phase'[n] = "rest" THEN NoRecord ELSE [@ EXCEPT !.log = o.after]]
  /\ UNCHANGED <<store, sends, fresh, job, done, overtaken, belied, gone, deleted, deletes, faults>>

\* What a submission hears that is not carried any further. "Not committed" takes proof: no commit that carries it is
\* open, and the record as last read does not have it. "In doubt" takes a doubt: such a commit, or the input in the
\* record, or a twin that may still bring it.
FailsAs(n, s, kind) ==
  \/ kind = "not committed" /\ ((~IsOpen(n, s) /\ s \notin stored[n]) \/ Flaw = "NoProof")
  \/ kind = "in doubt" /\ (IsOpen(n, s) \/ s \in stored[n] \/ HasTwin(n, s))

Fails(n, k, kind) ==
  /\ FailsAs(n, held[n][k], kind)
  /\ answers' = answers \cup {Answer(held[n][k], kind, 0)}
  /\ IF Flaw = "CarriedOn" /\ kind = "in doubt"
     THEN UNCHANGED <<held, take, phase, snap, open, stored, passed, could, carried>>
     ELSE Leaves(n, k) /\ Forgets(n)
  /\ UNCHANGED <<store, sends, fresh, job, memory, done, overtaken, belied, gone, deleted, deletes>>

\* Its deadline passes, there is no further try, or its own code panics: nothing more is done for it.
\* Rust: ferry_core::fold_write::end::answer_failed
GiveUp(n, k, kind) ==
  /\ k \in 1..Len(held[n])
  /\ phase[n] \in {"rest", "folded"} \/ k > take[n]
  /\ Fault
  /\ Fails(n, k, kind)

\* The fold would apply it behind one that came after it.
\* Rust: ferry_core::fold_write::overtaken::fail_the_overtaken
Overtake(n, k, kind) ==
  /\ phase[n] = "folded" /\ k \in 1..take[n]
  /\ IsLate(n, held[n][k]) /\ Fate(n, Before(n, k), held[n][k]) = "new"
  /\ Fails(n, k, kind)
  /\ UNCHANGED faults

\* The fold declines it, and a commit on this very version may have it applied. Tries go on until that shows, or end.
\* Rust: ferry_core::fold_write::fold::nothing_to_commit
Despair(n, k) ==
  /\ phase[n] = "folded" /\ k \in 1..take[n] /\ Adds(n) = <<>>
  /\ <<held[n][k], snap[n].ver>> \in open[n]
  /\ Fails(n, k, "in doubt")
  /\ UNCHANGED faults

\* A caller does not wait any more. In flight its input would be carried to its end.
\* Rust: ferry_core::per_key::PerKey::withdraw
Withdraw(n, k) ==
  /\ k \in (take[n] + 1)..Len(held[n])
  /\ ~IsOpen(n, held[n][k])
  /\ Fault
  /\ Leaves(n, k) /\ Forgets(n)
  /\ gone' = gone \cup {held[n][k]}
  /\ UNCHANGED <<store, sends, fresh, job, memory, done, answers, overtaken, belied, deleted, deletes>>

-----------------------------------------------------------------------------
(* Commits.                                                                 *)

\* Of the try, those whose input a commit carries that adds these.
Brings(n, adds) == {s \in Range(Taken(n)) : Id(s) \in Ids(adds)}

\* What becomes untrue of whom when it lands: of those, that they were not committed; and where it tells that they are
\* applied, that they were declined, or are known with other content.
Belies(n, adds) ==
  LET isTold(k) == Outcome(n, k, Before(n, k)).kind = "applied"
      told == {held[n][k] : k \in {k \in 1..take[n] : isTold(k)}}
      all == Brings(n, adds)
  IN (all \X {"not committed"}) \cup ((told \cap all) \X {"declined", "mismatch"})

\* What the fold has applied is sent, to be written on the version that was read.
\* Rust: ferry_core::fold_write::fold::read_done
Commit(n) ==
  /\ CanCommit(n)
  /\ LET adds == Adds(n)
         c == [on |-> snap[n].ver, log |-> snap[n].log \o adds, adds |-> adds, mark |-> snap[n].mark,
               belies |-> Belies(n, adds)]
         early == {Answer(adds[k], "applied", Len(snap[n].log) + k) : k \in DOMAIN adds}
     IN
     /\ wire' = wire \cup {c}
     /\ job' = [job EXCEPT ![n] = c]
     /\ carried' = carried \cup (Brings(n, adds) \X {c.on})
     /\ answers' = IF Flaw = "EarlyAnswer" THEN answers \cup early ELSE answers
  /\ phase' = [phase EXCEPT ![n] = "sent"]
  /\ UNCHANGED <<rec, sends, held, take, snap, fresh, open, stored, passed, memory,
                 done, could, overtaken, belied, gone, deleted, deletes, faults>>

\* Whom a commit overtakes: who is held by its node before one that it applies, and is not in the record before that one.
Overtakes(c) ==
  UNION {LET q == held[n]
             isBehind(s, t) == \E x, y \in DOMAIN c.adds : x > y /\ c.adds[x] = s /\ c.adds[y] = t
             isBefore(j, k) == /\ j < k /\ q[k] \in Range(c.adds)
                               /\ q[j] \notin Range(c.log) \/ isBehind(q[j], q[k])
         IN {q[j] : j \in {j \in DOMAIN q : \E k \in DOMAIN q : isBefore(j, k)}} : n \in Nodes}

\* The fence.
Fits(c) == c.on = rec.ver /\ (WholeFence /\ Flaw # "MarkerBack" => c.mark = rec.mark)

\* A commit reaches the store, and its fence holds: all of it is written at once. Who sent it may be waiting, reading
\* again, or gone. It makes a new version, so that nothing that is under way on the old one can land any more: a second
\* copy of the commit itself neither.
\* Rust: ferry_core::drive::store::Store::commit
Land(c) ==
  /\ c \in wire
  /\ Fits(c) \/ Flaw = "NoFence"
  /\ rec' = [log |-> c.log, ver |-> rec.ver + 1, mark |-> IF WholeFence THEN c.mark ELSE rec.mark]
  /\ wire' = {d \in wire : d # c /\ (Flaw \in {"NoFence", "VersionRestarts"} \/ d.on = rec.ver + 1)}
  /\ done' = done \cup {n \in Nodes : phase[n] = "sent" /\ job[n] = c}
  /\ could' = could \cup MomentsOf(c.log, Len(c.log) - Len(c.adds) + 1, AllHeld)
  /\ overtaken' = overtaken \cup Overtakes(c)
  /\ belied' = belied \cup c.belies
  /\ UNCHANGED <<sends, known, answers, carried, gone, deleted, deletes, faults>>

\* The node is told something of its commit.
Told(n) ==
  /\ phase[n] = "sent"
  /\ job' = [job EXCEPT ![n] = NoJob]
  /\ done' = done \ {n}
  /\ UNCHANGED <<rec, sends, held, fresh, stored, memory, answers, could, overtaken, belied, gone, deleted, deletes>>

ToRest(n) ==
  /\ phase' = [phase EXCEPT ![n] = "rest"]
  /\ take'  = [take EXCEPT ![n] = 0]
  /\ snap'  = [snap EXCEPT ![n] = NoRecord]

ToAnswers(n) ==
  /\ phase' = [phase EXCEPT ![n] = "landed"]
  /\ snap'  = [snap EXCEPT ![n].ver = rec.ver]
  /\ UNCHANGED take

\* Rust: ferry_core::fold_write::commit::landed
Landed(n) ==
  /\ Told(n) /\ n \in done
  /\ phase' = [phase EXCEPT ![n] = "landed"]
  /\ snap'  = [snap EXCEPT ![n].ver = @ + 1]
  /\ UNCHANGED <<take, wire, open, passed, carried, faults>>

\* What became of this commit is not known: of those that it carries, and their twins in the try, nothing is before the
\* next read; and who was declined before one that it applies may have been passed.
Doubts(n) ==
  LET c == job[n]
      group == Taken(n)
      doubted == IF Flaw = "TwinsUndoubted" THEN Range(c.adds) ELSE {s \in Range(group) : Id(s) \in Ids(c.adds)}
      declined == {k \in DOMAIN group : Fate(n, Before(n, k), group[k]) = "declined"}
      behind(k) == {group[j] : j \in (k + 1)..Len(group)} \cap Range(c.adds)
  IN
  /\ open' = [open EXCEPT ![n] = @ \cup (doubted \X {c.on})]
  /\ passed' = [passed EXCEPT ![n] = @ \cup UNION {{<<group[k], t, c.on>> : t \in behind(k)} : k \in declined}]

\* The store has another version by now. What it was refused by may be its own first copy: that proves nothing.
\* Rust: ferry_core::fold_write::commit::refused
Refused(n) ==
  /\ Told(n) /\ ~Fits(job[n])
  /\ IF Flaw = "RefusalIsProof" THEN UNCHANGED <<open, passed>> ELSE Doubts(n)
  /\ CASE Flaw = "NotWoken" -> phase' = [phase EXCEPT ![n] = "asleep"] /\ UNCHANGED <<take, snap>>
       [] Flaw = "FoldedOnFirst" -> /\ phase' = [phase EXCEPT ![n] = "folded"]
                                    /\ snap' = [snap EXCEPT ![n].ver = rec.ver]
                                    /\ UNCHANGED take
       [] OTHER -> ToRest(n)
  /\ UNCHANGED <<wire, carried, faults>>

\* No answer in time, or one that means nothing: it may have landed, and may still. So with a call that panicked.
\* Rust: ferry_core::fold_write::commit::in_doubt
InDoubt(n) ==
  /\ Told(n) /\ Fault
  /\ CASE Flaw = "DoubtIsLanding" -> ToAnswers(n) /\ UNCHANGED <<open, passed>>
       [] Flaw = "DoubtIsFailure" -> ToRest(n) /\ UNCHANGED <<open, passed>>
       [] OTHER -> ToRest(n) /\ Doubts(n)
  /\ UNCHANGED <<wire, carried>>

\* For certain it has not been written, and will not be. An earlier copy of it that is in doubt may be all the same.
\* Rust: ferry_core::fold_write::commit::not_landed
NotLanded(n) ==
  /\ Told(n) /\ Fault
  /\ LET c == job[n]
         here == Brings(n, c.adds) \X {c.on}
     IN /\ IF here \subseteq open[n] THEN UNCHANGED wire ELSE n \notin done /\ wire' = wire \ {c}
        /\ carried' = carried \ (here \ open[n])
  /\ ToRest(n)
  /\ open' = IF Flaw = "DoubtCleared" THEN [open EXCEPT ![n] = {}] ELSE open
  /\ UNCHANGED passed

\* Not in the code: the next try is folded on the record as it was just committed, without a read. It may have changed
\* since, before these were even submitted; so what is declined has to wait for a commit or a read.
ReadNothing(n, k) ==
  /\ Reuse /\ phase[n] = "landed" /\ take[n] = 0
  /\ k \in 1..Len(held[n])
  /\ take' = [take EXCEPT ![n] = k]
  /\ fresh' = [fresh EXCEPT ![n] = FALSE]
  /\ phase' = [phase EXCEPT ![n] = "folded"]
  /\ UNCHANGED <<store, sends, held, snap, job, open, stored, passed, memory, hidden, faults>>

-----------------------------------------------------------------------------
(* What happens to nodes and records.                                       *)

\* Everything that a node knows is gone; its commit flies on. It is there again at once, or never is given anything.
\* Rust: ferry_core::fold_write::trip::drop
Crash(n) ==
  /\ Fault
  /\ held'   = [held EXCEPT ![n] = <<>>]
  /\ take'   = [take EXCEPT ![n] = 0]
  /\ phase'  = [phase EXCEPT ![n] = "rest"]
  /\ snap'   = [snap EXCEPT ![n] = NoRecord]
  /\ fresh'  = [fresh EXCEPT ![n] = TRUE]
  /\ job'    = [job EXCEPT ![n] = NoJob]
  /\ open'   = [open EXCEPT ![n] = {}]
  /\ stored' = [stored EXCEPT ![n] = {}]
  /\ passed' = [passed EXCEPT ![n] = {}]
  /\ memory' = [memory EXCEPT ![n] = {}]
  /\ done'   = done \ {n}
  /\ could'  = {m \in could : m[1] \notin Range(held[n])}
  /\ carried' = {o \in carried : o[1] \notin Range(held[n])}
  /\ gone'   = gone \cup Range(held[n])
  /\ UNCHANGED <<store, sends, answers, overtaken, belied, deleted, deletes>>

\* A record is deleted, by whoever may. Something with a version of its own stays in its place, or else what was under
\* way on the old record would land on a new one that has come to the same version.
\* Rust: ferry_core::drive::store::Store
Delete ==
  /\ deletes < MaxDeletes /\ rec.ver > 0
  /\ deletes' = deletes + 1
  /\ rec' = [log |-> <<>>, mark |-> 0, ver |-> CASE Flaw = "VersionRestarts" -> 0
                                                [] Flaw = "VersionKept" -> rec.ver
                                                [] OTHER -> rec.ver + 1]
  /\ wire' = IF Flaw \in {"VersionRestarts", "VersionKept"} THEN wire ELSE {}
  /\ deleted' = deleted \cup Ids(rec.log)
  /\ overtaken' = {} /\ belied' = {}
  /\ could' = could \cup MomentsOf(<<>>, 0, AllHeld)
  /\ UNCHANGED <<sends, known, done, answers, carried, gone, faults>>

-----------------------------------------------------------------------------
Sizes(n) == 1..Least(MaxBatch, Len(held[n]))
Kinds    == {"not committed", "in doubt"}

AnswersRead(n)  == \E k \in 1..take[n] : AnswerFromRead(n, k)
Reads(n)        == \E k \in Sizes(n) : Read(n, k) \/ ReadNothing(n, k)
Ends(n)         == \E k \in 1..take[n] : Despair(n, k) \/ \E kind \in Kinds : Overtake(n, k, kind)

Next == \/ \E n \in Nodes, i \in Inputs : Submit(n, <<i, sends[i] + 1>>)
        \/ \E n \in Nodes : \/ Reads(n) \/ AnswersRead(n) \/ Commit(n)
                            \/ Landed(n) \/ Refused(n) \/ InDoubt(n) \/ NotLanded(n)
                            \/ AnswerFromCommit(n) \/ Ends(n)
                            \/ \E k \in DOMAIN held[n] : Withdraw(n, k) \/ \E kind \in Kinds : GiveUp(n, k, kind)
                            \/ held[n] # <<>> /\ Crash(n)
        \/ \E c \in wire : Land(c)
        \/ Delete

Spec == Init /\ [][Next]_vars

\* What a node does by itself.
GoesOn(n) == \/ phase[n] # "folded" /\ Reads(n)
             \/ AnswersRead(n) \/ Commit(n) \/ Landed(n) \/ Refused(n) \/ AnswerFromCommit(n) \/ Ends(n)

\* Every node goes on as long as it can. A commit arrives if its node waits for it; one that is adrift need not.
FairSpec == Spec /\ \A n \in Nodes : WF_vars(GoesOn(n)) /\ WF_vars(Land(job[n]))

-----------------------------------------------------------------------------
(* WHAT IS PROMISED.                                                        *)

TypeOK ==
  /\ rec.ver \in Nat /\ Range(rec.log) \subseteq Submissions
  /\ \A n \in Nodes : /\ phase[n] \in {"rest", "folded", "sent", "landed", "asleep"}
                      /\ Range(held[n]) \subseteq Submissions
                      /\ take[n] \in 0..Len(held[n])
                      /\ (phase[n] = "sent") = (job[n] # NoJob)
                      /\ {o[1] : o \in open[n]} \cup stored[n] \cup {p[1] : p \in passed[n]} \subseteq Range(held[n])
  /\ \A c \in wire : c.adds # <<>>

\* No input is applied twice.
AppliedOnce == \A j, k \in DOMAIN rec.log : j # k => Id(rec.log[j]) # Id(rec.log[k])

\* Every answer is true, and stays so. Who was told a place has it. Who was told a "no" could have been told so by the
\* record at some moment between question and answer, and no commit that its node had sent for it brings it after all.
\* Who was told "not committed" is not in the record, and never will be, by a commit that its node had sent for it or
\* for another submission of the same input. "In doubt" was said where there is a doubt.
TrueAnswers ==
  \A a \in answers :
    /\ a.true
    /\ a.kind = "applied" /\ Id(a.s) \in Ids(rec.log) \ deleted =>
         Place(rec.log, Id(a.s)) = a.at /\ Content(rec.log[a.at]) = Content(a.s)
    /\ a.kind \in {"not committed", "declined", "mismatch"} => a.s \notin Range(rec.log)
    /\ <<a.s, a.kind>> \notin belied

\* What was acknowledged is in the record, unless it was deleted.
NothingLost == \A a \in answers : a.kind = "applied" => Id(a.s) \in Ids(rec.log) \cup deleted

\* Of the submissions that one node holds together, none is applied behind one that came after it.
InOrder == overtaken \cap Range(rec.log) = {}

\* Of what was submitted nothing has vanished: each is held, by one node and once; or has been answered; or was
\* withdrawn, or died with its node.
Accounted ==
  LET told == {a.s : a \in answers}
      submitted == {s \in Submissions : s[2] <= sends[Id(s)]}
  IN
  /\ submitted = AllHeld \cup told \cup gone
  /\ AllHeld \cap told = {} /\ AllHeld \cap gone = {} /\ told \cap gone = {}
  /\ Sum([n \in Nodes |-> Len(held[n])], Nodes) = Cardinality(AllHeld)

\* Nobody is told twice.
OneAnswer == \A a, b \in answers : a.s = b.s => a = b

\* Whoever is held by a node that does not crash is answered.
Answered == \A s \in Submissions : (s \in AllHeld) ~> (s \notin AllHeld)

(* Never so: each of these has to fail, or the rest would say little.       *)

\* A commit lands after its node has read again, and found it not there.
NeverLandsLate == \A n \in Nodes : \A o \in open[n] :
  ~(phase[n] = "folded" /\ o[2] = snap[n].ver /\ o[1] \in Range(rec.log))
\* A commit is refused since an earlier one of the same node has landed, with the same input.
NeverMeetsItself == \A n \in Nodes :
  ~(phase[n] = "sent" /\ n \notin done /\ Range(job[n].adds) \cap Range(rec.log) # {})
\* One that was declined is passed, and would be applied now.
NeverOvertaken == \A n \in Nodes, k \in 1..2 :
  ~(phase[n] = "folded" /\ k <= take[n] /\ IsLate(n, held[n][k]) /\ Fate(n, Before(n, k), held[n][k]) = "new")
\* A commit lands though its node has crashed, or has given its input up.
NeverLandsUnheld == \A s \in Range(rec.log) :
  s \in AllHeld \/ \E a \in answers : a.s = s /\ a.kind # "in doubt"
\* One is declined on the very version on which a commit in doubt may have it applied.
NeverDespairs == \A n \in Nodes, k \in 1..2 :
  ~(phase[n] = "folded" /\ k <= take[n] /\ Adds(n) = <<>> /\ <<held[n][k], snap[n].ver>> \in open[n])
NeverDeclined == \A a \in answers : a.kind # "declined"
NeverTooOld   == \A a \in answers : a.kind # "too old"

Symmetry == Permutations(Nodes) \cup Permutations(Deposits) \cup Permutations(Withdrawals)
=============================================================================
