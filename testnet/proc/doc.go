// Package proc holds tests of whole networks of daemon processes: what is killed, damaged or disturbed in them, and what
// has to come out all the same. The tests need no network but loopback. They assert on the status of the daemons and on
// files, never on logs or after a fixed time.
package proc
