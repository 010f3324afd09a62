------------------------- MODULE TraceProjectedWriter -------------------------
(***************************************************************************)
(* Is what the code did a behaviour of ProjectedWriter?  As                 *)
(* TraceFencedWriter, whose lines are in here.                              *)
(*                                                                          *)
(* That the fold has an outcome is nowhere seen in a run: the node holds it *)
(* back until the view shows it.  So there are steps here without a line.   *)
(* They leave no choice: the code takes all outcomes that it can, at once.  *)
(***************************************************************************)
EXTENDS ProjectedWriter, TraceFencedWriter

VARIABLE settling \* whose read was the last step: what rests on it alone is settled first

NoOne == 99
TraceMayHearNo(s) == TRUE
TraceFirstKind == IF Traces[trace].layout = "apart" THEN "show" ELSE "both"

Settles(n)     == {k \in 1..take[n] : MayAnswerFromRead(n, k)}
FirstOf(some)  == CHOOSE k \in some : \A j \in some : k <= j
Lands          == {n \in Nodes : phase[n] = "landed" /\ take[n] > 0}

\* An outcome that is taken without a line.
HasOutcome  == Lands # {} \/ (settling \in Nodes /\ Settles(settling) # {})
TakeOutcome == IF Lands # {} THEN \E n \in Lands : OutcomeFromCommit(n)
               ELSE OutcomeFromRead(settling, FirstOf(Settles(settling)))

IsBack(n, s) == \E b \in back[n] : b.s = s
BackOf(n, s) == CHOOSE b \in back[n] : b.s = s
HasAnswer(l) == \E a \in answers : a.s = l.s /\ a.kind = l.kind /\ a.at = l.at

OutcomeUnheard(n, s) ==
  LET b == BackOf(n, s) IN IF b.rests <= shown[n] THEN TellProjected(n, b) ELSE TellCommitted(n, b)

\* The entries of a view may come again, and change nothing.
Arrives(l) ==
  LET same == {w \in projecting : w.kind = l.kind /\ w.by = l.by /\ w.ver = l.ver /\ w.upTo = l.to} IN
  IF same # {} THEN \E w \in same : Arrive(w)
  ELSE l.kind = "show" /\ l.to <= Len(view) /\ UNCHANGED allVars

FollowsBeside(l) ==
  CASE l.act = "Submit" -> SubmitSince(l.node, l.s)
    [] l.act \in {"Commit", "Refused", "NotLanded", "InDoubt", "GiveUp", "Overtake", "Withdraw"} -> Aside(Follows(l))
    [] l.act = "Read"   -> /\ rec.ver = l.ver /\ l.take <= Len(held[l.node])
                           /\ LET k == Folded(l.node, l.take) IN IF k = 0 THEN UNCHANGED allVars ELSE ReadToFold(l.node, k)
    [] l.act = "Land"   -> /\ \E c \in wire : c.on = l.on /\ c.adds = l.adds /\ LandBeside(c)
                           /\ rec'.ver = l.ver
    [] l.act = "Landed" -> LandedOwing(l.node)
    [] l.act = "TellProjected" -> IsBack(l.node, l.s) /\ HasAnswer(l) /\ TellProjected(l.node, BackOf(l.node, l.s))
    [] l.act = "TellCommitted" -> IsBack(l.node, l.s) /\ HasAnswer(l) /\ TellCommitted(l.node, BackOf(l.node, l.s))
    [] l.act = "Leave"  -> IF IsBack(l.node, l.s) THEN OutcomeUnheard(l.node, l.s) ELSE Aside(Follows(l))
    [] l.act = "Crash"  -> IF HasState(l.node) THEN CrashOwing(l.node) ELSE UNCHANGED allVars
    [] l.act = "Look"   -> /\ rec.ver = l.ver
                           /\ IF l.by \in Resumers /\ ~IsPending(rec) THEN UNCHANGED allVars ELSE Look(l.by)
    [] l.act = "Project" /\ l.kind = "show" -> debt[l.by].ver = l.ver /\ Project(l.by, l.to)
    [] l.act = "Project" /\ l.kind = "both" -> debt[l.by].ver = l.ver /\ Project(l.by, Len(debt[l.by].log))
    [] l.act = "Arrive" -> Arrives(l)
    [] l.act = "IsShown"   -> IsShown(l.by)
    [] l.act = "IsRefused" -> IsRefused(l.by)
    [] l.act = "IsUnknown" -> IsUnknown(l.by)
    [] l.act = "ResumerCrash" -> IF owes[l.by] # "nothing" THEN ResumerCrash(l.by) ELSE UNCHANGED allVars

FollowBeside == FollowTo(NothingIsHeld /\ \A n \in Nodes : back[n] = {})

NextLine == Lines[line]
IsResting == NextLine.act = "Look" /\ NextLine.by \in Resumers /\ owes[NextLine.by] = "owing"

TraceProjectedInit == /\ trace \in DOMAIN Traces
                      /\ line = 1
                      /\ settling = NoOne
                      /\ ProjectedInitWith(Traces[trace].inputs)

TraceProjectedNext ==
  /\ UNCHANGED trace
  /\ CASE HasOutcome -> TakeOutcome /\ UNCHANGED <<line, settling>>
       [] ~HasOutcome /\ line > Len(Lines) -> FALSE
       [] ~HasOutcome /\ line <= Len(Lines) /\ IsResting -> ResumerCrash(NextLine.by) /\ UNCHANGED <<line, settling>>
       [] OTHER -> /\ FollowsBeside(NextLine)
                   /\ line' = line + 1
                   /\ settling' = IF NextLine.act = "Read" /\ NextLine.settles THEN NextLine.node ELSE NoOne

TraceProjectedSpec == TraceProjectedInit /\ [][TraceProjectedNext]_<<allVars, trace, line, settling>>
=============================================================================
