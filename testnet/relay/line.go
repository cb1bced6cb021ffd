package relay

import (
	"slices"
	"sync/atomic"
	"time"
)

// packet waits until it is due.
type packet struct {
	data []byte
	due  time.Time
}

// line delivers packets of one way in their order, each not before it is due.
type line struct {
	to      Device
	packets chan packet
	waiting atomic.Int64 // packets that were put and not delivered
	done    <-chan struct{}
}

func (l *line) busy() bool { return l.waiting.Load() > 0 }

// put queues a copy of a packet; it is lost if too many wait.
func (l *line) put(p []byte, due time.Time) {
	l.waiting.Add(1)
	select {
	case l.packets <- packet{slices.Clone(p), due}:
	default:
		l.waiting.Add(-1)
	}
}

// run ends with the switch.
func (l *line) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case p := <-l.packets:
			if d := time.Until(p.due); d > 0 {
				timer.Reset(d)
				select {
				case <-timer.C:
				case <-l.done:
					return
				}
			}
			deliver(l.to, p.data)
			l.waiting.Add(-1)
		case <-l.done:
			return
		}
	}
}
