package member

import (
	"bytes"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logWriter takes memberlist's lines, which carry their level in brackets, to the node's log.
type logWriter struct{ log *zap.Logger }

// Write logs one line. It never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	level, text := splitLevel(bytes.TrimSpace(line))
	if entry := w.log.Check(level, string(text)); entry != nil {
		entry.Write()
	}
	return len(line), nil
}

// splitLevel takes "[WARN] memberlist: text" apart. What memberlist calls an error is a failed try to reach somebody,
// of which it tells at length while a node is down: it is a warning to us.
func splitLevel(line []byte) (zapcore.Level, []byte) {
	for _, l := range []struct {
		prefix string
		level  zapcore.Level
	}{
		{"[DEBUG]", zap.DebugLevel}, {"[INFO]", zap.DebugLevel}, {"[WARN]", zap.InfoLevel},
		{"[ERR]", zap.WarnLevel}, {"[ERROR]", zap.WarnLevel},
	} {
		if rest, ok := bytes.CutPrefix(line, []byte(l.prefix)); ok {
			return l.level, bytes.TrimSpace(rest)
		}
	}
	return zap.InfoLevel, line
}
