package testnet

import (
	"context"
	"slices"
	"strings"
)

// The faults that can be done to a node whose processes run on loopback.
const (
	FaultKill    = "kill"    // at once, as a crash
	FaultStop    = "stop"    // in order
	FaultRestart = "restart" // started again; one that runs is stopped first
)

// Faults lists the faults that are available, OtherFaults those that need a network of their own between the nodes.
func Faults() []string { return []string{FaultKill, FaultStop, FaultRestart} }

// OtherFaults lists faults that need a network of their own between the nodes.
func OtherFaults() []string {
	return []string{"partition", "oneway", "heal", "delay", "loss", "clock", "disk-full"}
}

// CheckFault reports whether a fault is available.
func CheckFault(fault string) error {
	switch {
	case slices.Contains(Faults(), fault):
		return nil
	case slices.Contains(OtherFaults(), fault):
		return errorf(ErrSpec, "the fault %s is not available in mode %s: processes on loopback share one network, clock and disk; available are %s", fault, ModeProcess, strings.Join(Faults(), ", "))
	}
	return errorf(ErrSpec, "there is no fault %s; available are %s", fault, strings.Join(Faults(), ", "))
}

// Fault does a fault to a node.
func (n *Net) Fault(ctx context.Context, fault, node string) error {
	switch fault {
	case FaultKill:
		return n.Kill(node)
	case FaultStop:
		return n.Stop(node)
	case FaultRestart:
		return n.Restart(ctx, node)
	}
	return CheckFault(fault)
}

// Kill ends a node's process at once.
func (n *Net) Kill(node string) error {
	n.faults.Lock()
	defer n.faults.Unlock()
	d, err := n.find(node)
	if err != nil {
		return err
	}
	return d.kill()
}

// Stop ends a node's process in order.
func (n *Net) Stop(node string) error {
	n.faults.Lock()
	defer n.faults.Unlock()
	d, err := n.find(node)
	if err != nil {
		return err
	}
	return d.stop()
}

// Restart starts a node again, after stopping it if it runs, and returns when it is ready and has met the others.
func (n *Net) Restart(ctx context.Context, node string) error {
	n.faults.Lock()
	defer n.faults.Unlock()
	d, err := n.find(node)
	if err != nil {
		return err
	}
	if d.running() {
		if err := d.stop(); err != nil {
			return err
		}
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	// Its port may have been taken meanwhile.
	if err := n.introduce(ctx, d); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	return n.waitPeers(ctx, d)
}
