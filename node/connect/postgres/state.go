package postgres

import (
	"crypto/rand"
	"encoding/hex"
	"errors"

	"fednode/query/tuple"
)

// state is what the node keeps of a sink: whose it is at the database, and what it had committed.
type state struct {
	claim string
	pos   tuple.Position
}

// stateVersion is the first number of a state; one that is not known here is refused.
const stateVersion = 1

// claimSize is the size of a claim in bytes; it is written in hexadecimal.
const claimSize = 16

func newClaim() string {
	b := make([]byte, claimSize)
	rand.Read(b) // never fails: the process ends if it cannot be done
	return hex.EncodeToString(b)
}

// begun reports whether something may have been written under the claim.
func (s *state) begun() bool { return s.pos != tuple.Position{Time: tuple.MinTime} }

func (s *state) encode() []byte {
	var e tuple.Encoder
	e.String(Name)
	e.Uint(stateVersion)
	e.String(s.claim)
	e.Uint(s.pos.Generation)
	e.Time(s.pos.Time)
	e.Uint(s.pos.ID)
	return e.B
}

// errOther: what is stored under the output's name is not of this connector.
var errOther = errors.New("what is stored for this output is of another connector: a query was replaced by one with another connector under this name; give the output another name, or stop the query and deploy it anew")

func decodeState(b []byte) (*state, error) {
	d := tuple.NewDecoder(b)
	if d.String() != Name || d.Err() != nil {
		return nil, errOther
	}
	if v := d.Uint(); v != stateVersion {
		d.Fail("a sink's state of version %d, this build reads %d", v, stateVersion)
	}
	s := &state{claim: d.String()}
	s.pos = tuple.Position{Generation: d.Uint(), Time: d.Time(), ID: d.Uint()}
	if len(s.claim) != hex.EncodedLen(claimSize) {
		d.Fail("a claim of %d bytes", len(s.claim))
	}
	return s, d.Close()
}
