//go:build !parquet

package format

import (
	"errors"
	"io"

	"fednode/node/connect"
)

// HasParquet reports whether this build reads Parquet. The library is larger than all the rest of the program together,
// so it is left out unless asked for by the build tag.
const HasParquet = false

var errNoParquet = errors.New("this build does not read Parquet; build it with `-tags parquet`, or convert the file to Arrow")

func newParquetReader(*connect.Stream, io.Reader) (Reader, error) { return nil, errNoParquet }
