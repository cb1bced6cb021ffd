package dcaa

// permissionRule is a set of rules of the permission protocol. Each has a name so that the exhaustive search can take
// one away at a time and show which promise falls with it; a Permission in use keeps them all.
type permissionRule uint16

const (
	ruleRedoing       permissionRule = 1 << iota // who redoes keeps its yes
	ruleRank                                     // who asks and missed more keeps its yes
	ruleTie                                      // of two that missed the same, the lower name counts more
	ruleWithdraw                                 // who says yes while it asks, asks again under the next number
	ruleNumber                                   // a yes counts for the request of its number only
	ruleIncarnation                              // a yes counts for the request of its incarnation only
	ruleNewest                                   // requests older than the newest seen are ignored
	ruleFrozen                                   // the missed buckets of a request do not change
	ruleSameRank                                 // nor do they when it is made anew under the next number
	ruleOwed                                     // who kept its yes says it when it has finished
	ruleRepeat                                   // a request is repeated
	ruleAbsent                                   // an absent peer counts as a yes
	ruleJudgedAtBegin                            // absence is judged when the redo begins
)

// keeps reports whether a rule is kept.
func (p *Permission) keeps(r permissionRule) bool { return p.broken&r == 0 }
