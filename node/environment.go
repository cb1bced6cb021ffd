package node

import (
	"os"
	"slices"
)

// environment looks up a variable for a query. What stands in a query is shown by messages and status, and goes to partners that
// host a part of it: so the variables that hold passwords of databases are none to it.
func (n *Node) environment(name string) (value string, ok bool) {
	if slices.Contains(n.secrets(), name) {
		return "", false
	}
	return os.LookupEnv(name)
}

// secrets returns the variables that hold passwords: those that node.toml names, and those that the driver reads by itself.
func (n *Node) secrets() []string {
	names := []string{"PGPASSWORD", "PGSSLPASSWORD"}
	for _, d := range n.cfg.Databases {
		if d.PasswordEnv != "" {
			names = append(names, d.PasswordEnv)
		}
	}
	return names
}
