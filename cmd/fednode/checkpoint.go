package main

import (
	"github.com/spf13/cobra"
)

func checkpointCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "checkpoint",
		Short: "Plan how often to take a checkpoint, and of which level",
		Long: `Levels of checkpoints differ in what they survive and in what they cost. plan computes the interval, and the share of
each level, that leave the most time for useful work; simulate runs such a schedule against failures drawn at random.`,
	}
	c.AddCommand(checkpointPlanCommand(), checkpointSimulateCommand())
	return c
}

// levelsHelp says what plan and simulate take.
const levelsHelp = `Each level has a failure rate, a cost and a restart, listed with commas, in order of what the levels survive: first
the one that survives least and costs least. A failure rate counts failures that need this level and none above: 24/d,
0.5/h or 1/30d. A cost is how long a checkpoint keeps from useful work, a restart how long going on from one takes. A
level that costs 0s is the instance parked in memory: always there, and not drawn.

A region that restarts as a whole has a path of --path-length operators; a checkpoint takes --hop-delay from one to the
next.`

func checkpointPlanCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "plan",
		Short: "Compute the best interval and the best share of each level",
		Long: `Compute how often to take a checkpoint, and with which probability of which level, so that the largest share of time
is left for useful work, with failures while processing, while checkpointing and while restarting. Beside it stand the
best schedule of the highest level alone, and a first approximation in closed form.

` + levelsHelp + `

Where something takes longer than the time between two failures, no plan can keep up; the command says so and fails.
model_valid is false where the model is more than about 0.002 off what simulate would show.

--plots writes two charts: utilization.svg, over the interval; probabilities.svg, over the cost of the highest level.`,
		Example: `  fednode checkpoint plan --failure-rate 24/d,0.4/d --cost 10s,30s --restart 10s,30s
  fednode checkpoint plan --failure-rate 24/d,0.4/d --cost 10s,30s --restart 10s,30s --path-length 50 --hop-delay 0.5s
  fednode checkpoint plan --failure-rate 4/d,0.5/d,1/30d --cost 0s,0.2s,8s --restart 1s,4s,2m --json`,
		Args: exactArgs(0),
	}
	var f checkpointFlags
	f.declare(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		in, err := f.read(c)
		if err != nil {
			return err
		}
		return runCheckpointPlan(c, in)
	}
	return c
}

func checkpointSimulateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Run a checkpoint schedule against failures drawn at random",
		Long: `Run a process under the best schedule, or under the one given by --interval and --probabilities, against failures
drawn from a seed: while it works, while it takes checkpoints and while it restarts. A failure destroys the checkpoints
of lower levels; the process goes on from the newest that is left. Nothing of the formula of plan is used; beside the
mean of all runs stands what the formula says.

` + levelsHelp + `

A run takes 1,000 failures of the rarest level, at most 2 million intervals and failures, unless --duration says how
long. The same seed gives the same figures on every machine.

--plots writes two charts of model and simulation: interval.svg, over the interval; share.svg, over the share of the
highest level. They take some tens of schedules more to simulate.`,
		Example: `  fednode checkpoint simulate --failure-rate 24/d,0.4/d --cost 10s,30s --restart 10s,30s
  fednode checkpoint simulate --failure-rate 24/d,4/d --cost 10s,300s --restart 10s,300s --interval 400s --probabilities 0.95,0.05`,
		Args: exactArgs(0),
	}
	var f checkpointFlags
	f.declare(c)
	f.declareSimulation(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		in, err := f.read(c)
		if err != nil {
			return err
		}
		return runCheckpointSimulate(c, in)
	}
	return c
}
