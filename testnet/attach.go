package testnet

import (
	"context"
	"sync"

	"fednode/node/trust"
)

// Attached is a network that another process owns, with connections of our own to its nodes.
type Attached struct {
	control *Control
	first   View // as it was when we came

	mu      sync.Mutex
	clients map[string]*client // by the URL of the API, which a node that starts again may change
}

// Attach connects to the nodes of a network.
func (c *Control) Attach(ctx context.Context) (*Attached, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	if len(v.Nodes) == 0 {
		return nil, errorf(ErrNone, "the testnet in %s has no nodes yet", c.Dir)
	}
	return &Attached{control: c, first: v, clients: make(map[string]*client)}, nil
}

// Dir is the network's directory, Mode its mode.
func (a *Attached) Dir() string { return a.control.Dir }

// Mode is ModeProcess or ModeNetns.
func (a *Attached) Mode() string { return a.first.Mode }

// Query is the name of the deployed query.
func (a *Attached) Query() string { return a.first.Query }

// Outputs returns the names of the query's outputs.
func (a *Attached) Outputs() []string { return a.first.Outputs }

// Apply has a fault done.
func (a *Attached) Apply(ctx context.Context, f Fault) (Did, error) { return a.control.Apply(ctx, f) }

// View asks the owner and all nodes. It has no nodes if the owner does not answer.
func (a *Attached) View(ctx context.Context) View {
	v, err := a.control.View(ctx)
	if err != nil {
		return View{Dir: a.control.Dir}
	}
	var asked sync.WaitGroup
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.State != StateRunning {
			continue
		}
		asked.Go(func() {
			if c, err := a.client(n); err == nil {
				if s, err := c.status(ctx); err == nil {
					n.Status = s
				}
			}
		})
	}
	asked.Wait()
	return v
}

// client returns the connection to a node's API.
func (a *Attached) client(n *NodeView) (*client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.clients[n.API]; c != nil {
		return c, nil
	}
	token, err := trust.Dir{Path: n.Dir}.LoadToken()
	if err != nil {
		return nil, err
	}
	c := newClient(n.API, token)
	a.clients[n.API] = c
	return c, nil
}

// Follow calls each for every event of an output of the query, as Net.Follow does.
func (a *Attached) Follow(ctx context.Context, output, from string, each func(Event) error) error {
	v, err := a.control.View(ctx)
	if err != nil {
		return err
	}
	if len(v.Nodes) == 0 {
		return errorf(ErrNone, "the testnet in %s has no nodes", a.control.Dir)
	}
	home := &v.Nodes[0]
	c, err := a.client(home)
	if err != nil {
		return err
	}
	return c.tail(ctx, home.Org+"/"+v.Query+"/"+output, from, "latest", each)
}

// Close ends our connections. The network goes on.
func (a *Attached) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.clients {
		c.close()
	}
	return nil
}
