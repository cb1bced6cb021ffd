//go:build unix && !linux

package testnet

import "syscall"

// childAttr puts a child into a process group of its own, out of reach of the terminal's Ctrl-C. Where there is no death
// signal, children outlive a network that is killed; `fednode testnet down` ends them.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// supervisorAttr lets a process outlive its terminal.
func supervisorAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
