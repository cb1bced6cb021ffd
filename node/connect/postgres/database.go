package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fednode/node/connect"
)

// connectTimeout is what opening a connection may take at most.
const connectTimeout = 10 * time.Second

var (
	passwordWord = regexp.MustCompile(`(?i)(^|\s)(ssl)?password\s*=`)
	urlPrefix    = regexp.MustCompile(`^postgres(ql)?://`)
)

// holdsPassword reports whether a connection, right or not, has a password in it. Of a URL the driver says so: it hides
// passwords in what it says about one, also where a character that should have been escaped makes its parts ambiguous.
func holdsPassword(text string) bool {
	if urlPrefix.MatchString(text) {
		return !strings.Contains(pgconn.NewParseConfigError(text, "", nil).Error(), "`"+text+"`")
	}
	return passwordWord.MatchString(text)
}

// CheckConnection says what is wrong with the connection of a database, and what to do; "" if nothing is.
func CheckConnection(text string) (msg, hint string) {
	if holdsPassword(text) {
		return "the connection holds a password", "take it out, and set password_file or password_env"
	}
	if _, err := pgx.ParseConfig(text); err != nil {
		return "the connection cannot be read: " + oneLine(err), "write a URL such as postgres://USER@HOST:5432/DATABASE?sslmode=verify-full, or words such as host=/run/postgresql dbname=DATABASE user=USER"
	}
	return "", ""
}

// password returns the password of a database, "" if none is named.
func password(d *connect.Database) (string, error) {
	switch {
	case d.PasswordFile != "":
		return passwordIn(d.PasswordFile)
	case d.PasswordEnv != "":
		v, ok := os.LookupEnv(d.PasswordEnv)
		if !ok {
			return "", fmt.Errorf("password_env: the variable %s is not set in the environment of the daemon", d.PasswordEnv)
		}
		return v, nil
	}
	return "", nil
}

// mostPassword bounds what is read of a password's file.
const mostPassword = 1 << 12

// passwordIn returns the first line of a file that only its owner may read, as those of keys.
func passwordIn(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("password_file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("password_file: %w", err)
	}
	if mode := st.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("password_file: %s can be read by others (mode %04o, expected 0600); chmod 600 it, and change the password if they may have read it", path, mode)
	}
	b, err := io.ReadAll(io.LimitReader(f, mostPassword))
	if err != nil {
		return "", fmt.Errorf("password_file: %w", err)
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	return string(bytes.TrimRight(first, "\r")), nil
}

// open connects to a database. A statement takes timeout at most. Waiting for somebody's lock ends a little earlier, so that the error
// says what was waited for. A transaction of a client that has vanished holds its locks for timeout and connectTimeout: a timeout of
// a second would otherwise end transactions that only wait for the next commit. The encoding of what is sent does not follow
// that of the database.
func open(ctx context.Context, d *connect.Database, name string, timeout time.Duration) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(d.Connection)
	if err != nil {
		return nil, errors.New(oneLine(err))
	}
	secret, err := password(d)
	if err != nil {
		return nil, &connect.LastingError{Err: err}
	}
	if secret != "" {
		cfg.Password = secret
	}
	cfg.ConnectTimeout = min(timeout, connectTimeout)
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	ms, lockMS, idleMS := fmt.Sprint(timeout.Milliseconds()), fmt.Sprint(timeout.Milliseconds()*3/4), fmt.Sprint((timeout + connectTimeout).Milliseconds())
	_, err = conn.Exec(ctx, `SELECT set_config('application_name', left($1, 63), false),
		set_config('statement_timeout', $2, false), set_config('lock_timeout', $3, false),
		set_config('idle_in_transaction_session_timeout', $4, false), set_config('timezone', 'UTC', false),
		CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END`, "fednode "+name, ms, lockMS, idleMS)
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
