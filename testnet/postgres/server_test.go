package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// binEnv names the variable that says where PostgreSQL's programs are.
const binEnv = "FEDNODE_TEST_POSTGRES"

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "fednode-pg-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return 1, err
	}
	if the, err = startServer(dir); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, the.stop()) }()
	return m.Run(), nil
}

// the is the server of all tests; each has a database of its own.
var the *server

// server is a running PostgreSQL.
type server struct {
	socket   string // directory
	owner    string
	programs string
	data     string
	attr     *syscall.SysProcAttr
	run      *exec.Cmd
	log      string
}

// bin returns the directory of the newest PostgreSQL that is installed.
func bin() (string, error) {
	if dir := os.Getenv(binEnv); dir != "" {
		return dir, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", fmt.Errorf("PostgreSQL is not installed; these tests are those of make test-postgres: %w", err)
	}
	return filepath.Dir(path), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // the rest has no number, and counts for nothing
	return n
}

// as is who runs the server: it refuses root.
func as() (name string, attr *syscall.SysProcAttr, err error) {
	if os.Getuid() != 0 {
		u, err := user.Current()
		if err != nil {
			return "", nil, err
		}
		return u.Username, nil, nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return "", nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return "", nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return u.Username, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, err
}

func startServer(dir string) (*server, error) {
	programs, err := bin()
	if err != nil {
		return nil, err
	}
	name, attr, err := as()
	if err != nil {
		return nil, err
	}
	s := &server{socket: filepath.Join(dir, "socket"), owner: name, programs: programs, data: filepath.Join(dir, "data"), attr: attr, log: filepath.Join(dir, "log")}
	for _, d := range []string{s.data, s.socket} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
		if attr != nil {
			if err := os.Chown(d, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
				return nil, err
			}
		}
	}
	setup := exec.Command(filepath.Join(programs, "initdb"), "-D", s.data, "-U", name, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
	setup.SysProcAttr, setup.Dir = attr, s.socket
	if out, err := setup.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, s.start()
}

// start starts the server and waits until it answers. What is tested is that a process may die at any moment, not the machine:
// nothing needs to reach the disk.
func (s *server) start() error {
	s.run = exec.Command(filepath.Join(s.programs, "postgres"), "-D", s.data, "-k", s.socket, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40")
	s.run.SysProcAttr, s.run.Dir = s.attr, s.socket
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	s.run.Stdout, s.run.Stderr = out, out
	if err := s.run.Start(); err != nil {
		return err
	}
	return s.await()
}

// await waits until the server answers.
func (s *server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.connection("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			text, _ := os.ReadFile(s.log) // only for the message
			return fmt.Errorf("the server does not answer: %w\n%s", err, text)
		}
	}
}

// stop ends the server as a crash does.
func (s *server) stop() error {
	if err := s.run.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	s.run.Wait() // it ends with a code of its own after SIGQUIT
	return nil
}

func (s *server) connection(database string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s sslmode=disable", s.socket, s.owner, database)
}

// patient is how long a test waits for what must come: a busy machine may be slow, and only a failing test waits so long.
const patient = 3 * time.Minute

// database creates a database for a test and connects to it.
func database(t *testing.T) (name string, conn *pgx.Conn) {
	t.Helper()
	name = "t" + strconv.FormatInt(time.Now().UnixNano(), 36)
	admin, err := pgx.Connect(t.Context(), the.connection("postgres"))
	require.NoError(t, err)
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	require.NoError(t, admin.Close(t.Context()))
	conn, err = pgx.Connect(t.Context(), the.connection(name))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return name, conn
}
