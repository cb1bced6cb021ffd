package testnet

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// pkg is what `go list` says of a package.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Doc        string
}

// layer says what the packages below a path may import of this module; the longest matching path counts.
type layer struct {
	path string
	may  []string
	pure bool // no goroutine, channel, clock, network, disk or log
}

var layers = []layer{
	{"query/tuple", []string{"query/tuple"}, true},
	{"query/spec", []string{"query/tuple"}, true},
	{"query/expr", []string{"query/tuple", "query/spec"}, true},
	{"sunion", []string{"query/tuple"}, true},
	{"dcaa", []string{"query/tuple"}, true},
	{"contracts", []string{"query/tuple", "query/spec", "contracts"}, true},
	{"mpa", []string{"query/tuple", "query/spec", "contracts", "mpa"}, true},
	{"query/op", []string{"query/tuple", "query/spec", "query/expr", "query/op"}, true},
	{"query", []string{"query", "sunion"}, true},
	{"storage", []string{"query/tuple", "query/spec", "storage"}, false},
	{"node", []string{"query", "sunion", "dcaa", "contracts", "mpa", "storage", "node"}, false},
	{"testnet", []string{"query", "sunion", "dcaa", "contracts", "mpa", "storage", "node", "testnet", "configs"}, false},
	{"cmd", []string{"query", "sunion", "dcaa", "contracts", "mpa", "storage", "node", "testnet", "cmd", "configs"}, false},
	{"configs", nil, false},
}

const module = "fednode"

func under(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func layerOf(path string) (layer, bool) {
	best, ok := layer{}, false
	for _, l := range layers {
		if under(path, l.path) && len(l.path) >= len(best.path) {
			best, ok = l, true
		}
	}
	return best, ok
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,Doc", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// TestLayers: imports go downwards only, the pure packages stay pure, and every package says what it is.
func TestLayers(t *testing.T) {
	pkgs := packages(t)
	if len(pkgs) < 10 {
		t.Fatalf("only %d packages listed", len(pkgs))
	}
	for _, p := range pkgs {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		l, ok := layerOf(path)
		if !ok {
			t.Errorf("%s: no layer; the top level is fixed", path)
			continue
		}
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s: no package comment", path)
		}
		for _, imp := range p.Imports {
			if target, ours := strings.CutPrefix(imp, module+"/"); ours && !allowed(l, path, target) {
				t.Errorf("%s imports %s: packages under %s may import %s", path, target, l.path, strings.Join(l.may, ", "))
			}
			if l.pure && impure(path, imp) {
				t.Errorf("%s imports %s: it is a pure package; the shell under node/ does this", path, imp)
			}
		}
		if l.pure {
			checkPure(t, p, path)
		}
	}
}

func allowed(l layer, from, target string) bool {
	if under(target, from) || under(from, target) && under(target, l.path) {
		return true // a package and its own sub-packages
	}
	for _, m := range l.may {
		if under(target, m) {
			return true
		}
	}
	return under(target, l.path) && !strings.Contains(target, "internal")
}

// impure reports whether an import brings a clock, a network, a disk or a log into a pure package. Test harnesses under
// a pure package import "testing" and may read their scripts.
func impure(path, imp string) bool {
	if strings.HasSuffix(path, "test") {
		return false
	}
	for _, bad := range []string{"os", "net", "log", "log/slog", "net/http", "math/rand", "syscall", "os/exec", "testing", "go.uber.org/zap", "github.com/libp2p/go-libp2p", "github.com/dgraph-io/badger/v4"} {
		if imp == bad {
			return true
		}
	}
	return false
}

// checkPure looks for go statements, channels and readings of the clock.
func checkPure(t *testing.T, p pkg, path string) {
	t.Helper()
	if strings.HasSuffix(path, "test") {
		return
	}
	for _, file := range p.GoFiles {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				what = "a go statement"
			case *ast.ChanType:
				what = "a channel"
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since" || n.Sel.Name == "Sleep") {
					what = "time." + n.Sel.Name
				}
			}
			if what != "" {
				t.Errorf("%s/%s:%s: %s in a pure package", path, file, strconv.Itoa(set.Position(n.Pos()).Line), what)
			}
			return true
		})
	}
}
