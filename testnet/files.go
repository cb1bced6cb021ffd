package testnet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// write makes keys, data and configuration files.
func (n *Net) write(d *diagram) error {
	places := n.places()
	if err := makeKeys(places); err != nil {
		return err
	}
	paths, err := n.writeData(d, places)
	if err != nil {
		return err
	}
	for i, p := range places {
		at, err := n.fabric.open(i, p.dir)
		if err != nil {
			return err
		}
		if err := writeNodeFile(&n.spec, d, p, places, paths[i], at); err != nil {
			return err
		}
	}
	if n.text, err = d.distribute(&n.spec, places); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(n.dir, n.file), []byte(n.text), 0o644); err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	return nil
}

// writeData deals data out, or makes the files of live sources. It returns the file of each node, "" where none is needed.
func (n *Net) writeData(d *diagram, places []place) ([]string, error) {
	paths := make([]string, len(places))
	var stems []string
	var fed []int
	for i, p := range places {
		if p.feeds(&n.spec) {
			stems, fed = append(stems, filepath.Join(p.dir, d.stream)), append(fed, i)
		}
	}
	if n.spec.Live > 0 {
		for k, i := range fed {
			paths[i] = stems[k] + ".csv"
			f, err := newFeed(paths[i], places[i].id, feedOptions{rate: n.spec.Live, step: stepOf(n.spec.Live, len(fed)),
				lag: n.spec.Lag[places[i].org], offset: time.Duration(k) * time.Microsecond})
			if err != nil {
				return nil, err
			}
			n.feeds[i] = f
		}
		return paths, nil
	}
	if len(n.spec.Data) == 0 {
		return paths, nil
	}
	dealt, err := deal(n.spec.Data, stems)
	if err != nil {
		return nil, err
	}
	for k, i := range fed {
		paths[i] = dealt[k]
	}
	return paths, nil
}

// StopFeeds ends the growth of all live sources and returns their files.
func (n *Net) StopFeeds() (files []string, err error) {
	var errs []error
	for _, f := range n.feeds {
		if f != nil {
			errs = append(errs, f.end())
			files = append(files, f.file.Name())
		}
	}
	return files, errors.Join(errs...)
}

// SetLive changes how many rows a second each live source writes from now on; Live of the spec is what they begin with. Beyond
// what a spec may say several rows bear the same time.
func (n *Net) SetLive(rate int) error {
	if rate < 1 || rate > maxRate {
		return errorf(ErrSpec, "testnet: %d live rows a second; expected 1 to %d", rate, maxRate)
	}
	for _, f := range n.feeds {
		if f != nil {
			f.setRate(rate, stepOf(rate, n.spec.fed()))
		}
	}
	return nil
}

// Written is how many rows the live sources have written so far, together.
func (n *Net) Written() (rows int64) {
	for _, f := range n.feeds {
		if f != nil {
			rows += f.written()
		}
	}
	return rows
}
