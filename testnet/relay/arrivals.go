package relay

import (
	"errors"
	"net"
	"time"
)

// Ends are the two addresses of a connection: where it comes from and where it was made to.
type Ends struct{ From, To *net.TCPAddr }

// Bounds of what comes from outside of the network: anybody on the machine can connect to a port of the relay.
const (
	// mostStrangers connections that no node made are relayed at a time; more are closed as soon as that is known of them.
	mostStrangers = 128
	// mostArrivals connections wait until it is known who made them; more wait in the kernel.
	mostArrivals = 256
)

// Pauses after a connection could not be taken, most likely because the process has no descriptor left.
const (
	firstPause = 5 * time.Millisecond
	mostPause  = time.Second
)

// arrival is a connection of which it is not known who made it.
type arrival struct {
	at   *port
	conn *net.TCPConn
}

func (a *arrival) ends() Ends {
	return Ends{From: a.conn.RemoteAddr().(*net.TCPAddr), To: a.conn.LocalAddr().(*net.TCPAddr)}
}

// accept ends when the listener is closed.
func (s *Streams) accept(p *port) {
	pause := firstPause
	for {
		c, err := p.listener.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			if !s.rest(pause) {
				return
			}
			pause = min(2*pause, mostPause)
			continue
		}
		pause = firstPause
		if !s.arrive(arrival{p, c}) {
			return
		}
	}
}

// rest waits; false if the relay ends before.
func (s *Streams) rest(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.done:
		return false
	}
}

// arrive queues a connection; false if the relay has ended, and the connection with it.
func (s *Streams) arrive(a arrival) bool {
	if !s.keep(a.conn) {
		a.conn.Close()
		return false
	}
	select {
	case s.arrivals <- a:
		return true
	case <-s.done:
		s.drop(a.conn)
		return false
	}
}

// receive asks of all that wait at once who made them, and has them served.
func (s *Streams) receive() {
	for {
		select {
		case a := <-s.arrivals:
			s.receiveAll(s.waiting([]arrival{a}))
		case <-s.done:
			return
		}
	}
}

// waiting adds what waits by now.
func (s *Streams) waiting(all []arrival) []arrival {
	for {
		select {
		case a := <-s.arrivals:
			all = append(all, a)
		default:
			return all
		}
	}
}

func (s *Streams) receiveAll(all []arrival) {
	ends := make([]Ends, len(all))
	for i := range all {
		ends[i] = all[i].ends()
	}
	for i, from := range s.whose(ends) {
		a := all[i]
		if from != Outside {
			s.tasks.Go(func() { s.serve(a.at, a.conn, from) })
			continue
		}
		select {
		case s.strangers <- struct{}{}:
			s.tasks.Go(func() {
				defer func() { <-s.strangers }()
				s.serve(a.at, a.conn, from)
			})
		default:
			s.drop(a.conn)
		}
	}
}
