package main

import (
	"context"
	"errors"
	"io/fs"
	"net"

	"github.com/spf13/cobra"

	"grade/grader/fault"
	"grade/service/people"
)

type serveInviteOptions struct {
	app    *app
	data   string
	logins []string
	role   string
	json   bool
}

func newServeInvite(a *app) *cobra.Command {
	o := &serveInviteOptions{app: a}
	cmd := &cobra.Command{
		Use:   "invite LOGIN...",
		Short: "Print links that let people in, once each",
		Long: `Print a link for each LOGIN. It signs a browser in as that person, works once, and lasts
for 14 days; send each to its person alone. A new link does not end the sessions of an
older one.

The service runs meanwhile, on this machine. People of the roster have the role that
stands there. --role lets in a person whom the roster lacks.`,
		Example: `  grade serve invite ada bo cem
  grade serve invite grace --role staff
  grade serve invite ada --json --data /var/lib/grade`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("see: "+cmd.CommandPath()+" --help", "invite: whom?")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.logins = args
			return o.run(cmd.Context())
		},
	}
	dataFlag(cmd, &o.data)
	cmd.Flags().StringVar(&o.role, "role", "", "let in whom the roster lacks, as a `ROLE`: student, staff or admin")
	cmd.Flags().BoolVar(&o.json, "json", false, "write the links as JSON")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"student", "staff", "admin"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *serveInviteOptions) run(ctx context.Context) error {
	role, err := people.ParseRole(o.role)
	if err != nil {
		return usage("", "--role %s: %v", o.role, err)
	}
	list, err := invitation{Logins: o.logins, Role: role, Known: o.role == ""}.ask(ctx, o.data)
	if errors.Is(err, fs.ErrPermission) {
		return &fault.Error{Message: "you may not ask the service with the data in " + o.data, Advice: "run this as the user of the service, as in: sudo -u grade grade serve invite LOGIN"}
	}
	if dial := (*net.OpError)(nil); errors.As(err, &dial) {
		return &fault.Error{Message: "no service runs with the data in " + o.data, Advice: "start it first: grade serve; or give its folder: --data DIR"}
	}
	if err != nil {
		return err
	}
	return o.app.write(o.json, list, func() string {
		text := ""
		for _, l := range list {
			text += l.Login + "  " + l.Link + "\n"
		}
		return text
	})
}
