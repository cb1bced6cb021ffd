// Package client is the client proxy: it stands where results leave. It hides where a stream is produced, by how many
// replicas, and over which connection it comes.
//
// A [Subscription] reads one stream from whichever replica gives it best, and delivers events in order. They are frames:
//
//   - INSERTION: stable rows, each once and in the order of their ids over all switches and reconnects;
//   - BOUNDARY: no later stable row lies before Time; MaxTime is the end of the stream;
//   - GAP: stable rows of a stretch will never come; numbering goes on behind FirstID in Generation;
//
// and if tentative results are wanted:
//
//   - TENTATIVE: rows made from what was there while an input was missing. Stable rows will replace them;
//   - TENTATIVE_BOUNDARY: no further row of the run lies before Time;
//   - UNDO: the tentative rows with a stime from Time on are void, MinTime voids all;
//   - REC_DONE: the tentative rows with a stime before Time have been replaced by the stable ones delivered so far,
//     MaxTime says so of all.
//
// So at any moment the results are the stable rows, and those tentative ones that neither an UNDO nor a REC_DONE has
// named since they came. The subscription itself holds no rows but those on their way.
//
// [Proxy] feeds a sink from a subscription and keeps the position with the sink's own state, so that a restart neither
// loses nor repeats a stable row there.
package client
