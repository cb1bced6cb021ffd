package dcaa

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPermissionScripts runs testdata/permission/*.txt. Each command prints the messages that it puts in flight, as
// "from -> to: message", and whose redo begins. Commands:
//
//	replicas NAME...           starts over with these replicas, incarnation 1, time 0
//	want NAME missed=N
//	release NAME
//	restart NAME               a crash and a start with the next incarnation
//	absent at=NAME peer=NAME   at holds peer absent; "present" takes it back
//	flow                       delivers what is in flight, oldest first, until nothing is
//	flow from=NAME to=NAME     delivers what is in flight between the two now
//	flow last                  delivers the newest in flight
//	lose                       loses all that is in flight
//	message from=NAME to=NAME asker=NAME request|yes incarnation=N number=N missed=N   delivers what nobody sent
//	pass seconds=N             lets time pass, in steps of a second
//	status                     what each replica does and waits for
func TestPermissionScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/permission", func(t *testing.T, path string) {
		s := &permissionScript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.command(t, d)
			return s.out.String()
		})
	})
}

// permissionScript is the state between the commands of one file.
type permissionScript struct {
	now      Instant
	replicas []*Permission
	names    []string
	flight   []scriptedMessage // oldest first
	out      strings.Builder
}

type scriptedMessage struct {
	from string
	Addressed
}

func (s *permissionScript) command(t *testing.T, d *datadriven.TestData) {
	switch d.Cmd {
	case "replicas":
		*s = permissionScript{}
		for _, a := range d.CmdArgs {
			s.names = append(s.names, a.Key)
		}
		for _, name := range s.names {
			s.replicas = append(s.replicas, NewPermission(name, 1, s.names))
		}
	case "want":
		var missed uint64
		d.ScanArgs(t, "missed", &missed)
		s.step(s.first(d), func(p *Permission) { p.Want(s.now, missed) })
	case "release":
		s.step(s.first(d), func(p *Permission) { p.Release(s.now) })
	case "restart":
		s.step(s.first(d), func(p *Permission) { *p = *NewPermission(p.self, p.incarnation+1, s.names) })
	case "absent", "present":
		peer := s.named(t, d, "peer").self
		s.step(s.named(t, d, "at"), func(p *Permission) { p.Peer(s.now, peer, d.Cmd == "absent") })
	case "flow":
		s.flow(t, d)
	case "lose":
		s.flight = nil
	case "message":
		s.forge(t, d)
	case "pass":
		s.pass(t, d)
	case "status":
		s.status()
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
}

// step does something to a replica and prints what follows.
func (s *permissionScript) step(p *Permission, do func(*Permission)) {
	before := p.Granted()
	do(p)
	for _, m := range p.TakeMessages() {
		s.flight = append(s.flight, scriptedMessage{p.self, m})
		fmt.Fprintf(&s.out, "%s -> %s: %v\n", p.self, m.To, m.Message)
	}
	if p.Granted() && !before {
		fmt.Fprintf(&s.out, "%s redoes\n", p.self)
	}
}

func (s *permissionScript) flow(t *testing.T, d *datadriven.TestData) {
	switch {
	case d.HasArg("last"):
		s.deliver(len(s.flight) - 1)
	case d.HasArg("from"):
		from, to := s.named(t, d, "from").self, s.named(t, d, "to").self
		for i, n := 0, len(s.flight); n > 0; n-- {
			if s.flight[i].from == from && s.flight[i].To == to {
				s.deliver(i)
			} else {
				i++
			}
		}
	default:
		for len(s.flight) > 0 {
			s.deliver(0)
		}
	}
}

func (s *permissionScript) deliver(i int) {
	m := s.flight[i]
	s.flight = append(s.flight[:i:i], s.flight[i+1:]...)
	s.step(s.replica(m.To), func(p *Permission) { p.Message(s.now, m.from, m.Message) })
}

func (s *permissionScript) forge(t *testing.T, d *datadriven.TestData) {
	var from string
	m := PermissionMessage{Kind: PermissionRequest}
	if d.HasArg("yes") {
		m.Kind = PermissionYes
	}
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "asker", &m.Asker)
	d.ScanArgs(t, "incarnation", &m.AskerIncarnation)
	d.ScanArgs(t, "number", &m.Number)
	d.MaybeScanArgs(t, "missed", &m.Missed)
	s.step(s.named(t, d, "to"), func(p *Permission) { p.Message(s.now, from, m) })
}

func (s *permissionScript) pass(t *testing.T, d *datadriven.TestData) {
	var seconds int
	d.ScanArgs(t, "seconds", &seconds)
	for range seconds {
		s.now += 1_000_000
		for _, p := range s.replicas {
			s.step(p, func(p *Permission) { p.Tick(s.now) })
		}
	}
}

func (s *permissionScript) status() {
	for _, p := range s.replicas {
		switch {
		case p.Granted():
			fmt.Fprintf(&s.out, "%s redoes\n", p.self)
		case p.Waiting() != nil:
			due, _ := p.Due()
			fmt.Fprintf(&s.out, "%s waits for %s, repeats in %d ms\n", p.self, strings.Join(p.Waiting(), " and "), (due-s.now)/1000)
		default:
			fmt.Fprintf(&s.out, "%s is idle\n", p.self)
		}
	}
}

// first is the replica that the first argument names.
func (s *permissionScript) first(d *datadriven.TestData) *Permission {
	return s.replica(d.CmdArgs[0].Key)
}

func (s *permissionScript) named(t *testing.T, d *datadriven.TestData, key string) *Permission {
	var name string
	d.ScanArgs(t, key, &name)
	return s.replica(name)
}

func (s *permissionScript) replica(name string) *Permission {
	for _, p := range s.replicas {
		if p.self == name {
			return p
		}
	}
	panic("no replica " + name)
}
