package fragment

import (
	"errors"
	"reflect"
	"testing"

	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/storage"
)

// TestAnewInPoint shows that a recovery point brings back what a best-effort query has lost, and that no cut of it is taken for
// another one.
func TestAnewInPoint(t *testing.T) {
	want := replica.State{
		Anew:     []replica.AnewState{{Lost: true, Need: 5, From: 6, To: 7, Reason: "away"}, {Need: tuple.MinTime, From: tuple.MinTime, To: tuple.MinTime}},
		Silences: []replica.SilenceState{{On: true, Told: 4}, {Begins: 3}},
	}
	b := encodeAnew(&want)
	p := &storage.RecoveryPoint{Operators: []storage.OperatorState{{Name: anewState, Version: anewVersion, Snapshot: b}}}
	var got replica.State
	if err := anewOf(p, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	for n := range b {
		p.Operators[0].Snapshot = b[:n]
		if err := anewOf(p, new(replica.State)); !errors.Is(err, storage.ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(b), err)
		}
	}
}
