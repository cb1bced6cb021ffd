package contracts

import (
	"math"
	"slices"
	"strings"
	"time"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// reader reads the kinds of values that only contracts have.
type reader struct{ *spec.Reader }

// sub returns a reader of a section; one that is missing reads as empty.
func (r reader) sub(key string, required bool) reader {
	t := r.Table(key, required)
	if t == nil {
		t = spec.NewTable(key, r.T.PosOf(key))
	}
	return reader{spec.Read(t, r.P)}
}

// tables returns readers of an array of tables.
func (r reader) tables(key string) (list []reader) {
	v := r.Value(key, false, spec.Array)
	if v == nil {
		return nil
	}
	for _, e := range v.Array {
		if e.Kind != spec.TableKind {
			r.P.Add(e.Pos, r.T.KeyPath(key), "write [["+r.T.KeyPath(key)+"]]", "expected a table, got %s", e.Kind)
			continue
		}
		list = append(list, reader{spec.Read(e.Table, r.P)})
	}
	return list
}

// set reads strings as a set.
func (r reader) set(key string, required bool) (list []string) {
	for _, e := range r.Strings(key, required) {
		if slices.Contains(list, e.Str) {
			r.P.Add(e.Pos, r.T.KeyPath(key), "", "`%s` is there twice", e.Str)
			continue
		}
		list = append(list, e.Str)
	}
	slices.Sort(list)
	return list
}

func (r reader) labels(key string) map[string]string {
	t := r.Table(key, false)
	if t == nil {
		return nil
	}
	all := make(map[string]string)
	for _, e := range t.Entries {
		if t.Lookup(e.Key); e.Value.Kind != spec.String {
			r.P.Add(e.Value.Pos, t.KeyPath(e.Key), "", "expected a string, got %s", e.Value.Kind)
			continue
		}
		all[e.Key] = e.Value.Str
	}
	return all
}

// amount reads money, with or without its currency, which has to be the contract's: "12.5" or "12.5 EUR".
func (r reader) amount(key, money string) Amount {
	v := r.Value(key, false, spec.String, spec.Int, spec.Float)
	if v == nil {
		return 0
	}
	if v.Kind != spec.String {
		r.Errorf(key, "write it in quotes, such as \"0.95\"", "money is never a floating-point number, and is written as text; got %s", v.Kind)
		return 0
	}
	text, currency, named := strings.Cut(v.Str, " ")
	a, err := ParseAmount(text)
	switch {
	case err != nil:
		r.Errorf(key, "", "%v", err)
	case named && currency != money && ValidCurrency(money):
		r.Errorf(key, "one contract has one currency", "`%s` is in another currency than price.currency, `%s`", v.Str, money)
	case a < 0:
		r.Errorf(key, "", "%s is negative: 0 is the least", text)
	default:
		return a
	}
	return 0
}

// cap reads a cap of money; none is 0.
func (r reader) cap(key, money string) Amount {
	said := len(r.P.Errors)
	a := r.amount(key, money)
	if r.T.Has(key) && a == 0 && len(r.P.Errors) == said {
		r.noCap(key)
	}
	return a
}

// shareCap reads a cap that is a share; none is 0.
func (r reader) shareCap(key string) int64 {
	const wrong = -1 // and reported
	v := r.share(key, wrong)
	if r.T.Has(key) && v == 0 {
		r.noCap(key)
	}
	return max(v, 0)
}

func (r reader) noCap(key string) {
	r.Errorf(key, "take the key away for no cap", "a cap of 0 lets nothing move under the contract")
}

// share reads a share of 1 as millionths.
func (r reader) share(key string, def int64) int64 {
	v := r.Value(key, false, spec.Float, spec.Int)
	if v == nil {
		return def
	}
	f := v.Float
	if v.Kind == spec.Int {
		f = float64(v.Int)
	}
	if !(f >= 0 && f <= 1) {
		r.Errorf(key, "", "%g is out of range; expected 0 to 1", f)
		return def
	}
	return int64(math.Round(f * 1e6))
}

// count reads a whole number of work units a second.
func (r reader) count(key string, def int64) int64 { return r.Int(key, def, 0, 1<<53) }

// time reads an instant: a date, which is its midnight in UTC, or a date and time with a zone.
func (r reader) time(key string, required bool) tuple.Time {
	v := r.Value(key, required, spec.DateTime, spec.String)
	if v == nil {
		return 0
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", time.DateOnly} {
		if at, err := time.Parse(layout, v.Str); err == nil && at.Year() >= 1970 && at.Year() < 10_000 {
			return tuple.TimeOf(at)
		}
	}
	r.Errorf(key, "write 2027-01-01 or 2027-01-01T00:00:00Z", "`%s` is not a date, nor a time with its zone", v.Str)
	return 0
}
