package mpa

import "fednode/contracts"

// Party names a participant.
type Party string

// TaskID names a task: its owner, the party whose clients asked for it, numbers its tasks.
type TaskID struct {
	Owner  Party
	Number uint32
}

// ContractID names a contract: the hash of its terms.
type ContractID string

// Kind is what a message says.
type Kind uint8

// Kinds of messages.
const (
	// Offer names tasks, each with its price; giver to taker.
	Offer Kind = iota + 1
	// Answer names those of an offer that are reserved; the others are refused.
	Answer
	// Commit names those that shall move, and lets go of the others; giver to taker.
	Commit
	// Settled names those of a commit that came in time: they move, and no others.
	Settled
	// Room says that the taker's load fell, so that what it refused may fit now.
	Room
	// Recall takes tasks back; giver to taker.
	Recall
	// GiveBack says that tasks come back; taker to giver.
	GiveBack
)

// String returns the name of the kind.
func (k Kind) String() string {
	names := [...]string{"none", "offer", "answer", "commit", "settled", "room", "recall", "give back"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Item is a task in an offer.
type Item struct {
	Task TaskID
	// Load is above 0 and finite.
	Load float64
	// Price lies within the contract's range.
	Price contracts.Price
	// Chain are the parties through whose hands the task has come, its owner first, the giver last.
	Chain []Party
}

// Message goes between the parties of a contract. Every one may be lost, late, repeated or out of order.
type Message struct {
	Contract ContractID
	Kind     Kind
	// Number counts the offers of a giver under a contract, from 1; in Offer, Answer, Commit and Settled.
	Number uint64
	// Items are what an Offer offers, MaxItems at most.
	Items []Item
	// Tasks are what the other kinds name.
	Tasks []TaskID
	// To is the party to which a recalled task goes: the one that recalls it, through however many hands.
	To Party
	// Renewed in Room: the load of the sender's own clients has changed, so that what was returned may be offered again.
	Renewed bool
}

// Envelope is a message on its way.
type Envelope struct {
	To Party
	Message
}

// MaxItems is how many tasks one message names at most.
const MaxItems = 256
