package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay stands between a sink and the server, and cuts a connection before or right after one of the sink's messages: what
// the server sees of a client that is killed there.
type relay struct {
	dir    string
	listen net.Listener
	all    sync.WaitGroup

	mu    sync.Mutex
	after int // messages that are still let through; below 0 all
	send  bool
	ends  []func() // close the connections there have been
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	dir, err := os.MkdirTemp("", "relay-") // a socket's path is short
	require.NoError(t, err)
	r := &relay{dir: dir, after: -1}
	r.listen, err = net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	require.NoError(t, err)
	r.all.Go(r.accept)
	t.Cleanup(func() {
		require.NoError(t, r.listen.Close())
		r.closeAll()
		r.all.Wait()
		require.NoError(t, os.RemoveAll(dir))
	})
	return r
}

func (r *relay) connection(database string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s sslmode=disable", r.dir, the.owner, database)
}

// cut cuts the connection after so many messages more; the last one still reaches the server if send is set.
func (r *relay) cut(after int, send bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.after, r.send = after, send
}

func (r *relay) accept() {
	for {
		client, err := r.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", filepath.Join(the.socket, ".s.PGSQL.5432"))
		if err != nil {
			client.Close()
			continue
		}
		end := sync.OnceFunc(func() { client.Close(); server.Close() })
		r.mu.Lock()
		r.ends = append(r.ends, end)
		r.mu.Unlock()
		r.all.Go(func() { defer end(); io.Copy(client, server) })
		r.all.Go(func() { defer end(); r.messages(client, server) })
	}
}

func (r *relay) closeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, end := range r.ends {
		end()
	}
}

var errCut = errors.New("cut")

// messages hands the client's messages on, one at a time. The first has no kind.
func (r *relay) messages(client io.Reader, server io.Writer) error {
	head := make([]byte, 5)
	for first := true; ; first = false {
		at := 0
		if first {
			at = 1
		}
		if _, err := io.ReadFull(client, head[at:]); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		send, last := r.next()
		if send {
			if _, err := server.Write(append(head[at:5:5], body...)); err != nil {
				return err
			}
		}
		if last {
			return errCut
		}
	}
}

// next says what becomes of a message, and whether the connection ends with it.
func (r *relay) next() (send, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.after < 0 {
		return true, false
	}
	r.after--
	if r.after >= 0 {
		return true, false
	}
	return r.send, true
}
