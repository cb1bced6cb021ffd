package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Absent is what a test says where the data sets are not at hand.
const Absent = "the public data sets are not here: nothing was compared; set FEDNODE_DATA to their folder"

// Dir returns the absolute path of the folder of the public data sets: that which $FEDNODE_DATA names, or ../shared/data
// beside the repository, as seen from a package two levels below its root. ok is false if there is no such folder.
func Dir() (dir string, ok bool) {
	dir = os.Getenv("FEDNODE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// readSums reads a SHA256SUMS file: the hash of each file by name.
func readSums(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	out := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		hash, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			return nil, fmt.Errorf("dataset: %s: expected `HASH  NAME`, got `%.100s`", path, line)
		}
		out[name] = hash
	}
	return out, nil
}
