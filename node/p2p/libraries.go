package p2p

import (
	"github.com/libp2p/go-libp2p/gologshim"
	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"
)

// RouteLibraryLogs sends the log lines of libp2p, from warnings on, to log. It is for the whole process and must be
// called before the first host is made: libp2p fixes its loggers at their first line.
func RouteLibraryLogs(log *zap.Logger) {
	core := log.WithOptions(zap.IncreaseLevel(zapcore.WarnLevel)).Core()
	gologshim.SetDefaultHandler(zapslog.NewHandler(core, zapslog.WithName("libp2p")))
}
