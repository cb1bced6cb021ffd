package topology

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/spec"
)

// Every shape, length and number of replicas becomes a plan whose streams all have producers and readers.
func TestBuild(t *testing.T) {
	for _, shape := range []Shape{Chain, Diamond, Join, Lanes, Queries, Uneven} {
		for _, work := range []Work{Pass, Windows} {
			for fragments := 1; fragments <= MaxFragments; fragments++ {
				s := Default()
				s.Shape, s.Work, s.Fragments = shape, work, fragments
				top, err := Build(s)
				if s.Check() != nil {
					require.Error(t, err)
					continue
				}
				require.NoError(t, err, "%s %s %d", shape, work, fragments)
				require.Len(t, top.Fragments, fragments)
				for _, st := range top.Streams {
					require.NotEmpty(t, st.Producers, st.Name)
					require.NotEmpty(t, st.Readers, "%s\n%s", st.Name, top.Queries)
				}
				if shape == Chain || shape == Queries || shape == Uneven {
					require.Equal(t, fragments, top.Depth)
				}
			}
		}
	}
}

// A spec reads back as it was printed.
func TestPrinted(t *testing.T) {
	s := Default()
	s.Shape, s.Fragments, s.Slack, s.Bandwidth, s.Failure = Diamond, 6, 250_000, 1<<20, "process"
	var p spec.Problems
	root := spec.ParseTOML("spec.toml", s.AppendTOML(nil), nil, &p)
	require.NotNil(t, root)
	got := Default()
	got.Read(spec.Read(root, &p))
	require.NoError(t, p.Err())
	require.Equal(t, s, got)
}

// A spec that makes no sense is refused.
func TestRefused(t *testing.T) {
	for _, change := range []func(*Spec){
		func(s *Spec) { s.Fragments = 0 }, func(s *Spec) { s.Replicas = 4 }, func(s *Spec) { s.Sources = 9 },
		func(s *Spec) { s.Shape, s.Fragments = Diamond, 3 }, func(s *Spec) { s.Shape, s.Sources = Join, 1 }, func(s *Spec) { s.Shape, s.Fragments = Lanes, 1 },
		func(s *Spec) { s.Shape, s.Sources = Queries, 1 },
		func(s *Spec) { s.MaxDelay = s.Bucket - 1 },
	} {
		s := Default()
		change(&s)
		_, err := Build(s)
		require.Error(t, err)
	}
}
