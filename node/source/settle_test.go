package source

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

// asking is a script whose reader, whenever it hears that its rows are durable, looks where the stream stands.
type asking struct {
	*script
	head func() uint64
	saw  []uint64
}

type askingReader struct {
	connect.Reader
	s *asking
}

func (s *asking) Open(ctx context.Context, pos []byte) (connect.Reader, error) {
	r, err := s.script.Open(ctx, pos)
	return askingReader{r, s}, err
}

func (r askingReader) Durable() { r.s.saw = append(r.s.saw, r.s.head()) }

// TestDurableRowsAreThere shows that an origin which hears that its rows are durable finds them in the stream: who has
// pushed a row sees it counted.
func TestDurableRowsAreThere(t *testing.T) {
	const blocks = 200
	src := &asking{script: &script{}}
	for i := range int64(blocks) {
		src.blocks = append(src.blocks, rows(2*i, 2*i+1))
	}
	p, err := Open(sideConfig(t.TempDir(), src))
	require.NoError(t, err)
	src.head = func() uint64 { return p.Head().ID }
	stop := running(t, p)
	collect(t, p, beginning, 0)
	stop()
	require.GreaterOrEqual(t, len(src.saw), blocks)
	for i := range blocks {
		require.EqualValues(t, 2*(i+1), src.saw[i])
	}
}
