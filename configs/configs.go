package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.toml
var files embed.FS

// Files gives the samples by name.
func Files() fs.FS { return files }

// ContractFile returns the commented contract.toml for two organisations, whose names must be valid: they are written as
// they are.
func ContractFile(a, b string) ([]byte, error) {
	text, err := files.ReadFile("contract.toml")
	if err != nil {
		return nil, fmt.Errorf("configs: %w", err)
	}
	both := func(a, b string) string { return fmt.Sprintf("parties = [%q, %q]", a, b) }
	return []byte(strings.Replace(string(text), both("north", "south"), both(a, b), 1)), nil
}

// The lines of the commented sample that name the node.
const (
	sampleOrg  = `org = "north"`
	sampleName = `name = "node-1"`
)

// NodeFile returns the commented node.toml for a node. org and name must be valid names: they are written as they are.
func NodeFile(org, name string) ([]byte, error) {
	text, err := files.ReadFile("node.toml")
	if err != nil {
		return nil, fmt.Errorf("configs: %w", err)
	}
	return []byte(strings.NewReplacer("\n"+sampleOrg, fmt.Sprintf("\norg = %q", org), "\n"+sampleName, fmt.Sprintf("\nname = %q", name)).
		Replace(string(text))), nil
}
