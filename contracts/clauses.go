package contracts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fednode/query/tuple"
)

// Clause is one thing that was agreed on, with how it holds.
type Clause struct {
	Name  string // of its key in a file
	Value string
	Holds Holding
}

// Holding is how a clause holds.
type Holding string

// Ways in which clauses hold.
const (
	// Enforced: the software of the party that it protects refuses what goes against it.
	Enforced Holding = "enforced"
	// Evidenced: what happened is in logs and receipts, so that a breach can be shown.
	Evidenced Holding = "evidenced"
	// Promised: nothing but the other party's word.
	Promised Holding = "promised"
)

type clauses []Clause

func (c *clauses) add(h Holding, name, format string, args ...any) {
	*c = append(*c, Clause{name, fmt.Sprintf(format, args...), h})
}

// set adds a set; an empty one is left out, or says what it means.
func (c *clauses) set(h Holding, name string, list []string, empty string) {
	if len(list) > 0 {
		c.add(h, name, "%s", strings.Join(list, ", "))
	} else if empty != "" {
		c.add(h, name, "%s", empty)
	}
}

func (c *clauses) text(h Holding, name, value string) {
	if value != "" {
		c.add(h, name, "%s", value)
	}
}

func (c *clauses) duration(h Holding, name string, us int64) {
	c.add(h, name, "%s", tuple.AppendDuration(nil, us))
}

// Clauses lists everything that was agreed on, in the order of a file.
func (t *Terms) Clauses() []Clause {
	var c clauses
	c.add(Enforced, "contract.kind", "%s", t.Kind)
	c.add(Enforced, "contract.parties", "%s", strings.Join(t.Parties, ", "))
	c.set(Enforced, "contract.givers", t.Givers, "")
	c.add(Enforced, "contract.subcontract", "%s", t.Subcontract)
	c.duration(Enforced, "contract.clock_skew", t.ClockSkew)
	c.text(Enforced, "contract.supersedes", t.Supersedes)
	c.set(Enforced, "contract.data_contracts", t.DataContracts, "")
	c.add(Enforced, "validity.from", "%s", t.Validity.From)
	c.add(Enforced, "validity.until", "%s", t.Validity.Until)
	c.add(Enforced, "validity.renewal", "%s", t.Validity.Renewal)
	c.duration(Enforced, "validity.notice", t.Validity.Notice)
	if t.Kind == Load {
		t.loadClauses(&c)
	}
	t.otherClauses(&c)
	return c
}

func (t *Terms) loadClauses(c *clauses) {
	p := t.Price
	money := func(h Holding, name string, a Amount) {
		if a > 0 {
			c.add(h, name, "%s %s", a, p.Currency)
		}
	}
	c.add(Enforced, "price.min", "%s %s for 10^9 work units", p.Min, p.Currency)
	c.add(Enforced, "price.max", "%s %s for 10^9 work units", p.Max, p.Currency)
	c.add(Evidenced, "price.work_units", "table %d", p.WorkUnits)
	c.add(Enforced, "price.rounding", "%s, once a billing period", p.Rounding)
	c.duration(Enforced, "price.billing_period", p.Period)
	k := t.Tasks
	c.set(Enforced, "tasks.operators", k.Operators, "all kinds")
	c.set(Enforced, "tasks.queries", k.Queries, "all")
	for _, name := range slices.Sorted(maps.Keys(k.Labels)) {
		c.add(Enforced, "tasks.labels."+name, "%s", k.Labels[name])
	}
	c.set(Enforced, "tasks.streams", k.Streams, "all")
	c.add(Enforced, "tasks.udfs", "%t", k.UDFs)
	c.add(Enforced, "tasks.max_state", "%d bytes", k.MaxState)
	c.add(Enforced, "tasks.max_task", "%d work units/s", k.MaxTask)
	c.add(Enforced, "tasks.max_load", "%d work units/s", k.MaxLoad)
	money(Enforced, "caps.per_hour", t.Caps.PerHour)
	money(Enforced, "caps.per_day", t.Caps.PerDay)
	money(Enforced, "caps.per_period", t.Caps.PerPeriod)
	if t.Caps.MaxShare > 0 {
		c.add(Enforced, "caps.max_share_of_capacity", "%s", percent(t.Caps.MaxShare))
	}
	c.duration(Enforced, "caps.cap_grace", t.Caps.Grace)
	a := t.Availability
	c.duration(Evidenced, "availability.max_delay", a.MaxDelay)
	c.add(Evidenced, "availability.replicas", "%d", a.Replicas)
	c.add(Evidenced, "availability.checkpoint_level", "%d", a.Checkpoint)
	if a.Uptime > 0 {
		c.add(Evidenced, "availability.uptime", "%s", percent(a.Uptime))
	}
	money(Evidenced, "availability.breach", a.Breach)
	c.duration(Enforced, "migration.notice", t.Migration.Notice)
	c.duration(Evidenced, "migration.longest_pause", t.Migration.Pause)
	c.add(Enforced, "migration.pays", "%s", t.Migration.Pays)
}

func (t *Terms) otherClauses(c *clauses) {
	c.set(Enforced, "data.exports", t.Data.Exports, "")
	c.set(Promised, "data.store", t.Data.Store, "")
	c.set(Promised, "data.regions", t.Data.Regions, "")
	c.optional("data.retention", t.Data.Retention)
	l := t.Legal
	c.text(Promised, "legal.title", l.Title)
	if l.Date != 0 {
		c.add(Promised, "legal.date", "%s", l.Date)
	}
	c.text(Evidenced, "legal.document_sha256", l.Document)
	c.text(Promised, "legal.law", l.Law)
	c.text(Promised, "legal.venue", l.Venue)
	c.text(Promised, "legal.role", l.Role)
	v := t.Privacy
	c.add(Promised, "privacy.personal_data", "%t", v.Personal)
	c.set(Promised, "privacy.purposes", v.Purposes, "")
	c.set(Promised, "privacy.categories", v.Categories, "")
	c.optional("privacy.retention", v.Retention)
	c.set(Promised, "privacy.regions", v.Regions, "")
	c.set(Promised, "privacy.sub_processors", v.SubProcessors, "")
	c.optional("privacy.breach_notice", v.BreachNotice)
	c.text(Promised, "privacy.at_end", v.AtEnd)
	for _, party := range slices.Sorted(maps.Keys(t.Contacts)) {
		one := t.Contacts[party]
		c.add(Promised, "contacts."+party, "%s", strings.TrimSpace(fmt.Sprintf("%s <%s> %s", one.Name, one.Email, one.Phone)))
	}
	for _, party := range slices.Sorted(maps.Keys(t.Signers)) {
		s := t.Signers[party]
		var names []string
		for _, one := range s.People {
			names = append(names, one.Name)
		}
		c.add(Enforced, "signers."+party, "%d of %s", s.Required, strings.Join(names, ", "))
	}
}

func (c *clauses) optional(name string, us int64) {
	if us > 0 {
		c.duration(Promised, name, us)
	}
}

// percent prints millionths.
func percent(millionths int64) string { return Amount(millionths*100).String() + " %" }
