package testnet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fednode/query/spec"
)

// The faults that can be done to a network.
const (
	FaultKill      = "kill"      // a node's process, at once, as a crash
	FaultEnd       = "end"       // a node's process, in order
	FaultLose      = "lose"      // a node's process, as a crash, and what it has stored but for the logs of its sources
	FaultDamage    = "damage"    // a node's process, as a crash, and bytes of what it stored last are flipped
	FaultAmbush    = "ambush"    // a node's process, as a crash, in the middle of something; or of that which gives it its state
	FaultRestart   = "restart"   // a node is started again; one that runs is ended first
	FaultStop      = "stop"      // a node's process stands still
	FaultCont      = "cont"      // it goes on
	FaultPartition = "partition" // nodes are cut off from all others
	FaultOneway    = "oneway"    // nothing comes through one way
	FaultDelay     = "delay"     // everything takes longer
	FaultLoss      = "loss"      // a share of the packets is lost
	FaultClock     = "clock"     // a node's clock is wrong
	FaultDiskFull  = "disk-full" // a node finds its disk full
	FaultHeal      = "heal"      // all faults end but of processes that have ended
	FaultPause     = "pause"     // a live source has no rows for a while
	FaultResume    = "resume"    // it has again
)

// shape says what the words of a fault are.
type shape struct {
	kind string
	// least and most are how many targets it takes; value is what comes after them, "" for nothing.
	least, most int
	value       string
	lasts       bool // may end by itself
	usage, does string
}

// Values that faults take.
const (
	valueDuration = "duration"
	valuePercent  = "percent"
	valueOffset   = "offset"
	valueMoment   = "moment"
)

func shapes() []shape {
	return []shape{
		{FaultKill, 1, 1, "", false, "kill NODE", "end its process at once, as a crash"},
		{FaultEnd, 1, 1, "", false, "end NODE", "end it in order"},
		{FaultLose, 1, 1, "", false, "lose NODE", "kill it, and what it has stored is gone, but for its sources' logs"},
		{FaultDamage, 1, 1, "", false, "damage NODE", "kill it, and bytes of what it stored last are flipped"},
		{FaultAmbush, 1, 2, valueMoment, false, "ambush NODE [GIVER] MOMENT", "kill it in a write or in a transfer of a replica's state to it, or GIVER in that"},
		{FaultRestart, 1, 1, "", false, "restart NODE", "start it again; one that runs is ended first"},
		{FaultStop, 1, 1, "", true, "stop NODE", "its process stands still (SIGSTOP)"},
		{FaultCont, 1, 1, "", false, "cont NODE", "and goes on"},
		{FaultPartition, 1, 1, "", true, "partition NODE", "cut it off from all others"},
		{FaultOneway, 2, 2, "", true, "oneway FROM TO", "nothing that FROM sends reaches TO"},
		{FaultDelay, 1, 2, valueDuration, true, "delay NODE [NODE] 40ms", "everything takes so much longer, each way"},
		{FaultLoss, 1, 2, valuePercent, true, "loss NODE [NODE] 20%", "so many packets are lost, each way"},
		{FaultClock, 1, 1, valueOffset, true, "clock NODE +30s", "its clock is wrong by so much"},
		{FaultDiskFull, 1, 1, "", true, "disk-full NODE", "it finds its disk full"},
		{FaultPause, 1, 1, "", true, "pause NODE", "its live source has no rows"},
		{FaultResume, 1, 1, "", false, "resume NODE", "and has again"},
		{FaultHeal, 0, 1, "", false, "heal [NODE]", "end all faults in force, or a node's; what was killed needs restart"},
	}
}

// FaultKinds lists the faults; FaultUsage has a line for each: how it is written, and what it does.
func FaultKinds() []string {
	var out []string
	for _, s := range shapes() {
		out = append(out, s.kind)
	}
	return out
}

// FaultUsage returns how each fault is written and what it does.
func FaultUsage() [][2]string {
	var out [][2]string
	for _, s := range shapes() {
		out = append(out, [2]string{s.written(), s.does})
	}
	return out
}

// Fault is one fault as it was asked for.
type Fault struct {
	Kind string
	// Targets are nodes by id, or organisations, which stand for all their nodes.
	Targets []string
	// For is after how long it ends by itself; 0 leaves it until it is undone.
	For time.Duration
	// Value of delay and clock; Share of loss, 0 to 1.
	Value time.Duration
	Share float64
	// Moment of ambush: MomentWrite or MomentTransfer.
	Moment string
}

// Bounds of what a fault may say.
const (
	maxFaultFor   = 24 * time.Hour
	maxFaultValue = time.Hour
)

// ParseFault reads a fault from its words, such as partition south for 30s. Errors are of class ErrSpec.
func ParseFault(words []string) (Fault, error) {
	if len(words) == 0 {
		return Fault{}, errorf(ErrSpec, "expected a fault: %s", strings.Join(FaultKinds(), ", "))
	}
	all := shapes()
	i := slices.IndexFunc(all, func(s shape) bool { return s.kind == words[0] })
	if i < 0 {
		return Fault{}, errorf(ErrSpec, "there is no fault `%s`; %s", words[0], spec.DidYouMean(words[0], FaultKinds()))
	}
	return all[i].parse(words[1:])
}

func (s shape) parse(words []string) (f Fault, err error) {
	f.Kind = s.kind
	if n := len(words); n >= 2 && words[n-2] == "for" {
		if !s.lasts {
			return f, errorf(ErrSpec, "%s does not last; leave `for %s` out", s.kind, words[n-1])
		}
		if f.For, err = duration(words[n-1], maxFaultFor); err != nil {
			return f, s.wrongValue(err)
		}
		words = words[:n-2]
	}
	if s.value != "" {
		if len(words) == 0 {
			return f, s.expected()
		}
		if err := f.readValue(s.value, words[len(words)-1]); err != nil {
			return f, s.wrongValue(err)
		}
		words = words[:len(words)-1]
	}
	if len(words) < s.least || len(words) > s.most {
		return f, s.expected()
	}
	if f.Moment == MomentWrite && len(words) == 2 {
		return f, errorf(ErrSpec, "ambush: nobody gives %s what it writes; leave `%s` out", words[0], words[1])
	}
	f.Targets = slices.Clone(words)
	return f, nil
}

func (s shape) expected() error { return errorf(ErrSpec, "expected `%s`", s.written()) }

// wrongValue adds to what is wrong with a value how the fault is written: where a value was left out, the last name stands
// in its place.
func (s shape) wrongValue(err error) error {
	return errorf(ErrSpec, "%s: %v; it is written `%s`", s.kind, err, s.written())
}

// written is how the fault is written.
func (s shape) written() string {
	if s.lasts {
		return s.usage + " [for 10s]"
	}
	return s.usage
}

func (f *Fault) readValue(kind, text string) (err error) {
	switch kind {
	case valuePercent:
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(n >= 0 && n <= 100) || !strings.HasSuffix(text, "%") {
			return errorf(ErrSpec, "`%s` is no share of packets such as 20%%", text)
		}
		f.Share = n / 100
	case valueMoment:
		if text != MomentWrite && text != MomentTransfer {
			return errorf(ErrSpec, "`%s` is no moment; expected %s or %s", text, MomentWrite, MomentTransfer)
		}
		f.Moment = text
	case valueOffset:
		sign := time.Duration(1)
		body := strings.TrimPrefix(text, "+")
		if b, ok := strings.CutPrefix(text, "-"); ok {
			sign, body = -1, b
		}
		f.Value, err = duration(body, maxFaultValue)
		f.Value *= sign
	default:
		f.Value, err = duration(text, maxFaultValue)
	}
	return err
}

func duration(text string, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > most {
		return 0, errorf(ErrSpec, "`%s` is no duration such as 30s, at most %s", text, most)
	}
	return d, nil
}

// String writes the fault as it is read.
func (f Fault) String() string {
	words := append([]string{f.Kind}, f.Targets...)
	switch f.Kind {
	case FaultDelay:
		words = append(words, f.Value.String())
	case FaultAmbush:
		words = append(words, f.Moment)
	case FaultLoss:
		words = append(words, fmt.Sprintf("%g%%", f.Share*100))
	case FaultClock:
		words = append(words, fmt.Sprintf("%+gs", f.Value.Seconds()))
	}
	if f.For > 0 {
		words = append(words, "for", f.For.String())
	}
	return strings.Join(words, " ")
}
