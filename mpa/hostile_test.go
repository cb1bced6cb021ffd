package mpa

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/contracts"
)

// bystander returns a participant "a" with some load of its own, room left, and contracts "c" with "b" and "d" with "e".
func bystander(t *testing.T) *Machine {
	m := giver(t, 0.3)
	for _, c := range []Contract{{ID: "c", Partner: "b"}, {ID: "d", Partner: "e"}} {
		c.Min, c.Max, c.Give, c.Take, c.MaxLoad, c.MaxTask = contracts.Micro, 20*contracts.Micro, true, true, 10, 10
		require.NoError(t, m.SetContract(0, c))
	}
	return m
}

// tell has a partner say something.
func tell(m *Machine, from Party, msg Message) []Envelope {
	msg.Contract = map[Party]ContractID{"b": "c", "e": "d"}[from]
	m.Receive(m.now, from, msg)
	return m.Ready().Send
}

// from is an offer of a partner's tasks of a load, at the highest price.
func from(partner Party, number uint64, load float64, tasks ...uint32) Message {
	msg := Message{Kind: Offer, Number: number}
	for _, n := range tasks {
		msg.Items = append(msg.Items, Item{TaskID{partner, n}, load, 20 * contracts.Micro, []Party{partner}})
	}
	return msg
}

// pass has time go by.
func pass(m *Machine, span int64) {
	end := m.now.Add(span)
	for m.Due() <= end {
		m.Tick(m.Due())
	}
	m.Tick(end)
}

// Who replaces its reservations just before they run out, or lets go of them with empty commits, is refused as one who lets
// them run out.
func TestHoardingByReplacement(t *testing.T) {
	for _, letGo := range []bool{false, true} {
		m := bystander(t)
		refused := 0
		for n := uint64(1); n <= 10; n++ {
			if sent := tell(m, "b", from("b", n, 0.01, 1)); len(sent[0].Tasks) == 0 {
				refused++
			}
			pass(m, 4*second)
			if letGo {
				tell(m, "b", Message{Kind: Commit, Number: n})
			}
		}
		require.GreaterOrEqual(t, refused, 5)
		checkBooks(t, m)
	}
}

// Who commits and never sends holds room for the time of a migration, and then is refused.
func TestHoardingByCommits(t *testing.T) {
	m := bystander(t)
	tell(m, "b", from("b", 1, 0.01, 1))
	tell(m, "b", Message{Kind: Commit, Number: 1, Tasks: []TaskID{{"b", 1}}})
	require.InDelta(t, 0.31, m.high(), 1e-9)
	pass(m, DefaultSettings().MigrationTimeout)
	require.InDelta(t, 0.3, m.high(), 1e-9)
	require.Empty(t, tell(m, "b", from("b", 2, 0.01, 2))[0].Tasks)
	_, expected := m.Arrived(m.now, TaskID{"b", 1})
	require.False(t, expected, "it came too late")
}

// However many tiny tasks are committed, those on their way are bounded.
func TestArrivingIsBounded(t *testing.T) {
	m := bystander(t)
	next := uint32(0)
	for n := uint64(1); n <= 40; n++ {
		tasks := make([]uint32, MaxItems)
		ids := make([]TaskID, MaxItems)
		for i := range tasks {
			next++
			tasks[i], ids[i] = next, TaskID{"b", next}
		}
		tell(m, "b", from("b", n, 1e-9, tasks...))
		tell(m, "b", Message{Kind: Commit, Number: n, Tasks: ids})
	}
	require.Len(t, m.contract("c").arriving, maxArriving)
	checkBooks(t, m)
}

// Two partners that collude cannot bring one task twice.
func TestOneTaskOfTwoPartners(t *testing.T) {
	m := bystander(t)
	require.Len(t, tell(m, "b", from("b", 1, 0.01, 1))[0].Tasks, 1)
	second := Message{Kind: Offer, Number: 1, Items: []Item{{TaskID{"b", 1}, 0.01, 20 * contracts.Micro, []Party{"b", "e"}}}}
	require.Empty(t, tell(m, "e", second)[0].Tasks)
	tell(m, "b", Message{Kind: Commit, Number: 1, Tasks: []TaskID{{"b", 1}}})
	second.Number = 2
	require.Empty(t, tell(m, "e", second)[0].Tasks)
	for range 2 { // the shell may say it again
		_, expected := m.Arrived(m.now, TaskID{"b", 1})
		require.True(t, expected)
	}
	require.Equal(t, 2, m.Tasks())
	checkBooks(t, m)
}

// lent returns a participant whose one task of 0.9 has gone to "b".
func lent(t *testing.T) (*Machine, TaskID) {
	m, id := giver(t, 0.9), TaskID{"a", 0}
	offer := said(t, m, Offer)
	answer(m, Message{Kind: Answer, Number: offer.Number, Tasks: []TaskID{id}})
	answer(m, Message{Kind: Settled, Number: offer.Number, Tasks: []TaskID{id}})
	m.Left(m.now, id, true)
	return m, id
}

// Room for a return that was announced is not kept for ever; what comes late is taken back all the same.
func TestReturnThatNeverComes(t *testing.T) {
	m, id := lent(t)
	answer(m, Message{Kind: GiveBack, Tasks: []TaskID{id}, To: "a"})
	require.InDelta(t, 0.9, m.high(), 1e-9)
	pass(m, DefaultSettings().MigrationTimeout)
	require.Zero(t, m.high())
	_, expected := m.Arrived(m.now, id)
	require.True(t, expected)
	checkBooks(t, m)
}

// A partner that heeds no recall is asked less and less often.
func TestRecallsComeFurtherApart(t *testing.T) {
	m, _ := lent(t)
	m.EndContract(m.now, "c")
	recalls := 0
	for end := m.now.Add(3600 * second); m.Due() <= end; {
		m.Tick(m.Due())
		for _, e := range m.Ready().Send {
			require.Equal(t, Recall, e.Kind)
			recalls++
		}
	}
	require.Less(t, recalls, 70)
	require.Greater(t, recalls, 40)
}

// A task that has ended leaves nothing behind, wherever it was.
func TestDroppedInEveryState(t *testing.T) {
	id := TaskID{"a", 0}
	offer := func(m *Machine) Message { return said(t, m, Offer) }
	steps := []func(m *Machine){
		func(*Machine) {},
		func(m *Machine) { offer(m) },
		func(m *Machine) { answer(m, Message{Kind: Answer, Number: offer(m).Number, Tasks: []TaskID{id}}) },
		func(m *Machine) {
			n := offer(m).Number
			answer(m, Message{Kind: Answer, Number: n, Tasks: []TaskID{id}})
			answer(m, Message{Kind: Settled, Number: n, Tasks: []TaskID{id}})
		},
	}
	for _, step := range steps {
		m := giver(t, 0.9)
		step(m)
		require.True(t, m.DropTask(m.now, id))
		requireNothing(t, m)
		m.Left(m.now, id, true)
		requireNothing(t, m)
	}
	for _, msg := range []Message{{}, {Kind: GiveBack, Tasks: []TaskID{id}, To: "a"}} {
		m, _ := lent(t)
		answer(m, msg)
		require.False(t, m.DropTask(m.now, id), "it is carried elsewhere")
		requireNothing(t, m)
	}
}

func requireNothing(t *testing.T, m *Machine) {
	checkBooks(t, m)
	require.Zero(t, m.Tasks()+len(m.given)+len(m.contract("c").leaving))
	for _, v := range []float64{m.own, m.held, m.out, m.reserved, m.contract("c").givenLoad} {
		require.InDelta(t, 0, v, 1e-9)
	}
}

// A dropped task whose number is given again while the commit of the first is on its way does not move by it.
func TestCommitOfATaskThatEnded(t *testing.T) {
	m, id := giver(t, 0.9), TaskID{"a", 0}
	n := said(t, m, Offer).Number
	answer(m, Message{Kind: Answer, Number: n, Tasks: []TaskID{id}})
	m.DropTask(m.now, id)
	require.NoError(t, m.AddTask(m.now, 0, 0.1))
	answer(m, Message{Kind: Settled, Number: n, Tasks: []TaskID{id}})
	require.Empty(t, m.Ready().Migrate)
	checkBooks(t, m)
}

// New terms, or the end of a contract, call off what is offered and reserved under it.
func TestTermsChangeUnderWay(t *testing.T) {
	m := giver(t, 0.9)
	offer := said(t, m, Offer)
	m.EndContract(m.now, "c")
	answer(m, Message{Kind: Answer, Number: offer.Number, Tasks: []TaskID{{"a", 0}}})
	require.Empty(t, m.Ready().Send)
	require.Zero(t, m.out)

	taker := bystander(t)
	tell(taker, "b", from("b", 1, 0.01, 1))
	require.NoError(t, taker.SetContract(taker.now, taker.contract("c").Contract))
	require.Empty(t, tell(taker, "b", Message{Kind: Commit, Number: 1, Tasks: []TaskID{{"b", 1}}})[0].Tasks)
	require.ErrorContains(t, taker.SetContract(0, Contract{ID: "c", Partner: "x"}), "keeps its parties")
	checkBooks(t, taker)
}

// A recall to a party that never had the task moves nothing and keeps no room.
func TestRecallToStranger(t *testing.T) {
	m := bystander(t)
	tell(m, "b", from("b", 1, 0.01, 1))
	tell(m, "b", Message{Kind: Commit, Number: 1, Tasks: []TaskID{{"b", 1}}})
	m.Arrived(m.now, TaskID{"b", 1})
	for _, to := range []Party{"a", "x", ""} {
		tell(m, "b", Message{Kind: Recall, Tasks: []TaskID{{"b", 1}}, To: to})
		require.Empty(t, m.Ready().Migrate)
	}
	require.Len(t, tell(m, "b", Message{Kind: Recall, Tasks: make([]TaskID, MaxItems), To: "b"}), 1, "one answer to a flood")
	checkBooks(t, m)
}

// A flood of words of room costs no rounds.
func TestRoomFlood(t *testing.T) {
	m := bystander(t)
	pass(m, 10*second)
	due := m.Due()
	tell(m, "b", Message{Kind: Room, Renewed: true})
	require.Equal(t, due, m.Due())
}

// What comes back past a relay leaves its books balanced, also if it is not the last that it gave.
func TestReturnPastARelay(t *testing.T) {
	m := bystander(t)
	c, d := m.contract("c"), m.contract("d")
	for n, load := range []float64{0.01, 0.02} {
		id := TaskID{"b", uint32(n)}
		m.given = append(m.given, given{task: task{owner: id.Owner, number: id.Number, load: load, more: &more{chain: []Party{"b"}, contract: c}}, to: d})
		c.takenLoad += load
		d.givenLoad += load
	}
	tell(m, "e", Message{Kind: GiveBack, Tasks: []TaskID{{"b", 0}}, To: "b"})
	require.InDelta(t, 0.02, c.takenLoad, 1e-9)
	checkBooks(t, m)
}
