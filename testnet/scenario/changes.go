package scenario

import (
	"fmt"
	"sync"

	"fednode/testnet"
)

// changes counts how often each reader of a query took another replica to read from. What it sees is a look at the
// testnet now and then, and readers change at most once a second.
type changes struct {
	mu    sync.Mutex
	from  map[string]string // producer by reader
	count map[string]int
}

// look takes down who reads from where, and tells of changes. Readers that are not connected, or do not answer, keep what
// they had.
func (c *changes) look(v *testnet.View, query string, tell func(text string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from == nil {
		c.from, c.count = make(map[string]string), make(map[string]int)
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Status == nil {
			continue
		}
		for _, q := range n.Status.Queries {
			if q.Name != query {
				continue
			}
			for _, f := range q.Fragments {
				for _, in := range f.Inputs {
					c.reads(fmt.Sprintf("%s/%s of %s", n.ID, f.Name, in.Stream), in.Producer, tell)
				}
			}
			for _, k := range q.Sinks {
				c.reads(fmt.Sprintf("%s of %s", n.ID, k.Output), k.Producer, tell)
			}
		}
	}
}

// reads takes in who a reader reads from; mu is held.
func (c *changes) reads(reader, producer string, tell func(text string)) {
	if producer == "" {
		return
	}
	if old, known := c.from[reader]; known && old != producer {
		c.count[reader]++
		tell(fmt.Sprintf("%s is read from %s instead of %s", reader, producer, old))
	}
	c.from[reader] = producer
}

// recount forgets the changes so far.
func (c *changes) recount() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.count)
}

// most returns the changes of the reader that changed most, and who it is.
func (c *changes) most() (n int, reader string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r, k := range c.count {
		if k > n || k == n && r < reader {
			n, reader = k, r
		}
	}
	return n, reader
}
