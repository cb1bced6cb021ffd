package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
)

// A replica that has diverged is read from again by those that do not read from another one, and by nobody else.
func TestAccept(t *testing.T) {
	var told []string
	reading := func(stream, producer string, diverged ...string) reader {
		return reader{stream: stream, producer: producer, diverged: diverged, accept: func(p string) { told = append(told, stream+" "+p) }}
	}
	waits, calm := reading("north/q.a", "", "north/2"), reading("north/q.b", "north/2")
	require.NoError(t, accept([]reader{calm, waits, reading("north/q.c", "", "north/2", "north/3")}, "north/q", "north/2"))
	require.Equal(t, []string{"north/q.a north/2", "north/q.c north/2"}, told)

	told = nil
	err := accept([]reader{waits, reading("north/q.c", "north/1", "north/2")}, "north/q", "north/2")
	require.ErrorIs(t, err, api.ErrUnavailable)
	require.ErrorContains(t, err, "north/q.c is read from north/1, which differs from north/2; if north/1 is wrong, stop it first")
	err = accept([]reader{waits, calm}, "north/q", "north/7")
	require.ErrorIs(t, err, api.ErrInvalid)
	require.ErrorContains(t, err, `holds "north/7" for DIVERGED`)
	require.Empty(t, told, "who is refused changes nothing")
}
