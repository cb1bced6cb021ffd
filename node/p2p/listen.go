package p2p

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	ma "github.com/multiformats/go-multiaddr"
)

// listenTries is how often two free ports of the same number are looked for.
const listenTries = 16

// listen opens all addresses. If several ask for any port (0), they get the same number, so that "one port" is true
// then, too.
func (h *Host) listen() error {
	if h.cfg.Dial == DialOut {
		return nil
	}
	var err error
	for range listenTries {
		if err = h.listenOnce(); !errors.Is(err, syscall.EADDRINUSE) || !h.cfg.anyPort() {
			break
		}
	}
	return err
}

func (c Config) anyPort() bool {
	for _, a := range c.Listen {
		if _, port := splitPort(a); port == 0 {
			return true
		}
	}
	return false
}

func (h *Host) listenOnce() error {
	swarm, ok := h.net.Network().(listeners)
	if !ok {
		return errors.New("p2p: this libp2p network cannot listen")
	}
	shared := 0 // the number that a port 0 became
	for _, text := range h.cfg.Listen {
		format, port := splitPort(text)
		if port == 0 {
			port = shared
		}
		a, err := ma.NewMultiaddr(fmt.Sprintf(format, port))
		if err != nil {
			return fmt.Errorf("p2p: listen.p2p: %w", err)
		}
		before := swarm.ListenAddresses()
		if err := swarm.AddListenAddr(a); err != nil {
			swarm.ListenClose(swarm.ListenAddresses()...)
			return listenError(a, err)
		}
		if shared == 0 {
			shared = newPort(before, swarm.ListenAddresses())
		}
	}
	return nil
}

// listeners is what libp2p's swarm offers beyond network.Network; its own Listen loses the cause of a failure.
type listeners interface {
	AddListenAddr(ma.Multiaddr) error
	ListenClose(...ma.Multiaddr)
	ListenAddresses() []ma.Multiaddr
}

// newPort is the port of the address that is in after and not in before.
func newPort(before, after []ma.Multiaddr) int {
	for _, a := range after {
		if !slices.ContainsFunc(before, a.Equal) {
			_, port := splitPort(a.String())
			return max(port, 0)
		}
	}
	return 0
}

// splitPort takes the port out of /…/tcp/PORT… or /…/udp/PORT…, leaving a format for fmt. -1 if there is none.
func splitPort(address string) (format string, port int) {
	parts := strings.Split(address, "/")
	for i := 1; i < len(parts); i++ {
		if parts[i-1] != "tcp" && parts[i-1] != "udp" {
			continue
		}
		if n, err := strconv.ParseUint(parts[i], 10, 16); err == nil {
			parts[i] = "%d"
			return strings.Join(parts, "/"), int(n)
		}
	}
	return strings.ReplaceAll(address, "%", "%%"), -1
}

func listenError(a ma.Multiaddr, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("p2p: listen on %s: the port is in use; stop the other program or set listen.p2p to another port: %w", a, err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("p2p: listen on %s: not permitted; use a port from 1024 on: %w", a, err)
	}
	return fmt.Errorf("p2p: listen on %s: %w", a, err)
}
