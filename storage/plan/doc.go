// Package plan decides how often a fragment takes a checkpoint, and of which level.
//
// Levels differ in what they survive and in what they cost: memory survives an operator's fault, the local disk a crash,
// another machine the loss of this one. A failure of level l goes back to the newest checkpoint of level l or above. A
// Schedule takes a checkpoint each Interval and draws its level with Probabilities; Optimise finds the one that leaves the
// largest share of time for useful work, the utilization, for any number of levels, with failures while processing, while
// checkpointing and while recovering, and for a region of several operators that restarts as a whole.
//
//	s := plan.System{Levels: []plan.Level{
//		{Rate: plan.PerDay(24), Cost: 10, Restart: 10},
//		{Rate: plan.PerDay(0.4), Cost: 30, Restart: 30},
//	}}
//	p, err := plan.Optimise(s, plan.Fixed{}) // every 272 s, of level 1 with probability 0.87
//
// Approximate gives the same to first order in closed form. Model says what a schedule comes to, and whether the model
// holds there. Package failures simulates the process that the model describes, so that the two can be compared.
//
// Everything here is a value or a pure function; a System and a Model may be used by several goroutines at once.
//
// Source of the model: optimal multi-level interval-based checkpointing for stream processing (level drawn by probability,
// utilization maximised), generalised here to levels that cost nothing and to a closed first approximation for any number
// of levels; docs/checkpoints.md derives both.
package plan
