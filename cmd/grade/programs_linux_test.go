package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	programs["onterminal"] = onTerminal
	programs["interrupted"] = interrupted
}

// interrupted runs its arguments after the first as a command, interrupts it after
// the time that the first says, and ends with its status; with 124 if it takes
// longer to end than a minute, which what it runs would not.
func interrupted() {
	after, err := time.ParseDuration(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "interrupted:", err)
		os.Exit(125)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "interrupted:", err)
		os.Exit(125)
	}
	time.AfterFunc(after, func() {
		cmd.Process.Signal(os.Interrupt)
		time.Sleep(time.Minute)
		cmd.Process.Kill()
		os.Exit(124)
	})
	cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

// onTerminal runs its arguments as a command on a terminal of 80 columns and prints
// what they wrote there, without carriage returns at the ends of lines. It ends with
// the command's status.
func onTerminal() {
	pty, tty, err := openTerminal(80)
	if err != nil {
		fmt.Fprintln(os.Stderr, "onterminal:", err)
		os.Exit(125)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = tty, tty
	written := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(pty) // ends with EIO when the last writer is gone
		written <- b
	}()
	err = cmd.Run()
	tty.Close()
	os.Stdout.Write(bytes.ReplaceAll(<-written, []byte("\r\n"), []byte("\n")))
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		fmt.Fprintln(os.Stderr, "onterminal:", err)
		os.Exit(125)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

func openTerminal(columns uint16) (pty, tty *os.File, err error) {
	pty, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(pty.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: 24}); err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return pty, tty, err
}
