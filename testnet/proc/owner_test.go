package proc

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/testnet"
)

// TestProcessOwnerKilled: daemons end with the process that owns them, even if it is killed.
func TestProcessOwnerKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "net")
	owner := exec.Command(command(), "testnet", "up", "--dir", dir)
	require.NoError(t, owner.Start())
	pids := ownedPIDs(t, dir)
	require.Len(t, pids, 3)
	require.NoError(t, owner.Process.Kill())
	require.Error(t, owner.Wait(), "it was killed")
	eventually(t, "all daemons are gone", func() bool { return alive(pids) == 0 })
	_, err := testnet.Find(dir)
	require.ErrorIs(t, err, testnet.ErrNone, "the lock is free again")
}

// TestProcessOwnerEnds: Ctrl-C at the owner ends everything in order.
func TestProcessOwnerEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "net")
	owner := exec.Command(command(), "testnet", "up", "--dir", dir)
	var said bytes.Buffer
	owner.Stderr = &said
	require.NoError(t, owner.Start())
	pids := ownedPIDs(t, dir)
	require.NoError(t, owner.Process.Signal(os.Interrupt))
	require.NoError(t, owner.Wait(), "%s", &said)
	require.Zero(t, alive(pids))
	require.Contains(t, said.String(), "What happened")
}

// TestProcessDetached: a detached network answers status, takes faults, and ends at down; a second one in its directory is
// refused.
func TestProcessDetached(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "net")
	run := func(code int, args ...string) string {
		t.Helper()
		out, err := exec.Command(command(), args...).CombinedOutput()
		if code == 0 {
			require.NoError(t, err, "%s", out)
		} else {
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, code, exit.ExitCode(), "%s", out)
		}
		return string(out)
	}
	run(0, "testnet", "up", "--dir", dir, "--detach")
	pids := ownedPIDs(t, dir)
	t.Cleanup(func() { exec.Command(command(), "testnet", "down", "--dir", dir).Run() })
	require.Contains(t, run(2, "testnet", "up", "--dir", dir), "runs in "+dir+" already")
	run(0, "testnet", "fault", "kill", "south", "--dir", dir)
	require.Equal(t, testnet.StateKilled, view(t, run(0, "testnet", "status", "--dir", dir, "--json")).Nodes[1].State)
	run(0, "testnet", "fault", "restart", "south", "--dir", dir)
	var v testnet.View
	eventually(t, "south has met the others again", func() bool {
		// A process that is not asked for a while on a busy machine is doubted for a moment.
		text, err := exec.Command(command(), "testnet", "status", "--dir", dir, "--json").Output()
		v = testnet.View{}
		return err == nil && json.Unmarshal(text, &v) == nil && v.Nodes[1].Answers && v.Nodes[1].Peers == 2
	})
	require.Equal(t, testnet.StateRunning, v.Nodes[1].State)
	require.NotEmpty(t, run(0, "testnet", "logs", "south", "--dir", dir))
	require.Contains(t, run(0, "testnet", "fault", "partition", "south", "--dir", dir), "To undo it: fednode testnet fault heal south")
	cut := awaitFault(t, run, dir, func(v *testnet.View) bool {
		return len(v.Faults) == 1 && v.Nodes[0].Peers == 1 && v.Nodes[1].Peers == 0
	})
	require.Equal(t, "partition south", cut.Faults[0].Fault)
	run(0, "testnet", "fault", "heal", "--dir", dir)
	awaitFault(t, run, dir, met)
	require.Contains(t, run(2, "testnet", "fault", "kill", "west", "--dir", dir), "there is no node west")
	run(0, "testnet", "down", "--dir", dir)
	require.Zero(t, alive(append(pids, v.Nodes[1].PID)))
	require.Contains(t, run(2, "testnet", "status", "--dir", dir), "no testnet runs")
}

// awaitFault asks for the status of a network until it is as it should be.
func awaitFault(t *testing.T, run func(code int, args ...string) string, dir string, ok func(v *testnet.View) bool) (v testnet.View) {
	t.Helper()
	eventually(t, "the network is as the fault says", func() bool {
		// A View that came as JSON has no status of its own.
		v = view(t, run(0, "testnet", "status", "--dir", dir, "--json"))
		for i := range v.Nodes {
			if v.Nodes[i].Answers {
				v.Nodes[i].Status = new(api.Status)
			}
		}
		return ok(&v)
	})
	return v
}

func view(t *testing.T, text string) testnet.View {
	t.Helper()
	var v testnet.View
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

// ownedPIDs waits until the network in a directory runs its query, and returns the daemons' process ids.
func ownedPIDs(t *testing.T, dir string) (pids []int) {
	t.Helper()
	eventually(t, "the network is up", func() bool {
		c, err := testnet.Find(dir)
		if err != nil {
			return false
		}
		v, err := c.View(t.Context())
		if err != nil || len(v.Nodes) == 0 || v.Nodes[0].Received == 0 {
			return false
		}
		pids = nil
		for _, n := range v.Nodes {
			pids = append(pids, n.PID)
		}
		return true
	})
	return pids
}

// alive counts processes that exist.
func alive(pids []int) (n int) {
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			n++
		}
	}
	return n
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, patient, 10*time.Millisecond, what)
}
