package relay

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// deviceName is the only device beside loopback that a node sees.
const deviceName = "net0"

// Space is a network namespace of its own, with a device whose other end is the relay's. It has no name: it is gone when
// the process that made it and those that were started in it have ended, however they did.
type Space struct {
	// Device is the relay's end.
	Device Device

	tasks chan task // closed by Close
	once  sync.Once
}

// task is something to do inside of the space.
type task struct {
	do     func() error
	result chan<- error
}

// NewSpace makes a namespace in which the node has an IPv4 address of a network. It needs the right to make namespaces,
// which root has.
func NewSpace(at netip.Prefix) (*Space, error) {
	s := &Space{tasks: make(chan task)}
	made := make(chan error, 1)
	go onOwnThread(func() { s.run(at, made) })
	if err := <-made; err != nil {
		return nil, err
	}
	return s, nil
}

// onOwnThread runs a function on a thread that ends with it. The first thread of the process is not taken: it cannot end,
// and stands for the whole process in many places.
func onOwnThread(do func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		do()
		return // still locked: the runtime ends the thread
	}
	begun := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(begun)
		do()
	}()
	<-begun
	runtime.UnlockOSThread()
}

// run does what is to be done inside of the namespace until tasks is closed.
func (s *Space) run(at netip.Prefix, made chan<- error) {
	err := s.enter(at)
	made <- err
	if err != nil {
		return
	}
	for t := range s.tasks {
		t.result <- t.do()
	}
}

// Do runs a function on the thread inside of the namespace. What it starts there stays there, and dies with the thread if
// it asks for that.
func (s *Space) Do(do func() error) error {
	result := make(chan error, 1)
	s.tasks <- task{do, result}
	return <-result
}

// Close lets go of the namespace. The device is closed by whoever uses it.
func (s *Space) Close() { s.once.Do(func() { close(s.tasks) }) }

func (s *Space) enter(at netip.Prefix) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("relay: make a network namespace: %w", err)
	}
	d, err := openTUN()
	if err != nil {
		return err
	}
	if err := configure(at); err != nil {
		return errors.Join(err, d.Close())
	}
	s.Device = d
	return nil
}

// openTUN makes the device. Its file never blocks, so that closing it ends a read.
func openTUN() (*os.File, error) {
	const node = "/dev/net/tun"
	fd, err := unix.Open(node, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("relay: %s: %w", node, err)
	}
	r, err := unix.NewIfreq(deviceName)
	if err == nil {
		r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, r)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("relay: make a TUN device: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), node), nil
}

// configure gives the device its address and sets it and loopback up.
func configure(at netip.Prefix) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	defer unix.Close(fd)
	mask := uint32(0xFFFFFFFF) << (32 - at.Bits())
	addr := at.Addr().As4()
	for _, step := range []struct {
		what, device string
		request      uint
		set          func(r *unix.Ifreq) error
	}{
		{"address", deviceName, unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(addr[:]) }},
		{"netmask", deviceName, unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error {
			return r.SetInet4Addr([]byte{byte(mask >> 24), byte(mask >> 16), byte(mask >> 8), byte(mask)})
		}},
		{"mtu", deviceName, unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(mtu); return nil }},
		{"up", deviceName, unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }},
		{"up", "lo", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }},
	} {
		r, err := unix.NewIfreq(step.device)
		if err == nil {
			err = step.set(r)
		}
		if err == nil {
			err = unix.IoctlIfreq(fd, step.request, r)
		}
		if err != nil {
			return fmt.Errorf("relay: set the %s of %s: %w", step.what, step.device, err)
		}
	}
	return nil
}
