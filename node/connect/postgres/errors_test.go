package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

// What passes by itself is tried again as any failure is; the rest says what to do.
func TestExplain(t *testing.T) {
	for code, want := range map[string]struct {
		lasting bool
		text    string
	}{
		"08006": {false, "FATAL: m (SQLSTATE 08006)"},
		"25006": {false, "the database takes no writes now"},
		"25P03": {false, "a transaction waited longer than `timeout`"},
		"40P01": {false, "m (SQLSTATE 40P01)"},
		"40001": {false, "m (SQLSTATE 40001)"},
		"53100": {false, "the database lacks disk, memory or connections"},
		"53300": {false, "the database lacks disk, memory or connections"},
		"55P03": {false, "a table is locked by somebody else longer than `timeout`"},
		"57014": {false, "took longer than `timeout`"},
		"57P03": {false, "the database stops, starts"},
		"99999": {false, "m (SQLSTATE 99999)"},
		"22003": {true, "the table cannot hold a value"},
		"23505": {true, "a constraint of the table refuses a row"},
		"28P01": {true, "the database refuses this user"},
		"3D000": {true, "there is no such database"},
		"3F000": {true, "there is no such schema"},
		"42501": {true, "grant this user what is missing"},
		"42P01": {true, "m (SQLSTATE 42P01)"},
		"54000": {true, "a row is larger than PostgreSQL or an index of the table allows"},
		"09000": {true, "a trigger of the table fails"},
		"27000": {true, "a trigger of the table changes what is written"},
		"P0001": {true, "a trigger of the table refuses a row"},
	} {
		err := explain(fmt.Errorf("in a transaction: %w", &pgconn.PgError{Severity: "FATAL", Code: code, Message: "m", Detail: "Key (k)=(secret)"}))
		require.ErrorContains(t, err, want.text, code)
		require.NotContains(t, err.Error(), "secret")
		_, lasting := errors.AsType[*connect.LastingError](err)
		require.Equal(t, want.lasting, lasting, code)
	}
	require.NoError(t, explain(nil))
	require.ErrorContains(t, explain(fmt.Errorf("read: %w", context.DeadlineExceeded)), "the database does not answer within `timeout`")
	require.Equal(t, "ERROR: a b (SQLSTATE 99999)", explain(&pgconn.PgError{Severity: "ERROR", Code: "99999", Message: "a\n\tb"}).Error())
	require.NotContains(t, explain(fmt.Errorf("to a:\nto b: %w", context.DeadlineExceeded)).Error(), "\n")
	require.Equal(t, "failed: a: b", explain(errors.New("failed:\n\ta: b\n")).Error())
	final := &connect.LastingError{Final: true, Err: errors.New("replaced")}
	require.Equal(t, error(final), explain(final))
}
