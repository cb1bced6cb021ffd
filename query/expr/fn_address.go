package expr

import (
	"math"
	"math/bits"
	"net/netip"

	"fednode/query/expr/fmath"
	"fednode/query/tuple"
)

var addressFunctions = []function{
	{name: "ip", group: "address", params: params("s string"), result: tuple.IP, row: castIP,
		doc: "The address that a text spells; null if it spells none."},
	{name: "cidr", group: "address", params: params("s string"), result: tuple.CIDR, row: castCIDR,
		doc: "The prefix that a text such as 10.0.0.0/8 spells; null if it spells none."},
	{name: "host", group: "address", params: params("a ip"), result: tuple.String, row: castToText,
		doc: "The address as text."},
	{name: "ip_in", group: "address", params: params("a ip", "prefix cidr"), variadic: true, address: true, result: tuple.Bool, row: ipIn,
		doc: "Whether the address lies in one of the prefixes, as in ip_in(src, '10.0.0.0/8')."},
	{name: "ip_prefix", group: "address", params: params("a ip", "v4 int64", "v6 int64"), address: true, result: tuple.CIDR, row: ipPrefix,
		doc: "The prefix of the address that is v4 bits long (0 to 32) for IPv4, v6 bits (0 to 128) for IPv6; null for other lengths."},
	{name: "ip_family", group: "address", params: params("a ip"), address: true, result: tuple.Int64, row: ipFamily,
		doc: "4 or 6."},
	{name: "is_private", group: "address", params: params("a ip"), address: true, result: tuple.Bool,
		row: func(c *call, i int) bool { return c.setBool(i, tuple.IPAddr(c.bin(0, i)).IsPrivate()) },
		doc: "Whether the address is one for private use: 10/8, 172.16/12, 192.168/16, fc00::/7."},
	{name: "is_loopback", group: "address", params: params("a ip"), address: true, result: tuple.Bool,
		row: func(c *call, i int) bool { return c.setBool(i, tuple.IPAddr(c.bin(0, i)).IsLoopback()) },
		doc: "Whether the address is a loopback address."},
	{name: "is_multicast", group: "address", params: params("a ip"), address: true, result: tuple.Bool,
		row: func(c *call, i int) bool { return c.setBool(i, tuple.IPAddr(c.bin(0, i)).IsMulticast()) },
		doc: "Whether the address is a multicast address."},
	{name: "network", group: "address", params: params("p cidr"), address: true, result: tuple.IP,
		row: func(c *call, i int) bool { return c.setBin(i, c.bin(0, i)[:16]) },
		doc: "The first address of the prefix."},
	{name: "prefix_length", group: "address", params: params("p cidr"), address: true, result: tuple.Int64,
		row: func(c *call, i int) bool { return c.setInt(i, int64(tuple.CIDRPrefix(c.bin(0, i)).Bits())) },
		doc: "The length of the prefix in bits, at most 32 for IPv4."},
	{name: "geo_distance", group: "geo", params: params("lat1 float64", "lon1 float64", "lat2 float64", "lon2 float64"), result: tuple.Float64, row: geoDistance,
		doc: "The metres between two places in degrees, on a sphere of radius 6,371,008.8 m; null where a latitude is beyond ±90 or a longitude beyond ±360."},
}

func castIP(c *call, i int) bool {
	a, err := netip.ParseAddr(string(c.bin(0, i)))
	if err != nil {
		return false
	}
	b := tuple.IPBytes(a.WithZone(""))
	return c.setBin(i, b[:])
}

func castCIDR(c *call, i int) bool {
	v, ok := readCIDR(string(c.bin(0, i)))
	return ok && c.setBin(i, v.s)
}

func ipIn(c *call, i int) bool {
	a := c.bin(0, i)
	for j := 1; j < len(c.args); j++ {
		if p := c.bin(j, i); commonBits(a, p[:16]) >= int(p[16]) {
			return c.setBool(i, true)
		}
	}
	return c.setBool(i, false)
}

// commonBits returns how many leading bits a and b, of 16 bytes, share.
func commonBits(a, b []byte) int {
	for n, x := range a {
		if d := x ^ b[n]; d != 0 {
			return 8*n + bits.LeadingZeros8(d)
		}
	}
	return 128
}

func ipPrefix(c *call, i int) bool {
	a := tuple.IPAddr(c.bin(0, i))
	n := c.int(1, i)
	if !a.Is4() {
		n = c.int(2, i)
	}
	if n < 0 || n > int64(a.BitLen()) {
		return false
	}
	b := tuple.CIDRBytes(netip.PrefixFrom(a, int(n)))
	return c.setBin(i, b[:])
}

func ipFamily(c *call, i int) bool {
	if tuple.IPAddr(c.bin(0, i)).Is4() {
		return c.setInt(i, 4)
	}
	return c.setInt(i, 6)
}

// earthRadius is the mean radius of the earth in metres (IUGG).
const earthRadius = 6371008.8

func geoDistance(c *call, i int) bool {
	lat1, lon1, lat2, lon2 := c.float(0, i), c.float(1, i), c.float(2, i), c.float(3, i)
	if !(math.Abs(lat1) <= 90 && math.Abs(lat2) <= 90 && math.Abs(lon1) <= 360 && math.Abs(lon2) <= 360) {
		return false
	}
	return c.setFloat(i, haversine(lat1, lon1, lat2, lon2))
}

// haversine is the great-circle distance; its form is exact for small distances too.
func haversine(lat1, lon1, lat2, lon2 float64) float64 {
	const degree = math.Pi / 180
	s := fmath.Sin(float64((lat2 - lat1) * (degree / 2)))
	t := fmath.Sin(float64((lon2 - lon1) * (degree / 2)))
	across := float64(fmath.Cos(float64(lat1*degree)) * fmath.Cos(float64(lat2*degree)))
	h := float64(s*s) + float64(across*float64(t*t))
	if h >= 1 {
		return float64(math.Pi * earthRadius)
	}
	return float64(2 * earthRadius * fmath.Atan(math.Sqrt(h/(1-h))))
}
