package contracts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fednode/query/tuple"
)

// fault is one thing wrong with terms, by the name that its key has in a file.
type fault struct{ path, says, hint string }

type faults []fault

// wrongIf records a fault; hint may be empty.
func (f *faults) wrongIf(bad bool, path, hint, format string, args ...any) {
	if bad {
		*f = append(*f, fault{path, fmt.Sprintf(format, args...), hint})
	}
}

// Limits of terms.
const (
	maxText = 1_000 // bytes of a text
	maxSet  = 500   // members of a set
	hashLen = 64    // hexadecimal digits of a SHA-256 or a key
)

// faults lists everything that is wrong with terms, wherever they come from.
func (t *Terms) faults() (f faults) {
	f.wrongIf(t.Version != TermsVersion, "contract", "", "version %d of the encoding; %d is known here", t.Version, TermsVersion)
	f.wrongIf(t.Kind != Load && t.Kind != Data, "contract.kind", "", "`%s` is not one of load, data", t.Kind)
	f.text("contract.name", t.Name)
	f.wrongIf(t.Name == "", "contract.name", "", "a contract needs a name")
	t.checkParties(&f)
	f.wrongIf(t.Supersedes != "" && !isHash(t.Supersedes), "contract.supersedes", "fednode contract validate prints it", "`%s` is not the hash of a contract", t.Supersedes)
	for _, id := range t.DataContracts {
		f.wrongIf(!isHash(id), "contract.data_contracts", "fednode contract validate prints it", "`%s` is not the hash of a contract", id)
	}
	f.wrongIf(!slices.Contains([]Subcontract{SubcontractNever, SubcontractAsk, SubcontractAllowed}, t.Subcontract), "contract.subcontract", "", "`%s` is not one of never, ask, allowed", t.Subcontract)
	f.duration("contract.clock_skew", t.ClockSkew, tuple.Hour)
	t.checkValidity(&f)
	t.checkData(&f)
	t.checkPeople(&f)
	switch t.Kind {
	case Load:
		t.checkLoad(&f)
	case Data:
		f.wrongIf(len(t.Givers) > 0, "contract.givers", "", "nobody gives load under a data contract")
		f.wrongIf(t.Price != (Pricing{}) || t.Caps != (Caps{}) || t.Migration != (Migration{}) || t.Availability != (Availability{}) || !t.Tasks.empty(),
			"contract.kind", "", "a data contract has no price, tasks, caps, availability and migration")
	}
	return f
}

func (t *Terms) checkParties(f *faults) {
	f.set("contract.parties", t.Parties)
	f.wrongIf(len(t.Parties) != 2, "contract.parties", `write parties = ["north", "south"]`, "a contract is between 2 parties, not %d", len(t.Parties))
	for _, p := range t.Parties {
		f.wrongIf(!validName(p), "contract.parties", nameRule, "`%s` is not the name of an organisation", p)
	}
	f.set("contract.givers", t.Givers)
	f.wrongIf(t.Kind == Load && len(t.Givers) == 0, "contract.givers", "name one party or both", "nobody may give load")
	for _, p := range t.Givers {
		f.wrongIf(t.stranger(p), "contract.givers", "", "`%s` is no party of this contract", p)
	}
}

// stranger reports whether somebody is no party; if the parties themselves are wrong, nobody is.
func (t *Terms) stranger(name string) bool {
	return len(t.Parties) == 2 && !slices.Contains(t.Parties, name)
}

func (t *Terms) checkValidity(f *faults) {
	v := t.Validity
	f.wrongIf(v.From < 0 || v.Until < 0, "validity.from", "", "times before 1970 are not read")
	f.wrongIf(v.Until <= v.From, "validity.until", "", "the validity ends at %s, before it begins at %s", v.Until, v.From)
	f.wrongIf(v.Renewal != "none" && v.Renewal != "period", "validity.renewal", "", "`%s` is not one of none, period", v.Renewal)
	f.duration("validity.notice", v.Notice, longest)
	f.wrongIf(v.Renewal == "period" && v.Until > v.From && v.Notice >= int64(v.Until-v.From), "validity.notice", "", "the notice is as long as the whole validity: it could never be given")
}

func (t *Terms) checkLoad(f *faults) {
	p := t.Price
	f.wrongIf(p.Currency == "", "price.currency", `write currency = "EUR"`, "a load contract needs a currency, also at a price of 0")
	f.wrongIf(p.Currency != "" && !ValidCurrency(p.Currency), "price.currency", "write a code of ISO 4217 in capitals, such as EUR", "`%s` is not a currency", p.Currency)
	f.wrongIf(p.Min < 0 || p.Min > MaxPrice, "price.min", "", "the price is %s: 0 to %s is expected", p.Min, MaxPrice)
	f.wrongIf(p.Max < 0 || p.Max > MaxPrice, "price.max", "", "the price is %s: 0 to %s is expected", p.Max, MaxPrice)
	f.wrongIf(p.Min > p.Max, "price.min", "", "the lowest price, %s, is above the highest, %s", p.Min, p.Max)
	f.wrongIf(p.WorkUnits == 0 || p.WorkUnits > 1<<31, "price.work_units", "", "version %d of the table of work units", p.WorkUnits)
	f.wrongIf(p.Rounding != RoundHalfEven, "price.rounding", "", "`%s` is not one of %s", p.Rounding, RoundHalfEven)
	f.wrongIf(p.Period < tuple.Hour || p.Period > 366*tuple.Day, "price.billing_period", "", "a billing period is from 1h to 366d")
	t.checkTasks(f)
	c := t.Caps
	f.wrongIf(c.PerHour < 0 || c.PerDay < 0 || c.PerPeriod < 0, "caps", "", "a cap is negative")
	f.wrongIf(c.PerHour > 0 && c.PerDay > 0 && c.PerHour > c.PerDay, "caps.per_hour", "", "the cap of an hour, %s, is above that of a day, %s", c.PerHour, c.PerDay)
	f.wrongIf(c.MaxShare < 0 || c.MaxShare > 1e6, "caps.max_share_of_capacity", "", "a share is from 0 to 1")
	f.duration("caps.cap_grace", c.Grace, 30*tuple.Day)
	a := t.Availability
	f.duration("availability.max_delay", a.MaxDelay, tuple.Day)
	f.wrongIf(a.Replicas < 1 || a.Replicas > 64, "availability.replicas", "", "%d replicas: 1 to 64 are expected", a.Replicas)
	f.wrongIf(a.Checkpoint < 1 || a.Checkpoint > 16, "availability.checkpoint_level", "", "level %d: 1 to 16 is expected", a.Checkpoint)
	f.wrongIf(a.Uptime < 0 || a.Uptime > 1e6, "availability.uptime", "", "a share is from 0 to 1")
	f.wrongIf(a.Breach < 0, "availability.breach", "", "the penalty %s is negative", a.Breach)
	m := t.Migration
	f.duration("migration.notice", m.Notice, longest)
	f.duration("migration.longest_pause", m.Pause, tuple.Day)
	f.wrongIf(m.Pays != "giver" && m.Pays != "taker", "migration.pays", "", "`%s` is not one of giver, taker", m.Pays)
	f.wrongIf(t.Privacy.Personal && len(t.DataContracts) == 0, "contract.data_contracts", "name the data contract by its hash", "personal data moves with load only under a data contract")
}

func (t *Terms) checkTasks(f *faults) {
	k := t.Tasks
	f.names("tasks.operators", k.Operators)
	f.names("tasks.queries", k.Queries)
	f.streams("tasks.streams", k.Streams)
	f.wrongIf(len(k.Labels) > maxSet, "tasks.labels", "", "%d labels: at most %d are read", len(k.Labels), maxSet)
	for _, name := range slices.Sorted(maps.Keys(k.Labels)) {
		f.wrongIf(!validName(name), "tasks.labels", nameRule, "`%s` is not a name", name)
		f.text("tasks.labels", k.Labels[name])
	}
	f.wrongIf(k.MaxState <= 0 || k.MaxState > 1<<50, "tasks.max_state", "", "the largest state is %d bytes: above 0 is expected", k.MaxState)
	f.wrongIf(k.MaxLoad <= 0 || k.MaxLoad > 1<<53, "tasks.max_load", "write how many work units a second may be given at a time", "a load contract needs a largest load above 0")
	f.wrongIf(k.MaxLoad > 0 && (k.MaxTask <= 0 || k.MaxTask > k.MaxLoad), "tasks.max_task", "", "the largest task is %d work units a second: above 0, at most max_load, %d, is expected", k.MaxTask, k.MaxLoad)
}

func (k *Tasks) empty() bool {
	return len(k.Operators)+len(k.Queries)+len(k.Labels)+len(k.Streams) == 0 && !k.UDFs && k.MaxState == 0 && k.MaxTask == 0 && k.MaxLoad == 0
}

// nameRule is what a name looks like, for messages.
const nameRule = "a name begins with a letter or _, goes on with letters, digits, _ and -, and has at most 63 characters"

func validName(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for i, c := range []byte(s) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

func isHash(s string) bool {
	return len(s) == hashLen && strings.Trim(s, "0123456789abcdef") == ""
}

func (f *faults) duration(path string, us, most int64) {
	f.wrongIf(us < 0 || us > most, path, "", "a duration from 0 to %s is expected", tuple.AppendDuration(nil, most))
}

// text checks what people read: no control characters, so that it can be shown as it is.
func (f *faults) text(path string, s string) {
	f.wrongIf(len(s) > maxText, path, "", "a text of %d bytes: at most %d are read", len(s), maxText)
	f.wrongIf(!utf8.ValidString(s) || strings.ContainsFunc(s, unshown), path, "", "a text holds characters that cannot be shown")
}

// unshown reports whether a character changes how the text around it is shown, so that people would read other terms than they
// sign: it controls a terminal, breaks the line, or turns the direction of reading.
func unshown(c rune) bool {
	return unicode.IsControl(c) || unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// set checks that a list is the one form of its set.
func (f *faults) set(path string, list []string) {
	f.wrongIf(len(list) > maxSet, path, "", "%d members: at most %d are read", len(list), maxSet)
	f.wrongIf(!slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list), path, "", "a set is not in order, or has a member twice")
	for _, s := range list {
		f.wrongIf(s == "", path, "", "a member is empty")
		f.text(path, s)
	}
}

func (f *faults) names(path string, list []string) {
	f.set(path, list)
	for _, s := range list {
		f.wrongIf(s != "" && !validName(s), path, nameRule, "`%s` is not a name", s)
	}
}

func (f *faults) streams(path string, list []string) {
	f.set(path, list)
	for _, s := range list {
		org, name, foreign := strings.Cut(s, "/")
		f.wrongIf(s != "" && (!validName(org) || foreign && !validName(name)), path, "write a name, or org/name", "`%s` is not a stream", s)
	}
}
