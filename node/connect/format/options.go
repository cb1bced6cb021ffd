package format

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fednode/node/connect"
	"fednode/query/spec"
)

// Name is the name of a format.
type Name string

// The formats. Zeek is TSV with #-headers or JSON lines; its first byte tells.
const (
	CSV     Name = "csv"
	TSV     Name = "tsv"
	JSONL   Name = "jsonl"
	Zeek    Name = "zeek"
	Arrow   Name = "arrow"
	Parquet Name = "parquet"
)

// Names returns the names of all formats.
func Names() []string {
	return []string{string(CSV), string(TSV), string(JSONL), string(Zeek), string(Arrow), string(Parquet)}
}

// DefaultMaxRow is the largest record by default, in bytes.
const DefaultMaxRow = 1 << 20

// LargestMaxRow is how much max_row may be.
const LargestMaxRow = 4 << 20

// Options say how a format is read or written.
type Options struct {
	Format    Name
	Delimiter byte // CSV; TSV has a tab
	Quote     byte // CSV and TSV; 0: no character quotes
	Header    bool // CSV and TSV: the first record names the fields
	Trim      bool // CSV and TSV: blanks around an unquoted field do not count
	Null      []string
	MaxRow    int // bytes of a record without its line end
	// Later: an earlier input of the stream had every column, so one that a header lacks is null, with a notice, and
	// not an error.
	Later bool
	NaN   bool // JSON lines written: NaN and infinities as strings, not null
}

// DefaultOptions returns the options of a format as they are without any key.
func DefaultOptions(f Name) Options {
	o := Options{Format: f, Delimiter: ',', Quote: '"', Header: true, Null: []string{""}, MaxRow: DefaultMaxRow}
	if f == TSV {
		o.Delimiter = '\t'
	}
	return o
}

// Text reports whether records are lines, so that a growing file can be followed.
func (o *Options) Text() bool {
	return o.Format == CSV || o.Format == TSV || o.Format == JSONL || o.Format == Zeek
}

// Detect returns the format that a file name stands for, whatever its compression; false if it stands for none.
func Detect(path string) (Name, bool) {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 {
		return "", false
	}
	switch strings.ToLower(path[dot:]) {
	case ".csv":
		return CSV, true
	case ".tsv":
		return TSV, true
	case ".json", ".jsonl", ".ndjson":
		return JSONL, true
	case ".log":
		return Zeek, true
	case ".arrow":
		return Arrow, true
	case ".parquet":
		return Parquet, true
	}
	return "", false
}

// ReadOptions reads the keys of a source's format: format (else the name of path tells), delimiter, header, quote, null,
// trim and max_row.
func ReadOptions(r *spec.Reader, path string) (o Options, ok bool) {
	o, ok = readFormat(r, path, func() (msg, hint string) {
		return fmt.Sprintf("`%s` is a directory: its name does not tell the format of its files", path), anyFormat()
	})
	if !ok {
		// The other keys are known, whatever the format is: they are not to be reported on top.
		for _, key := range []string{"delimiter", "header", "quote", "null", "trim", "max_row"} {
			r.Value(key, false)
		}
		return o, false
	}
	before := len(r.P.Errors)
	if o.Format == Parquet && !HasParquet {
		r.Errorf("format", "build it with `-tags parquet`, or convert the file to Arrow", "this build does not read Parquet")
	}
	if o.Format == CSV || o.Format == TSV {
		o.Delimiter = readChar(r, "delimiter", o.Delimiter)
		o.Quote = readChar(r, "quote", o.Quote)
		o.Header = r.Bool("header", true)
		o.Trim = r.Bool("trim", false)
		if v := r.Value("null", false, spec.Array, spec.String); v != nil {
			o.Null = nil
			for _, e := range r.Strings("null", false) {
				o.Null = append(o.Null, e.Str)
			}
		}
		if o.Delimiter == o.Quote {
			r.Errorf("quote", "", "the quote is the delimiter")
		}
	}
	// A record that is taken must fit into a frame (8 MiB) as a row, with room for columns that read one field twice.
	o.MaxRow = int(connect.ReadSize(r, "max_row", DefaultMaxRow, 1<<10, LargestMaxRow))
	return o, len(r.P.Errors) == before
}

// ReadWriteOptions reads the keys of a sink's format: format, delimiter, header and nan.
func ReadWriteOptions(r *spec.Reader, path string) (o Options, ok bool) {
	o, ok = readFormat(r, path, func() (msg, hint string) {
		return fmt.Sprintf("`%s` is a directory, and what is written is a file", path), "name one in it, such as " + filepath.Join(path, "out.csv")
	})
	if !ok {
		for _, key := range []string{"delimiter", "header", "nan"} {
			r.Value(key, false)
		}
		return o, false
	}
	before := len(r.P.Errors)
	switch o.Format {
	case CSV, TSV:
		o.Delimiter = readChar(r, "delimiter", o.Delimiter)
		o.Header = r.Bool("header", true)
	case JSONL:
		o.NaN = r.OneOf("nan", "null", "null", "string") == "string"
	case Zeek, Parquet:
		r.Errorf("format", "write csv, tsv, jsonl or arrow", "the format %s can be read, not written", o.Format)
	}
	return o, len(r.P.Errors) == before
}

// anyFormat is what to do about a name that tells no format.
func anyFormat() string { return "add `format`, one of " + strings.Join(Names(), ", ") }

// IsDirectory reports whether a path is a directory, or written as one.
func IsDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator))
}

// readFormat reads the format, or takes it from the name of path. directory says what is wrong with the name of one.
func readFormat(r *spec.Reader, path string, directory func() (msg, hint string)) (Options, bool) {
	before := len(r.P.Errors)
	name := Name(r.OneOf("format", "", Names()...))
	if name == "" && len(r.P.Errors) == before {
		var found bool
		if name, found = Detect(path); !found {
			if path == "-" {
				return DefaultOptions(JSONL), true
			}
			key, msg, hint := "format", fmt.Sprintf("the name `%s` does not tell the format", path), anyFormat()
			if IsDirectory(besideFile(r.T.Pos.File, path)) {
				key = "path"
				msg, hint = directory()
			}
			r.Errorf(key, hint, "%s", msg)
		}
	}
	if len(r.P.Errors) != before {
		return Options{}, false
	}
	return DefaultOptions(name), true
}

// besideFile returns where a path leads that is relative to the file it stands in.
func besideFile(file, path string) string {
	if filepath.IsAbs(path) || strings.HasSuffix(path, string(filepath.Separator)) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// readChar reads a key that is one byte long: "\t", ";".
func readChar(r *spec.Reader, key string, def byte) byte {
	v := r.Value(key, false, spec.String)
	if v == nil {
		return def
	}
	if v.Str == "" && key == "quote" {
		return 0
	}
	if len(v.Str) != 1 || v.Str[0] == '\n' || v.Str[0] == '\r' || v.Str[0] >= 0x80 {
		r.Errorf(key, "", "expected one ASCII character, got `%s`", v.Str)
		return def
	}
	return v.Str[0]
}
