// Command grade grades solutions of Go exercises.
//
// This package is the outermost layer: it parses arguments, puts the collaborators together
// (wire.go alone names the sandboxes), prints their results and turns errors into exit
// codes. It decides nothing about a grade. Each command is one file: an options struct, a
// constructor, a run function.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // a course's time zone has to mean the same where there is no database of them
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// oneSignal is for how long further signals are the same as the first: timeout(1) and shells
// send one to the process and another to its group.
const oneSignal = time.Second

// run runs a command and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	// The first signal asks the command to end; a later one ends the process at once. One that
	// is the same as the first must not end it between its last line and its exit status.
	context.AfterFunc(ctx, func() { time.AfterFunc(oneSignal, stop) })
	defer func() {
		if ctx.Err() == nil {
			stop()
		}
	}()
	a := newApp(in, out, err)
	root := newRoot(a)
	root.SetArgs(args)
	cmd, failure := root.ExecuteContextC(ctx)
	if failure != nil && cmd == root && !a.started {
		failure = cmp.Or(unknownCommand(root, args), failure)
	}
	if failure == nil || errors.Is(failure, errPointsMissing) {
		a.started = a.started || a.lost.err != nil
		failure = errors.Join(a.lost.err, failure) // help, for one, is written without a look at errors
	}
	return a.exit(ctx, cmd, failure)
}
