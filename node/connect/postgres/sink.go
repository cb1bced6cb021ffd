package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// sink writes rows into a table. What is written between two commits is one transaction.
type sink struct {
	sinkConfig
	statements
	target target
	shape  string // of the target, as it was found fit
	undo   undo

	conn *pgx.Conn
	row  positionRow
	tx   pgx.Tx // nil until something is written
	// seq numbers tentative rows; open: there may be some that nothing has been said about.
	seq  int64
	open bool
	// done: tentative rows before this stime have been replaced, and still stand in the table. MinTime if none have.
	done tuple.Time
}

var (
	_ connect.ClaimingSink = (*sink)(nil)
	_ connect.TaggingSink  = (*sink)(nil)
)

func newSink(c sinkConfig) *sink { return &sink{sinkConfig: c, done: tuple.MinTime} }

// Claim returns the state of a sink that has written nothing.
func (s *sink) Claim() []byte {
	return (&state{claim: newClaim(), pos: tuple.Position{Time: tuple.MinTime}}).encode()
}

// fail says where an error comes from, and what it means.
func (s *sink) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: database %s, table %s: %w", s.database, s.table, explain(err))
}

// limit bounds what a call may take: the database ends its statements by itself, but may not answer at all.
func (s *sink) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout+connectTimeout)
}

// within does something that is bounded so.
func (s *sink) within(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	return do(ctx)
}

// Recover connects, finds out whether the table fits, and takes the sink's place there.
func (s *sink) Recover(ctx context.Context, st []byte) (tuple.Position, error) {
	if s.stream.Databases == nil || st == nil {
		return tuple.Position{}, fmt.Errorf("postgres: database %s: only a node knows the database; write to a file here, with --sink %s=PATH", s.database, s.stream.Name)
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	pos, err := s.recover(ctx, st)
	return pos, s.fail(err)
}

func (s *sink) recover(ctx context.Context, b []byte) (pos tuple.Position, err error) {
	st, err := decodeState(b)
	if err != nil {
		return pos, lasting("%w", err)
	}
	d, ok := s.stream.Databases[s.database]
	if !ok {
		return pos, lasting("this node's file names no database `%s`; add [connect.postgres.%s] to node.toml", s.database, s.database)
	}
	if s.conn, err = open(ctx, &d, s.stream.Sink, s.timeout); err != nil {
		return pos, err
	}
	tx, err := s.begin(ctx)
	if err != nil {
		return pos, err
	}
	if err := s.enter(ctx, tx, st); err != nil {
		return pos, errors.Join(err, tx.Rollback(ctx))
	}
	return s.row.pos, tx.Commit(ctx)
}

func (s *sink) begin(ctx context.Context) (pgx.Tx, error) {
	return s.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
}

// enter begins a life of the sink.
func (s *sink) enter(ctx context.Context, tx pgx.Tx, st *state) error {
	name, err := s.resolve(ctx, tx)
	if err != nil {
		return err
	}
	s.target = target{tableName: name, columns: s.columns(), key: s.key}
	s.row = positionRow{table: name.beside(positionsTable), sink: s.stream.Sink}
	if err := createPositions(ctx, tx, s.row.table); err != nil {
		return err
	}
	known, err := s.row.load(ctx, tx)
	if err != nil {
		return err
	}
	if err := s.claim(known, st); err != nil {
		return err
	}
	if err := s.clearOld(ctx, tx, known); err != nil {
		return err
	}
	err = s.target.prepare(ctx, tx, s.create, s.row.target == name.String() && s.row.pos != tuple.Position{Time: tuple.MinTime})
	if errors.Is(err, errGone) {
		return lasting("the table %s is gone, with the rows up to %v that had been committed; put it back, or stop the query and deploy it anew", name, s.row.pos)
	}
	if err != nil {
		return err
	}
	if s.shape, err = s.target.shape(ctx, tx); err != nil {
		return err
	}
	s.row.target, s.row.tentative = name.String(), s.tentative != tentativeOmit
	if err := s.row.alone(ctx, tx); err != nil {
		return err
	}
	if err := s.row.store(ctx, tx); err != nil {
		return err
	}
	return s.prepareKeys(ctx, tx)
}

// claim decides whether the position that was found is ours, and takes it.
func (s *sink) claim(known bool, st *state) error {
	switch {
	case known && s.row.claim == st.claim:
	case !st.begun(): // there is nothing yet, or what a former deployment has left
		s.row.claim, s.row.pos = st.claim, tuple.Position{Time: tuple.MinTime}
	case known:
		return s.row.replaced(fmt.Sprintf("claim %.8s instead of %.8s", s.row.claim, st.claim))
	default:
		s.row.pos = st.pos
		return s.row.missing()
	}
	s.row.epoch++
	return nil
}

// clearOld voids the tentative rows of the life before, also where it wrote another table.
func (s *sink) clearOld(ctx context.Context, tx pgx.Tx, known bool) error {
	if old, ok := parseTable(s.row.target); known && ok && s.row.tentative && old != s.target.tableName {
		if err := voidLeft(ctx, tx, old); err != nil {
			return err
		}
	}
	return voidLeft(ctx, tx, s.target.tableName)
}

func (s *sink) prepareKeys(ctx context.Context, tx pgx.Tx) error {
	if len(s.key) == 0 {
		return nil
	}
	s.statements = statementsOf(&s.target)
	if s.tentative == tentativeOmit {
		return nil
	}
	s.undo = undo{target: s.target.tableName, table: s.target.tableName.undo(), columns: s.target.names(), key: s.key}
	return s.undo.create(ctx, tx, s.target.columns)
}

// transaction returns the one that is open, or opens one: if the sink's place is still ours.
func (s *sink) transaction(ctx context.Context) (pgx.Tx, error) {
	if s.tx == nil {
		if err := s.within(ctx, s.renew); err != nil {
			return nil, err
		}
	}
	return s.tx, nil
}

func (s *sink) renew(ctx context.Context) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	now := positionRow{table: s.row.table, sink: s.row.sink}
	known, err := now.load(ctx, tx)
	switch {
	case err != nil:
		return err
	case !known:
		return s.row.missing()
	case now.claim != s.row.claim || now.epoch != s.row.epoch:
		return s.row.replaced(fmt.Sprintf("epoch %d instead of %d", now.epoch, s.row.epoch))
	}
	s.tx = tx
	return nil
}

// Write takes stable rows.
func (s *sink) Write(ctx context.Context, rows connect.SinkRows) error {
	r := s.reader(rows.Batch, stateStable, stableID(rows.Generation, rows.FirstID, rows.IDs))
	tx, err := s.transaction(ctx)
	switch {
	case err != nil:
	case len(s.key) == 0:
		err = s.within(ctx, func(ctx context.Context) error { return r.copy(ctx, tx) })
	default:
		text := s.stable
		if s.open {
			text = s.held
		}
		err = r.each(ctx, tx, func(b *pgx.Batch, row []any, _ tuple.Time) { b.Queue(text, row...) })
	}
	return s.fail(err)
}

func (s *sink) reader(b *tuple.Batch, state string, id func(int) string) *reader {
	return &reader{values: values{replace: s.replace}, target: &s.target, tag: s.tentative == tentativeTag, state: state, b: b, id: id, within: s.within}
}

// Commit makes durable what was written, together with the position.
func (s *sink) Commit(ctx context.Context, pos tuple.Position) ([]byte, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	if err := s.commit(ctx, pos); err != nil {
		return nil, s.fail(err)
	}
	return (&state{claim: s.row.claim, pos: pos}).encode(), nil
}

func (s *sink) commit(ctx context.Context, pos tuple.Position) error {
	tx, err := s.transaction(ctx)
	if err != nil {
		return err
	}
	if err := s.settle(ctx, tx); err != nil {
		return err
	}
	s.row.pos = pos
	if err := s.row.store(ctx, tx); err != nil {
		return err
	}
	if err := s.unaltered(ctx, tx); err != nil {
		return err
	}
	s.tx = nil
	return tx.Commit(ctx)
}

// unaltered fails if the table is another one than was found fit: a narrower type would round what is written to it, without an
// error. It is asked behind the rows, which keep the table from being altered until the transaction ends.
func (s *sink) unaltered(ctx context.Context, tx pgx.Tx) error {
	shape, err := s.target.shape(ctx, tx)
	if err == nil && shape != s.shape {
		err = fmt.Errorf("the table has been altered: it has the columns %s, and had %s; nothing has been written since, and whether it still fits is looked at now", shape, s.shape)
	}
	return err
}

// Finish has nothing to do: only live results come here, and all of them are committed.
func (s *sink) Finish(context.Context) error { return s.Close() }

// closeTime is what taking leave of the database may take.
const closeTime = 2 * time.Second

// Close ends the connection, and with it what has not been committed.
func (s *sink) Close() error {
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	s.conn.Close(ctx) // a connection that is broken already has nothing more to say
	s.conn, s.tx = nil, nil
	return nil
}
