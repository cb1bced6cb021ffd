package dataset

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect/format"
)

// capture is the records of a set as they are written, so that they can be dealt anew.
type capture struct {
	head    []string // lines before the first record
	records []string
}

// plainName returns a name for the set's records in one file, with the extension that the set has.
func plainName(n *Network) string {
	return "copy" + path.Ext(strings.TrimSuffix(n.Source, ".gz"))
}

// formatOf returns the set's format, which says what lines are no records.
func formatOf(n *Network) format.Name {
	switch path.Ext(strings.TrimSuffix(n.Source, ".gz")) {
	case ".log":
		return format.Zeek
	case ".json":
		return format.JSONL
	}
	return format.CSV
}

// readCapture reads all files of a network in their order. Their heads must be equal.
func readCapture(t *testing.T, n *Network, data string) *capture {
	t.Helper()
	c := &capture{}
	files, err := n.Files(data)
	require.NoError(t, err)
	for i, file := range files {
		head, records := splitLines(readPacked(t, file), formatOf(n))
		if i == 0 {
			c.head = head
		}
		require.Equal(t, fieldsOf(c.head), fieldsOf(head), file)
		c.records = append(c.records, records...)
	}
	return c
}

// readPacked reads a file, whatever its compression.
func readPacked(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	r, _, err := format.Decompress(f)
	require.NoError(t, err)
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	return body
}

// splitLines parts the records of a file from the lines that are none.
func splitLines(body []byte, f format.Name) (head, records []string) {
	first := true
	for line := range bytes.Lines(body) {
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case f == format.Zeek && strings.HasPrefix(text, "#"):
			if len(records) == 0 {
				head = append(head, text)
			}
		case f == format.CSV && first:
			head = []string{text}
		case text != "":
			records = append(records, text)
		}
		first = false
	}
	return head, records
}

// fieldsOf returns the line of a head that names the fields.
func fieldsOf(head []string) string {
	for _, line := range head {
		if strings.HasPrefix(line, "#fields") {
			return line
		}
	}
	return strings.Join(head, "")
}

// write writes the records into a new file, compressed as its name says.
func (c *capture) write(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	f, err := os.Create(file)
	require.NoError(t, err)
	w, err := format.Compress(f, format.CompressionOf(name))
	require.NoError(t, err)
	for _, lines := range [][]string{c.head, c.records} {
		for _, l := range lines {
			_, err := io.WriteString(w, l+"\n")
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return file
}
