package contracts

import (
	"maps"
	"slices"
	"strings"
)

func (t *Terms) checkData(f *faults) {
	f.streams("data.exports", t.Data.Exports)
	f.wrongIf(t.Kind == Data && len(t.Data.Exports) == 0, "data.exports", `write exports = ["north/conns"]`, "a data contract names the streams that it covers")
	f.set("data.store", t.Data.Store)
	kinds := []string{"checkpoints", "raw", "results", "state"}
	for _, s := range t.Data.Store {
		f.wrongIf(!slices.Contains(kinds, s), "data.store", "", "`%s` is not one of %s", s, strings.Join(kinds, ", "))
	}
	f.set("data.regions", t.Data.Regions)
	f.duration("data.retention", t.Data.Retention, longest)
	l := t.Legal
	f.text("legal.title", l.Title)
	f.text("legal.law", l.Law)
	f.text("legal.venue", l.Venue)
	f.wrongIf(l.Date < 0, "legal.date", "", "times before 1970 are not read")
	f.wrongIf(l.Document != "" && !isHash(l.Document), "legal.document_sha256", "sha256sum FILE prints it", "`%s` is not a SHA-256 in hexadecimal", l.Document)
	f.wrongIf(!slices.Contains([]string{"", "processor", "joint-controller", "controller"}, l.Role), "legal.role", "", "`%s` is not one of processor, joint-controller, controller", l.Role)
	t.checkPrivacy(f)
}

func (t *Terms) checkPrivacy(f *faults) {
	v := t.Privacy
	for _, s := range []struct {
		path string
		list []string
	}{{"privacy.purposes", v.Purposes}, {"privacy.categories", v.Categories}, {"privacy.regions", v.Regions}, {"privacy.sub_processors", v.SubProcessors}} {
		f.set(s.path, s.list)
	}
	f.duration("privacy.retention", v.Retention, longest)
	f.duration("privacy.breach_notice", v.BreachNotice, longest)
	f.wrongIf(!slices.Contains([]string{"", "delete", "return"}, v.AtEnd), "privacy.at_end", "", "`%s` is not one of delete, return", v.AtEnd)
	if !v.Personal {
		return
	}
	for _, s := range []struct {
		path string
		said bool
	}{{"privacy.purposes", len(v.Purposes) > 0}, {"privacy.categories", len(v.Categories) > 0}, {"privacy.retention", v.Retention > 0},
		{"privacy.breach_notice", v.BreachNotice > 0}, {"privacy.at_end", v.AtEnd != ""}} {
		_, key, _ := strings.Cut(s.path, ".")
		f.wrongIf(!s.said, s.path, "", "with personal data, `%s` has to be agreed on", key)
	}
}

func (t *Terms) checkPeople(f *faults) {
	f.wrongIf(len(t.Contacts) > 2 || len(t.Signers) > 2, "contacts", "", "people of more than 2 parties")
	for _, party := range slices.Sorted(maps.Keys(t.Contacts)) {
		c, path := t.Contacts[party], "contacts."+party
		f.wrongIf(t.stranger(party), path, "", "`%s` is no party of this contract", party)
		for _, s := range []string{c.Name, c.Email, c.Phone} {
			f.text(path, s)
		}
		f.wrongIf(c.Name == "", path+".name", "", "a contact needs a name")
		user, host, ok := strings.Cut(c.Email, "@")
		f.wrongIf(!ok || user == "" || host == "" || strings.ContainsAny(c.Email, " <>,"), path+".email", "", "`%s` is not an address", c.Email)
	}
	for _, party := range slices.Sorted(maps.Keys(t.Signers)) {
		s, path := t.Signers[party], "signers."+party
		f.wrongIf(t.stranger(party), path, "", "`%s` is no party of this contract", party)
		f.wrongIf(s.Required < 1 || int(s.Required) > len(s.People), path, "", "%d of %d people have to sign", s.Required, len(s.People))
		f.wrongIf(len(s.People) > 100, path, "", "%d people: at most 100 are read", len(s.People))
		keys := make(map[string]bool)
		for _, one := range s.People {
			f.text(path, one.Name)
			f.text(path, one.Function)
			f.wrongIf(one.Name == "", path, "", "a signer needs a name")
			f.wrongIf(!isHash(one.Key), path, "fednode key list prints it", "the key of `%s` is not 64 hexadecimal digits", one.Name)
			f.wrongIf(keys[one.Key], path, "each signs with a key of their own", "the key of `%s` is there twice", one.Name)
			keys[one.Key] = true
		}
	}
}
