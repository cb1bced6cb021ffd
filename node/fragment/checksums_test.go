package fragment

import (
	"errors"
	"reflect"
	"testing"

	"fednode/storage"
	"fednode/sunion"
)

// The checksums of a recovery point are read as they were written, and damage is told.
func TestChecksumsOfAPoint(t *testing.T) {
	want := []sunion.ChecksumState{sunion.NewChecksum(3).State(), {Generation: 2, At: -7, Sum: 1 << 63, Before: 5, From: 12}}
	p := &storage.RecoveryPoint{Operators: []storage.OperatorState{{Name: checksumsState, Version: checksumsVersion, Snapshot: encodeChecksums(want)}}}
	got, err := checksumsOf(p)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v", got, err)
	}
	p.Operators[0].Snapshot = p.Operators[0].Snapshot[:9]
	if _, err := checksumsOf(p); !errors.Is(err, storage.ErrDamaged) {
		t.Fatalf("half of it is read: %v", err)
	}
	if got, err := checksumsOf(&storage.RecoveryPoint{}); got != nil || err != nil {
		t.Fatalf("%v, %v of a point without them", got, err)
	}
}
