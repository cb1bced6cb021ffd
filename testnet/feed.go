package testnet

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// feedEvery is how often a live source grows.
const feedEvery = 20 * time.Millisecond

// feedStep is what times of rows are multiples of, but for the offset of their source, which is smaller: so no two rows of a
// network have the same time.
const feedStep = 100 * time.Microsecond

// maxRate is up to where the rate of live sources can be changed, in rows a second of each.
const maxRate = 2_000_000

// stepOf returns the step of some sources with so many rows a second each: a narrower one where feedStep has no room, and 0 where there
// is not a microsecond for each row, so that several of a source bear the same time.
func stepOf(rate, sources int) time.Duration {
	sources = max(1, sources)
	switch {
	case rate*sources > 1_000_000:
		return 0
	case time.Duration(rate)*feedStep > time.Second/2:
		return time.Duration(sources) * time.Microsecond
	}
	return feedStep
}

// feed is a live source: a CSV file that grows by rows with the time they are written at. Rows are (ts in µs, src, n): src
// names the node, n counts from 1.
type feed struct {
	feedOptions
	src  string
	file *os.File
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex
	paused bool
	rows   int64
	last   time.Time // of a row, without lag and offset
	text   []byte    // of the rows that are written, kept for its memory
	err    error
}

// feedOptions say how a live source is.
type feedOptions struct {
	rate int // rows a second
	// step is what times of rows are multiples of.
	step time.Duration
	// lag is how old rows are when they are written.
	lag time.Duration
	// offset of its rows' times, so that no two sources have rows of the same time.
	offset time.Duration
}

// feedHead is the head of a live source's file.
const feedHead = "ts,src,n\n"

// newFeed makes the file; grow lets it grow.
func newFeed(path, src string, o feedOptions) (*feed, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("testnet: %w", err)
	}
	if _, err := f.WriteString(feedHead); err != nil {
		return nil, errors.Join(fmt.Errorf("testnet: %w", err), f.Close())
	}
	return &feed{feedOptions: o, src: src, file: f, stop: make(chan struct{})}, nil
}

func (f *feed) pause(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = on
}

// setRate changes how many rows a second it writes from now on, and what their times are multiples of.
func (f *feed) setRate(rate int, step time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rate, f.step = rate, step
}

// written is how many rows there are so far.
func (f *feed) written() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rows
}

// grow writes rows until end is called. Rows that would be due in a pause are never written.
func (f *feed) grow() {
	f.done.Go(func() {
		tick := time.NewTicker(feedEvery)
		defer tick.Stop()
		last := time.Now()
		for {
			select {
			case <-tick.C:
				now := time.Now() // the tick's own time is when it was due
				if err := f.write(last, now); err != nil {
					f.mu.Lock()
					f.err = err
					f.mu.Unlock()
					return
				}
				last = now
			case <-f.stop:
				return
			}
		}
	})
}

// write writes the rows that are due after one moment until another. They go out at once as whole lines. A row that is
// written late, because the machine is busy, bears a later time: to the node that follows, an hour without rows and a
// writer that hangs look the same. No row bears a time to come: what finds no room is left out.
func (f *feed) write(after, until time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paused {
		return nil
	}
	period := time.Second / time.Duration(f.rate)
	earliest := until.Add(-2 * feedEvery).Truncate(f.step)
	f.text = f.text[:0]
	for at := after.Truncate(period).Add(period); !at.After(until); at = at.Add(period) {
		t := at.Truncate(f.step)
		if t.Before(earliest) {
			t = earliest
		}
		if !t.After(f.last) {
			t = f.last.Add(f.step)
		}
		if t.After(until) {
			break
		}
		f.last = t
		f.rows++
		f.text = strconv.AppendInt(f.text, t.Add(f.offset-f.lag).UnixMicro(), 10)
		f.text = append(append(append(f.text, ','), f.src...), ',')
		f.text = append(strconv.AppendInt(f.text, f.rows, 10), '\n')
	}
	_, err := f.file.Write(f.text)
	return err
}

// end stops the growth. A second call does nothing.
func (f *feed) end() error {
	select {
	case <-f.stop:
		return nil
	default:
		close(f.stop)
	}
	f.done.Wait()
	return errors.Join(f.err, f.file.Close())
}
