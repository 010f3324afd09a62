--------------------------- MODULE ProjectedWriter ---------------------------
(***************************************************************************)
(* Commit, then project: a fenced write whose record has a VIEW, a picture  *)
(* of it that is written by a second fenced write.  Read FencedWriter       *)
(* first: its round trip is in here unchanged.                              *)
(*                                                                          *)
(* THE WORLD, further.  The view shows entries of the log, from the first   *)
(* on.  The record carries a MARKER: how far the view has come.  (The code  *)
(* keeps a version there; here it is the number of entries that the record  *)
(* had at that version, which is the same, since each commit adds some.)    *)
(* A record whose marker is behind is PENDING: its view owes something,     *)
(* which anybody can see who reads it, and anybody may pay.                 *)
(*                                                                          *)
(* There are two LAYOUTS, and one set of rules.  With the view in the       *)
(* record's own store ("together"), a PROJECTION writes view and marker at  *)
(* once, if neither version nor marker have changed.  With the view in      *)
(* another store ("apart"), the view takes an entry at that entry's own     *)
(* place alone, so that what comes late or again changes nothing; after     *)
(* that the marker is moved in the record, on the same condition.           *)
(*                                                                          *)
(* When its commit has landed, a node holds the outcomes back and projects  *)
(* the record as it was committed, without reading it.  If that fails, it   *)
(* looks at the record and tries again, as long as somebody waits.  A       *)
(* RESUMER does the same for whatever it finds pending.                     *)
(*                                                                          *)
(*      +------------- IsShown, IsRefused, IsUnknown -------------+         *)
(*      v                                                         |         *)
(* owes nothing --Look, if it is pending--> owes --Project--> on its way    *)
(*      ^                                   |  ^                            *)
(*      +------------ ReadToFold -----------+  +-- LandedOwing              *)
(*                                                                          *)
(* (Apart: when the view has landed, the marker is on its way.)             *)
(*                                                                          *)
(* WHAT MAY GO WRONG, further.  A crash between commit and projection; a    *)
(* projection that is lost, late, shows a part, or whose answer is lost;    *)
(* one that meets a newer commit, or somebody else's projection.            *)
(*                                                                          *)
(* WHAT A CALLER HEARS, further: of an outcome that it is PROJECTED, so     *)
(* that the view shows what it rests on; or COMMITTED: durable, the view    *)
(* may be late.                                                             *)
(*                                                                          *)
(* WHAT IS PROMISED, further, is at the end: ViewForward, ShownIsShown,     *)
(* OutcomesKept, Heard, Projected, and that TrueAnswers are true of this    *)
(* too.                                                                     *)
(***************************************************************************)
EXTENDS FencedWriter

CONSTANTS
  Resumers,   \* who project what they find pending, beside the nodes
  Layout      \* "together" | "apart"

VARIABLES
  view,       \* the entries that the view shows, in the order in which it was given them
  projecting, \* writes of view and marker that were sent and may yet take effect: [kind, by, ver, from, upTo]
  \* What somebody who projects knows.
  owes,       \* "nothing" | "owing" | "sent"
  debt,       \* the record that is to be projected
  way,        \* the write that it waits for
  shown,      \* how many entries it knows the view to show
  \* What a node knows beside.
  back,       \* outcomes that wait for the view: [s, rests, isOld]
  \* What nobody sees.
  paid,       \* those whose write has taken effect, and who have not been told
  since,      \* <<s, k>>: the log had k entries when s, which has not heard of the view yet, was submitted
  top,        \* where the marker has been
  heard       \* those who had an outcome, and were told of the view too, or died with their node

projection == <<view, projecting, owes, debt, way, shown, back, paid, since, top, heard>>
allVars    == <<vars, projection>>

Actors == Nodes \cup Resumers
NoWay  == [kind |-> "none", by |-> "nobody", ver |-> 0, from |-> 0, upTo |-> 0]
Max(a, b) == IF a > b THEN a ELSE b
IsPending(r) == r.mark # Len(r.log)

ProjectedInitWith(inputs) ==
  /\ InitWith(inputs)
  /\ view = <<>> /\ projecting = {} /\ paid = {} /\ since = {} /\ top = 0 /\ heard = {}
  /\ owes = [x \in Actors |-> "nothing"]
  /\ debt = [x \in Actors |-> NoRecord]
  /\ way = [x \in Actors |-> NoWay]
  /\ shown = [x \in Actors |-> 0]
  /\ back = [n \in Nodes |-> {}]

ProjectedInit == ProjectedInitWith(Inputs)

-----------------------------------------------------------------------------
(* The fold write, and what its steps mean for the projection.              *)

\* Of others it makes no difference when they were submitted.
MayHearNo(s) == Id(s) \in Withdrawals \cup Forked \/ Window # 0

\* A "no" has to be so in a view that shows the record as it was by then, or later.
\* Rust: ferry_core::per_key::PerKey::submit_with
SubmitSince(n, s) ==
  /\ Submit(n, s)
  /\ since' = IF MayHearNo(s) THEN since \cup {<<s, Len(rec.log)>>} ELSE since
  /\ UNCHANGED <<view, projecting, owes, debt, way, shown, back, paid, top, heard>>

\* What the marker says has been shown.
Learns(x, r) == IF Flaw = "WaitsForOwn" THEN UNCHANGED shown ELSE shown' = [shown EXCEPT ![x] = Max(@, r.mark)]

\* Reads for a fold: what the record just committed owes is left for later.
\* Rust: ferry_core::projected_write::trip::read_to_fold
ReadToFold(n, k) ==
  /\ Read(n, k) /\ owes[n] # "sent"
  /\ owes' = [owes EXCEPT ![n] = "nothing"]
  /\ debt' = [debt EXCEPT ![n] = NoRecord]
  /\ Learns(n, rec)
  /\ back' = IF Flaw = "BackForgotten" THEN [back EXCEPT ![n] = {}] ELSE back
  /\ UNCHANGED <<view, projecting, way, paid, since, top, heard>>

\* An outcome is not told before the view shows it, or its caller has waited long enough.
HoldsBack(n, o) ==
  LET rests == IF Flaw = "RestsOnNothing" \/ (Flaw = "NoRestsOnNothing" /\ o.kind \in Negative) THEN 0 ELSE o.rests IN
  back' = [back EXCEPT ![n] = @ \cup {[s |-> o.s, rests |-> rests, isOld |-> o.isOld]}]

\* Rust: ferry_core::projected_write::answers::take
OutcomeFromRead(n, k) ==
  /\ AnswerFromRead(n, k)
  /\ HoldsBack(n, Outcome(n, k, snap[n].log))
  /\ UNCHANGED <<view, projecting, owes, debt, way, shown, paid, since, top, heard>>

\* Rust: ferry_core::projected_write::answers::take
OutcomeFromCommit(n) ==
  /\ AnswerFromCommit(n)
  /\ HoldsBack(n, Outcome(n, 1, snap[n].log))
  /\ UNCHANGED <<view, projecting, owes, debt, way, shown, paid, since, top, heard>>

\* The record as it was committed owes what it brought: its marker is as it was read.
\* Rust: ferry_core::projected_write::trip::commit_done
LandedOwing(n) ==
  /\ Landed(n)
  /\ owes' = [owes EXCEPT ![n] = "owing"]
  /\ debt' = [debt EXCEPT ![n] = [log |-> job[n].log, ver |-> job[n].on + 1, mark |-> job[n].mark]]
  /\ UNCHANGED <<view, projecting, way, shown, back, paid, since, top, heard>>

\* It leaves the marker as it is stored; or is fenced on it.
\* Rust: ferry_core::drive::store::ProjectedStore
LandBeside(c) ==
  /\ Land(c)
  /\ top' = Max(top, rec'.mark)
  /\ UNCHANGED <<view, projecting, owes, debt, way, shown, back, paid, since, heard>>

\* Rust: ferry_core::projected_write::trip::drop
CrashOwing(n) ==
  /\ Crash(n)
  /\ owes' = [owes EXCEPT ![n] = "nothing"]
  /\ debt' = [debt EXCEPT ![n] = NoRecord]
  /\ way' = [way EXCEPT ![n] = NoWay]
  /\ shown' = [shown EXCEPT ![n] = 0]
  /\ back' = [back EXCEPT ![n] = {}]
  /\ paid' = paid \ {n}
  /\ heard' = heard \cup {b.s : b \in back[n]}
  /\ since' = {p \in since : p[1] \notin Range(held[n]) \cup {b.s : b \in back[n]}}
  /\ UNCHANGED <<view, projecting, top>>

-----------------------------------------------------------------------------
(* The projection.  x is a node, or a resumer.                              *)

IsFree(n) == phase[n] = "rest" \/ (phase[n] = "landed" /\ take[n] = 0)

\* Looks at the record, for those who wait, or because it was found pending. Whether it is, the record says: nothing is
\* remembered of it.
\* Rust: ferry_core::projected_write::debt::read_done
Look(x) ==
  /\ owes[x] = "nothing"
  /\ x \in Nodes => IsFree(x) /\ back[x] # {} /\ Flaw # "NoResume"
  /\ x \in Resumers => IsPending(rec) /\ Flaw \notin {"NoResume", "LazyResume"}
  /\ IF IsPending(rec)
     THEN owes' = [owes EXCEPT ![x] = "owing"] /\ debt' = [debt EXCEPT ![x] = rec]
     ELSE UNCHANGED <<owes, debt>>
  /\ Learns(x, rec)
  /\ UNCHANGED <<vars, view, projecting, way, back, paid, since, top, heard>>

Asks(x, kind, upTo) ==
  LET w == [kind |-> kind, by |-> x, ver |-> debt[x].ver, from |-> debt[x].mark, upTo |-> upTo] IN
  /\ projecting' = projecting \cup {w}
  /\ way' = [way EXCEPT ![x] = w]
  /\ owes' = [owes EXCEPT ![x] = "sent"]

FirstKind == CASE Layout = "together" -> "both"
               [] Flaw = "MarkerFirst" -> "mark"
               [] OTHER -> "show"
SecondKind == IF Flaw = "MarkerFirst" THEN "show" ELSE "mark"

\* Sends what the record owes; of a view that is apart, it may be a part.
\* Rust: ferry_core::projected_write::debt::project
Project(x, upTo) ==
  /\ owes[x] = "owing"
  /\ x \in Nodes => IsFree(x)
  /\ IF upTo = Len(debt[x].log) THEN UNCHANGED faults
     ELSE FirstKind = "show" /\ upTo \in debt[x].mark..Len(debt[x].log) /\ Fault
  /\ Asks(x, FirstKind, upTo)
  /\ UNCHANGED <<store, sends, known, hidden, view, debt, shown, back, paid, since, top, heard>>

\* Whether the record still is as the one that is projected.
IsAsRead(w) ==
  CASE Flaw = "UnfencedProject"                     -> TRUE
    [] Flaw = "UnfencedResume" /\ w.by \in Resumers -> TRUE
    [] Flaw = "MarkerAlone"                         -> w.from = rec.mark
    [] Flaw = "VersionAlone"                        -> w.ver = rec.ver
    [] Flaw = "MarkerAsFlag"                        -> IsPending(rec)
    [] OTHER                                        -> w.ver = rec.ver /\ w.from = rec.mark

Entries(w) == SubSeq(rec.log, w.from + 1, w.upTo)
InPlace(w) == IF w.upTo > Len(view) THEN view \o SubSeq(rec.log, Len(view) + 1, w.upTo) ELSE view
\* With its fence it is the version that was projected; without, it is whatever is there.
MovesMarker == /\ rec' = [rec EXCEPT !.mark = Len(rec.log)]
               /\ top' = Max(top, Len(rec.log))

IsWeak == Flaw \in {"UnfencedProject", "UnfencedResume", "MarkerAlone", "VersionAlone", "MarkerAsFlag",
                    "MarkerFirst", "Appended", "Instead", "MarkerBack"}
\* What nothing can come of any more, in earnest. Entries that are shown already change nothing; who waits for them is told
\* that they are.
IsAwaited(w) == owes[w.by] = "sent" /\ way[w.by] = w
IsOver(w) == CASE w.kind = "show" -> w.upTo <= Len(view') /\ ~IsAwaited(w)
               [] OTHER -> w.ver # rec'.ver \/ w.from # rec'.mark

\* A write of view or marker reaches its store, whoever sent it, and wherever that one is by now.
\* Rust: ferry_core::drive::store::ProjectedStore::project
Arrive(w) ==
  /\ w \in projecting
  /\ CASE w.kind = "both" -> /\ IsAsRead(w)
                             /\ view' = view \o Entries(w)
                             /\ MovesMarker
       [] w.kind = "show" -> /\ view' = CASE Flaw = "Appended" -> view \o Entries(w)
                                          [] Flaw = "Instead"  -> First(rec.log, w.upTo)
                                          [] OTHER             -> InPlace(w)
                             /\ UNCHANGED <<rec, top>>
       [] w.kind = "mark" -> /\ IsAsRead(w)
                             /\ MovesMarker
                             /\ UNCHANGED view
  /\ projecting' = {q \in projecting : q # w /\ (IsWeak \/ ~IsOver(q))}
  /\ paid' = paid \cup {x \in Actors : owes[x] = "sent" /\ way[x] = w}
  /\ UNCHANGED <<wire, sends, known, hidden, faults, owes, debt, way, shown, back, since, heard>>

IsDone(x) ==
  /\ owes[x] = "sent"
  /\ paid' = paid \ {x}
  /\ UNCHANGED <<store, sends, known, hidden, view, back, since, top, heard>>

Rests(x) == /\ owes' = [owes EXCEPT ![x] = "nothing"]
            /\ way'  = [way EXCEPT ![x] = NoWay]
            /\ debt' = [debt EXCEPT ![x] = NoRecord]

\* It has landed; where the view is apart, the marker comes next.
\* Rust: ferry_core::projected_write::debt::projected
IsShown(x) ==
  /\ IsDone(x) /\ x \in paid
  /\ LET w == way[x]
         isPart == w.kind # "both" /\ w.upTo < Len(debt[x].log)
         isHalf == w.kind = FirstKind /\ w.kind # "both"
     IN
     IF isHalf /\ ~isPart
     THEN Asks(x, SecondKind, w.upTo) /\ UNCHANGED <<debt, shown>>
     ELSE /\ Rests(x) /\ UNCHANGED projecting
          /\ shown' = [shown EXCEPT ![x] = Max(@, w.upTo)]
  /\ UNCHANGED faults

\* The record is another by now. Most likely somebody else has shown it, or has more to show; or its own first copy did.
\* Rust: ferry_core::projected_write::debt::projected
IsRefused(x) ==
  /\ IsDone(x)
  /\ way[x].kind # "show" /\ ~IsAsRead(way[x])
  /\ Rests(x)
  /\ IF Flaw = "RefusalIsShown" /\ x \in Resumers
     THEN shown' = [shown EXCEPT ![x] = Max(@, Len(debt[x].log))]
     ELSE UNCHANGED shown
  /\ UNCHANGED <<projecting, faults>>

\* It failed, or nobody knows: it may have taken effect, and may still.
\* Rust: ferry_core::projected_write::debt::again
IsUnknown(x) ==
  /\ IsDone(x) /\ Fault
  /\ Rests(x)
  /\ IF Flaw = "DoubtIsShown" THEN shown' = [shown EXCEPT ![x] = Len(debt[x].log)] ELSE UNCHANGED shown
  /\ UNCHANGED projecting

\* A resume is cut short.
\* Rust: ferry_core::projected_write::debt::drop
ResumerCrash(x) ==
  /\ x \in Resumers /\ owes[x] # "nothing" /\ Fault
  /\ Rests(x)
  /\ shown' = [shown EXCEPT ![x] = 0]
  /\ paid' = paid \ {x}
  /\ UNCHANGED <<store, sends, known, hidden, view, projecting, back, since, top, heard>>

-----------------------------------------------------------------------------
(* What callers hear of the view.                                           *)

\* What nobody knows: whether the view shows the entry, or of a "no" the log as it was at some moment after the question
\* and by which it was one.
IsInView(a) == IF a.kind = "applied" THEN a.at <= Len(view)
               ELSE \E p \in since : /\ p[1] = a.s
                                      /\ \E j \in p[2]..Len(view) : Step(First(rec.log, j), a.s) = a.kind

Tells(n, b, isProjected) ==
  /\ b \in back[n]
  /\ back' = [back EXCEPT ![n] = @ \ {b}]
  /\ heard' = heard \cup {b.s}
  /\ since' = {p \in since : p[1] # b.s}
  /\ answers' = {IF a.s = b.s THEN [a EXCEPT !.true = @ /\ (isProjected => IsInView(a))] ELSE a : a \in answers}
  /\ UNCHANGED <<store, sends, known, done, could, overtaken, carried, belied, gone, deleted, deletes,
                 view, projecting, owes, debt, way, shown, paid, top>>

\* Only when the view is known to show what the outcome rests on: also where that was found in the record.
\* Rust: ferry_core::projected_write::answers::all_shown
\* Rust: ferry_core::projected_write::answers::shown_in_part
TellProjected(n, b) ==
  /\ \/ b.rests <= shown[n]
     \/ Flaw = "EarlyProjected" /\ ~b.isOld
     \/ Flaw = "EarlyDuplicate" /\ b.isOld
  /\ Tells(n, b, TRUE)
  /\ UNCHANGED faults

\* Its deadline passes, or there is no further try. It is no failure: the outcome is durable.
\* Rust: ferry_core::projected_write::answers::all_late
TellCommitted(n, b) ==
  /\ Fault
  /\ Tells(n, b, FALSE)

-----------------------------------------------------------------------------
\* What the view has no part in. Not in the code: there it is one machine inside another.
Aside(action) == action /\ UNCHANGED projection

ReadsToFold(n) == \E k \in Sizes(n) : ReadToFold(n, k) \/ (owes[n] # "sent" /\ Aside(ReadNothing(n, k)))
OutcomesRead(n) == \E k \in 1..take[n] : OutcomeFromRead(n, k)
Projects(x) == \E upTo \in 0..Len(debt[x].log) : Project(x, upTo)
ProjectsAll(x) == Project(x, Len(debt[x].log))
HasState(n) == held[n] # <<>> \/ back[n] # {} \/ owes[n] # "nothing"

ProjectedNext ==
  \/ \E n \in Nodes, i \in Inputs : SubmitSince(n, <<i, sends[i] + 1>>)
  \/ \E n \in Nodes : \/ ReadsToFold(n) \/ OutcomesRead(n) \/ Aside(Commit(n))
                      \/ LandedOwing(n) \/ Aside(Refused(n) \/ InDoubt(n) \/ NotLanded(n))
                      \/ OutcomeFromCommit(n) \/ Aside(Ends(n))
                      \/ \E k \in DOMAIN held[n] : Aside(Withdraw(n, k) \/ \E kind \in Kinds : GiveUp(n, k, kind))
                      \/ HasState(n) /\ CrashOwing(n)
                      \/ \E b \in back[n] : TellProjected(n, b) \/ TellCommitted(n, b)
  \/ \E c \in wire : LandBeside(c)
  \/ \E x \in Actors : Look(x) \/ Projects(x) \/ IsShown(x) \/ IsRefused(x) \/ IsUnknown(x) \/ ResumerCrash(x)
  \/ \E w \in projecting : Arrive(w)

ProjectedSpec == ProjectedInit /\ [][ProjectedNext]_allVars

\* What a node does by itself for its batch, and what anybody does for a view.
Carries(n) == \/ phase[n] # "folded" /\ ReadsToFold(n)
              \/ OutcomesRead(n) \/ Aside(Commit(n)) \/ LandedOwing(n) \/ Aside(Refused(n))
              \/ OutcomeFromCommit(n) \/ Aside(Ends(n))
              \/ \E b \in back[n] : TellProjected(n, b)
Pays(x)    == Look(x) \/ ProjectsAll(x) \/ IsShown(x) \/ IsRefused(x)

FairProjectedSpec ==
  /\ ProjectedSpec
  /\ \A n \in Nodes : WF_allVars(Carries(n)) /\ WF_allVars(LandBeside(job[n]))
  /\ \A x \in Actors : WF_allVars(Pays(x)) /\ WF_allVars(Arrive(way[x]))

-----------------------------------------------------------------------------
(* WHAT IS PROMISED, beside all that a fenced write promises.               *)

ProjectedTypeOK ==
  /\ TypeOK
  /\ \A x \in Actors : owes[x] \in {"nothing", "owing", "sent"} /\ (owes[x] = "sent") = (way[x] # NoWay)
  /\ \A w \in projecting : w.from <= w.upTo

IsPrefix(p, q) == Len(p) <= Len(q) /\ SubSeq(q, 1, Len(p)) = p

\* The view shows each entry once, and in order.
ViewInOrder == IsPrefix(view, rec.log)
\* The marker never claims what the view does not show.
MarkerTrue == rec.mark <= Len(view)
\* And never goes back.
MarkerForward == rec.mark = top
ViewForward == ViewInOrder /\ MarkerTrue /\ MarkerForward

\* What anybody takes the view to show, a resume at its end included, it shows.
ShownIsShown == \A x \in Actors : shown[x] <= Len(view)

\* Whatever is pending is projected.
Projected == IsPending(rec) ~> ~IsPending(rec)

\* Of the outcomes nothing has vanished: each is held back for the view, or has been told, or died with its node.
OutcomesKept ==
  LET waiting == {b.s : b \in UNION {back[n] : n \in Nodes}}
      outcomes == {a.s : a \in {a \in answers : a.kind \notin Kinds}}
  IN outcomes = waiting \cup heard /\ waiting \cap heard = {}

\* An outcome is told in the end.
Heard == \A s \in Submissions : (\E n \in Nodes : s \in {b.s : b \in back[n]})
                                   ~> ~(\E n \in Nodes : s \in {b.s : b \in back[n]})

(* Never so: each of these has to fail.                                     *)

\* A projection finds a newer commit than its own record.
NeverBehind == \A w \in projecting : w.kind = "show" \/ w.ver = rec.ver
\* A resume and a node are both about to project the same record.
NeverRaced == \A x, y \in Actors : x # y /\ owes[x] = "sent" /\ owes[y] = "sent" => way[x].from # way[y].from
\* The view is ahead of the marker, and whoever brought it there is gone.
NeverOrphaned == rec.mark < Len(view) => \E x \in Actors : owes[x] # "nothing"
\* The view shows a part of one commit.
NeverInPart == \A n \in Nodes : \A b \in back[n] :
  ~(b.rests <= shown[n] /\ \E other \in back[n] : other.rests > shown[n])

ProjectedSymmetry == Symmetry \cup Permutations(Resumers)
=============================================================================
