package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"fednode/mpa/sim"
)

// Limits of a load history.
const (
	maxReadings      = 1_000_000
	mostHistoryFlaws = 20
	// gapSteps is how many usual steps without a reading are a gap.
	gapSteps = 10
)

// historyRow is a line of a load history.
type historyRow struct {
	at, load float64 // seconds; in the unit of the file
	line     int
}

// readHistory reads a CSV file of time,load. A first line without a figure is a head. Every flaw is reported, up to 20.
func readHistory(path string, capacity float64, warnings io.Writer) ([]sim.Reading, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := historyRows(&boundedLines{from: f}, path, capacity)
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s: %d readings: 2 at least are expected", path, len(rows))
	}
	return weigh(rows, path, capacity, warnings), nil
}

func historyRows(from io.Reader, path string, capacity float64) (rows []historyRow, err error) {
	r := csv.NewReader(from)
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace, r.ReuseRecord = '#', -1, true, true
	var flaws []error
	for first := true; len(flaws) < mostHistoryFlaws; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			flaws = append(flaws, fmt.Errorf("%s: %w", path, err))
			break
		}
		row := historyRow{}
		row.line, _ = r.FieldPos(0)
		err = row.read(record, capacity)
		switch {
		case err != nil && first && !strings.ContainsAny(strings.Join(record, ""), "0123456789"):
			continue
		case err != nil:
		case len(rows) == maxReadings:
			return nil, fmt.Errorf("%s:%d: more than %d readings", path, row.line, maxReadings)
		case len(rows) > 0 && row.at <= rows[len(rows)-1].at:
			err = fmt.Errorf("the time %s is not after the one before, in line %d: sort the file by time", record[0], rows[len(rows)-1].line)
		}
		if err != nil {
			flaws = append(flaws, fmt.Errorf("%s:%d: %w", path, row.line, err))
			continue
		}
		rows = append(rows, row)
	}
	return rows, errors.Join(flaws...)
}

func (row *historyRow) read(record []string, capacity float64) error {
	if len(record) != 2 {
		return fmt.Errorf("%d fields: time,load are expected", len(record))
	}
	var err error
	if row.at, err = strconv.ParseFloat(record[0], 64); err != nil {
		at, err := time.Parse(time.RFC3339Nano, record[0])
		if err != nil {
			return fmt.Errorf("the time %q is neither a number of seconds nor RFC 3339", record[0])
		}
		row.at = float64(at.UnixMicro()) / 1e6
	}
	if math.IsNaN(row.at) || math.IsInf(row.at, 0) {
		return fmt.Errorf("the time is %s: a finite number is expected", record[0])
	}
	if row.load, err = strconv.ParseFloat(strings.TrimSpace(record[1]), 64); err != nil {
		return fmt.Errorf("the load %q is not a number", record[1])
	}
	if !(row.load >= 0 && row.load <= 10*capacity) {
		return fmt.Errorf("the load is %s: 0 to 10 times --capacity (%g) is expected", record[1], capacity)
	}
	return nil
}

// weigh lets each reading count until the next one, but across gaps, of which nothing is known, for a usual step.
func weigh(rows []historyRow, path string, capacity float64, warnings io.Writer) (list []sim.Reading) {
	steps := make([]float64, len(rows)-1)
	for i := range steps {
		steps[i] = rows[i+1].at - rows[i].at
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual, gaps, missing := sorted[len(sorted)/2], 0, 0.0
	for i, row := range rows {
		weight := usual
		if i < len(steps) && steps[i] <= gapSteps*usual {
			weight = steps[i]
		} else if i < len(steps) {
			if gaps++; gaps == 1 {
				fmt.Fprintf(warnings, "warning: %s:%d: no reading for %.4g s after this one, where %.4g s are usual\n", path, row.line, steps[i], usual)
			}
			missing += steps[i]
		}
		list = append(list, sim.Reading{Load: row.load / capacity, Weight: weight})
	}
	if gaps > 1 {
		fmt.Fprintf(warnings, "warning: %s: %d such gaps, %.3g %% of the time; they are left out\n", path, gaps, 100*missing/(rows[len(rows)-1].at-rows[0].at))
	}
	return list
}

// drawnReadings is how many loads stand for a distribution.
const drawnReadings = 10_000

// logNormal draws loads with a mean and a standard deviation.
func logNormal(mean, spread float64, seed uint64) ([]sim.Reading, error) {
	if !(mean > 0 && mean <= 10) {
		return nil, fmt.Errorf("--load %g: above 0 and up to 10 times --capacity is expected", mean)
	}
	if !(spread >= 0 && spread <= 10*mean) {
		return nil, fmt.Errorf("--spread %g: 0 to 10 times the load is expected", spread)
	}
	variance := math.Log1p(spread * spread / (mean * mean))
	random := rand.New(rand.NewPCG(seed, 9))
	list := make([]sim.Reading, drawnReadings)
	for i := range list {
		load := mean * math.Exp(math.Sqrt(variance)*random.NormFloat64()-variance/2)
		list[i] = sim.Reading{Load: min(load, 10), Weight: 1}
	}
	return list, nil
}
