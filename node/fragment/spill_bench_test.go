package fragment

import (
	"path/filepath"
	"testing"
	"time"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// BenchmarkOverflow measures how fast an output's log takes records of results and gives them back, in bytes of memory.
func BenchmarkOverflow(b *testing.B) {
	schema := testPlan(b).Outputs[0].Schema
	var frames []*tuple.Frame
	bytes, id := int64(0), uint64(1)
	for bytes < 1<<20 {
		rows := tuple.NewBatchBuilder(schema)
		for range 512 {
			for c := range schema.Len() {
				rows.AppendNull(c)
			}
			rows.EndRow(tuple.Time(id))
		}
		f := &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id + 511, Batch: rows.Take()}
		frames, bytes, id = append(frames, f), bytes+dcaa.FrameBytes(f), id+512
	}
	o := newOverflow(&Config{Clock: fixedClock{time.UnixMicro(1)}}, filepath.Join(b.TempDir(), "log"), schema)
	defer o.Close()
	var record uint64
	b.Run("put", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			var err error
			if _, record, _, err = o.Put(frames); err != nil {
				b.Fatal(err)
			}
			if err := o.Free(record); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("get", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			if got, err := o.Get(record); err != nil || len(got) != len(frames) {
				b.Fatal(len(got), err)
			}
		}
	})
}
