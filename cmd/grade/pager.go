package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

// defaultPager is used where the reader has named none: it ends by itself if the text fits
// on the screen (F), shows colours (R) and leaves the text there afterwards (X).
const defaultPager = "less -FRX"

// notFound is how a shell ends that does not find a command.
const notFound = 127

// page shows a text on a terminal through the reader's pager. In a pipe, and where there is
// no pager, it prints the text.
func (a *app) page(text string) error {
	command := a.pager()
	if command == "" {
		return a.print("%s", text)
	}
	pager := exec.Command("sh", "-c", command)
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), a.lost.to, a.err.Writer // the terminal itself: through a pipe it would not stop at a page
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt) // ^C is the pager's, which must not be left alone on the terminal
	defer signal.Stop(heard)
	pager.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		pager.Env = append(pager.Env, "LESS=FRX")
	}
	err := pager.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() != notFound {
		return nil // it ran, and its reader has left it somehow
	}
	if err != nil {
		return a.print("%s", text)
	}
	return nil
}

// pager returns the command of the reader's pager: PAGER, which may be empty to have none.
func (a *app) pager() string {
	if !a.out.Live {
		return ""
	}
	if named, set := os.LookupEnv("PAGER"); set {
		return strings.TrimSpace(named)
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return defaultPager
}
