-------------------------- MODULE TraceFencedWriter --------------------------
(***************************************************************************)
(* Is what the code did a behaviour of FencedWriter?                        *)
(*                                                                          *)
(* Module Traces is written by `ferry-sim behaviour`.  It has what was done *)
(* to some keys in some simulated runs of the real code, each as a sequence *)
(* of lines.  A line names a step of FencedWriter, and says with whom.  From *)
(* the state to which the lines before it have led, FencedWriter has to     *)
(* allow that step.  A trace is accepted when its last line is reached, and  *)
(* nobody waits for an answer any more; unless it is the beginning of what   *)
(* was done, or the store did not work for its key to the end.              *)
(*                                                                          *)
(* State and line together leave one way to go on, but where two commits    *)
(* are alike; so that a trace makes hardly more states than it has lines.   *)
(*                                                                          *)
(* A purse of the simulation holds an amount, and what an input brings is   *)
(* the third part of its submission.  That, and how many ids a record       *)
(* remembers, is all that the fold has from the trace.                      *)
(***************************************************************************)
EXTENDS FencedWriter, Traces

CONSTANTS
  Verbose, \* TRUE: it is told of each line that it is reached
  StopAt   \* a line before which to stop, for the state to be shown; 0: none

VARIABLES
  trace, \* which
  line   \* the next of its lines

TraceAmount(s)  == s[3]
TraceContent(s) == s[3]

\* Ids of the first trace are numbers from 1000 on, those of the second from 2000 on.
WindowOf(i) == Traces[i \div 1000].window
TraceRemembers(log, i)   == i \in Ids(log) /\ LargerThan(log, i) < WindowOf(i)
TraceIsForgotten(log, i) == ~TraceRemembers(log, i) /\ LargerThan(log, i) >= WindowOf(i)

Lines    == Traces[trace].lines
At(n, s) == CHOOSE k \in DOMAIN held[n] : held[n][k] = s
TraceSubmissions == Traces[trace].inputs \X Nat \X Int
IsHeld(n, s)  == s \in Range(held[n])
IsAnswered(l) == \E a \in answers' \ answers : a.s = l.s /\ a.kind = l.kind /\ a.at = l.at

\* How many of the first k the fold gets to. Behind a step that panics it has found nothing, and its node reads again.
Folded(n, k) ==
  LET panics == {j \in 1..k : held[n][j] \in Traces[trace].panics}
  IN  IF panics = {} THEN k ELSE (CHOOSE j \in panics : \A i \in panics : j <= i) - 1

\* What was made of it nobody has heard, so it may be anything that could have been said.
LeavesUnheard(n, s) ==
  LET k == At(n, s) IN
  CASE phase[n] = "landed" /\ k <= take[n] -> k = 1 /\ AnswerFromCommit(n)
    [] MayAnswerFromRead(n, k) -> AnswerFromRead(n, k)
    [] OTHER -> GiveUp(n, k, IF FailsAs(n, s, "in doubt") THEN "in doubt" ELSE "not committed")

Follows(l) ==
  CASE l.act = "Submit"    -> Submit(l.node, l.s)
    [] l.act = "Read"      -> /\ rec.ver = l.ver /\ l.take <= Len(held[l.node])
                              /\ LET k == Folded(l.node, l.take) IN IF k = 0 THEN UNCHANGED vars ELSE Read(l.node, k)
    [] l.act = "Commit"    -> Adds(l.node) = l.adds /\ snap[l.node].ver = l.on /\ Commit(l.node)
    [] l.act = "Land"      -> /\ \E c \in wire : c.on = l.on /\ c.adds = l.adds /\ Land(c)
                              /\ rec'.ver = l.ver
    [] l.act = "Landed"    -> Landed(l.node)
    [] l.act = "Refused"   -> Refused(l.node)
    [] l.act = "NotLanded" -> NotLanded(l.node)
    [] l.act = "InDoubt"   -> InDoubt(l.node)
    [] l.act = "Answer"    -> /\ IsHeld(l.node, l.s)
                              /\ IF phase[l.node] = "landed" THEN AnswerFromCommit(l.node)
                                 ELSE AnswerFromRead(l.node, At(l.node, l.s))
                              /\ IsAnswered(l)
    [] l.act = "GiveUp"    -> IsHeld(l.node, l.s) /\ GiveUp(l.node, At(l.node, l.s), l.kind)
    [] l.act = "Overtake"  -> IsHeld(l.node, l.s) /\ Overtake(l.node, At(l.node, l.s), l.kind)
    [] l.act = "Leave"     -> IsHeld(l.node, l.s) /\ LeavesUnheard(l.node, l.s)
    [] l.act = "Withdraw"  -> IsHeld(l.node, l.s) /\ Withdraw(l.node, At(l.node, l.s))
    [] l.act = "Crash"     -> Crash(l.node)
    [] l.act = "Delete"    -> Delete

TraceInit == /\ trace \in DOMAIN Traces
             /\ line = 1
             /\ InitWith(Traces[trace].inputs)

TraceNext == /\ line <= Len(Lines)
             /\ Follows(Lines[line])
             /\ line' = line + 1
             /\ UNCHANGED trace

traceVars == <<vars, trace, line>>
TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: for it to be told which traces are followed to their ends, where nothing is left to be done.
FollowTo(isOver) ==
  IF line > Len(Lines) /\ (Traces[trace].whole => isOver) THEN PrintT(<<"accepted", trace, Traces[trace].seed, Traces[trace].key>>)
  ELSE Verbose => PrintT(<<"reached", trace, line>>)

\* A run ends when everyone is answered, or gone.
NothingIsHeld == \A n \in Nodes : held[n] = <<>>
Follow == FollowTo(NothingIsHeld)

\* False where it is to stop.
IsBefore == line # StopAt
=============================================================================
