// Package descriptor holds the descriptors of deployed queries: what runs where, who says so, and which of two is in
// force.
//
// A [Descriptor] is written by one node, the one that the query was given to, and signed with a deploy key of the
// organisation that owns the query. Every node that hosts a fragment or feeds one holds it durably and plans the same
// fragments from it:
//
//	signed, err := descriptor.Sign(d, deployKey, now)     // at the owner
//	adoption, err := book.Adopt(signed, now)              // there, and at every node that it reaches
//	plan, err := adoption.Held.Plan()
//	limits, err := rules.MayHost(adoption.Held.Descriptor, plan.Fragment("edge"), running)
//
// # Parts
//
//   - [Sign], [Verify]: the signed form. Descriptors have one encoding; what is signed is checked as strictly as what is
//     received.
//   - [Descriptor.Plan]: the plan, the same at every node, since the diagram is in its canonical form.
//   - [Compare], [Rival]: the greater (term, epoch, writer) is in force.
//   - [Book]: the newest descriptor of each query. Books that have seen the same descriptors hold the same ones, in
//     whatever order they came; [Book.Revisions], [Book.Wanted] and [Book.Push] are what sessions exchange.
//   - [Rules]: whether a fragment may run here.
//   - [Documents]: books kept in a store, and beside them the query files with their connectors, which never leave.
//
// # Names
//
// Queries of two organisations may have one name. Wherever a query is named outside its organisation, in books, in
// revisions and in stores, the name is "organisation/query", [Descriptor.ID].
//
// # Concurrency
//
// A Descriptor and a Verified are immutable once made and may be shared. A Book may be used by any number of goroutines.
// The package starts no goroutine and asks no clock.
//
// # What it leaves out
//
// Sending and fetching descriptors, choosing placements and acting on them are for the daemon. Changes that take effect
// at a mark in the streams, and delegations under contracts, have no place in the format of version 1.
package descriptor
