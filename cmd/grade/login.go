package main

import (
	"context"
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"grade/service/client"
)

type loginOptions struct {
	app     *app
	address string
}

func newLogin(a *app) *cobra.Command {
	o := &loginOptions{app: a}
	return &cobra.Command{
		Use:     "login URL",
		Short:   "Let this command line hand in to a service",
		GroupID: groupExercises,
		Long: `Ask the service at URL for a token, with which grade submit --server URL hands in as you.
It prints an address: open it in the browser in which you are signed in, compare the code,
and allow it. The token is kept in your configuration folder, for this user alone; the page
of your account takes it back.

In a job, set GRADE_TOKEN instead.`,
		Example: `  grade login https://grade.example.org
  grade submit --server https://grade.example.org autograd`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("see: "+cmd.CommandPath()+" --help", "login: which service?")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.address = args[0]
			return o.run(cmd.Context())
		},
	}
}

func (o *loginOptions) run(ctx context.Context) error {
	tokens, err := client.UserTokens()
	if err != nil {
		return err
	}
	c, err := client.New(o.address, "")
	if err != nil {
		return err
	}
	asked, err := c.Ask(ctx, machine())
	if err != nil {
		return err
	}
	fmt.Fprintf(o.app.err, "open %s\nand allow the code %s\n", asked.Address, asked.Code)
	granted, err := c.Wait(ctx, asked)
	if err != nil {
		return err
	}
	if err := tokens.Keep(o.address, granted.Token); err != nil {
		return err
	}
	return o.app.print("signed in as %s; hand in with: grade submit --server %s DIR\n", granted.Login, o.address)
}

// machine names this machine and its user for the person who lets it in.
func machine() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a machine without a name"
	}
	if u, err := user.Current(); err == nil {
		return u.Username + " on " + host
	}
	return host
}
