package seglog_test

import (
	"context"
	"fmt"
	"os"

	"fednode/storage/seglog"
)

func Example() {
	dir, err := os.MkdirTemp("", "seglog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()

	log, recovery, err := seglog.Open(dir, seglog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(recovery.Origin, recovery.Clean())
	// Durable on return; the key is the last tuple id that the record covers.
	if _, err := log.AppendSync(ctx, seglog.Entry{Key: 10, Payload: []byte("ids 1 to 10")},
		seglog.Entry{Key: 25, Payload: []byte("ids 11 to 25")}); err != nil {
		fmt.Println(err)
		return
	}
	// A consumer that holds ids up to 10 asks for what covers 11.
	r, err := log.Reader(seglog.Position{Generation: log.Identity().Generation, Key: 11})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec, err := r.Next(ctx)
	fmt.Println(rec.Seq, rec.Key, string(rec.Payload), err)
	fmt.Println(r.Close(), log.Close())
	// Output:
	// fresh true
	// 2 25 ids 11 to 25 <nil>
	// <nil> <nil>
}
