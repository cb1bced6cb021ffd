package contracts

import "fednode/query/tuple"

// Terms are what two parties agree on. The zero value of an optional field means that nothing is said. Sets are sorted and
// without repetitions, so that the same terms are the same bytes.
type Terms struct {
	// Version is of the encoding: TermsVersion.
	Version uint64 `cbor:"0,keyasint"`
	Kind    Kind   `cbor:"1,keyasint"`
	// Name is for people; the hash of the terms is what names the contract.
	Name string `cbor:"2,keyasint"`
	// Parties are the two organisations, in order of their names.
	Parties []string `cbor:"3,keyasint"`
	// Givers are those parties that may give load to the other; none in a data contract.
	Givers      []string    `cbor:"4,keyasint,omitempty"`
	Subcontract Subcontract `cbor:"5,keyasint"`
	// ClockSkew is by how much the parties' clocks may differ, in microseconds.
	ClockSkew int64 `cbor:"6,keyasint"`
	// Supersedes is the contract that these terms amend, empty if there is none.
	Supersedes string `cbor:"7,keyasint,omitempty"`
	// DataContracts govern the personal data that moves with load.
	DataContracts []string     `cbor:"8,keyasint,omitempty"`
	Validity      Validity     `cbor:"9,keyasint"`
	Price         Pricing      `cbor:"10,keyasint"`
	Tasks         Tasks        `cbor:"11,keyasint"`
	Caps          Caps         `cbor:"12,keyasint"`
	Availability  Availability `cbor:"13,keyasint"`
	Migration     Migration    `cbor:"14,keyasint"`
	Data          DataPolicy   `cbor:"15,keyasint"`
	Legal         Legal        `cbor:"16,keyasint"`
	Privacy       Privacy      `cbor:"17,keyasint"`
	// Contacts and Signers are by party.
	Contacts map[string]Contact `cbor:"18,keyasint,omitempty"`
	Signers  map[string]Signers `cbor:"19,keyasint,omitempty"`
}

// TermsVersion is the version of the canonical encoding.
const TermsVersion = 1

// Kind is what a contract is about.
type Kind string

// Kinds of contracts.
const (
	// Load: tasks may move to the other party, at a price.
	Load Kind = "load"
	// Data: streams may be read by the other party, without a price.
	Data Kind = "data"
)

// Subcontract says whether a taker may pass a task on.
type Subcontract string

// What may be agreed on passing tasks on.
const (
	SubcontractNever   Subcontract = "never"
	SubcontractAsk     Subcontract = "ask"
	SubcontractAllowed Subcontract = "allowed"
)

// Validity is when a contract holds: from From up to Until.
type Validity struct {
	From    tuple.Time `cbor:"1,keyasint"`
	Until   tuple.Time `cbor:"2,keyasint"`
	Renewal string     `cbor:"3,keyasint"` // none | period: again as long, unless notice is given
	Notice  int64      `cbor:"4,keyasint"` // microseconds before the end
}

// Pricing is what a work unit costs.
type Pricing struct {
	// Currency is an ISO 4217 code.
	Currency string `cbor:"1,keyasint"`
	// Min and Max are the range; equal for a fixed price. 0 is a price like any other.
	Min Price `cbor:"2,keyasint"`
	Max Price `cbor:"3,keyasint"`
	// WorkUnits is the version of the public table that defines a work unit.
	WorkUnits uint64 `cbor:"4,keyasint"`
	// Rounding is how a period's sum becomes micro-units: RoundHalfEven.
	Rounding string `cbor:"5,keyasint"`
	// Period is what is billed at once, in microseconds.
	Period int64 `cbor:"6,keyasint"`
}

// RoundHalfEven is the rounding rule, applied once a billing period.
const RoundHalfEven = "half-even"

// Tasks is the set of tasks that may move. An empty list of operators, queries, labels or streams allows all.
type Tasks struct {
	Operators []string          `cbor:"1,keyasint,omitempty"` // kinds
	Queries   []string          `cbor:"2,keyasint,omitempty"`
	Labels    map[string]string `cbor:"3,keyasint,omitempty"` // that the query has
	Streams   []string          `cbor:"4,keyasint,omitempty"` // that the task reads: name or org/name
	UDFs      bool              `cbor:"5,keyasint"`
	MaxState  int64             `cbor:"6,keyasint"` // bytes of one task
	// MaxTask and MaxLoad are work units a second: of one task, and of all that are given at a time in each direction.
	MaxTask int64 `cbor:"7,keyasint"`
	MaxLoad int64 `cbor:"8,keyasint"`
}

// Caps bound what a contract may come to; 0 is no cap.
type Caps struct {
	PerHour   Amount `cbor:"1,keyasint,omitempty"`
	PerDay    Amount `cbor:"2,keyasint,omitempty"`
	PerPeriod Amount `cbor:"3,keyasint,omitempty"`
	// MaxShare is of the taker's capacity, in millionths.
	MaxShare int64 `cbor:"4,keyasint,omitempty"`
	// Grace is how long load out may stay once a cap is reached, in microseconds.
	Grace int64 `cbor:"5,keyasint"`
}

// Availability is what the taker promises of a task that it runs.
type Availability struct {
	MaxDelay   int64  `cbor:"1,keyasint"` // microseconds that a failure may delay results
	Replicas   int64  `cbor:"2,keyasint"`
	Checkpoint int64  `cbor:"3,keyasint"` // level
	Uptime     int64  `cbor:"4,keyasint"` // millionths of a billing period
	Breach     Amount `cbor:"5,keyasint"` // owed for each breach
}

// Migration is how a task moves.
type Migration struct {
	Notice int64  `cbor:"1,keyasint"` // microseconds before a task is given back
	Pause  int64  `cbor:"2,keyasint"` // microseconds that results may be held up
	Pays   string `cbor:"3,keyasint"` // giver | taker
}

// DataPolicy says what the other party may keep.
type DataPolicy struct {
	// Exports are the streams that a data contract covers: org/name.
	Exports   []string `cbor:"1,keyasint,omitempty"`
	Store     []string `cbor:"2,keyasint,omitempty"` // state, checkpoints, results, raw
	Regions   []string `cbor:"3,keyasint,omitempty"`
	Retention int64    `cbor:"4,keyasint"` // microseconds
}

// Legal names the agreement that the terms belong to.
type Legal struct {
	Title string     `cbor:"1,keyasint,omitempty"`
	Date  tuple.Time `cbor:"2,keyasint,omitempty"`
	// Document is the SHA-256 of the signed document in hexadecimal.
	Document string `cbor:"3,keyasint,omitempty"`
	Law      string `cbor:"4,keyasint,omitempty"`
	Venue    string `cbor:"5,keyasint,omitempty"`
	// Role is what the taker is to the giver's data: processor, joint-controller or controller.
	Role string `cbor:"6,keyasint,omitempty"`
}

// Privacy says what happens to personal data.
type Privacy struct {
	Personal      bool     `cbor:"1,keyasint"`
	Purposes      []string `cbor:"2,keyasint,omitempty"`
	Categories    []string `cbor:"3,keyasint,omitempty"`
	Retention     int64    `cbor:"4,keyasint,omitempty"` // microseconds
	Regions       []string `cbor:"5,keyasint,omitempty"`
	SubProcessors []string `cbor:"6,keyasint,omitempty"`
	BreachNotice  int64    `cbor:"7,keyasint,omitempty"` // microseconds
	AtEnd         string   `cbor:"8,keyasint,omitempty"` // delete | return
}

// Contact is whom to ask at a party.
type Contact struct {
	Name  string `cbor:"1,keyasint"`
	Email string `cbor:"2,keyasint"`
	Phone string `cbor:"3,keyasint,omitempty"`
}

// Signers are the people who may sign for a party, and how many have to.
type Signers struct {
	Required int64    `cbor:"1,keyasint"`
	People   []Signer `cbor:"2,keyasint"`
}

// Signer is a person with a key: 64 hexadecimal digits.
type Signer struct {
	Name     string `cbor:"1,keyasint"`
	Function string `cbor:"2,keyasint,omitempty"`
	Key      string `cbor:"3,keyasint"`
}

// Other returns the party that a party has the contract with, empty if it is no party.
func (t *Terms) Other(party string) string {
	if len(t.Parties) == 2 {
		switch party {
		case t.Parties[0]:
			return t.Parties[1]
		case t.Parties[1]:
			return t.Parties[0]
		}
	}
	return ""
}
