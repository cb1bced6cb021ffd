package sim

import (
	"bufio"
	"encoding/json"
	"io"
)

// Trace writes what happens in a run, one JSON object a line. A nil Trace writes nothing.
type Trace struct {
	w *bufio.Writer
	// Frames: every frame that a replica emits or the client takes is among it.
	Frames bool
	err    error
}

// NewTrace writes to w. Flush it when the run is over.
func NewTrace(w io.Writer) *Trace { return &Trace{w: bufio.NewWriter(w), Frames: true} }

// Flush writes what is buffered, and returns the first error.
func (t *Trace) Flush() error {
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}

func (t *Trace) frames() bool { return t != nil && t.Frames }

// line writes an event: its time in microseconds, its kind, the node that it is at, and pairs of key and value.
func (t *Trace) line(at int64, kind, node string, pairs ...string) {
	if t == nil {
		return
	}
	b := append([]byte(`{"us":`), number(at)...)
	b = appendPair(b, "event", kind)
	if node != "" {
		b = appendPair(b, "node", node)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b = appendPair(b, pairs[i], pairs[i+1])
		}
	}
	if _, err := t.w.Write(append(b, '}', '\n')); t.err == nil {
		t.err = err
	}
}

func number(n int64) []byte {
	b, _ := json.Marshal(n)
	return b
}

func appendPair(b []byte, key, value string) []byte {
	k, _ := json.Marshal(key)
	v, _ := json.Marshal(value)
	return append(append(append(append(b, ','), k...), ':'), v...)
}

// end writes what the run showed.
func (t *Trace) end(r *Result) {
	if t == nil {
		return
	}
	b, err := json.Marshal(struct {
		Event  string  `json:"event"`
		Result *Result `json:"result"`
	}{"end", r})
	if err == nil {
		_, err = t.w.Write(append(b, '\n'))
	}
	if t.err == nil {
		t.err = err
	}
}
