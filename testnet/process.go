package testnet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// spawner starts processes that die with this one. The death signal of a child comes when the thread that forked it
// ends, not the process: so one thread forks them all and stays.
type spawner struct {
	commands chan *exec.Cmd // closed by close
	results  chan error
	once     sync.Once
	starting sync.Mutex
}

func newSpawner() *spawner {
	s := &spawner{commands: make(chan *exec.Cmd), results: make(chan error)}
	go s.run()
	return s
}

// run ends when commands is closed. The thread is not unlocked: it ends with the goroutine, after all children.
func (s *spawner) run() {
	runtime.LockOSThread()
	for c := range s.commands {
		s.results <- c.Start()
	}
}

func (s *spawner) start(c *exec.Cmd) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.commands <- c
	return <-s.results
}

// starter starts a command that dies with this process.
type starter interface {
	start(c *exec.Cmd) error
}

func (s *spawner) close() { s.once.Do(func() { close(s.commands) }) }

// process is one run of a daemon.
type process struct {
	pid    int
	exited chan struct{} // closed once it has ended and was reaped
	err    error         // how it ended; read after exited
	cmd    *exec.Cmd
}

// startProcess runs a command with its output appended to a file, and with env beyond our own environment.
func startProcess(s starter, logFile string, env []string, command string, args ...string) (*process, error) {
	out, err := os.OpenFile(logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("testnet: %w", err)
	}
	defer out.Close()
	c := exec.Command(command, args...)
	c.Stdout, c.Stderr, c.Env = out, out, append(os.Environ(), env...)
	c.SysProcAttr = childAttr()
	if err := s.start(c); err != nil {
		return nil, fmt.Errorf("testnet: %w", err)
	}
	p := &process{pid: c.Process.Pid, exited: make(chan struct{}), cmd: c}
	go func() {
		defer close(p.exited)
		p.err = c.Wait()
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() error {
	err := p.signal(syscall.SIGKILL)
	<-p.exited
	return err
}

// stop asks the process to end, and kills it if it has not after a while; ok reports that it ended by itself.
func (p *process) stop(within time.Duration) (ok bool, err error) {
	// One that stands still could not end.
	if err := errors.Join(p.signal(syscall.SIGTERM), p.signal(syscall.SIGCONT)); err != nil {
		return false, err
	}
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.exited:
		return true, nil
	case <-t.C:
		return false, p.kill()
	}
}

func (p *process) signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// how says how the process ended, for people.
func (p *process) how() string {
	<-p.exited
	if p.err == nil {
		return "ended"
	}
	return p.err.Error()
}
