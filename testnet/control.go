package testnet

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The owner of a network takes orders from other processes of the same user over loopback: a process that someone else
// started could not be its child, and would outlive it.

// order is what another process asks for.
type order struct {
	Fault []string `json:"fault"` // its words
}

// reply says what became of it.
type reply struct {
	Did   Did    `json:"did"`
	Error string `json:"error"`
	// Wrong: the order was, not the network.
	Wrong bool `json:"wrong"`
}

const maxOrder = 4 << 10

func (n *Net) serveControl() error {
	token, err := newToken()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	n.state = state{PID: os.Getpid(), Control: "http://" + l.Addr().String(), Token: token}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /view", n.guarded(func(w http.ResponseWriter, r *http.Request) { answer(w, n.View(r.Context())) }))
	mux.HandleFunc("POST /fault", n.guarded(n.takeOrder))
	n.control = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	n.served.Go(func() {
		if err := n.control.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintf(os.Stderr, "testnet: orders are no longer taken: %v\n", err)
		}
	})
	return n.saveState()
}

// guarded asks for the token, which only this user can read.
func (n *Net) guarded(h http.HandlerFunc) http.HandlerFunc {
	want := []byte("Bearer " + n.state.Token)
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h(w, r)
	}
}

func (n *Net) takeOrder(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(&o); err != nil {
		answer(w, reply{Error: err.Error(), Wrong: true})
		return
	}
	f, err := ParseFault(o.Fault)
	var out reply
	if err == nil {
		// It is done whole even if who asked for it has gone.
		out.Did, err = n.Apply(context.WithoutCancel(r.Context()), f)
	}
	out.Wrong = errors.Is(err, ErrSpec) || errors.Is(err, ErrNone)
	if err != nil {
		out.Error = err.Error()
	}
	answer(w, out)
}

// answer ignores a caller that has gone.
func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// Control gives orders to a network that another process owns.
type Control struct {
	// Dir is the network's directory.
	Dir   string
	state state
}

// Find finds the network that runs in a directory; "" finds the only one that was given none.
func Find(dir string) (*Control, error) {
	dir, err := findDir(dir)
	if err != nil {
		return nil, err
	}
	c := &Control{Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errorf(ErrNone, "the testnet in %s is not up yet", dir)
	}
	if err == nil {
		err = json.Unmarshal(text, &c.state)
	}
	if err != nil {
		return nil, fmt.Errorf("testnet: %s: %w", filepath.Join(dir, stateFile), err)
	}
	return c, nil
}

// View asks how the network stands.
func (c *Control) View(ctx context.Context) (View, error) {
	var v View
	return v, c.call(ctx, http.MethodGet, "/view", nil, &v)
}

// Apply has a fault done.
func (c *Control) Apply(ctx context.Context, f Fault) (Did, error) {
	body, err := json.Marshal(order{Fault: strings.Fields(f.String())})
	if err != nil {
		return Did{}, err
	}
	var r reply
	if err := c.call(ctx, http.MethodPost, "/fault", body, &r); err != nil {
		return Did{}, err
	}
	switch {
	case r.Error == "":
		return r.Did, nil
	case r.Wrong:
		return Did{}, &Error{Kind: ErrSpec, Msg: r.Error}
	}
	return Did{}, errors.New(r.Error)
}

func (c *Control) call(ctx context.Context, method, path string, body []byte, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, c.state.Control+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+c.state.Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("testnet: the owner of %s answered %s", c.Dir, resp.Status)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out)
}

// Down ends the network and waits until it is gone.
func (c *Control) Down(ctx context.Context) error {
	if err := syscall.Kill(c.state.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("testnet: end process %d: %w", c.state.PID, err)
	}
	return until(ctx, func() (bool, error) { return !locked(c.Dir), nil })
}

// LogFile is a node's log. The node need not run.
func (c *Control) LogFile(ctx context.Context, node string) (string, error) {
	v, err := c.View(ctx)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, n := range v.Nodes {
		if n.ID == node || n.Org+"/"+n.Node == node {
			return filepath.Join(n.Dir, "log", "fednode.log"), nil
		}
		ids = append(ids, n.ID)
	}
	return "", errorf(ErrNone, "there is no node %s; the nodes are %s", node, strings.Join(ids, ", "))
}
