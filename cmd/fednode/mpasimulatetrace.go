package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"fednode/contracts"
	"fednode/mpa/sim"
)

// mpaTrace writes what happens in a run, one JSON object a line.
type mpaTrace struct {
	out *bufio.Writer
	enc *json.Encoder
	err error
}

func newMPATrace(w io.Writer) *mpaTrace {
	b := bufio.NewWriterSize(w, 1<<16)
	return &mpaTrace{out: b, enc: json.NewEncoder(b)}
}

func (t *mpaTrace) line(v any) {
	if err := t.enc.Encode(v); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *mpaTrace) flush() error {
	if err := t.out.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}

type mpaNodeLine struct {
	Kind     string  `json:"kind"`
	ID       int     `json:"id"`
	Load     float64 `json:"load"`
	Capacity float64 `json:"capacity"`
}

type mpaContractLine struct {
	Kind string  `json:"kind"`
	A    int     `json:"a"`
	B    int     `json:"b"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

type mpaMoveLine struct {
	T              float64 `json:"t"`
	Kind           string  `json:"kind"`
	From           int     `json:"from"`
	To             int     `json:"to"`
	Task           string  `json:"task"`
	Load           float64 `json:"load"`
	Price          float64 `json:"price"`
	CostFromBefore float64 `json:"cost_from_before"`
	CostFromAfter  float64 `json:"cost_from_after"`
	CostToBefore   float64 `json:"cost_to_before"`
	CostToAfter    float64 `json:"cost_to_after"`
}

func (t *mpaTrace) began(b sim.Beginning) {
	for i, load := range b.Loads {
		t.line(mpaNodeLine{"node", i, load, b.Level})
	}
	for _, e := range b.Edges {
		t.line(mpaContractLine{"contract", e.A, e.B, e.Min * b.Price, e.Max * b.Price})
	}
}

// moved writes a move. Prices are for a second of a unit of load, costs a second, in units of money.
func (t *mpaTrace) moved(m sim.Move) {
	kind := "move"
	if m.Return {
		kind = "return"
	}
	money := func(v float64) float64 { return v / contracts.Micro }
	t.line(mpaMoveLine{
		T: inSeconds(m.At), Kind: kind, From: m.From, To: m.To, Task: fmt.Sprintf("%s/%d", m.Task.Owner, m.Task.Number), Load: m.Giver.Load, Price: money(float64(m.Price)),
		CostFromBefore: money(m.Giver.With), CostFromAfter: money(m.Giver.Without), CostToBefore: money(m.Taker.Without), CostToAfter: money(m.Taker.With),
	})
}
