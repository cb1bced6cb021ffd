// Package zone loads time zones from a database inside the program, so that a zone means the same on every machine
// whatever its system has installed.
//
// zoneinfo.zip is the IANA time zone database, release 2025c, in the form that the Go distribution ships (public domain).
// A newer release may change results and comes with a changelog entry. Loading is pure; a location may be shared.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the database
	"fmt"
	"io"
	"strings"
	"time"

	"fednode/query/spec"
)

//go:embed zoneinfo.zip
var database []byte

// Load returns the zone of an IANA name such as "Europe/Berlin", or "UTC". Abbreviations and "Local" are refused, as
// they mean different things in different places.
func Load(name string) (*time.Location, error) {
	if name == "UTC" || name == "" {
		return time.UTC, nil
	}
	r, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		return nil, fmt.Errorf("time zone database: %w", err)
	}
	for _, f := range r.File {
		if f.Name == name && !strings.HasSuffix(name, "/") {
			return read(f)
		}
	}
	return nil, unknown(name, r)
}

func read(f *zip.File) (*time.Location, error) {
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", f.Name, err)
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", f.Name, err)
	}
	return time.LoadLocationFromTZData(f.Name, data)
}

func unknown(name string, r *zip.Reader) error {
	names := make([]string, 0, len(r.File))
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	hint := "write an IANA name such as Europe/Berlin"
	if near := spec.Near(name, names); near != "" {
		hint = "did you mean `" + near + "`?"
	}
	return fmt.Errorf("no time zone %q; %s", name, hint)
}
