package node

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"fednode/node/api"
)

// TestRejectedRowsAreMeasured: what a stream sets aside is counted by reason, as monitoring reads it.
func TestRejectedRowsAreMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.jsonl")
	large := `{"kind":"` + strings.Repeat("x", 2000) + `","n":1}`
	require.NoError(t, os.WriteFile(file, []byte(large+"\n{\"kind\":\"a\",\"n\":1}\n"+large+"\n{\"kind\":\"a\",\"n\":\"many\"}\n"), 0o600))
	f := newFed(t, map[string]string{"solo": `
[streams.in]
connector = "file"
path = "` + file + `"
time = "arrival"
max_row = "1KiB"
columns = { kind = "string", n = "int64" }
`})
	solo := f.nodes["solo"]
	solo.start()
	f.eventually(func() bool {
		s := solo.source("solo/in")
		return s.Rows == 1 && s.ByReason["too_large"] == 2 && s.ByReason["wrong_type"] == 1
	}, "the file is read")

	srv, err := api.New(api.Config{Listen: "127.0.0.1:0", Token: "token", Org: "solo"}, solo.node.Backend(nil, func() []string { return nil }), zap.NewNop())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-done)
	}()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: patient}).Get(srv.Addr() + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	for _, line := range []string{
		`fednode_stream_rows_rejected_total{reason="too_large",stream="solo/in"} 2`,
		`fednode_stream_rows_rejected_total{reason="wrong_type",stream="solo/in"} 1`,
		`fednode_stream_rows_rejected_total{reason="syntax",stream="solo/in"} 0`,
		`fednode_stream_rows_total{stream="solo/in"} 1`,
	} {
		require.Contains(t, string(body), line+"\n")
	}
}
