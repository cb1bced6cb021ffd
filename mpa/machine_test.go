package mpa

import (
	"slices"
	"testing"

	"fednode/contracts"
)

// giver returns a participant "a" that is nearly full, with a task of each load, numbered from 0, and a contract "c" to give
// to "b" under.
func giver(t *testing.T, loads ...float64) *Machine {
	t.Helper()
	cost, err := NewQueue(1, contracts.Micro)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{Self: "a", Cost: cost, Settings: DefaultSettings()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SetContract(0, Contract{ID: "c", Partner: "b", Min: contracts.Micro, Max: contracts.Micro, Give: true, MaxLoad: 10, MaxTask: 10}); err != nil {
		t.Fatal(err)
	}
	for n, load := range loads {
		if err := m.AddTask(0, uint32(n), load); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// said goes on until a message of a kind is sent, and returns it.
func said(t *testing.T, m *Machine, kind Kind) Message {
	t.Helper()
	for range 100 {
		for _, e := range m.Ready().Send {
			if e.Kind == kind {
				return e.Message
			}
		}
		if m.Due() == Never {
			break
		}
		m.Tick(m.Due())
	}
	t.Fatalf("no %s was sent", kind)
	return Message{}
}

// answer is the partner's message under the contract.
func answer(m *Machine, msg Message) {
	msg.Contract = "c"
	m.Receive(m.now, "b", msg)
}

// An answer to an offer of which every task has ended meanwhile says nothing of the partner's room: it is offered to again.
func TestAnswerToNothing(t *testing.T) {
	m := giver(t, 0.9)
	offer := said(t, m, Offer)
	if !m.DropTask(m.now, TaskID{"a", 0}) {
		t.Fatal("the task was not there")
	}
	answer(m, Message{Kind: Answer, Number: offer.Number})
	if err := m.AddTask(m.now, 1, 0.9); err != nil {
		t.Fatal(err)
	}
	if next := said(t, m, Offer); next.Number != offer.Number+1 || next.Items[0].Task.Number != 1 {
		t.Fatalf("offer %d of task %v", next.Number, next.Items[0].Task)
	}
}

// A partner that claims to send a task back to somebody who never had it does not make its owner forget it.
func TestGiveBackToStranger(t *testing.T) {
	m, id := giver(t, 0.9), TaskID{"a", 0}
	offer := said(t, m, Offer)
	answer(m, Message{Kind: Answer, Number: offer.Number, Tasks: []TaskID{id}})
	answer(m, Message{Kind: Settled, Number: offer.Number, Tasks: []TaskID{id}})
	m.Left(m.now, id, true)
	answer(m, Message{Kind: GiveBack, Tasks: []TaskID{id}, To: "x"})
	m.EndContract(m.now, "c")
	if recall := said(t, m, Recall); !slices.Equal(recall.Tasks, []TaskID{id}) || recall.To != "a" {
		t.Fatalf("%+v", recall)
	}
	if _, expected := m.Arrived(m.now, id); !expected {
		t.Fatal("the task came back and was not expected")
	}
}

// A reading that is refused leaves the tasks in the order of their loads, those that were read before it too.
func TestRefusedReadingKeepsOrder(t *testing.T) {
	m := giver(t, 0.2, 0.199)
	err := m.MeasuredAll(m.now, func(id TaskID, _ float64) float64 { return 1e-9 * float64(1-id.Number) })
	if err == nil {
		t.Fatal("a load of 0 was taken")
	}
	var order []uint32
	m.Carried(func(id TaskID, _ float64, _ []Party, _ contracts.Price) { order = append(order, id.Number) })
	if !slices.Equal(order, []uint32{1, 0}) {
		t.Fatalf("the order is %v", order)
	}
}
