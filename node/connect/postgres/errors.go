package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"fednode/node/connect"
)

// lasting is an error that somebody has to mend.
func lasting(format string, args ...any) error {
	return &connect.LastingError{Err: fmt.Errorf(format, args...)}
}

// advice says what to do about codes of PostgreSQL, the longest prefix first. Those under passing end by themselves or at
// the database; the others last.
var (
	passing = map[string]string{
		"08":    "", // the connection
		"25006": "the database takes no writes now: it is a standby, or read-only",
		"25P03": "a transaction waited longer than `timeout`",
		"40":    "", // deadlock, serialization
		"53":    "the database lacks disk, memory or connections",
		"55":    "a table is locked by somebody else longer than `timeout`",
		"57":    "the database stops, starts, or took longer than `timeout`",
		"58":    "the database cannot read or write its files",
		"XX":    "the database has a fault of its own",
	}
	lastingCodes = map[string]string{
		"09":    "a trigger of the table fails",
		"22":    "the table cannot hold a value",
		"23":    "a constraint of the table refuses a row; loosen it, or filter such rows in the query",
		"27":    "a trigger of the table changes what is written",
		"28":    "the database refuses this user; correct the connection or its password in node.toml, or pg_hba.conf at the database",
		"3D":    "there is no such database; create it, or correct the connection in node.toml",
		"3F":    "there is no such schema; create it, or correct `table`",
		"42501": "grant this user what is missing",
		"42":    "",
		"54":    "a row is larger than PostgreSQL or an index of the table allows (2,704 bytes for a key); take a shorter key, or shorten the text in the query",
		"P0":    "a trigger of the table refuses a row",
	}
)

func lookUp(in map[string]string, code string) (string, bool) {
	for n := len(code); n >= 2; n-- {
		if text, ok := in[code[:n]]; ok {
			return text, true
		}
	}
	return "", false
}

// explain adds to an error of the database what it means; values of rows are not in it.
func explain(err error) error {
	if _, ok := errors.AsType[*connect.LastingError](err); ok || err == nil {
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the database does not answer within `timeout`: %w", flat{err})
		}
		return flat{err}
	}
	if text, ok := lookUp(passing, pg.Code); ok {
		return hinted(pg, text)
	}
	text, known := lookUp(lastingCodes, pg.Code)
	if !known {
		return hinted(pg, "")
	}
	return &connect.LastingError{Err: hinted(pg, text)}
}

func hinted(pg *pgconn.PgError, text string) error {
	if text == "" {
		return flat{pg}
	}
	return fmt.Errorf("%s: %w", text, flat{pg})
}

// flat prints an error of several lines in one.
type flat struct{ error }

// Error prints it.
func (f flat) Error() string { return oneLine(f.error) }

// Unwrap returns it.
func (f flat) Unwrap() error { return f.error }
