package contracts

import (
	"slices"
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// Options are what a reader of terms knows besides the file.
type Options struct {
	// Operators are the kinds of operators there are; nil takes any name.
	Operators []string
}

// Read reads terms from a TOML file. They are nil if there is an error; every error is in the problems.
func Read(file string, src []byte, o Options) (*Terms, *spec.Problems) {
	p := &spec.Problems{}
	root := spec.ParseTOML(file, src, nil, p)
	if root == nil {
		return nil, p
	}
	t := &Terms{Version: TermsVersion}
	r := reader{spec.Read(root, p)}
	t.Price = readPricing(r)
	money := t.Price.Currency
	if r.Table("contract", true) != nil {
		readContract(t, r.sub("contract", true))
	}
	if r.Table("validity", true) != nil {
		t.Validity = readValidity(r.sub("validity", true))
	}
	t.Tasks = readTasks(r.sub("tasks", false), o)
	t.Caps = readCaps(r.sub("caps", false), money)
	t.Availability = readAvailability(r.sub("availability", false), money)
	t.Migration = readMigration(r.sub("migration", false))
	t.Data = readData(r.sub("data", false))
	t.Legal = readLegal(r.sub("legal", false))
	t.Privacy = readPrivacy(r.sub("privacy", false))
	t.Contacts = readContacts(r.sub("contacts", false))
	t.Signers = readSigners(r.sub("signers", false))
	r.Done()
	switch t.Kind {
	case Load:
		needPrice(r)
	case Data:
		refuseLoadSections(t, r)
	}
	addFaults(p, root, t)
	if !p.OK() {
		return nil, p
	}
	return t, p
}

// refuseLoadSections reports what a data contract cannot hold, and drops the defaults of it.
func refuseLoadSections(t *Terms, r reader) {
	for _, key := range []string{"price", "tasks", "caps", "migration", "availability"} {
		if r.T.Has(key) {
			r.Errorf(key, "take it away, or write kind = \"load\"", "a data contract has no [%s]", key)
		}
	}
	t.Price, t.Tasks, t.Caps, t.Migration, t.Availability = Pricing{}, Tasks{}, Caps{}, Migration{}, Availability{}
}

// needPrice reports a load contract that says no price.
func needPrice(r reader) {
	if !r.T.Has("price") {
		r.Errorf("price", "add [price] with currency, min and max", "a load contract needs a price; 0 is one")
	} else if p := r.sub("price", false); !p.T.Has("min") && !p.T.Has("max") {
		p.Errorf("min", "write min and max, or one of them for a fixed price", "no price is said; 0 is one")
	}
}

// addFaults places what is wrong with the terms, but for keys and sections that could not be read in the first place.
func addFaults(p *spec.Problems, root *spec.Table, t *Terms) {
	said := make(map[string]bool)
	for _, e := range p.Errors {
		said[e.Path] = true
	}
	for _, f := range t.faults() {
		section, _, _ := strings.Cut(f.path, ".")
		if !said[f.path] && !said[section] {
			p.Add(placeOf(root, f.path), f.path, f.hint, "%s", f.says)
		}
	}
}

// placeOf finds a dotted path in a file, or the nearest table above it.
func placeOf(t *spec.Table, path string) spec.Pos {
	for {
		name, rest, deeper := strings.Cut(path, ".")
		name, _, _ = strings.Cut(name, "[")
		if !deeper || !t.Has(name) {
			return t.PosOf(name)
		}
		e := t.Lookup(name)
		if e.Value.Kind != spec.TableKind {
			return e.Value.Pos
		}
		t, path = e.Value.Table, rest
	}
}

func readContract(t *Terms, r reader) {
	t.Kind = Kind(r.OneOf("kind", "", string(Load), string(Data)))
	if !r.T.Has("kind") {
		r.Errorf("kind", `write kind = "load" or kind = "data"`, "the key `kind` is missing")
	}
	t.Name, _ = r.NeedString("name")
	t.Parties = r.set("parties", true)
	if t.Givers = r.set("givers", false); !r.T.Has("givers") && t.Kind == Load {
		t.Givers = slices.Clone(t.Parties)
	}
	t.Subcontract = Subcontract(r.OneOf("subcontract", string(SubcontractAllowed), string(SubcontractNever), string(SubcontractAsk), string(SubcontractAllowed)))
	t.ClockSkew = r.Duration("clock_skew", 5*tuple.Second, 0, tuple.Hour)
	t.Supersedes = r.String("supersedes", "")
	t.DataContracts = r.set("data_contracts", false)
	r.Done()
}

func readValidity(r reader) (v Validity) {
	v.From, v.Until = r.time("from", true), r.time("until", true)
	v.Renewal = r.OneOf("renewal", "none", "none", "period")
	v.Notice = r.Duration("notice", 30*tuple.Day, 0, longest)
	r.Done()
	return v
}

// readPricing reads [price], which a load contract needs; whether it is one is not known yet.
func readPricing(root reader) (v Pricing) {
	r := root.sub("price", false)
	v.Currency = r.String("currency", "")
	v.Min, v.Max = Price(r.amount("min", v.Currency)), Price(r.amount("max", v.Currency))
	if !r.T.Has("max") {
		v.Max = v.Min
	}
	if !r.T.Has("min") {
		v.Min = v.Max
	}
	v.WorkUnits = uint64(r.Int("work_units", 1, 1, 1<<31))
	v.Rounding = r.OneOf("rounding", RoundHalfEven, RoundHalfEven)
	v.Period = r.Duration("billing_period", 30*tuple.Day, tuple.Hour, 366*tuple.Day)
	r.Done()
	return v
}

func readTasks(r reader, o Options) (v Tasks) {
	for _, e := range r.Strings("operators", false) {
		if o.Operators != nil && !slices.Contains(o.Operators, e.Str) {
			r.P.Add(e.Pos, r.T.KeyPath("operators"), spec.DidYouMean(e.Str, o.Operators), "there is no operator kind `%s`", e.Str)
		}
	}
	v.Operators, v.Queries, v.Labels, v.Streams = r.set("operators", false), r.set("queries", false), r.labels("labels"), r.set("streams", false)
	v.UDFs = r.Bool("udfs", false)
	v.MaxState = r.Size("max_state", 1<<30, 0, 1<<50)
	v.MaxLoad = r.count("max_load", 0)
	v.MaxTask = r.count("max_task", v.MaxLoad)
	r.Done()
	return v
}

func readCaps(r reader, money string) (v Caps) {
	v.PerHour, v.PerDay, v.PerPeriod = r.cap("per_hour", money), r.cap("per_day", money), r.cap("per_period", money)
	v.MaxShare = r.shareCap("max_share_of_capacity")
	v.Grace = r.Duration("cap_grace", 10*tuple.Minute, 0, 30*tuple.Day)
	r.Done()
	return v
}

// longest bounds the durations of a contract.
const longest = 100 * 366 * tuple.Day
