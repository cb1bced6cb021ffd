package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/config"
	"fednode/node/connect/connectors"
)

// A query that is given to a node may refer to variables of its environment, but to none that holds a password of a database.
func TestPasswordsAreNoVariables(t *testing.T) {
	cfg, problems := config.Read("node.toml", []byte(tomlOf("north", "n1", `
[connect.postgres.warehouse]
connection = "host=db.example"
password_env = "TEST_WAREHOUSE"
`)), config.Options{Connectors: bind.New(connectors.Kinds())})
	require.NoError(t, problems.Err())
	n := &Node{cfg: cfg, kinds: connectors.Kinds()}
	for name, hidden := range map[string]bool{"TEST_TABLE": false, "TEST_WAREHOUSE": true, "PGPASSWORD": true, "PGSSLPASSWORD": true} {
		t.Setenv(name, "s3cret.is.no.table")
		_, err := n.loadQuery("q.toml", append(mergeOf("q", "north/one", "south/two"), []byte(`
[outputs.more]
input = "all"
connector = "postgres"
database = "warehouse"
table = "${`+name+`}"
`)...))
		if hidden {
			require.ErrorContains(t, err, "the variable "+name+" is not set")
			require.NotContains(t, err.Error(), "s3cret")
		} else {
			require.ErrorContains(t, err, "`s3cret.is.no.table` is not the name of a table")
		}
	}
}
