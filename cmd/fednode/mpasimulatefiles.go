package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"fednode/mpa"
	"fednode/mpa/sim"
)

// maxFigures bounds the lines of a file of figures.
const maxFigures = 10_000_000

// figures reads a CSV file of numbers; each line has as many as one of the widths. Lines that begin with # are comments,
// and a first line without a number is a head.
func figures(path string, widths ...int) ([][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(&boundedLines{from: f})
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace, r.ReuseRecord = '#', -1, true, true
	var list [][]float64
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		row, err := numbers(record, widths)
		switch {
		case err != nil && first && len(list) == 0 && !strings.ContainsAny(record[0], "0123456789"):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		case len(list) == maxFigures:
			return nil, fmt.Errorf("%s:%d: more than %d lines", path, line, maxFigures)
		}
		list = append(list, row)
	}
}

// boundedLines reads a text, and fails at a line or a whole that no file of figures has: what has no end, such as a
// device, is not read into memory.
type boundedLines struct {
	from       io.Reader
	line, read int
}

// Bounds of a line and of a file of figures, in bytes.
const (
	maxFigureLine = 4096
	maxFigureFile = 1 << 28
)

func (b *boundedLines) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.read += n
	for rest := p[:n]; ; {
		at := bytes.IndexByte(rest, '\n')
		if at < 0 {
			b.line += len(rest)
			break
		}
		if b.line+at > maxFigureLine {
			b.line += at
			break
		}
		b.line, rest = 0, rest[at+1:]
	}
	switch {
	case b.line > maxFigureLine:
		return 0, fmt.Errorf("a line of more than %d bytes: a few numbers a line are expected", maxFigureLine)
	case b.read > maxFigureFile:
		return 0, fmt.Errorf("more than %d MB", maxFigureFile>>20)
	}
	return n, err
}

func numbers(record []string, widths []int) ([]float64, error) {
	fits := false
	for _, w := range widths {
		fits = fits || len(record) == w
	}
	if !fits {
		return nil, fmt.Errorf("%d fields, %v are expected", len(record), widths)
	}
	row := make([]float64, len(record))
	for i, text := range record {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, fmt.Errorf("field %d, %.40q, is not a number", i+1, text)
		}
		row[i] = v
	}
	return row, nil
}

// nodeNumber reads a figure that counts something from 0.
func nodeNumber(v float64) (int, error) {
	n := int(v)
	if float64(n) != v || n < 0 || n > sim.MaxNodes {
		return 0, fmt.Errorf("%g is not the number of a node", v)
	}
	return n, nil
}

func setGraph(cfg *sim.Config, text string) (err error) {
	path, file := strings.CutPrefix(text, "file:")
	if !file {
		if text == sim.File.String() {
			return fmt.Errorf("--graph file: file:PATH is expected")
		}
		cfg.Graph, err = sim.ParseGraph(text)
		return err
	}
	rows, err := figures(path, 2, 4)
	if err != nil {
		return err
	}
	cfg.Graph, cfg.Edges = sim.File, nil
	for i, r := range rows {
		a, err1 := nodeNumber(r[0])
		b, err2 := nodeNumber(r[1])
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("%s: contract %d: %w", path, i+1, err)
		}
		e := sim.Edge{A: a, B: b}
		if len(r) == 4 {
			e.Min, e.Max = r[2], r[3]
		}
		cfg.Edges = append(cfg.Edges, e)
	}
	return nil
}

func (s *mpaSimulateFlags) setLoads(cfg *sim.Config) (err error) {
	path, file := strings.CutPrefix(s.loads, "file:")
	if !file {
		if s.loads == sim.Given.String() {
			return fmt.Errorf("--loads file: file:PATH is expected")
		}
		cfg.Loads, err = sim.ParseLoads(s.loads)
		return err
	}
	rows, err := figures(path, 1)
	if err != nil {
		return err
	}
	cfg.Loads = sim.Given
	for i, r := range rows {
		if !(r[0] >= 0 && r[0] <= 1e12) {
			return fmt.Errorf("%s: load %d is %g: a number from 0 is expected", path, i+1, r[0])
		}
		cfg.Shares = append(cfg.Shares, r[0])
	}
	return nil
}

func (s *mpaSimulateFlags) setCost(cfg *sim.Config) error {
	kind, rest, _ := strings.Cut(s.cost, ":")
	switch kind {
	case "queue":
		cfg.Cost = sim.Cost{Kind: sim.QueueCost}
		return nil
	case "power":
		exponent, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return fmt.Errorf("--cost %s: power:EXPONENT, such as power:3, is expected", s.cost)
		}
		cfg.Cost = sim.Cost{Kind: sim.PowerCost, Exponent: exponent}
		return nil
	case "file":
		rows, err := figures(rest, 2)
		if err != nil {
			return err
		}
		cfg.Cost = sim.Cost{Kind: sim.TableCost}
		for _, r := range rows {
			cfg.Cost.Points = append(cfg.Cost.Points, mpa.Point{Load: r[0], Cost: r[1] * 1e6})
		}
		return nil
	}
	return fmt.Errorf("--cost %s: queue, power:EXPONENT or file:PATH is expected", s.cost)
}

func (s *mpaSimulateFlags) setVary(cfg *sim.Config) error {
	kind, rest, _ := strings.Cut(s.vary, ":")
	parts := strings.Split(rest, ",")
	values, err := numbers(parts, []int{1, 3})
	v := &cfg.Vary
	switch {
	case s.vary == "":
		return nil
	case kind == "walk" && err == nil && len(values) == 1:
		v.Kind, v.Step = sim.Walk, values[0]
		return nil
	case kind == "bursts" && err == nil && len(values) == 3:
		v.Kind, v.Rate, v.Factor, v.Length = sim.Bursts, values[0], values[1], values[2]
		return nil
	case kind == "file":
		return setTrace(cfg, rest)
	}
	return fmt.Errorf("--vary %s: walk:STEP, bursts:PER_HOUR,FACTOR,SECONDS or file:PATH is expected", s.vary)
}

func setTrace(cfg *sim.Config, path string) error {
	rows, err := figures(path, 3)
	if err != nil {
		return err
	}
	cfg.Vary.Kind = sim.Trace
	for i, r := range rows {
		node, err := nodeNumber(r[1])
		if err == nil && node >= cfg.Nodes {
			err = fmt.Errorf("there is no node %d", node)
		}
		if err != nil || !(r[0] >= 0 && r[0] < 1e9) {
			return fmt.Errorf("%s: change %d: %w", path, i+1, errors.Join(err, fmt.Errorf("seconds, node and factor are expected")))
		}
		cfg.Vary.Trace = append(cfg.Vary.Trace, sim.Change{At: mpa.Instant(r[0] * 1e6), Node: node, Factor: r[2]})
	}
	return nil
}
