// Package topology says what a simulated federation consists of: sources, a real query cut into fragments, how often
// each fragment is replicated, one client, and how the network between them behaves. A [Spec] is a plain value that is
// read from TOML and printed as TOML; [Build] turns it into nodes and streams with the plan of each fragment.
package topology
