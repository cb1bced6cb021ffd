package topview

import (
	"fmt"
	"time"
)

// header is the line about the node and one for each alarm.
func (f *Frame) header(p *painter) []string {
	lines := []string{f.nodeLine(p)}
	for _, a := range f.alarms() {
		lines = append(lines, p.flow(f.Width, a))
	}
	return append(lines, "")
}

func (f *Frame) nodeLine(p *painter) string {
	if f.Current == nil {
		return p.flow(f.Width, cell{"fednode top", strong}, cell{"no answer yet", warn})
	}
	n, s := &f.Current.Status.Node, &f.Current.Status.Storage
	state := cell{"ready", good}
	if !n.Ready {
		state = cell{"starting", warn}
	}
	if f.Outage != nil {
		state = cell{"away", bad}
	}
	cpu := unknown
	if share, ok := f.past().cpuShare(n.CPUSeconds); ok {
		cpu = fmt.Sprintf("%.0f%%", share)
	}
	memory := cell{"mem " + bytesText(n.MemoryBytes), plain}
	if n.MemoryLimitBytes > 0 {
		memory.text += "/" + bytesText(n.MemoryLimitBytes)
		if n.MemoryBytes > n.MemoryLimitBytes {
			memory.tone = warn
		}
	}
	disk := cell{"disk " + bytesText(s.FreeBytes) + " free", plain}
	if s.Full {
		disk.tone = bad
	}
	return p.flow(f.Width, cell{tidy(n.Org + "/" + n.Name), strong}, state, cell{"up " + spanText(f.Current.At.Sub(n.Started).Truncate(time.Second)), plain},
		cell{"cpu " + cpu, plain}, memory, disk)
}

// alarms are what somebody has to see to, whatever else the screen shows.
func (f *Frame) alarms() []cell {
	var out []cell
	if o := f.Outage; o != nil {
		text := fmt.Sprintf("no answer since %s (%s): %s", o.Since.Format("15:04:05"), spanText(f.Now.Sub(o.Since).Truncate(time.Second)), tidy(o.Cause))
		out = append(out, cell{text, bad})
	}
	if f.Current == nil {
		return out
	}
	if s := &f.Current.Status.Storage; s.Full {
		text := fmt.Sprintf("STORAGE FULL: nothing new is taken in; %s free, %s are kept in reserve", bytesText(s.FreeBytes), bytesText(s.ReserveBytes))
		out = append(out, cell{text, bad})
	}
	return append(out, f.certificateAlarm()...)
}

// certificateAlarm warns before the node's certificate ends.
func (f *Frame) certificateAlarm() []cell {
	const early = 14 * 24 * time.Hour
	at := f.Current.Status.Node.CertificateExpires
	if at == nil {
		return nil
	}
	switch left := at.Sub(f.Current.At); {
	case left <= 0:
		return []cell{{"the node's certificate has ended: sign a new one with fednode node sign", bad}}
	case left < early:
		return []cell{{"the node's certificate ends in " + spanText(left) + ": sign a new one with fednode node sign", warn}}
	}
	return nil
}
