package descriptor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
	"fednode/query/spec"
)

// A host plans from the descriptor what the owner planned from the file with its connectors.
func TestPlanIsTheOwners(t *testing.T) {
	p := &spec.Problems{}
	owners := query.NewPlan(original(t, queryFile), query.Placement{Home: atHome}, p)
	require.NoError(t, p.Err())
	hosts, err := sample(t).Plan()
	require.NoError(t, err)

	require.Equal(t, owners.Depth, hosts.Depth)
	require.Len(t, owners.Fragments, 3)
	require.Len(t, hosts.Fragments, 3)
	for i, want := range owners.Fragments {
		got := hosts.Fragments[i]
		require.Equal(t, want.Name, got.Name)
		require.Equal(t, want.Place, got.Place)
		require.Equal(t, want.Replicas, got.Replicas)
		require.Equal(t, want.Bucket, got.Bucket)
		require.Equal(t, inputs(want), inputs(got), want.Name)
		require.Equal(t, unions(want), unions(got), want.Name)
		require.Equal(t, operators(want), operators(got), want.Name)
		require.Equal(t, outputs(want), outputs(got), want.Name)
	}
	for i, want := range owners.Outputs {
		require.Equal(t, want.Stream, hosts.Outputs[i].Stream)
		require.Equal(t, want.Place, hosts.Outputs[i].Place)
		require.Equal(t, want.Output.HasSink(), hosts.Outputs[i].Output.HasSink(), want.Stream)
		require.Nil(t, hosts.Outputs[i].Output.Keys.Lookup("path"), "nothing of the sink but that there is one")
	}
}

type edge struct {
	Stream, Schema, Fragment string
	Place                    query.Place
}

func inputs(f *query.FragmentPlan) (out []edge) {
	for _, in := range f.Inputs {
		out = append(out, edge{in.Stream, in.Schema.String(), in.Fragment, in.Place})
	}
	return out
}

func outputs(f *query.FragmentPlan) (out []edge) {
	for _, o := range f.Outputs {
		out = append(out, edge{Stream: o.Stream, Schema: o.Schema.String(), Fragment: o.Edge})
	}
	return out
}

type union struct {
	Operator    string
	Inputs      []int
	Depth, Path int
	Unordered   bool
}

func unions(f *query.FragmentPlan) (out []union) {
	for _, u := range f.Unions {
		out = append(out, union{u.Operator, u.Inputs, u.Depth, u.Path, u.Unordered})
	}
	return out
}

type operator struct {
	Name        string
	Inputs      []string
	Fingerprint uint64
}

func operators(f *query.FragmentPlan) (out []operator) {
	for _, o := range f.Operators {
		out = append(out, operator{o.Name, o.Inputs, o.Fingerprint})
	}
	return out
}
