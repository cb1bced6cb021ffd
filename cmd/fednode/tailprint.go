package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// tailPrinter shows rows as they come: as they are for programs, in columns for people.
type tailPrinter struct {
	out    io.Writer
	errs   io.Writer
	raw    bool
	names  []string
	widths []int
	shown  int
}

func newTailPrinter(c *cobra.Command) *tailPrinter {
	return &tailPrinter{out: c.OutOrStdout(), errs: c.ErrOrStderr(), raw: jsonWanted(c)}
}

// headEvery is how many rows come between two heads.
const headEvery = 40

func (p *tailPrinter) line(line []byte) error {
	if bytes.HasPrefix(line, []byte(`{"gap"`)) {
		fmt.Fprintf(p.errs, "warning: stable rows are lost: %s\n", line)
		if !p.raw {
			return nil
		}
	}
	if p.raw {
		_, err := fmt.Fprintf(p.out, "%s\n", line)
		return err
	}
	names, values, err := orderedObject(line)
	if err != nil {
		return err
	}
	if p.shown%headEvery == 0 || strings.Join(names, "\x00") != strings.Join(p.names, "\x00") {
		p.names, p.widths = names, make([]int, len(names))
		p.row(names, toneBold)
	}
	p.shown++
	p.row(values, toneNone)
	return nil
}

// row prints one line; columns grow as wider values come.
func (p *tailPrinter) row(cells []string, t tone) {
	pal := paletteOf(p.out)
	var b strings.Builder
	for i, c := range cells {
		p.widths[i] = max(p.widths[i], len(c))
		b.WriteString(pal.paint(t, c))
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", p.widths[i]-len(c)+2))
		}
	}
	fmt.Fprintln(p.out, b.String())
}

// orderedObject reads a flat JSON object with its keys in order, values as people read them.
func orderedObject(line []byte) (names, values []string, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, nil, err
		}
		text := fmt.Sprint(v)
		if v == nil {
			text = "-"
		}
		names, values = append(names, fmt.Sprint(key)), append(values, clean(text))
	}
	return names, values, nil
}
