package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// lastingText returns the text of an error that somebody has to mend.
func lastingText(t *testing.T, err error) string {
	t.Helper()
	lasting, ok := errors.AsType[*connect.LastingError](err)
	require.True(t, ok, "%v", err)
	require.False(t, lasting.Final)
	return err.Error()
}

// begin tries to begin a life of a sink that has written nothing.
func try(t *testing.T, d *declared) error {
	s := d.sink()
	_, err := s.Recover(t.Context(), s.(connect.ClaimingSink).Claim())
	require.NoError(t, s.Close())
	return err
}

// A table that does not fit is refused with all that is wrong and what mends it, before anything is written or created.
func TestUnfitTable(t *testing.T) {
	db, conn := database(t)
	d := declare(t, pairs, connect.Database{Connection: the.connection(db)}, "table = \"t\"\nkey = [\"k\"]\ntentative = \"tag\"")
	exec := func(text string) {
		_, err := conn.Exec(t.Context(), text)
		require.NoError(t, err, text)
	}
	exec("CREATE UNLOGGED TABLE t (k integer, v text, _state text, must integer NOT NULL, may integer)")
	text := lastingText(t, try(t, d))
	for _, want := range []string{
		"postgres: database db, table t: ", "the table public.t does not fit the output; nothing has been written",
		`it is unlogged`, `ALTER TABLE "public"."t" SET LOGGED`,
		"the column `k` is integer, expected bigint (ALTER TABLE \"public\".\"t\" ALTER COLUMN \"k\" TYPE bigint)",
		"it has no column `_stime`, expected timestamp with time zone (ALTER TABLE \"public\".\"t\" ADD COLUMN \"_stime\" timestamp with time zone)",
		"the output has no `must`, which must have a value", `ALTER COLUMN "must" SET DEFAULT`,
		"it has no unique index on exactly the key k (ALTER TABLE \"public\".\"t\" ADD UNIQUE (\"k\"))",
	} {
		require.Contains(t, text, want)
	}
	var there bool
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT to_regclass('fednode_positions') IS NOT NULL").Scan(&there))
	require.False(t, there)
	for _, mend := range []string{"ALTER TABLE t SET LOGGED", `ALTER TABLE "public"."t" ALTER COLUMN "k" TYPE bigint`, `ALTER TABLE "public"."t" ADD COLUMN "_stime" timestamp with time zone`,
		`ALTER TABLE "public"."t" ALTER COLUMN "must" SET DEFAULT 1`, `ALTER TABLE "public"."t" ADD UNIQUE ("k")`} {
		exec(mend)
	}
	require.NoError(t, try(t, d))
	exec("CREATE VIEW w AS SELECT 1::bigint AS k, 'a'::text AS v")
	require.Contains(t, lastingText(t, try(t, declare(t, pairs, connect.Database{Connection: the.connection(db)}, `table = "w"`))), "it is a view or the like")
	require.Contains(t, lastingText(t, try(t, declare(t, pairs, connect.Database{Connection: the.connection(db)}, "table = \"x\"\ncreate = false"))), "there is no table public.x, and create = false")
	require.Contains(t, lastingText(t, try(t, declare(t, pairs, connect.Database{Connection: the.connection(db)}, `table = "nowhere.t"`))), "there is no such schema")
}

// Of two writers of one name the older one ends at its next transaction, and for good; its rows are not there.
func TestTwoWriters(t *testing.T) {
	for _, anew := range []bool{false, true} {
		db, conn := database(t)
		d := declare(t, pairs, connect.Database{Connection: the.connection(db)}, `table = "t"`)
		older := d.begin(t)
		older.write(t, 1, batch(pair{k: 1, v: "a"}))
		older.commit(t, 1)
		newer := d.sink()
		state := older.state // a copied data directory
		if anew {
			state = newer.(connect.ClaimingSink).Claim() // a node of the same name
		}
		pos, err := newer.Recover(t.Context(), state)
		require.NoError(t, err)
		require.Equal(t, !anew, pos.ID == 1)
		err = older.Write(t.Context(), connect.SinkRows{Batch: batch(pair{k: 2, v: "b"}), Generation: 1, FirstID: 2})
		lasting, ok := errors.AsType[*connect.LastingError](err)
		require.True(t, ok && lasting.Final, "%v", err)
		require.ErrorContains(t, err, "another writer has taken the place of north/node-1/q/out.out")
		require.NoError(t, older.Close())
		require.NoError(t, newer.Write(t.Context(), connect.SinkRows{Batch: batch(pair{k: 3, v: "c"}), Generation: 1, FirstID: pos.ID + 1}))
		_, err = newer.Commit(t.Context(), tuple.Position{Generation: 1, ID: pos.ID + 1})
		require.NoError(t, err)
		require.NoError(t, newer.Close())
		var sum int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT sum(k) FROM t").Scan(&sum))
		require.Equal(t, 4, sum)
		if anew {
			s := d.sink()
			_, err = s.Recover(t.Context(), older.state)
			lasting, ok = errors.AsType[*connect.LastingError](err)
			require.True(t, ok && lasting.Final, "%v", err)
			require.NoError(t, s.Close())
		}
	}
}

// With tentative rows a table has one writer.
func TestSharedTable(t *testing.T) {
	db, conn := database(t)
	at := connect.Database{Connection: the.connection(db)}
	a, b := declare(t, pairs, at, "table = \"t\"\nkey = [\"k\"]"), declare(t, pairs, at, "table = \"t\"\nkey = [\"k\"]\ntentative = \"write\"")
	b.stream.Sink = "north/node-1/q/out.other"
	require.NoError(t, try(t, a))
	require.Contains(t, lastingText(t, try(t, b)), "north/node-1/q/out.out writes public.t too, and with tentative rows a table has one writer")
	_, err := conn.Exec(t.Context(), "DELETE FROM fednode_positions WHERE sink = 'north/node-1/q/out.out'")
	require.NoError(t, err)
	require.NoError(t, try(t, b))
	require.Contains(t, lastingText(t, try(t, a)), "north/node-1/q/out.other writes public.t too")
}

// What somebody does to the database under way is noticed, and never hides that rows are missing.
func TestMeddling(t *testing.T) {
	db, conn := database(t)
	d := declare(t, pairs, connect.Database{Connection: the.connection(db)}, `table = "t"`)
	l := d.begin(t)
	again := func() error {
		s := d.sink()
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		l.Sink = s
		_, err := s.Recover(t.Context(), l.state)
		return err
	}
	exec := func(text string) {
		_, err := conn.Exec(t.Context(), text)
		require.NoError(t, err, text)
	}
	write := func(id uint64) error {
		err := l.Write(t.Context(), connect.SinkRows{Batch: batch(pair{k: int64(id), v: "a"}), Generation: 1, FirstID: id})
		if err == nil {
			l.state, err = l.Commit(t.Context(), tuple.Position{Generation: 1, ID: id})
		}
		return err
	}
	require.NoError(t, write(1))
	exec("ALTER TABLE t RENAME v TO w")
	require.Contains(t, lastingText(t, write(2)), `column "v" of relation "t" does not exist`)
	require.NoError(t, l.Close())
	require.Contains(t, lastingText(t, again()), "it has no column `v`, expected text")
	exec("ALTER TABLE t RENAME w TO v")
	require.NoError(t, again())
	exec("ALTER TABLE t ADD CHECK (k < 100)")
	require.NoError(t, write(2))
	require.Contains(t, lastingText(t, write(100)), "a constraint of the table refuses a row")
	require.NoError(t, again())
	exec("ALTER TABLE t RENAME TO other")
	require.Error(t, write(3))
	require.Contains(t, lastingText(t, again()), "the table public.t is gone, with the rows up to 1:2@")
	exec("ALTER TABLE other RENAME TO t")
	require.NoError(t, again())
	exec("CREATE TABLE saved AS SELECT * FROM fednode_positions; DELETE FROM fednode_positions")
	require.Contains(t, lastingText(t, write(3)), "public.fednode_positions has no row of north/node-1/q/out.out, of which rows up to 1:2@")
	require.Contains(t, lastingText(t, again()), "public.fednode_positions has no row of north/node-1/q/out.out, of which rows up to 1:2@")
	exec("INSERT INTO fednode_positions SELECT * FROM saved")
	require.NoError(t, again())
	require.NoError(t, write(3))
}

// A column that becomes narrower under way rounds nothing: what has been written is not committed, and the table fits no more.
func TestNarrowedColumn(t *testing.T) {
	schema := tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "v", Type: tuple.Of(tuple.Float64)})
	row := func(k int64) *tuple.Batch {
		b := tuple.NewBatchBuilder(schema)
		b.AppendInt(0, k)
		b.AppendFloat(1, 0.1)
		b.EndRow(0)
		return b.Take()
	}
	for _, keys := range []string{"", "\nkey = [\"k\"]"} {
		db, conn := database(t)
		d := declare(t, schema, connect.Database{Connection: the.connection(db)}, "table = \"t\""+keys)
		l := d.begin(t)
		l.write(t, 1, row(1))
		l.commit(t, 1)
		_, err := conn.Exec(t.Context(), "ALTER TABLE t ALTER COLUMN v TYPE real")
		require.NoError(t, err)
		if err = l.Write(t.Context(), connect.SinkRows{Batch: row(2), Generation: 1, FirstID: 2}); err == nil {
			_, err = l.Commit(t.Context(), tuple.Position{Generation: 1, ID: 2})
		}
		require.Error(t, err)
		require.NoError(t, l.Close())
		again := d.sink()
		_, err = again.Recover(t.Context(), l.state)
		require.Contains(t, lastingText(t, err), "the column `v` is real, expected double precision")
		require.NoError(t, again.Close())
		_, err = conn.Exec(t.Context(), "ALTER TABLE t ALTER COLUMN v TYPE double precision, ADD COLUMN more text")
		require.NoError(t, err)
		again = d.sink()
		pos, err := again.Recover(t.Context(), l.state)
		require.NoError(t, err)
		require.Equal(t, uint64(1), pos.ID)
		require.NoError(t, again.Write(t.Context(), connect.SinkRows{Batch: row(2), Generation: 1, FirstID: 2}))
		_, err = again.Commit(t.Context(), tuple.Position{Generation: 1, ID: 2})
		require.NoError(t, err)
		require.NoError(t, again.Close())
		var n int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&n))
		require.Equal(t, 2, n)
	}
}

// Trouble that passes is no lasting error, and what it is stands in the text; passwords never do.
func TestPassingTrouble(t *testing.T) {
	db, conn := database(t)
	at := connect.Database{Connection: the.connection(db)}
	exec := func(text string) {
		_, err := conn.Exec(t.Context(), text)
		require.NoError(t, err, text)
	}
	passes := func(err error, want string) {
		t.Helper()
		require.ErrorContains(t, err, want)
		_, ok := errors.AsType[*connect.LastingError](err)
		require.False(t, ok, "%v", err)
	}
	d := declare(t, pairs, at, "table = \"t\"\ntimeout = \"1s\"")
	l := d.begin(t)
	// Somebody holds a lock.
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	passes(l.Write(t.Context(), connect.SinkRows{Batch: batch(pair{k: 1, v: "a"}), Generation: 1, FirstID: 1}), "`timeout`")
	require.NoError(t, l.Close())
	require.NoError(t, tx.Rollback(t.Context()))
	// The server ends the connection.
	l = d.begin(t)
	exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fednode north/node-1/q/out.out'")
	passes(l.Write(t.Context(), connect.SinkRows{Batch: batch(pair{k: 1, v: "a"}), Generation: 1, FirstID: 1}), "postgres: database db, table t: ") // what is seen of it first varies
	require.NoError(t, l.Close())
	// Nobody may connect, and there is no such database.
	exec("ALTER DATABASE " + db + " CONNECTION LIMIT 0")
	exec("CREATE ROLE guest LOGIN")
	guest := connect.Database{Connection: "host=" + the.socket + " user=guest sslmode=disable dbname=" + db}
	passes(try(t, declare(t, pairs, guest, `table = "t"`)), "the database lacks disk, memory or connections")
	exec("ALTER DATABASE " + db + " CONNECTION LIMIT -1")
	require.Contains(t, lastingText(t, try(t, declare(t, pairs, guest, `table = "t"`))), "grant this user what is missing")
	require.Contains(t, lastingText(t, try(t, declare(t, pairs, connect.Database{Connection: the.connection("nothing")}, `table = "t"`))), "there is no such database")
	// The server is away; a password is looked for and not told.
	secret := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(secret, []byte("s3cret\n"), 0o600))
	away := connect.Database{Connection: "host=" + t.TempDir() + " user=u dbname=d", PasswordFile: secret}
	err = try(t, declare(t, pairs, away, `table = "t"`))
	passes(err, "failed to connect")
	require.NotContains(t, err.Error(), "s3cret")
	require.NotContains(t, err.Error(), "\n")
	away.PasswordFile = secret + "-not"
	require.Contains(t, lastingText(t, try(t, declare(t, pairs, away, `table = "t"`))), "password_file: ")
	away.PasswordFile, away.PasswordEnv = "", "FEDNODE_TEST_NO_SUCH_VARIABLE"
	require.Contains(t, lastingText(t, try(t, declare(t, pairs, away, `table = "t"`))), "FEDNODE_TEST_NO_SUCH_VARIABLE is not set")
}

// A database that does not answer, and holds its locks, holds up a sink for a bounded time; it goes on when there is an answer.
func TestSilentServer(t *testing.T) {
	db, conn := database(t)
	d := declare(t, pairs, connect.Database{Connection: the.connection(db)}, "table = \"t\"\ntimeout = \"1s\"")
	l := d.begin(t)
	l.write(t, 1, batch(pair{k: 1, v: "a"}))
	l.commit(t, 1)
	l.write(t, 2, batch(pair{k: 2, v: "b"})) // the transaction has the lock of the position
	var backend int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT pid FROM pg_stat_activity WHERE application_name = 'fednode north/node-1/q/out.out'").Scan(&backend))
	require.NoError(t, syscall.Kill(backend, syscall.SIGSTOP))
	goOn := sync.OnceFunc(func() { require.NoError(t, syscall.Kill(backend, syscall.SIGCONT)) })
	defer goOn()
	_, err := l.Commit(t.Context(), tuple.Position{Generation: 1, ID: 2})
	require.ErrorContains(t, err, "the database does not answer within `timeout`")
	require.NoError(t, l.Close())
	again := func() error {
		s := d.sink()
		_, err := s.Recover(t.Context(), l.state)
		require.NoError(t, s.Close())
		return err
	}
	err = again()
	require.ErrorContains(t, err, "a table is locked by somebody else longer than `timeout`")
	_, lasting := errors.AsType[*connect.LastingError](err)
	require.False(t, lasting)
	goOn()
	await(t, "the lock is free", func() bool { return again() == nil })
	require.Equal(t, 1, count(t, conn, "t"))
}

// A sink that is declared without tentative rows, with other columns or for another table takes back what the one before it has left.
func TestLeftBehind(t *testing.T) {
	wider := tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "v", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "more", Type: tuple.Of(tuple.Int64)})
	for name, next := range map[string]func(at connect.Database) *declared{
		"without": func(at connect.Database) *declared { return declare(t, pairs, at, "table = \"t\"\nkey = [\"k\"]") },
		"wider": func(at connect.Database) *declared {
			return declare(t, wider, at, "table = \"t\"\nkey = [\"k\"]\ntentative = \"tag\"")
		},
		"other": func(at connect.Database) *declared {
			return declare(t, pairs, at, "table = \"other\"\nkey = [\"k\"]\ntentative = \"tag\"")
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, conn := database(t)
			at := connect.Database{Connection: the.connection(db)}
			l := declare(t, pairs, at, "table = \"t\"\nkey = [\"k\"]\ntentative = \"tag\"").begin(t)
			l.write(t, 1, batch(pair{k: 1, v: "a"}))
			tags := l.Sink.(connect.TaggingSink)
			require.NoError(t, tags.WriteTentative(t.Context(), batch(pair{k: 1, v: "b"}, pair{k: 2, v: "c"})))
			l.commit(t, 1)
			require.Equal(t, "1=b tentative,2=c tentative", content(t, conn, "t"))
			require.NoError(t, l.Close())
			if name == "wider" {
				_, err := conn.Exec(t.Context(), "ALTER TABLE t ADD COLUMN more bigint")
				require.NoError(t, err)
			}
			s := next(at).sink()
			pos, err := s.Recover(context.Background(), l.state)
			require.NoError(t, err)
			require.Equal(t, uint64(1), pos.ID)
			require.NoError(t, s.Close())
			require.Equal(t, "1=a stable", content(t, conn, "t"))
		})
	}
}

func content(t *testing.T, conn *pgx.Conn, table string) (text string) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT string_agg(k::text || '=' || v || ' ' || _state, ',' ORDER BY k) FROM "+table).Scan(&text))
	return text
}

// A row that a trigger or an index refuses is not written by trying again.
func TestRefusedRows(t *testing.T) {
	db, conn := database(t)
	at := connect.Database{Connection: the.connection(db)}
	schema := tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.String)})
	long := make([]byte, 9000)
	for i := range long {
		long[i] = 'a' + byte(rand.IntN(26)) // what repeats is stored shorter
	}
	b := tuple.NewBatchBuilder(schema)
	b.AppendBin(0, long)
	b.EndRow(0)
	l := declare(t, schema, at, "table = \"indexed\"\nkey = [\"k\"]").begin(t)
	text := lastingText(t, l.Write(t.Context(), connect.SinkRows{Batch: b.Take(), Generation: 1, FirstID: 1}))
	require.Contains(t, text, "a row is larger than PostgreSQL or an index of the table allows")
	require.NotContains(t, text, string(long[:100]))
	l = declare(t, pairs, at, `table = "t"`).begin(t)
	_, err := conn.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse()`)
	require.NoError(t, err)
	require.Contains(t, lastingText(t, l.Write(t.Context(), connect.SinkRows{Batch: batch(pair{k: 1, v: "a"}), Generation: 1, FirstID: 1})), "a trigger of the table refuses a row")
}

// A transaction may wait for its commit for longer than a short timeout of statements.
func TestPauseBeforeCommit(t *testing.T) {
	db, conn := database(t)
	l := declare(t, pairs, connect.Database{Connection: the.connection(db)}, "table = \"t\"\ntimeout = \"1s\"").begin(t)
	l.write(t, 1, batch(pair{k: 1, v: "a"}))
	require.Eventually(t, func() bool { // it has been idle for longer than the timeout, or has been ended
		var waiting bool
		err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
			AND application_name = 'fednode north/node-1/q/out.out' AND clock_timestamp() - state_change < '1500ms')`).Scan(&waiting)
		return err == nil && !waiting
	}, patient, 100*time.Millisecond)
	l.commit(t, 1)
}

// A table without a schema is the one that the search path finds, also where another schema comes first.
func TestSearchPath(t *testing.T) {
	db, conn := database(t)
	_, err := conn.Exec(t.Context(), `CREATE SCHEMA "one.""first"; CREATE SCHEMA second; CREATE TABLE second.t (k bigint, v text)`)
	require.NoError(t, err)
	at := connect.Database{Connection: the.connection(db) + ` options='-c search_path="one.\"\"first",second'`}
	l := declare(t, pairs, at, `table = "t"`).begin(t)
	l.write(t, 1, batch(pair{k: 1, v: "a"}))
	l.commit(t, 1)
	l = declare(t, pairs, at, `table = "new"`).begin(t)
	l.write(t, 1, batch(pair{k: 2, v: "b"}))
	l.commit(t, 1)
	var found, created int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT (SELECT sum(k) FROM second.t), (SELECT sum(k) FROM "one.""first".new)`).Scan(&found, &created))
	require.Equal(t, 1, found)
	require.Equal(t, 2, created)
}

// Tentative rows that have gone with their table keep no sink from another one.
func TestLeftTableIsGone(t *testing.T) {
	db, conn := database(t)
	at := connect.Database{Connection: the.connection(db)}
	l := declare(t, pairs, at, "table = \"t\"\nkey = [\"k\"]\ntentative = \"tag\"").begin(t)
	l.write(t, 1, batch(pair{k: 1, v: "a"}))
	require.NoError(t, l.Sink.(connect.TaggingSink).WriteTentative(t.Context(), batch(pair{k: 2, v: "b"})))
	l.commit(t, 1)
	require.NoError(t, l.Close())
	_, err := conn.Exec(t.Context(), "DROP TABLE t")
	require.NoError(t, err)
	again := declare(t, pairs, at, "table = \"t\"\nkey = [\"k\"]\ntentative = \"tag\"").sink()
	_, err = again.Recover(t.Context(), l.state)
	require.Contains(t, lastingText(t, err), "the table public.t is gone, with the rows up to 1:1@")
	require.NoError(t, again.Close())
	other := declare(t, pairs, at, "table = \"other\"\nkey = [\"k\"]\ntentative = \"tag\"").sink()
	pos, err := other.Recover(t.Context(), l.state)
	require.NoError(t, err)
	require.Equal(t, uint64(1), pos.ID)
	require.NoError(t, other.Close())
	var left bool
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT to_regclass('t_fednode_tentative') IS NOT NULL").Scan(&left))
	require.False(t, left)
}
