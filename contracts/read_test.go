package contracts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// smallest is a load contract that says no more than it must.
const smallest = `[contract]
kind = "load"
name = "peak"
parties = ["south", "north"]
[validity]
from = 2027-01-01
until = 2028-01-01
[price]
currency = "EUR"
min = "0.9"
max = "1"
[tasks]
max_load = 1000
`

// whole is a load contract that says everything.
const whole = `[contract]
kind = "load"
name = "peak"
parties = ["north", "south"]
givers = ["south"]
subcontract = "ask"
clock_skew = "2s"
supersedes = "` + someHash + `"
data_contracts = ["` + someHash + `"]
[validity]
from = "2027-01-01T08:00:00+01:00"
until = 2028-01-01T00:00:00Z
renewal = "period"
notice = "60d"
[price]
currency = "EUR"
min = "0.9 EUR"
max = "1"
work_units = 3
billing_period = "7d"
[tasks]
operators = ["filter", "aggregate"]
queries = ["netmon"]
streams = ["north/conns", "flows"]
udfs = true
max_state = "64MiB"
max_load = 1_000_000
max_task = 20_000
[tasks.labels]
class = "research"
[caps]
per_hour = "5"
per_day = "50"
per_period = "500"
max_share_of_capacity = 0.3
cap_grace = "1m"
[availability]
max_delay = "5s"
replicas = 2
checkpoint_level = 3
uptime = 0.999
breach = "1.5"
[migration]
notice = "30s"
longest_pause = "1s"
pays = "taker"
[data]
store = ["state", "checkpoints"]
regions = ["EU"]
retention = "7d"
[legal]
title = "Agreement"
date = 2026-11-30
document_sha256 = "` + someHash + `"
law = "Germany"
venue = "Berlin"
role = "processor"
[privacy]
personal_data = true
purposes = ["scan detection"]
categories = ["IP addresses"]
retention = "7d"
regions = ["EU"]
sub_processors = ["A firm"]
breach_notice = "1d"
at_end = "delete"
[contacts.north]
name = "Operations"
email = "noc@north.example"
phone = "+49 30 1"
[signers]
required = 2
[[signers.north]]
name = "A"
function = "head"
key = "` + someHash + `"
[[signers.north]]
name = "B"
key = "` + otherHash + `"
`

const (
	someHash  = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	otherHash = "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
)

func mustRead(t *testing.T, text string) *Terms {
	t.Helper()
	terms, p := Read("c.toml", []byte(text), Options{Operators: []string{"aggregate", "filter"}})
	require.NoError(t, p.Err())
	return terms
}

func TestReadDefaults(t *testing.T) {
	c := mustRead(t, smallest)
	require.Equal(t, []string{"north", "south"}, c.Parties)
	require.Equal(t, c.Parties, c.Givers)
	require.Equal(t, Price(900_000), c.Price.Min)
	require.Equal(t, Price(1_000_000), c.Price.Max)
	require.Equal(t, "2027-01-01T00:00:00Z", c.Validity.From.String())
	require.EqualValues(t, 1000, c.Tasks.MaxTask)
	require.EqualValues(t, 30*tuple.Day, c.Price.Period)
	require.Equal(t, SubcontractAllowed, c.Subcontract)
	require.Equal(t, "south", c.Other("north"))
	require.Equal(t, "north", c.Other("south"))
	require.Empty(t, c.Other("east"))
}

func TestReadWhole(t *testing.T) {
	c := mustRead(t, whole)
	require.Equal(t, []string{"south"}, c.Givers)
	require.Equal(t, "2027-01-01T07:00:00Z", c.Validity.From.String())
	require.Equal(t, Caps{PerHour: 5 * Micro, PerDay: 50 * Micro, PerPeriod: 500 * Micro, MaxShare: 300_000, Grace: tuple.Minute}, c.Caps)
	require.EqualValues(t, 999_000, c.Availability.Uptime)
	require.Equal(t, []string{"checkpoints", "state"}, c.Data.Store)
	require.Len(t, c.Signers["north"].People, 2)
	require.EqualValues(t, 2, c.Signers["north"].Required)
}

// One price alone is a fixed one, and 0 is a price.
func TestFixedPrice(t *testing.T) {
	c := mustRead(t, strings.Replace(smallest, "min = \"0.9\"\nmax = \"1\"\n", "max = \"0\"\n", 1))
	require.Zero(t, c.Price.Min)
	require.Zero(t, c.Price.Max)
	c = mustRead(t, strings.Replace(smallest, "max = \"1\"\n", "", 1))
	require.Equal(t, c.Price.Min, c.Price.Max)
}

func TestReadData(t *testing.T) {
	text := "[contract]\nkind = \"data\"\nname = \"scan\"\nparties = [\"north\", \"south\"]\n[validity]\nfrom = 2027-01-01\nuntil = 2028-01-01\n[data]\nexports = [\"north/conns\"]\n"
	c := mustRead(t, text)
	require.Equal(t, Pricing{}, c.Price)
	_, p := Read("c.toml", []byte(text+"[price]\ncurrency = \"EUR\"\nmin = \"1\"\n"), Options{})
	require.ErrorContains(t, p.Err(), "c.toml:10:2: price: a data contract has no [price]")
	_, p = Read("c.toml", []byte(strings.Replace(text, `exports = ["north/conns"]`, "", 1)), Options{})
	require.ErrorContains(t, p.Err(), "names the streams that it covers")
}

// Each mistake is one error, at its place.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`kind = "load"`, `kind = "lead"`, "c.toml:2:8: contract.kind: `lead` is not one of load, data; did you mean `load`?"},
		{`kind = "load"`, `kid = "load"`, "unknown key `kid`"},
		{`parties = ["north", "south"]`, `parties = ["north"]`, "a contract is between 2 parties, not 1"},
		{`"south"]` + "\nsub", `"east"]` + "\nsub", "c.toml:5:10: contract.givers: `east` is no party"},
		{`supersedes = "00`, `supersedes = "0`, "is not the hash of a contract"},
		{`from = "2027-01-01T08:00:00+01:00"`, `from = "2029-01-01"`, "c.toml:12:9: validity.until: the validity ends at 2028-01-01T00:00:00Z, before it begins at 2029-01-01T00:00:00Z"},
		{`from = "2027-01-01T08:00:00+01:00"`, `from = 2027-01-01T08:00:00`, "nor a time with its zone"},
		{`notice = "60d"`, `notice = "700d"`, "it could never be given"},
		{`currency = "EUR"`, `currency = "EURO"`, "`EURO` is not a currency"},
		{`currency = "EUR"`, `currency = "XXX"`, "`XXX` is not a currency"},
		{`currency = "EUR"`, `currency = "USD"`, "price.min: `0.9 EUR` is in another currency than price.currency, `USD`"},
		{`min = "0.9 EUR"`, `min = "-0.9"`, "price.min: -0.9 is negative"},
		{`min = "0.9 EUR"`, `min = "Inf"`, "price.min: \"Inf\" is not an amount"},
		{`min = "0.9 EUR"`, `min = inf`, "money is never a floating-point number"},
		{`min = "0.9 EUR"`, `min = 0.9`, "write it in quotes"},
		{`min = "0.9 EUR"`, `min = "1.1"`, "the lowest price, 1.1, is above the highest, 1"},
		{`max = "1"`, `max = "1000000001"`, "the price is 1000000001: 0 to 1000000000 is expected"},
		{`per_day = "50"`, `per_day = "50 USD"`, "caps.per_day: `50 USD` is in another currency"},
		{`per_day = "50"`, `per_day = "0"`, "a cap of 0 lets nothing move"},
		{`per_day = "50"`, `per_day = "4"`, "the cap of an hour, 5, is above that of a day, 4"},
		{`max_share_of_capacity = 0.3`, `max_share_of_capacity = 0.0`, "a cap of 0 lets nothing move"},
		{`max_share_of_capacity = 0.3`, `max_share_of_capacity = nan`, "NaN is out of range"},
		{`max_load = 1_000_000`, `max_load = 0`, "needs a largest load above 0"},
		{`max_task = 20_000`, `max_task = 2_000_000`, "the largest task is 2000000"},
		{`"aggregate"]`, `"agregate"]`, "there is no operator kind `agregate`; did you mean `aggregate`?"},
		{`"north/conns"`, `"north/"`, "`north/` is not a stream"},
		{`uptime = 0.999`, `uptime = 1.5`, "1.5 is out of range"},
		{`breach = "1.5"`, `breach = "1.5000000001"`, "10 decimals"},
		{`pays = "taker"`, `pays = "nobody"`, "`nobody` is not one of giver, taker"},
		{`store = ["state", "checkpoints"]`, `store = ["state", "all"]`, "`all` is not one of checkpoints, raw, results, state"},
		{`store = ["state", "checkpoints"]`, `store = ["state", "state"]`, "`state` is there twice"},
		{`document_sha256 = "00`, `document_sha256 = "xx`, "is not a SHA-256"},
		{`at_end = "delete"`, ``, "with personal data, `at_end` has to be agreed on"},
		{`data_contracts = ["` + someHash + `"]`, ``, "personal data moves with load only under a data contract"},
		{`email = "noc@north.example"`, `email = "noc"`, "contacts.north.email: `noc` is not an address"},
		{`[contacts.north]`, `[contacts.east]`, "`east` is no party of this contract"},
		{`required = 2`, `required = 3`, "3 of 2 people have to sign"},
		{`key = "` + otherHash + `"`, `key = "` + someHash + `"`, "the key of `B` is there twice"},
		{`title = "Agreement"`, `title = "A\u0007"`, "characters that cannot be shown"},
		{`title = "Agreement"`, `title = "to south \u2067north\u2069"`, "characters that cannot be shown"},
		{`title = "Agreement"`, `title = "A\u2028B"`, "characters that cannot be shown"},
		{`[caps]`, `[cap]`, "unknown key `cap`; did you mean `caps`?"},
	} {
		require.Contains(t, whole, c.old)
		terms, p := Read("c.toml", []byte(strings.Replace(whole, c.old, c.new, 1)), Options{Operators: []string{"aggregate", "filter"}})
		require.Nil(t, terms, c.new)
		require.ErrorContains(t, p.Err(), c.says, c.new)
		require.Len(t, p.Errors, 1, "%s\n%v", c.new, p.Err())
	}
}

// Every mistake of a file is reported at once.
func TestReadReportsAll(t *testing.T) {
	_, p := Read("c.toml", []byte("[contract]\nkind = \"load\"\nname = \"x\"\nparties = [\"a\", \"b\"]\ngiver = [\"a\"]\n[validity]\nfrom = 2028-01-01\nuntil = 2027-01-01\n[price]\ncurrency = \"EUR\"\nmin = \"2\"\nmax = \"1\"\n"), Options{})
	var says []string
	for _, e := range p.Errors {
		says = append(says, e.Path)
	}
	require.ElementsMatch(t, []string{"contract.giver", "validity.until", "price.min", "tasks.max_load"}, says)
}

// A file without a contract says that it has none, and nothing of what such a one would lack.
func TestNoContract(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "[caps]\n"} {
		_, p := Read("c.toml", []byte(text), Options{})
		require.ErrorContains(t, p.Err(), "the key `contract` is missing")
		require.LessOrEqual(t, len(p.Errors), 3, "%v", p.Err())
	}
	_, p := Read("c.toml", []byte("[contract]\nkind = \"load\"\nname = \"x\"\nparties = [\"a\", \"b\"]\n[validity]\nfrom = 2027-01-01\nuntil = 2028-01-01\n[tasks]\nmax_load = 1\n"), Options{})
	require.ErrorContains(t, p.Err(), "a load contract needs a price")
}

// Files made to do harm are refused, or read like others.
func TestHostileFiles(t *testing.T) {
	deep := "a = " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	wide := smallest + "operators = [" + strings.Repeat("\"a\",", 30_000) + "]\n"
	many := "[contract]\n" + func() string {
		var b strings.Builder
		for i := range 25_000 {
			fmt.Fprintf(&b, "k%d = 1\n", i)
		}
		return b.String()
	}()
	for name, c := range map[string]struct{ text, says string }{
		"deep": {deep, "nested more than"}, "wide": {wide, "more than 20000 keys and values"}, "many": {many, "more than 20000 keys and values"},
		"huge": {smallest + strings.Repeat("#", spec.MaxFileBytes), "the limit is"}, "no text": {"\xff\xfe\x00", "c.toml:1:"},
		"long set": {smallest + "queries = [" + strings.Join(names(501), ",") + "]\n", "501 members: at most 500"},
	} {
		_, p := Read("c.toml", []byte(c.text), Options{})
		require.ErrorContains(t, p.Err(), c.says, name)
		require.LessOrEqual(t, len(p.Errors), spec.MaxProblems)
	}
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("\"q%d\"", i))
	}
	return list
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(smallest))
	f.Add([]byte(whole))
	f.Fuzz(func(t *testing.T, text []byte) {
		terms, p := Read("c.toml", text, Options{})
		if p.OK() != (terms != nil) {
			t.Fatalf("terms %v, problems %v", terms, p.Err())
		}
		if terms == nil {
			return
		}
		b, err := Encode(terms)
		if err != nil {
			t.Fatalf("terms of a file cannot be encoded: %v", err)
		}
		if _, err := Decode(b); err != nil {
			t.Fatalf("terms of a file cannot be decoded: %v", err)
		}
	})
}
