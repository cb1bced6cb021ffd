package plan

import (
	"errors"
	"fmt"
	"strconv"
)

// Field names a value that a plan is made from.
type Field string

// The fields.
const (
	FieldLevels        Field = "levels"
	FieldRate          Field = "failure rate"
	FieldCost          Field = "cost"
	FieldRestart       Field = "restart"
	FieldPathLength    Field = "path length"
	FieldHopDelay      Field = "hop delay"
	FieldInterval      Field = "interval"
	FieldProbabilities Field = "probabilities"
)

// ValueError is a value that cannot be planned with.
type ValueError struct {
	Field Field
	// Level is the level it is of, from 1; 0 if it is of none.
	Level int
	// Got is the value: a count, a probability, seconds, or failures a second.
	Got float64
	// Want says what was expected.
	Want string
}

func (e *ValueError) Error() string { return string(e.Field) + e.Rest() }

// Rest is the message without the name of the field, for those who name it otherwise.
func (e *ValueError) Rest() string {
	at := ""
	if e.Level > 0 {
		at = " of level " + itoa(e.Level)
	}
	return fmt.Sprintf("%s: %s: expected %s", at, e.text(), e.Want)
}

// text prints the value with its unit.
func (e *ValueError) text() string {
	switch e.Field {
	case FieldRate:
		return rateText(e.Got)
	case FieldCost, FieldRestart, FieldHopDelay, FieldInterval:
		return secondsText(e.Got)
	}
	return strconv.FormatFloat(e.Got, 'g', 6, 64)
}

// ErrNothingFails is why there is no plan where every rate of a level that costs something is 0: the longer the interval,
// the better.
var ErrNothingFails = errors.New("nothing fails that needs a checkpoint, so the longest interval is the best and there is none to plan: give the failure rates")

// KeepUpError says that no schedule gets on, because something takes longer than the time between two failures.
type KeepUpError struct {
	// Level is the level, 0 if it is the path that is too long.
	Level int
	// Field is what takes too long: FieldCost, FieldRestart or FieldHopDelay.
	Field Field
	// Takes is how long it takes, Between the mean time between the failures that interrupt it.
	Takes, Between Seconds
}

func (e *KeepUpError) Error() string {
	what := "a checkpoint of level " + itoa(e.Level)
	switch e.Field {
	case FieldRestart:
		what = "a restart from level " + itoa(e.Level)
	case FieldHopDelay:
		what = "the way of a checkpoint along the path"
	}
	return fmt.Sprintf("no plan can keep up: %s takes %s, and failures that interrupt it come every %s on average, so most of them never end; make it shorter than that, or the failures rarer",
		what, secondsText(float64(e.Takes)), secondsText(float64(e.Between)))
}

func secondsText(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) + " s" }
func rateText(v float64) string    { return strconv.FormatFloat(v*day, 'g', 6, 64) + " a day" }
func itoa(n int) string            { return strconv.Itoa(n) }
