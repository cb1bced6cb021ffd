package trust

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Kinds of file: what stands after BEGIN.
const (
	pemKey         = "FEDNODE PRIVATE KEY"
	pemOrg         = "FEDNODE ORGANISATION"
	pemCertificate = "FEDNODE NODE CERTIFICATE"
	pemStatement   = "FEDNODE KEY STATEMENT"
	pemRequest     = "FEDNODE NODE REQUEST"
)

// maxFile is the longest file that is read.
const maxFile = 4 << 20

// block is one part of a file: a kind and its bytes.
type block struct {
	kind string
	data []byte
}

// formatBlocks writes comment lines, then the blocks. Comments are for people; nothing reads them.
func formatBlocks(comments []string, blocks ...block) []byte {
	var b bytes.Buffer
	for _, c := range comments {
		b.WriteString(strings.TrimRight("# "+c, " ") + "\n")
	}
	for _, p := range blocks {
		b.Write(pem.EncodeToMemory(&pem.Block{Type: p.kind, Bytes: p.data}))
	}
	return b.Bytes()
}

// parseBlocks reads a file that must hold exactly the given kinds, in order, and between them only comments and blank
// lines.
func parseBlocks(place string, text []byte, kinds ...string) ([]block, error) {
	bad := func(got string) error {
		return &Error{Kind: ErrMalformed, Place: place, Got: got, Expected: "-----BEGIN " + strings.Join(kinds, "-----, then -----BEGIN ") + "-----",
			Remedy: "it is damaged or another kind of file; restore it from a copy"}
	}
	blocks := make([]block, 0, len(kinds))
	for _, kind := range kinds {
		p, rest := pem.Decode(text)
		if p == nil {
			return nil, bad("no readable block")
		}
		if p.Type != kind || len(p.Headers) > 0 {
			return nil, bad("a block " + quote(p.Type))
		}
		if !onlyComments(between(text, rest)) {
			return nil, bad("text before the block that is no comment")
		}
		blocks = append(blocks, block{kind: kind, data: p.Bytes})
		text = rest
	}
	if !onlyComments(text) {
		return nil, bad("something after the last block")
	}
	return blocks, nil
}

// between is the part of text in front of the block that ends where rest begins.
func between(text, rest []byte) []byte {
	used := text[:len(text)-len(rest)]
	if i := bytes.Index(used, []byte("-----BEGIN ")); i >= 0 {
		return used[:i]
	}
	return used
}

func onlyComments(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// readFile reads a file of at most maxFile bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	return readAll(path, f)
}

// readSecretFile is readFile for what only the owner may read. It looks at the open file, so that nobody can swap it
// in between.
func readSecretFile(path string, anyMode bool) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	if mode := st.Mode().Perm(); !anyMode && mode&0o077 != 0 {
		return nil, &Error{Kind: ErrPermissions, Place: path, Got: fmt.Sprintf("mode %04o", mode), Expected: "0600",
			Remedy: "run chmod 600 " + path + "; if others could read it, rotate the key"}
	}
	return readAll(path, f)
}

func readAll(path string, f io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("trust: read %s: %w", path, err)
	}
	if len(text) > maxFile {
		return nil, &Error{Kind: ErrMalformed, Place: path, Got: "a longer file", Expected: "at most 4 MiB"}
	}
	return text, nil
}

func openError(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return &Error{Kind: ErrMissing, Place: path, Remedy: "make it with fednode init, or restore it from a copy", Cause: os.ErrNotExist}
	}
	return fmt.Errorf("trust: %w", err)
}
