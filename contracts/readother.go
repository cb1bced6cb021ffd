package contracts

import (
	"fednode/query/spec"
	"fednode/query/tuple"
)

func readAvailability(r reader, money string) (v Availability) {
	v.MaxDelay = r.Duration("max_delay", 3*tuple.Second, 0, tuple.Day)
	v.Replicas = r.Int("replicas", 1, 1, 64)
	v.Checkpoint = r.Int("checkpoint_level", 2, 1, 16)
	v.Uptime = r.share("uptime", 0)
	v.Breach = r.amount("breach", money)
	r.Done()
	return v
}

func readMigration(r reader) (v Migration) {
	v.Notice = r.Duration("notice", tuple.Minute, 0, longest)
	v.Pause = r.Duration("longest_pause", 5*tuple.Second, 0, tuple.Day)
	v.Pays = r.OneOf("pays", "giver", "giver", "taker")
	r.Done()
	return v
}

func readData(r reader) (v DataPolicy) {
	v.Exports, v.Store, v.Regions = r.set("exports", false), r.set("store", false), r.set("regions", false)
	v.Retention = r.Duration("retention", 0, 0, longest)
	r.Done()
	return v
}

func readLegal(r reader) (v Legal) {
	v.Title, v.Law, v.Venue = r.String("title", ""), r.String("law", ""), r.String("venue", "")
	v.Date = r.time("date", false)
	v.Document = r.String("document_sha256", "")
	v.Role = r.OneOf("role", "", "processor", "joint-controller", "controller")
	r.Done()
	return v
}

func readPrivacy(r reader) (v Privacy) {
	v.Personal = r.Bool("personal_data", false)
	v.Purposes, v.Categories, v.Regions = r.set("purposes", false), r.set("categories", false), r.set("regions", false)
	v.SubProcessors = r.set("sub_processors", false)
	v.Retention = r.Duration("retention", 0, 0, longest)
	v.BreachNotice = r.Duration("breach_notice", 0, 0, longest)
	v.AtEnd = r.OneOf("at_end", "", "delete", "return")
	r.Done()
	return v
}

func readContacts(r reader) map[string]Contact {
	all := make(map[string]Contact)
	for _, e := range r.T.Entries {
		if t := r.Table(e.Key, false); t != nil {
			c := reader{spec.Read(t, r.P)}
			name, _ := c.NeedString("name")
			email, _ := c.NeedString("email")
			all[e.Key] = Contact{Name: name, Email: email, Phone: c.String("phone", "")}
			c.Done()
		}
	}
	return all
}

// readSigners reads how many have to sign, and the people of each party.
func readSigners(r reader) map[string]Signers {
	all := make(map[string]Signers)
	required := r.Int("required", 1, 1, 100)
	for _, e := range r.T.Entries {
		if e.Key == "required" {
			continue
		}
		s := Signers{Required: required}
		for _, one := range r.tables(e.Key) {
			name, _ := one.NeedString("name")
			key, _ := one.NeedString("key")
			s.People = append(s.People, Signer{Name: name, Function: one.String("function", ""), Key: key})
			one.Done()
		}
		all[e.Key] = s
	}
	return all
}
