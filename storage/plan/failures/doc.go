// Package failures simulates what a checkpoint schedule is planned for: a process that works, takes checkpoints and fails.
//
// It knows nothing of the formula of package plan. Failures of each level are drawn as they come, also while a checkpoint
// is taken and while the process restarts; a failure destroys the checkpoints of the levels that it needs more than, and
// the process goes on from the newest one left. What comes out is how much work stays, so that a plan can be held against
// the process that it describes.
//
//	r, err := failures.Run(ctx, system, schedule, failures.Options{Runs: 100, Seed: 1})
//
// A run depends on its seed and number alone: the same options give the same result, whatever the number of processors.
package failures
