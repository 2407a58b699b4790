package main

import "syscall"

var forks = map[string]uintptr{"fork": syscall.SYS_FORK, "vfork": syscall.SYS_VFORK}
