package main

import (
	"fmt"
	"io"

	"fednode/testnet/evaluate"
)

// printRates prints what came of the rates that were tried on real daemons, and what each daemon used at the highest.
func printRates(w io.Writer, x *evaluate.Experiment) {
	if len(x.Rates) == 0 {
		return
	}
	fmt.Fprintln(w)
	ratesTable(x.Rates).print(w)
	fmt.Fprintln(w)
	daemonsTable(x.Peaks).print(w)
}

// ratesTable is one rate a row.
func ratesTable(list []evaluate.Rate) *table {
	t := &table{head: []string{"RATES WITHOUT FAILURE", "ROWS/S A STREAM", "WRITTEN", "TAKEN IN", "DELAY", "DAEMONS, CPUS", "TESTNET", "MACHINE", "µS/ROW", "BUSIEST FRAGMENT", ""}}
	last := ""
	for i := range list {
		r := &list[i]
		name := r.Setup
		if name == last {
			name = ""
		}
		last = r.Setup
		busiest := ""
		if at, f := r.Busiest(); at != "" {
			busiest = fmt.Sprintf("%s at %s, %.0f %%", f.Name, at, 100*f.Share)
		}
		held := cell{"✓ held", toneGood}
		if !r.Held {
			held = cell{"✗ not held", toneWarn}
		}
		t.add(append(plainCells(name, grouped(uint64(r.Asked)), grouped(uint64(r.Written)), grouped(uint64(r.Taken)), fmt.Sprintf("%.2f", r.Delay.Seconds()),
			fmt.Sprintf("%.2f", r.Used()), fmt.Sprintf("%.2f", r.Testnet), fmt.Sprintf("%.2f of %d", r.Machine, r.All), fmt.Sprintf("%.2f", r.PerRow), busiest), held)...)
	}
	for i := 1; i <= 8; i++ {
		t.alignRight(i)
	}
	return t
}

// daemonsTable is one daemon a row, at the highest rate that its federation held.
func daemonsTable(peaks []*evaluate.Peak) *table {
	t := &table{head: []string{"AT THE HIGHEST RATE HELD", "ROWS/S A STREAM", "DAEMON", "CPUS", "µS/ROW"}}
	for _, p := range peaks {
		r := p.Of()
		name, rate := r.Setup, grouped(uint64(r.Asked))
		for _, d := range r.Daemons {
			t.add(plainCells(name, rate, d.String(), fmt.Sprintf("%.2f", d.CPUs), fmt.Sprintf("%.2f", d.PerRow))...)
			name, rate = "", ""
		}
	}
	for _, i := range []int{1, 3, 4} {
		t.alignRight(i)
	}
	return t
}
