package generate

import "fednode/query/tuple"

// stations is the number of sensors; each sends in turn.
const stations = 100

// sensors makes readings: a daily rise and fall, a level for each station, noise, and now and then what real ones send:
// no value, or the value at which the sensor is saturated. All arithmetic is on integers, so every machine agrees.
type sensors struct{}

func (*sensors) row(i int64, h uint64, t tuple.Time, v *values) {
	station := i % stations
	const day = tuple.Day / tuple.Second
	second := int64(t) / tuple.Second % day
	swing := second // 0 at midnight, half a day's seconds at noon
	if swing > day/2 {
		swing = day - swing
	}
	base := 500 + station*13 + swing/50 // hundredths of µg/m³
	v.ints[1] = station
	v.ints[2] = base + int64(h%400)
	v.ints[3] = base/2 + int64(h>>16%200)
	v.floats[4] = float64(-50+station%30+swing/200+int64(h>>32%20)) / 10
	v.null[3] = h>>40%1000 == 0
	if h>>48%2000 == 0 {
		v.ints[2] = 199_990
	}
}

// bids makes the bids of an auction house: half of them on the auction opened last, every hundredth row opens one.
type bids struct{}

func (*bids) row(i int64, h uint64, _ tuple.Time, v *values) {
	hot := i/100 + 1000
	v.ints[1] = hot
	if h&1 == 0 {
		v.ints[1] = max(1000, hot-int64(h>>8%100))
	}
	v.ints[2] = 1000 + int64(h>>16%(1000+uint64(i)/50))
	v.ints[3] = 100 + int64(h>>32%1_000_000)
	v.ints[4] = int64(h >> 60 & 3)
}
