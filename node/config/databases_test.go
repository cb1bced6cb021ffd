package config

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

func TestDatabases(t *testing.T) {
	c := mustRead(t, minimal+`
[connect.postgres.a]
connection = "postgres://u@h:5433/d?sslmode=disable"
password_file = "a.password"
[connect.postgres.b]
connection = "host=/run/postgresql dbname=d user=u"
password_env = "B"
`)
	require.Equal(t, map[string]connect.Database{
		"a": {Connection: "postgres://u@h:5433/d?sslmode=disable", PasswordFile: filepath.Join(c.Dir, "a.password")},
		"b": {Connection: "host=/run/postgresql dbname=d user=u", PasswordEnv: "B"},
	}, c.Databases)
	require.NotNil(t, mustRead(t, minimal).Databases, "a node knows that it has none")
}

// A password is refused wherever it stands, and no message repeats it.
func TestDatabasesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`connection = "postgres://u:secret@h/d"`:                               "the connection holds a password; take it out, and set password_file or password_env",
		`connection = "postgres://h/d?password=secret"`:                        "the connection holds a password",
		`connection = "host=h PASSWORD = secret"`:                              "the connection holds a password",
		`connection = "host=h sslpassword=secret"`:                             "the connection holds a password",
		`connection = "postgres://h/d?sslpassword=secret"`:                     "the connection holds a password",
		`connection = "postgres://h/d?pass%77ord=secret"`:                      "the connection holds a password",
		`connection = "postgres://u:secret#@h/d"`:                              "the connection holds a password",
		`connection = "postgres://u:sec/secret@h/d"`:                           "the connection holds a password",
		`connection = "postgres://u:secret%zz@h/d"`:                            "the connection holds a password",
		`connection = "host=h sslmode=secret"`:                                 "the connection cannot be read",
		`connection = "postgres://u@h/d?port=x"`:                               "the connection cannot be read",
		`conection = "host=h"`:                                                 "unknown key `conection`; did you mean `connection`?",
		"connection = \"host=h\"\npassword_file = \"f\"\npassword_env = \"E\"": "the password is in password_file already; keep one of the two",
	} {
		_, p := read(minimal + "[connect.postgres.a]\n" + text + "\n")
		require.ErrorContains(t, p.Err(), want)
		if want == "the connection holds a password" {
			require.NotContains(t, p.Err().Error(), "secret")
		}
	}
	_, p := read(minimal + "[connect.mysql.a]\n[connect.postgres]\nb = 1\n")
	require.ErrorContains(t, p.Err(), "unknown key `mysql`")
	require.ErrorContains(t, p.Err(), "connect.postgres.b: expected a table, got an integer; write [connect.postgres.NAME]")
}
