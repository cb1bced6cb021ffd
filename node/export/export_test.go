package export

import (
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fednode/query/expr"
	"fednode/query/tuple"
)

var schema = tuple.MustSchema(
	tuple.Field{Name: "src", Type: tuple.Of(tuple.IP)},
	tuple.Field{Name: "user", Type: tuple.Of(tuple.String)},
	tuple.Field{Name: "dport", Type: tuple.Of(tuple.Int64)},
)

func compile(t *testing.T, text string) *expr.Program {
	t.Helper()
	p, errs := expr.Compile(text, schema)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	return p
}

func frame(t *testing.T, rows ...[3]any) *tuple.Frame {
	t.Helper()
	b := tuple.NewBatchBuilder(schema)
	for i, r := range rows {
		a := tuple.IPBytes(netip.MustParseAddr(r[0].(string)))
		b.AppendBin(0, a[:])
		b.AppendBin(1, []byte(r[1].(string)))
		b.AppendInt(2, int64(r[2].(int)))
		b.EndRow(tuple.Time(i))
	}
	n := uint64(len(rows))
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: 11, LastID: 10 + n, Batch: b.Take()}
}

// TestHeldBack shows that rows and columns that do not leave are in no byte of what leaves, dictionaries included, and
// that the ids of the others stay.
func TestHeldBack(t *testing.T) {
	x := &Export{Name: "conns", Stream: "north/conns", To: []string{"south"}, Where: compile(t, "dport < 100"),
		Columns: []Column{{Name: "user"}, {Name: "dport"}}}
	v, err := x.View(schema)
	if err != nil {
		t.Fatal(err)
	}
	f := v.Frame(frame(t, [3]any{"10.0.0.1", "ann", 22}, [3]any{"10.0.0.2", "SECRET", 4000}, [3]any{"10.0.0.3", "bob", 80}))
	if !slices.Equal(f.IDs, []uint64{11, 13}) || f.FirstID != 11 || f.LastID != 13 {
		t.Fatalf("ids %v of %d to %d", f.IDs, f.FirstID, f.LastID)
	}
	if got := f.Batch.Schema.String(); got != "user string, dport int64" {
		t.Fatalf("schema %q", got)
	}
	_, data := f.Batch.Cols[0].Dict.Raw()
	if strings.Contains(string(data), "SECRET") {
		t.Fatalf("the dictionary holds a value that was held back: %q", data)
	}
	if got := string(f.Batch.Cols[0].Bin(1)); got != "bob" {
		t.Fatalf("user %q", got)
	}
	none := v.Frame(frame(t, [3]any{"10.0.0.2", "SECRET", 4000}))
	if none.Batch.Rows() != 0 || none.IDs == nil {
		t.Fatalf("a frame of held-back rows has %d rows, ids %v", none.Batch.Rows(), none.IDs)
	}
}

// TestTentativeHeldBack shows that tentative rows that leave are numbered without holes in their run, whatever is held back.
func TestTentativeHeldBack(t *testing.T) {
	x := &Export{Name: "conns", Stream: "north/conns", To: []string{"south"}, Where: compile(t, "dport < 100"), Columns: []Column{{Name: "dport"}}}
	v, err := x.View(schema)
	if err != nil {
		t.Fatal(err)
	}
	tentative := func(n uint64, rows ...[3]any) *tuple.Frame {
		f := frame(t, rows...)
		f.Kind, f.Generation, f.Run = tuple.Tentative, 0, tuple.Run{Producer: "p", Incarnation: 1, N: n}
		return v.Frame(f)
	}
	secret, open := [3]any{"10.0.0.2", "b", 4000}, [3]any{"10.0.0.1", "a", 22}
	if f := tentative(1, secret); f != nil {
		t.Fatalf("%v leaves", f)
	}
	for i, c := range []struct {
		f           *tuple.Frame
		first, last uint64
	}{
		{tentative(1, open, secret, open), 11, 12}, {tentative(1, secret, open), 13, 13}, {tentative(2, open), 11, 11},
	} {
		if c.f.FirstID != c.first || c.f.LastID != c.last || c.f.IDs != nil || uint64(c.f.Batch.Rows()) != c.last-c.first+1 {
			t.Errorf("frame %d: %v with %d rows and ids %v, want %d to %d", i, c.f, c.f.Batch.Rows(), c.f.IDs, c.first, c.last)
		}
	}
}

// TestNamesHeldBack shows that what a stream is made from is not named, in no kind of frame, and that the rest passes.
func TestNamesHeldBack(t *testing.T) {
	x := &Export{Name: "sums", Stream: "north/q/sums", To: []string{"south"}, Columns: []Column{{Name: "dport"}}}
	v, err := x.View(schema)
	if err != nil {
		t.Fatal(err)
	}
	run := tuple.Run{Producer: "p", Incarnation: 1, N: 1}
	missing := []tuple.Missing{{Stream: "east/secret", Since: 20}, {Stream: "north/hidden", Since: 10}}
	rows := frame(t, [3]any{"10.0.0.1", "a", 22})
	rows.Kind, rows.Generation, rows.Run, rows.Missing = tuple.Tentative, 0, run, missing
	for _, f := range []*tuple.Frame{
		rows,
		{Kind: tuple.TentativeBoundary, Time: 30, Run: run, Missing: missing},
		{Kind: tuple.Gap, Generation: 1, FirstID: 7, Time: 10, To: 20, Reason: "east/secret: /var/lib/fednode: damaged"},
		{Kind: tuple.Boundary, Time: 30, Age: 5},
		{Kind: tuple.Undo, Run: run},
		{Kind: tuple.RecDone, Run: run},
	} {
		out := v.Frame(f)
		if text := fmt.Sprint(out.Missing, out.Reason); strings.Contains(text, "secret") || strings.Contains(text, "hidden") || strings.Contains(text, "/var") {
			t.Errorf("%v leaves with %s", f.Kind, text)
		}
		if len(f.Missing) > 0 && !slices.Equal(out.Missing, []tuple.Missing{{Stream: "north/q/sums", Since: 10}}) {
			t.Errorf("%v lacks %v", f.Kind, out.Missing)
		}
		if out.Kind != f.Kind || out.Time != f.Time || out.To != f.To || out.Age != f.Age || out.Run != f.Run {
			t.Errorf("%v leaves as %v", f, out)
		}
	}
	if missing[0].Stream != "east/secret" || len(rows.Missing) != 2 {
		t.Error("the frame of the stream itself was changed")
	}
}

// TestHistory shows that rows further back than the export's history are held back, and that their ids stay accounted
// for.
func TestHistory(t *testing.T) {
	x := &Export{Name: "conns", Stream: "north/conns", Columns: []Column{{Name: "dport"}}, History: 2}
	v, err := x.View(schema)
	if err != nil {
		t.Fatal(err)
	}
	v.Limit(x, 4)
	f := v.Frame(frame(t, [3]any{"10.0.0.1", "a", 0}, [3]any{"10.0.0.1", "a", 1}, [3]any{"10.0.0.1", "a", 2}, [3]any{"10.0.0.1", "a", 3}))
	if !slices.Equal(f.IDs, []uint64{13, 14}) || f.FirstID != 11 {
		t.Fatalf("ids %v from %d; want those with stime 2 and 3", f.IDs, f.FirstID)
	}
}

// TestAllows shows that nothing leaves for an organisation that is not named, or after the export has ended.
func TestAllows(t *testing.T) {
	x := &Export{Name: "conns", Stream: "north/conns", To: []string{"south"}, Expires: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	before, after := x.Expires.Add(-time.Second), x.Expires
	var denied *DeniedError
	if err := x.Allows("south", before); err != nil {
		t.Fatal(err)
	}
	if err := x.Allows("east", before); !errors.As(err, &denied) || !strings.Contains(err.Error(), "exports.conns.to") {
		t.Fatalf("got %v", err)
	}
	if err := x.Allows("south", after); !errors.As(err, &denied) {
		t.Fatalf("got %v", err)
	}
}

// TestForms shows each form of a value: the same in gives the same out under one key, another out under another key, and
// the field says what was done.
func TestForms(t *testing.T) {
	own, other := &Key{Name: "own", Secret: [32]byte{1}}, &Key{Name: "contract:x/1", Secret: [32]byte{2}}
	view := func(c Column) *View {
		v, err := (&Export{Name: "e", Columns: []Column{c}}).View(schema)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rows := frame(t, [3]any{"192.0.2.77", "ann", 1}, [3]any{"192.0.2.78", "bob", 2}, [3]any{"192.0.2.77", "ann", 3})
	for _, c := range []Column{
		{Name: "src", Form: tuple.Hashed, Key: own}, {Name: "user", Form: tuple.Hashed, Key: own},
		{Name: "src", Form: tuple.Pseudonym, Key: own}, {Name: "user", Form: tuple.Pseudonym, Key: own},
		{Name: "src", Form: tuple.PrefixPseudonym, Key: own},
	} {
		a := view(c).Frame(rows).Batch
		c2 := c
		c2.Key = other
		b := view(c2).Frame(rows).Batch
		col := &a.Cols[0]
		if string(col.Bin(0)) != string(col.Bin(2)) || string(col.Bin(0)) == string(col.Bin(1)) {
			t.Errorf("%s %v: equal values must stay equal, others differ", c.Name, c.Form)
		}
		if string(col.Bin(0)) == string(b.Cols[0].Bin(0)) {
			t.Errorf("%s %v: two keys give one value", c.Name, c.Form)
		}
		if f := a.Schema.Field(0); f.Form != c.Form || f.Key != "own" {
			t.Errorf("%s: field says %v %q", c.Name, f.Form, f.Key)
		}
	}
	tr := view(Column{Name: "src", Form: tuple.Truncated, V4: 24, V6: 48}).Frame(rows).Batch
	if got := string(tr.Cols[0].AppendText(nil, 0)); got != "192.0.2.0" {
		t.Errorf("truncated to %s", got)
	}
}

// TestPrefixes shows that two addresses share exactly as many leading bits after as before, and that IPv4 stays IPv4.
func TestPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := newPrefixes([32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")))
		if err != nil {
			t.Fatal(err)
		}
		v4 := rapid.Bool().Draw(t, "v4")
		draw := func(name string) [16]byte {
			raw := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, name)
			if v4 {
				return tuple.IPBytes(netip.AddrFrom4([4]byte(raw[12:])))
			}
			raw[0] |= 0x20 // not an IPv4-mapped one
			return [16]byte(raw)
		}
		a, b := draw("a"), draw("b")
		keep := rapid.IntRange(0, 15).Draw(t, "same bytes")
		copy(b[:keep], a[:keep])
		x, y := p.value(nil, a[:]), p.value(nil, b[:])
		if got, want := common(x, y), common(a[:], b[:]); got != want {
			t.Fatalf("%x and %x share %d bits, their pseudonyms %d", a, b, want, got)
		}
		if v4 != isV4(x) {
			t.Fatalf("%x became %x", a, x)
		}
	})
}

func common(a, b []byte) int {
	for i := range a {
		if d := a[i] ^ b[i]; d != 0 {
			return 8*i + bits.LeadingZeros8(d)
		}
	}
	return 8 * len(a)
}
