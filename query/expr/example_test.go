package expr_test

import (
	"fmt"

	"fednode/query/expr"
	"fednode/query/tuple"
)

func Example() {
	schema := tuple.MustSchema(
		tuple.Field{Name: "dport", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "service", Type: tuple.Of(tuple.String)},
	)
	rows := tuple.NewBatchBuilder(schema)
	for i, service := range []string{"dns", "http", "dns"} {
		rows.AppendInt(0, int64(53+1000*i))
		rows.AppendBin(1, []byte(service))
		rows.EndRow(tuple.Time(i))
	}
	batch := rows.Take()

	where, _ := expr.Compile("service = 'dns' AND dport < 1024", schema)
	fmt.Println(where.NewEval().Select(batch, nil))

	_, errs := expr.Compile("dprot < 1024", schema)
	fmt.Println(errs[0])
	// Output:
	// [0]
	// at byte 0: no column `dprot`; did you mean `dport`?
}
