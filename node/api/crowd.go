package api

import (
	linked "container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// crowd is a listener that bounds how many connections are open: each takes a descriptor, of which the node needs some for
// its logs, and anybody on the machine, or in the network, can connect. When all places are taken the connection gives way
// that has served no caller with the token for longest, so that one who comes and asks is answered while silent ones pile
// up; if all of them serve one, who comes is turned away.
type crowd struct {
	net.Listener
	most int

	mu   sync.Mutex
	open linked.List // of *visitor; the first has served nobody for longest
}

// visitor is a connection of a crowd.
type visitor struct {
	net.Conn
	of *crowd

	// Guarded by of.mu.
	place   *linked.Element // nil once it is closed
	serving int             // requests that showed the token
}

// Accept returns the next connection that has a place.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		v := &visitor{Conn: conn, of: c}
		leaves, ok := c.enter(v)
		if leaves != nil {
			leaves.Conn.Close() // whether that succeeds makes no difference: it has no place any more
		}
		if ok {
			return v, nil
		}
		conn.Close()
	}
}

// enter gives a connection a place, and says who has to leave for it; false if there is none.
func (c *crowd) enter(v *visitor) (leaves *visitor, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open.Len() >= c.most {
		if leaves = c.quiet(); leaves == nil {
			return nil, false
		}
		c.leave(leaves)
	}
	v.place = c.open.PushBack(v)
	return leaves, true
}

// quiet returns the connection that has served nobody for longest; nil if all serve somebody. mu is held.
func (c *crowd) quiet() *visitor {
	for e := c.open.Front(); e != nil; e = e.Next() {
		if v := e.Value.(*visitor); v.serving == 0 {
			return v
		}
	}
	return nil
}

// leave takes a connection's place. mu is held.
func (c *crowd) leave(v *visitor) {
	if v.place != nil {
		c.open.Remove(v.place)
		v.place = nil
	}
}

// Close closes the connection and frees its place.
func (v *visitor) Close() error {
	v.of.mu.Lock()
	v.of.leave(v)
	v.of.mu.Unlock()
	return v.Conn.Close()
}

// serve notes that a caller who showed the token is served; done ends that.
func (v *visitor) serve() (done func()) {
	v.note(1)
	return func() { v.note(-1) }
}

func (v *visitor) note(n int) {
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	v.serving += n
	if v.place != nil {
		v.of.open.MoveToBack(v.place)
	}
}

// visitorKey is the key of a connection in the context of its requests.
type visitorKey struct{}

// withVisitor is the server's ConnContext.
func withVisitor(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	return context.WithValue(ctx, visitorKey{}, c)
}

// visitorOf returns the connection that a request came by; nil if it came by none.
func visitorOf(r *http.Request) *visitor {
	v, _ := r.Context().Value(visitorKey{}).(*visitor)
	return v
}
