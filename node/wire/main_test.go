package wire

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Bool("rewrite", false, "rewrite golden files")
	os.Exit(m.Run())
}
