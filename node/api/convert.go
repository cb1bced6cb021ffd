package api

import (
	"cmp"
	"slices"
	"strings"

	"fednode/node/client"
	"fednode/node/config"
	"fednode/node/descriptor"
	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/fragment"
	"fednode/node/p2p"
	"fednode/node/replica"
	"fednode/node/source"
	"fednode/node/wire"
	"fednode/query"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// PositionOf converts a position; the zero one is that of somebody who has not begun.
func PositionOf(p tuple.Position) Position {
	if p == (tuple.Position{}) {
		p.Time = tuple.MinTime
	}
	return Position{Generation: p.Generation, ID: p.ID, Boundary: StreamTime(p.Time)}
}

// SubscribersOf converts subscribers that are waited for, and those that have lapsed, by name.
func SubscribersOf(counted map[string]tuple.Position, lapsed map[string]flow.Lapse) []Subscriber {
	out := make([]Subscriber, 0, len(counted)+len(lapsed))
	for name, p := range counted {
		out = append(out, Subscriber{Name: name, Acknowledged: PositionOf(p)})
	}
	for name, l := range lapsed {
		out = append(out, Subscriber{Name: name, Acknowledged: PositionOf(l.Acknowledged), Lapsed: timeOrNil(l.Since)})
	}
	slices.SortFunc(out, func(a, b Subscriber) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// SourceOf converts the status of a source proxy; logLimit is the bytes at which intake stops.
func SourceOf(s source.Status, logLimit int64) SourceStatus {
	return SourceStatus{
		Stream: s.Name, Condition: s.Condition.String(), Detail: s.Detail, Failure: s.Failure,
		Rows: s.Totals.Rows, Clamped: s.Totals.Clamped, Late: s.Totals.Late, Future: s.Totals.Future, Errors: s.Errors,
		ByReason: orEmpty(s.ByReason), Head: PositionOf(s.Head), High: StreamTime(s.High),
		LogBytes: s.LogBytes, LogLimitBytes: logLimit, Subscribers: SubscribersOf(s.Subscribers, s.Lapsed), Recovered: s.Recovered,
	}
}

func orEmpty(m map[string]uint64) map[string]uint64 {
	if m == nil {
		return map[string]uint64{}
	}
	return m
}

// PeerOf converts the status of a peer.
func PeerOf(p p2p.PeerStatus) PeerInfo {
	return PeerInfo{
		Peer: p.ID.String(), Org: p.Member.Org, Node: p.Member.Node, Up: p.Up, Cause: p.Cause,
		Protocol: int(p.Version), Software: p.Software, Address: p.Address, Dialled: append([]string{}, p.Dialled...),
		RTT: p.RTT.Seconds(), Silence: p.Silence.Seconds(), SilenceLimit: p.Limit.Seconds(),
		Flaps: p.Flaps, Streams: p.Streams, Queued: p.Queued,
	}
}

// PartnersOf sums up peers by organisation. orgs are the trusted ones; each gets an entry, also without a peer.
func PartnersOf(orgs []string, peers []PeerInfo) []PartnerStatus {
	byOrg := make(map[string]*PartnerStatus, len(orgs))
	for _, org := range orgs {
		byOrg[org] = &PartnerStatus{Org: org}
	}
	for i := range peers {
		p := byOrg[peers[i].Org]
		if p == nil {
			continue // not admitted, or of an organisation that is no longer trusted
		}
		p.Known++
		if peers[i].Up {
			p.Up++
		}
	}
	out := make([]PartnerStatus, 0, len(byOrg))
	for _, p := range byOrg {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b PartnerStatus) int { return strings.Compare(a.Org, b.Org) })
	return out
}

// QueryOf converts a descriptor; the caller fills in Here and Failure.
func QueryOf(d *descriptor.Descriptor) QueryInfo {
	return QueryInfo{
		ID: d.ID(), Org: d.Org, Name: d.Query, State: string(d.State), Term: d.Term, Epoch: d.Epoch,
		Home: d.Home.String(), Created: d.Created.Std().UTC(), Assignments: AssignmentsOf(d.Assignments),
	}
}

// AssignmentsOf converts assignments.
func AssignmentsOf(list []descriptor.Assignment) []Assignment {
	out := make([]Assignment, 0, len(list))
	for _, a := range list {
		out = append(out, Assignment{Fragment: a.Fragment, Org: a.Org, Node: a.Node})
	}
	return out
}

// MaxDelayOf converts a query's max_delay in microseconds; query.Unbounded is nil.
func MaxDelayOf(micros int64) *float64 {
	if micros == query.Unbounded {
		return nil
	}
	s := seconds(micros)
	return &s
}

// FragmentOf converts the status of a fragment that runs. For one that waits to be started again, or was stopped, the
// caller sets State, Failure and NextTry; Restarts it sets in any case.
func FragmentOf(name string, s fragment.Status) FragmentStatus {
	out := FragmentStatus{
		Name: name, State: FragmentRunning, Failure: s.Failure, StateBytes: s.StateBytes, Load: s.Load, CannotCatchUp: s.CannotCatchUp, Worked: s.Worked.Seconds(), Renewals: Renewals(s.Renewals), Released: StreamTime(s.Released),
		PointAt: timeOrNil(s.PointAt), PointBoundary: StreamTime(s.PointBoundary),
		Operators: make([]OperatorStatus, 0, len(s.Operator.Operators)),
		Inputs:    make([]InputStatus, 0, len(s.Inputs)),
		Outputs:   make([]OutputStatus, 0, len(s.Outputs)),
	}
	if s.Name == "" { // its loop has not answered yet
		out.Released = NoTime
	}
	if s.PointAt.IsZero() {
		out.PointBoundary = NoTime
	}
	for _, o := range s.Operator.Operators {
		out.Operators = append(out.Operators, operatorOf(o))
	}
	for _, in := range s.Inputs {
		out.Inputs = append(out.Inputs, InputStatus{
			Stream: in.Stream, Connected: in.Connected, Cause: in.Cause, Producer: in.Producer, Condition: in.Condition.String(), Tentative: in.Tentative,
			Rows: in.Rows, Boundary: StreamTime(in.Boundary), Waiting: in.Waiting, Held: in.Held, Diverged: append([]string{}, in.Diverged...),
		})
	}
	for _, o := range s.Outputs {
		out.Outputs = append(out.Outputs, outputOf(o))
	}
	return out
}

func outputOf(o fragment.OutputStatus) OutputStatus {
	out := OutputStatus{
		Stream: o.Stream, State: stateOfOutput(o), Since: timeOrNil(o.Since), Head: PositionOf(o.Head), Holding: o.Holding.Seconds(), Delay: o.Delay.Seconds(),
		Delays: delaysOf(o.Delays), TentativeRows: o.Tentative, Missing: make([]MissingInput, 0, len(o.Missing)), Redo: o.Redo.Seconds(),
		Bytes: o.Bytes, Limit: o.Limit, SpareBytes: o.Spare, SpilledBytes: o.Spilled.Bytes, SpillLimit: o.Spilled.Limit, Subscribers: SubscribersOf(o.Subscribers, o.Lapsed),
	}
	if o.Spilled.Cause != nil {
		out.SpillFailure = o.Spilled.Cause.Error()
	}
	if o.Bound > 0 {
		bound := o.Bound.Seconds()
		out.Bound = &bound
	}
	for _, m := range o.Missing {
		out.Missing = append(out.Missing, MissingInput{Stream: m.Stream, Since: StreamTime(m.Since)})
	}
	out.Anew = anewOf(o.Anew)
	return out
}

func anewOf(v *replica.AnewView) Anew {
	if v == nil {
		return Anew{Complete: NoTime, Needed: NoTime, Begins: NoTime, GapFrom: NoTime, GapTo: NoTime}
	}
	phase := map[replica.AnewPhase]string{replica.Lacking: PhaseLacking, replica.Converging: PhaseConverging, replica.Following: PhaseFollowing}[v.Phase]
	a := Anew{Phase: cmp.Or(phase, PhaseWhole), Span: seconds(v.Span), Complete: StreamTime(v.Complete), Needed: StreamTime(v.Needed), Begins: NoTime,
		Times: v.Times, GapFrom: NoTime, GapTo: NoTime, Reason: v.Reason}
	if v.Begins != 0 {
		a.Begins = StreamTime(v.Begins)
	}
	if v.Times > 0 {
		a.GapFrom, a.GapTo = StreamTime(v.GapFrom), StreamTime(v.GapTo)
	}
	return a
}

func delaysOf(d fragment.Delays) DelayCounts {
	steps := fragment.DelaySteps()
	out := DelayCounts{Boundaries: d.Counts[:], Sum: d.Sum.Seconds()}
	for _, s := range steps {
		out.UpTo = append(out.UpTo, s.Seconds())
	}
	return out
}

func operatorOf(o query.OperatorStatus) OperatorStatus {
	c := o.Counters
	return OperatorStatus{
		Name: o.Name, Kind: o.Kind, RowsIn: c.RowsIn, RowsOut: c.RowsOut, Dropped: c.Dropped, DivByZero: c.DivByZero, Overflow: c.Overflow,
		StateBytes: o.StateBytes, Boundary: StreamTime(o.Boundary), Lag: seconds(o.Lag), HeldBy: o.HeldBy,
	}
}

// stateOfOutput says how an output stands; one whose fragment has not answered yet is starting.
func stateOfOutput(o fragment.OutputStatus) string {
	state := wire.StreamState(o.State)
	switch {
	case o.Head.Time == tuple.MaxTime:
		state = wire.Ended
	case o.State == 0:
		state = wire.Starting
	}
	return stateName(state)
}

// stateName is the name of a stream's state here and in the metrics.
func stateName(s wire.StreamState) string { return strings.ToLower(s.String()) }

// SinkOf converts the status of a client proxy.
func SinkOf(output string, s client.Status) SinkStatus {
	state := ""
	if s.State != 0 {
		state = stateName(wire.StreamState(s.State))
	}
	return SinkStatus{
		State: state, Since: timeOrNil(s.Since),
		Output: output, Stream: s.Stream, Connected: s.Connected, Producer: s.Producer, Cause: s.Cause, Failure: s.Failure, Rows: s.Rows, Tentative: s.Tentative, Gaps: s.Gaps,
		At: PositionOf(s.At), Committed: PositionOf(s.Committed), Done: s.Done, Diverged: append([]string{}, s.Diverged...),
	}
}

// ColumnsOf converts a schema.
func ColumnsOf(s *tuple.Schema) []ColumnInfo {
	out := make([]ColumnInfo, 0, s.Len())
	for i := range s.Len() {
		f := s.Field(i)
		out = append(out, ColumnInfo{Name: f.Name, Type: f.Type.String(), Form: f.Form.String()})
	}
	return out
}

// ExportOf converts an export. s is the stream's schema where it is known; else the columns have no type.
func ExportOf(x *export.Export, s *tuple.Schema) ExportInfo {
	out := ExportInfo{
		Name: x.Name, Stream: x.Stream, To: append([]string{}, x.To...), Purpose: x.Purpose, Expires: timeOrNil(x.Expires),
		History: seconds(x.History), RowsPerSec: x.Rate.Rows, BytesPerSec: x.Rate.Bytes, Columns: []ColumnInfo{},
	}
	if x.Where != nil {
		out.Where = x.Where.String()
	}
	if s != nil {
		if seen, err := x.Schema(s); err == nil {
			out.Columns = ColumnsOf(seen)
			return out
		}
	}
	for _, c := range x.Columns {
		out.Columns = append(out.Columns, ColumnInfo{Name: c.Name, Form: c.Form.String()})
	}
	return out
}

// OfferOf converts what a heartbeat says of a stream.
func OfferOf(s wire.StreamStatus) Offer {
	org, _, _ := strings.Cut(s.Name, "/")
	return Offer{Org: org, Stream: s.Name, State: stateName(s.State), Boundary: StreamTime(s.Boundary), LastID: s.LastID}
}

// SettingsOf converts settings.
func SettingsOf(list []config.Setting) []Setting {
	out := make([]Setting, 0, len(list))
	for _, s := range list {
		out = append(out, Setting(s))
	}
	return out
}

// ProblemsOf converts problems of a file.
func ProblemsOf(list []spec.Problem) []Problem {
	out := make([]Problem, 0, len(list))
	for _, p := range list {
		out = append(out, Problem{File: p.Pos.File, Line: p.Pos.Line, Column: p.Pos.Column, Path: p.Path, Message: p.Msg, Hint: p.Hint})
	}
	return out
}
