package mpa

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fednode/contracts"
)

// stage is a few participants between which every message is seen, and may be lost, held back or doubled.
type stage struct {
	now       Instant
	names     []Party
	parties   map[Party]*Machine
	mail      []letter
	moves     []passage
	fate      map[string]string // by kind of message: drop, twice, hold
	log       strings.Builder
	migration int64
	held      []letter
}

type letter struct {
	from Party
	at   Instant
	Envelope
}

type passage struct {
	from Party
	at   Instant
	Migration
}

// price of a unit of load in the scripts: 25 makes 0.8 of a queue of capacity 1 full.
const scriptPrice = 25

func TestMachineScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		s := &stage{parties: make(map[Party]*Machine), fate: make(map[string]string)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.log.Reset()
			if err := s.run(d); err != nil {
				return "error: " + err.Error() + "\n"
			}
			return s.log.String()
		})
	})
}

func (s *stage) run(d *datadriven.TestData) error {
	switch d.Cmd {
	case "node":
		return s.node(d)
	case "contract":
		return s.contract(d)
	case "end":
		for _, m := range s.names {
			s.parties[m].EndContract(s.now, ContractID(arg(d, 0)))
			s.collect(m)
		}
	case "measure":
		m := s.parties[Party(arg(d, 0))]
		for range int(number(d, "times", 30)) {
			err := m.MeasuredAll(s.now, func(TaskID, float64) float64 { return number(d, "load", 0) })
			if err != nil {
				return err
			}
			s.collect(Party(arg(d, 0)))
		}
	case "own":
		s.parties[Party(arg(d, 0))].OwnLoad(s.now, number(d, "load", 0))
		s.collect(Party(arg(d, 0)))
	case "pause":
		s.parties[Party(arg(d, 0))].Pause(s.now, !d.HasArg("off"))
		s.collect(Party(arg(d, 0)))
	case "fate":
		s.fate = make(map[string]string)
		for _, a := range d.CmdArgs {
			s.fate[strings.ReplaceAll(a.Key, "-", " ")] = a.Vals[0]
		}
	case "migration":
		s.migration = int64(number(d, "takes", 0) * float64(second))
	case "release":
		for _, l := range s.held {
			l.at = s.now
			s.mail = append(s.mail, l)
		}
		s.held = nil
		s.until(s.now)
	case "send":
		return s.forge(d)
	case "run":
		s.until(s.now.Add(int64(number(d, "for", 1) * float64(second))))
	case "show":
	default:
		return fmt.Errorf("no command %q", d.Cmd)
	}
	if d.Cmd == "show" || d.Cmd == "run" {
		s.show()
	}
	return nil
}

func arg(d *datadriven.TestData, i int) string { return d.CmdArgs[i].Key }

func number(d *datadriven.TestData, key string, otherwise float64) float64 {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			v, err := strconv.ParseFloat(a.Vals[0], 64)
			if err != nil {
				panic(err)
			}
			return v
		}
	}
	return otherwise
}

// node NAME tasks=N load=L: a queue of capacity 1 with N tasks of load L.
func (s *stage) node(d *datadriven.TestData) error {
	q, err := NewQueue(1, contracts.Micro)
	if err != nil {
		return err
	}
	name := Party(arg(d, 0))
	settings := DefaultSettings()
	settings.Jitter = 0
	settings.MinStay = int64(number(d, "stay", 5) * float64(second))
	m, err := New(Config{Self: name, Cost: q, Moving: 0.002 * scriptPrice * contracts.Micro, Margin: 0.005 * scriptPrice * contracts.Micro,
		Hysteresis: 0.02, Seed: uint64(len(s.names)), Settings: settings, DryRun: d.HasArg("dry-run"), Explain: true}, s.now)
	if err != nil {
		return err
	}
	s.names = append(s.names, name)
	s.parties[name] = m
	for i := range int(number(d, "tasks", 0)) {
		if err := m.AddTask(s.now, uint32(i+1), number(d, "load", 0.01)); err != nil {
			return err
		}
	}
	return nil
}

// contract ID GIVER TAKER min=… max=… [both]
func (s *stage) contract(d *datadriven.TestData) error {
	a, b := Party(arg(d, 1)), Party(arg(d, 2))
	both := d.HasArg("both")
	c := Contract{ID: ContractID(arg(d, 0)), Min: micro(number(d, "min", scriptPrice)), Max: micro(number(d, "max", scriptPrice)),
		MaxLoad: number(d, "load", math.Inf(1)), MaxTask: number(d, "task", math.Inf(1))}
	c.Partner, c.Give, c.Take = b, true, both
	if err := s.parties[a].SetContract(s.now, c); err != nil {
		return err
	}
	s.collect(a)
	c.Partner, c.Give, c.Take = a, both, true
	err := s.parties[b].SetContract(s.now, c)
	s.collect(b)
	return err
}

func micro(v float64) contracts.Price { return contracts.Price(math.Round(v * contracts.Micro)) }

// send FROM TO offer CONTRACT number=N task=OWNER/N load=L price=P chain=A,B: a message that its sender never decided.
func (s *stage) forge(d *datadriven.TestData) error {
	msg := Message{Contract: ContractID(arg(d, 3)), Number: uint64(number(d, "number", 1))}
	item := Item{Load: number(d, "load", 0.01), Price: micro(number(d, "price", scriptPrice))}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "task":
			owner, n, _ := strings.Cut(a.Vals[0], "/")
			k, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			item.Task = TaskID{Party(owner), uint32(k)}
		case "chain":
			for _, v := range a.Vals {
				item.Chain = append(item.Chain, Party(v))
			}
		}
	}
	switch arg(d, 2) {
	case "offer":
		msg.Kind, msg.Items = Offer, []Item{item}
	case "commit":
		msg.Kind, msg.Tasks = Commit, []TaskID{item.Task}
	case "recall":
		msg.Kind, msg.Tasks, msg.To = Recall, []TaskID{item.Task}, Party(arg(d, 0))
	}
	s.mail = append(s.mail, letter{Party(arg(d, 0)), s.now, Envelope{Party(arg(d, 1)), msg}})
	s.until(s.now)
	return nil
}

// collect takes the effects of a participant.
func (s *stage) collect(name Party) {
	effects := s.parties[name].Ready()
	for _, l := range summarise(effects.Decisions) {
		fmt.Fprintf(&s.log, "%6.2f %s %s\n", float64(s.now)/float64(second), name, l)
	}
	for _, e := range effects.Send {
		fate := s.fate[e.Kind.String()]
		s.logMessage(name, e, fate)
		l := letter{name, s.now.Add(10 * millisecond), e}
		switch fate {
		case "drop":
			continue
		case "hold":
			s.held = append(s.held, l)
			continue
		case "twice":
			s.mail = append(s.mail, l)
		}
		s.mail = append(s.mail, l)
	}
	for _, g := range effects.Migrate {
		s.moves = append(s.moves, passage{name, s.now.Add(s.migration), g})
	}
}

// summarise joins decisions that differ in their tasks and figures only: the first and the last are shown.
func summarise(list []Decision) (lines []string) {
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1].Reason == list[i].Reason && list[k+1].Partner == list[i].Partner && list[k+1].Price == list[i].Price {
			k++
		}
		lines = append(lines, list[i].String())
		if k > i+1 {
			lines = append(lines, fmt.Sprintf("… %d more", k-i-1))
		}
		if k > i {
			lines = append(lines, list[k].String())
		}
		i = k + 1
	}
	return lines
}

func (s *stage) logMessage(from Party, e Envelope, fate string) {
	fmt.Fprintf(&s.log, "%6.2f %s→%s %s", float64(s.now)/float64(second), from, e.To, e.Kind)
	if e.Number > 0 {
		fmt.Fprintf(&s.log, " %d", e.Number)
	}
	if n := len(e.Items) + len(e.Tasks); n > 0 {
		fmt.Fprintf(&s.log, ", %d tasks", n)
	}
	if e.Kind == Recall || e.Kind == GiveBack {
		fmt.Fprintf(&s.log, " to %s", e.Message.To)
	}
	if e.Renewed {
		s.log.WriteString(", renewed")
	}
	if fate != "" {
		fmt.Fprintf(&s.log, " (%s)", fate)
	}
	s.log.WriteByte('\n')
}

// To2 is the party that a task goes to.
func (e Envelope) To2() Party { return e.Message.To }

// until goes on until a moment.
func (s *stage) until(end Instant) {
	for {
		next, kind, who := end.Add(1), "", 0
		consider := func(at Instant, what string, i int) {
			if at < next {
				next, kind, who = at, what, i
			}
		}
		for i, l := range s.mail {
			consider(l.at, "mail", i)
		}
		for i, p := range s.moves {
			consider(p.at, "move", i)
		}
		for i, n := range s.names {
			consider(s.parties[n].Due(), "tick", i)
		}
		if next > end {
			s.now = max(s.now, end)
			return
		}
		s.now = max(s.now, next)
		switch kind {
		case "mail":
			l := s.mail[who]
			s.mail = slices.Delete(s.mail, who, who+1)
			s.parties[l.To].Receive(s.now, l.from, l.Message)
			s.collect(l.To)
		case "move":
			p := s.moves[who]
			s.moves = slices.Delete(s.moves, who, who+1)
			_, arrived := s.parties[p.To].Arrived(s.now, p.Task)
			s.collect(p.To)
			s.parties[p.from].Left(s.now, p.Task, arrived)
			s.collect(p.from)
		case "tick":
			s.parties[s.names[who]].Tick(s.now)
			s.collect(s.names[who])
		}
	}
}

// show prints what each participant carries, and for whom.
func (s *stage) show() {
	for _, n := range s.names {
		m := s.parties[n]
		fmt.Fprintf(&s.log, "%6.2f %s carries %.4g: %d tasks", float64(s.now)/float64(second), n, m.held, m.Tasks())
		byChain := make(map[string]int)
		for i := range m.tasks {
			t := &m.tasks[i]
			key := ""
			if t.more != nil && len(t.more.chain) > 0 {
				for _, p := range t.more.chain {
					key += string(p) + "→"
				}
				key += " at " + t.more.price.String()
			}
			byChain[key]++
		}
		keys := make([]string, 0, len(byChain))
		for k := range byChain {
			if k != "" {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			fmt.Fprintf(&s.log, ", %d by %s", byChain[k], k)
		}
		if m.out > 1e-9 || m.reserved > 1e-9 {
			fmt.Fprintf(&s.log, "; offered out %.4g, reserved %.4g", m.out, m.reserved)
		}
		s.log.WriteByte('\n')
	}
}
