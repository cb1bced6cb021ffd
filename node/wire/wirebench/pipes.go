package wirebench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"fednode/node/wire"
	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"

	"golang.org/x/sync/errgroup"
)

// sendAll encodes the batches as one subscription.
func sendAll(w io.Writer, batches []*tuple.Batch, codec stream.Codec, each func() error) error {
	enc, err := wire.NewWriter(w, batches[0].Schema, wire.WriterOptions{Codec: codec})
	if err != nil {
		return err
	}
	id := uint64(1)
	for _, b := range batches {
		n := uint64(b.Rows())
		if err := enc.WriteFrame(&tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id + n - 1, Batch: b}); err != nil {
			return err
		}
		id += n
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}

// receiver reads frames and checks that the rows arrive.
type receiver struct {
	r    *wire.Reader
	rows int
}

func newReceiver(r io.Reader) (*receiver, error) {
	dec, err := wire.NewReader(r, wire.ReaderOptions{})
	return &receiver{r: dec}, err
}

// drain reads to the end of what is there.
func (rc *receiver) drain() error {
	for {
		f, err := rc.r.ReadFrame()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rc.rows += f.Batch.Rows()
	}
}

func (rc *receiver) check(batches []*tuple.Batch) error {
	want := 0
	for _, b := range batches {
		want += b.Rows()
	}
	if rc.rows != want {
		return fmt.Errorf("%d rows of %d arrived", rc.rows, want)
	}
	return nil
}

// hold is a pipe within one goroutine: what was written last is read next.
type hold struct {
	buf   bytes.Buffer
	total int64
}

func (h *hold) Write(b []byte) (int, error) {
	h.total += int64(len(b))
	return h.buf.Write(b)
}

func inProcess(codec stream.Codec) func(context.Context, []*tuple.Batch) (int64, error) {
	return func(_ context.Context, batches []*tuple.Batch) (int64, error) {
		var pipe hold
		rd, err := wire.NewReader(&pipe.buf, wire.ReaderOptions{})
		if err != nil {
			return 0, err
		}
		rc := &receiver{r: rd}
		err = sendAll(&pipe, batches, codec, func() error {
			for pipe.buf.Len() > 0 {
				f, err := rc.r.ReadFrame()
				if err != nil {
					return err
				}
				rc.rows += f.Batch.Rows()
			}
			return nil
		})
		return pipe.total, errors.Join(err, rc.check(batches))
	}
}

func overTCP(ctx context.Context, batches []*tuple.Batch) (int64, error) {
	var total int64
	err := withConnection(ctx, func(w io.Writer) error {
		counted := &counter{w: w}
		err := sendAll(counted, batches, stream.None, func() error { return nil })
		total = counted.n
		return err
	}, func(r io.Reader) error {
		rc, err := newReceiver(r)
		if err != nil {
			return err
		}
		return errors.Join(rc.drain(), rc.check(batches))
	})
	return total, err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return c.w.Write(b)
}

// withConnection runs both ends of a loopback connection, the sender closing it when done.
func withConnection(ctx context.Context, send func(io.Writer) error, receive func(io.Reader) error) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	var g errgroup.Group
	g.Go(func() error {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		defer conn.Close()
		return receive(conn)
	})
	g.Go(func() error {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			return errors.Join(err, l.Close())
		}
		return errors.Join(send(conn), conn.Close())
	})
	return g.Wait()
}
