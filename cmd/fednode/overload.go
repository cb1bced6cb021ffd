package main

import (
	"fmt"
	"io"

	"fednode/cmd/fednode/internal/topview"
	"fednode/node/api"
)

// printOverloads warns of fragments that cannot correct what a failure leaves.
func printOverloads(w io.Writer, q *api.QueryStatus) {
	pal := paletteOf(w)
	for i := range q.Fragments {
		f := &q.Fragments[i]
		text, lost := topview.Overload(q, f)
		if text == "" {
			continue
		}
		tone := toneWarn
		if lost {
			tone = toneBad
		}
		fmt.Fprintf(w, "  %s\n", pal.paint(tone, "fragment "+f.Name+" "+text))
	}
}
