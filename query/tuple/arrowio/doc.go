// Package arrowio is the edge between tuple batches and Apache Arrow: schemas in both directions, Arrow records to
// batches ([Importer]) and back ([Exporter]), and the Arrow file and stream formats ([Open], [Writer]).
//
// Arrow objects live only here. An imported batch keeps the Go memory of the record it came from where types agree
// (int64, float64, timestamps in microseconds, 32-bit dictionary codes), so records must come from memory that the
// garbage collector owns: [Open] sees to that.
//
// # Types
//
// Every field that the package writes names its tuple type, form and key in the field's metadata, so reading it back
// gives the same schema exactly:
//
//	bool, int64, float64     the Arrow type of that name
//	decimal(18,s)            decimal128(18, s)
//	string, bytes            utf8, binary; as dictionary codes if asked for
//	timestamp, duration      timestamp[us, UTC], duration[us]
//	ip, cidr                 fixed_size_binary(16) and (17); as dictionary codes if asked for
//	list(T)                  list<item: T>
//
// Files of others are read too: integers and floats of every width, utf8 and binary with either offset width,
// dictionaries with any index type, timestamps of every unit, dates, decimals, and addresses as text.
//
// # Hostile input
//
// Nothing read from outside panics or allocates without bound. [Open] checks the metadata of each message before the
// general decoder sees it (that one recurses and allocates as lengths in it say), meters the memory that decoding asks
// for and turns panics into errors; [Importer] checks what it uses. Views, unions and run-end encoded columns are
// refused. Package stream, below this one, reads what comes from other nodes and does not use the general decoder at all.
//
// Importers, exporters, readers and writers belong to one goroutine each.
package arrowio
