package testnet

import "syscall"

// childAttr puts a child into a process group of its own, out of reach of the terminal's Ctrl-C: the network ends it in
// order. It is killed when the network's process ends without having done so.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// supervisorAttr lets a process outlive its terminal.
func supervisorAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
