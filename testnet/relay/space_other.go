//go:build !linux

package relay

import (
	"errors"
	"net/netip"
)

// Space is a network namespace, which only Linux has.
type Space struct{ Device Device }

// NewSpace fails here.
func NewSpace(netip.Prefix) (*Space, error) {
	return nil, errors.New("relay: only Linux has network namespaces")
}

// Do fails here.
func (*Space) Do(func() error) error { return errors.New("relay: only Linux has network namespaces") }

// Close does nothing here.
func (*Space) Close() {}
