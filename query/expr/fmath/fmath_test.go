package fmath

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every result has the bits that 60-digit arithmetic, rounded once, gives: on any processor.
func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/vectors.txt")
	require.NoError(t, err)
	defer f.Close()
	count := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		words := strings.Fields(s.Text())
		if words[0] == "#" {
			continue
		}
		var v []float64
		for _, w := range words[1:] {
			b, err := strconv.ParseUint(w, 16, 64)
			require.NoError(t, err)
			v = append(v, math.Float64frombits(b))
		}
		want := v[len(v)-1]
		got := call(words[0], v)
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s(%v) = %x, want %x", words[0], v[:len(v)-1], got, want)
		}
		count++
	}
	require.Greater(t, count, 1000)
}

func call(name string, v []float64) float64 {
	switch name {
	case "exp":
		return Exp(v[0])
	case "log":
		return Log(v[0])
	case "log2":
		return Log2(v[0])
	case "log10":
		return Log10(v[0])
	case "pow":
		return Pow(v[0], v[1])
	case "sin":
		return Sin(v[0])
	case "cos":
		return Cos(v[0])
	}
	return Atan(v[0])
}

// Special values are those of package math.
func TestSpecial(t *testing.T) {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1e300, -1e300, 1 << 53, 1<<53 + 2, 1<<62 + 1, math.MaxFloat64}
	same := func(name string, got, want float64, args ...float64) {
		if math.IsNaN(want) && math.IsNaN(got) || got == want && math.Signbit(got) == math.Signbit(want) {
			return
		}
		if d := math.Abs(got - want); d <= 1e-15*math.Abs(want) {
			return
		}
		t.Errorf("%s(%v) = %v, want %v", name, args, got, want)
	}
	for _, x := range special {
		same("exp", Exp(x), math.Exp(x), x)
		same("log", Log(x), math.Log(x), x)
		same("log2", Log2(x), math.Log2(x), x)
		same("log10", Log10(x), math.Log10(x), x)
		for _, y := range special {
			same("pow", Pow(x, y), math.Pow(x, y), x, y)
		}
	}
}

// The logarithm of the least float is right here, where assembly of package math has been wrong.
func TestLogOfLeast(t *testing.T) { require.Equal(t, -744.4400719213812, Log(5e-324)) }

func TestAngles(t *testing.T) {
	for i := -4000; i <= 4000; i++ {
		x := float64(i) / 300
		require.InDelta(t, math.Sin(x), Sin(x), 1e-15)
		require.InDelta(t, math.Cos(x), Cos(x), 1e-15)
		if i >= 0 {
			require.InDelta(t, math.Atan(x), Atan(x), 1e-15)
		}
	}
}

func BenchmarkExp(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		Exp(float64(i&1023) / 10)
	}
}

func BenchmarkPow(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		Pow(float64(i&1023)+1, 1.7)
	}
}
