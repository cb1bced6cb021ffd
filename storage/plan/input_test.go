package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every mistake of a system is reported, with its level, what it is and what was expected.
func TestCheckReportsAll(t *testing.T) {
	s := System{Levels: []Level{{Rate: Rate(math.NaN()), Cost: 30, Restart: -1}, {Rate: Rate(math.Inf(1)), Cost: 10, Restart: 5}}, PathLength: -1, HopDelay: -2}
	err := s.Check()
	for _, says := range []string{
		"failure rate of level 1: NaN a day: expected 0 or more, and finite",
		"restart of level 1: -1 s: expected 0 or more",
		"failure rate of level 2: +Inf a day: expected 0 or more, and finite",
		"cost of level 2: 10 s: expected levels in order, what costs least and survives least first: no less than the 30 s of the level before",
		"path length: -1: expected 1 to 1,000,000 operators",
		"hop delay: -2 s: expected 0 or more, and finite",
	} {
		require.ErrorContains(t, err, says)
	}
	require.ErrorContains(t, (&System{}).Check(), "levels: 0: expected 1 to 16 levels")
	_, err = NewModel(System{Levels: make([]Level, 17)})
	require.ErrorContains(t, err, "levels: 17")
}

// Rates in an unusual order are planned for as they are, and pointed out.
func TestRatesInAnyOrder(t *testing.T) {
	s := published(1, 0)
	s.Levels[0].Rate, s.Levels[1].Rate = s.Levels[1].Rate, s.Levels[0].Rate
	require.Len(t, s.Unusual(), 1)
	require.Contains(t, s.Unusual()[0], "level 2 fails more often than level 1")
	p, err := Optimise(s, Fixed{})
	require.NoError(t, err)
	require.Greater(t, p.Probabilities[1], 0.9)
	usual := published(1, 0)
	require.Empty(t, usual.Unusual())
}

// Where nothing fails there is nothing to plan; a level that does not fail is not drawn.
func TestRatesOfZero(t *testing.T) {
	s := published(1, 0)
	s.Levels[1].Rate = 0
	p, err := Optimise(s, Fixed{})
	require.NoError(t, err)
	require.Equal(t, []float64{1, 0}, p.Probabilities)
	s.Levels[0].Rate = 0
	for _, f := range []func() error{
		func() error { _, err := Optimise(s, Fixed{}); return err },
		func() error { _, err := Approximate(s); return err },
		func() error { _, err := SingleLevel(s); return err },
	} {
		require.ErrorIs(t, f(), ErrNothingFails)
	}
	s = published(1, 0)
	s.Levels[0].Rate = 0
	p, err = Optimise(s, Fixed{})
	require.NoError(t, err)
	require.Equal(t, []float64{0, 1}, p.Probabilities)
	// Levels that cost nothing need no plan.
	_, err = Optimise(System{Levels: []Level{{Rate: PerDay(10)}}}, Fixed{})
	require.ErrorIs(t, err, ErrNothingFails)
}

// What takes longer than the time between two failures cannot be kept up with.
func TestKeepUp(t *testing.T) {
	for _, c := range []struct {
		change func(*System)
		says   string
	}{
		{func(s *System) { s.Levels[1].Cost = 3600 }, "no plan can keep up: a checkpoint of level 2 takes 3600 s, and failures that interrupt it come every 3540.98 s on average"},
		{func(s *System) { s.Levels[1].Restart = 3600 }, "a restart from level 2 takes 3600 s"},
		{func(s *System) { s.PathLength, s.HopDelay = 5001, 1 }, "the way of a checkpoint along the path takes 5000 s"},
		{func(s *System) { s.Levels[0].Cost = 0; s.Levels[0].Restart = 4000 }, "a restart from level 1 takes 4000 s"},
	} {
		s := published(1, 0)
		c.change(&s)
		_, err := Optimise(s, Fixed{})
		var k *KeepUpError
		require.ErrorAs(t, err, &k)
		require.ErrorContains(t, err, c.says)
		_, err = Approximate(s)
		require.ErrorAs(t, err, &k)
	}
	// A level above that never fails, however dear, keeps nobody up; and just below the limit there is a plan.
	s := published(1, 0)
	s.Levels[1].Rate, s.Levels[1].Cost = 0, 1e6
	_, err := Optimise(s, Fixed{})
	require.NoError(t, err)
	s = published(1, 0)
	s.Levels[1].Cost = 3500
	p, err := Optimise(s, Fixed{})
	require.NoError(t, err)
	require.Less(t, p.Utilization, 0.65)
}

// Schedules that are given are checked as strictly.
func TestCheckSchedules(t *testing.T) {
	s := published(1, 0)
	for _, c := range []struct {
		t    Seconds
		p    []float64
		says []string
	}{
		{300, []float64{0.9, 0.2}, []string{"probabilities: 1.1: expected a sum of 1"}},
		{300, []float64{1}, []string{"probabilities: 1: expected one for each of the 2 levels"}},
		{300, []float64{-0.5, 1.5}, []string{"probabilities of level 1: -0.5: expected 0 to 1", "probabilities of level 2: 1.5: expected 0 to 1"}},
		{300, []float64{math.NaN(), 1}, []string{"probabilities of level 1: NaN"}},
		{300, []float64{1, 0}, []string{"probabilities of level 2: 0: expected something for this level or one above"}},
		{20, []float64{0.9, 0.1}, []string{"interval: 20 s: expected no less than a checkpoint takes: one of level 2 takes 30 s"}},
		{20, nil, []string{"one of level 2 takes 30 s"}},
		{0.5, []float64{0.9, 0.2}, []string{"interval: 0.5 s: expected 1 s or more", "a sum of 1"}},
		{Seconds(math.Inf(1)), nil, []string{"interval: +Inf s"}},
		{Seconds(math.NaN()), nil, []string{"interval: NaN s"}},
	} {
		_, err := Optimise(s, Fixed{Interval: c.t, Probabilities: c.p})
		require.Error(t, err)
		for _, says := range c.says {
			require.ErrorContains(t, err, says)
		}
	}
	s.Levels[0].Cost = 0
	_, err := Optimise(s, Fixed{Probabilities: []float64{0.5, 0.5}})
	require.ErrorContains(t, err, "probabilities of level 1: 0.5: expected 0: the level costs nothing")
	require.ErrorAs(t, err, new(*ValueError))
}
