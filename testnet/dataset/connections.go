package dataset

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strconv"
	"time"
)

// Connections describes a file of connection records: CSV with a header, in order of time but for Disorder, about 100
// bytes a record. Equal values give equal files.
type Connections struct {
	Seed uint64
	// Bytes is the size at least; the file ends with the record that reaches it.
	Bytes int64
	// Sources is how many addresses connections come from, few of them often and many rarely; 1 to 1<<24.
	Sources int
	// PerSecond is how many records there are to a second of event time; 1 to 1e6.
	PerSecond int
	// Disorder is how far a record may lie behind an earlier one, in microseconds; not negative.
	Disorder int64
}

// Scanner is the one source that connects to ever new ports: every ScannerEvery-th record is its. All others use at
// most ten.
const (
	Scanner      = "203.0.113.7"
	ScannerEvery = 1000
)

// connectionsStart is the time of the first record, in seconds since the epoch: the beginning of a minute.
const connectionsStart = 1_772_323_200

// Written is what a file holds.
type Written struct {
	Rows, Bytes int64
	// Scans counts the scanner's records by the 60 s window in which they lie: its start in seconds since the epoch.
	Scans map[int64]int64
}

// Write writes the file.
func (c Connections) Write(w io.Writer) (Written, error) {
	out := bufio.NewWriterSize(w, 1<<20)
	g := &connectionRows{Connections: c, rng: rand.New(rand.NewPCG(c.Seed, 1))}
	sum := Written{Scans: make(map[int64]int64)}
	row := []byte("ts,uid,src,sport,dst,dport,proto,duration,bytes\n")
	for {
		sum.Bytes += int64(len(row))
		if _, err := out.Write(row); err != nil {
			return sum, err
		}
		if sum.Bytes >= c.Bytes {
			return sum, out.Flush()
		}
		row = g.row(row[:0], &sum)
	}
}

// connectionRows makes one record after the other.
type connectionRows struct {
	Connections
	rng    *rand.Rand
	second int64 // that text is of
	text   []byte
}

func (g *connectionRows) row(b []byte, sum *Written) []byte {
	n := sum.Rows
	sum.Rows++
	micros := n * 1_000_000 / int64(g.PerSecond)
	if g.Disorder > 0 {
		micros += g.rng.Int64N(g.Disorder)
	}
	at := connectionsStart*1_000_000 + micros
	b = g.appendTime(b, at)
	random := g.rng.Uint64()
	b = append(b, ",C"...)
	b = strconv.AppendUint(b, random|1<<63, 36)
	b = append(b, ',')
	dport := g.port(random)
	if n%ScannerEvery == 0 {
		b = append(b, Scanner...)
		dport = 1024 + n/ScannerEvery%60_000
		sum.Scans[at/60_000_000*60]++
	} else {
		b = g.appendSource(b)
	}
	b = appendNumber(b, int64(random>>16&0x7fff)+32768)
	b = append(b, ",198.51."...)
	b = strconv.AppendUint(b, random>>32&0x1f, 10)
	b = append(b, '.')
	b = strconv.AppendUint(b, random>>40&0xff, 10)
	b = appendNumber(b, dport)
	b = append(b, ",tcp,0."...)
	b = strconv.AppendUint(b, random>>20&0xffff+100_000, 10)
	b = appendNumber(b, int64(random>>44&0xffff))
	return append(b, '\n')
}

func appendNumber(b []byte, n int64) []byte { return strconv.AppendInt(append(b, ','), n, 10) }

// appendTime writes an instant in microseconds as RFC 3339. Its second changes rarely.
func (g *connectionRows) appendTime(b []byte, micros int64) []byte {
	if s := micros / 1_000_000; s != g.second || g.text == nil {
		g.second, g.text = s, time.Unix(s, 0).UTC().AppendFormat(g.text[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, g.text...)
	digits := len(b)
	b = strconv.AppendInt(b, micros%1_000_000+1_000_000, 10)
	b = append(b[:digits], b[digits+1:]...) // without the leading 1, that kept the zeros
	return append(b, 'Z')
}

// appendSource writes an address: the cube of an even choice makes few of them frequent.
func (g *connectionRows) appendSource(b []byte) []byte {
	x := g.rng.Float64()
	n := uint64(float64(g.Sources) * x * x * x)
	b = append(b, "10."...)
	b = strconv.AppendUint(b, n>>16, 10)
	b = append(b, '.')
	b = strconv.AppendUint(b, n>>8&0xff, 10)
	b = append(b, '.')
	return strconv.AppendUint(b, n&0xff, 10)
}

// port returns one of ten ports.
func (g *connectionRows) port(random uint64) int64 {
	return [...]int64{443, 80, 53, 22, 25, 123, 8080, 993, 3306, 445}[random%10]
}
