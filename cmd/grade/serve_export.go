package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"grade/grader/fault"
	"grade/service/engine"
)

// exchange writes all of a service to a folder, or reads it from there.
type exchange func(*engine.Engine, context.Context, string) (engine.Exchanged, error)

type serveExchangeOptions struct {
	app    *app
	data   string
	engine engineFlags
	dir    string
	json   bool
	verb   string
	do     exchange
}

func newServeExport(a *app) *cobra.Command {
	o := &serveExchangeOptions{app: a, verb: "export", do: (*engine.Engine).Export}
	return o.command(&cobra.Command{
		Use:   "export DIR",
		Short: "Write all submissions and results to a folder, as grade batch keeps them",
		Long: `Write all that was handed in and all results to the folder DIR, in the very files of
grade batch: grade gradebook, grade regrade and grade batch work on them with
--results DIR. A second export into the same folder adds what is new, so that a backup
is this command, once an hour. It works while the service runs, and without.

Accounts, sessions and links are not in it: keep a copy of the folder --data for those,
made while the service does not run.`,
		Example: `  grade serve export backup
  grade gradebook --results backup --report csv=gradebook.csv
  grade serve export /srv/backup --data /var/lib/grade`,
	})
}

func newServeImport(a *app) *cobra.Command {
	o := &serveExchangeOptions{app: a, verb: "import", do: (*engine.Engine).Import}
	return o.command(&cobra.Command{
		Use:   "import DIR",
		Short: "Read submissions and results from a folder of grade batch or serve export",
		Long: `Read what grade batch or grade serve export has kept in the folder DIR, and keep it in
the service. What is there already is left out. Nothing is read if an attempt is another
one in the service. It works while the service runs, and without.`,
		Example: `  grade serve import backup
  grade serve import grade-results --data /var/lib/grade`,
	})
}

func (o *serveExchangeOptions) command(cmd *cobra.Command) *cobra.Command {
	cmd.Args = wantOne("folder, DIR")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.dir, err = filepath.Abs(args[0]); err != nil {
			return err
		}
		return o.run(cmd.Context())
	}
	dataFlag(cmd, &o.data)
	o.engine.addCluster(cmd, "the service keeps everything in the NATS cluster at this `URL`")
	cmd.Flags().BoolVar(&o.json, "json", false, "write the numbers as JSON")
	return cmd
}

func (o *serveExchangeOptions) run(ctx context.Context) error {
	n, err := o.exchanged(ctx)
	if err != nil {
		return err
	}
	return o.app.write(o.json, n, func() string {
		return fmt.Sprintf("%sed %s; new: %s, %s, %d without a verdict, the files of %s\n", o.verb, o.dir,
			countOf(n.Attempts, "attempt"), countOf(n.Records, "result"), n.Pending, countOf(n.Submissions, "submission"))
	})
}

// exchanged asks the running service, which has the files open; if none runs, it opens them.
func (o *serveExchangeOptions) exchanged(ctx context.Context) (n engine.Exchanged, err error) {
	if o.engine.nats == "" {
		n, err = o.ask(ctx)
		if dial := (*net.OpError)(nil); !errors.As(err, &dial) {
			return n, err
		}
	}
	if _, err := os.Stat(filepath.Join(o.data, "nats")); o.verb == "export" && o.engine.nats == "" && errors.Is(err, fs.ErrNotExist) {
		return n, usage("give the folder of the service: --data DIR", "there is no service in %s", o.data)
	}
	o.engine.visit = true
	e, err := openServiceEngine(ctx, o.data, o.engine, slog.New(slog.DiscardHandler), o.app.now)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return o.do(e, ctx, o.dir)
}

// ask has the running service do it.
func (o *serveExchangeOptions) ask(ctx context.Context) (n engine.Exchanged, err error) {
	err = askService(ctx, o.data, o.verb, []byte(o.dir), &n)
	return n, err
}

// askService has the service that runs on this machine do something, and decodes its answer.
func askService(ctx context.Context, data, verb string, body []byte, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control/"+verb, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := controlClient(data).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return json.NewDecoder(answer.Body).Decode(into)
	}
	var said refusal
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return fmt.Errorf("ask the service: it answers %s", answer.Status)
	}
	return &fault.Error{Message: said.Message, Advice: said.Advice}
}

// controlClient speaks to the service that runs on this machine with its data in a folder.
func controlClient(data string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", controlName(data))
	}}}
}

// exchangeHandler answers for the running service. Who may open its socket may do all.
func exchangeHandler(do func(context.Context, string) (engine.Exchanged, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		dir, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		if err == nil && !filepath.IsAbs(string(dir)) {
			err = fmt.Errorf("%q is not a whole path", dir)
		}
		var n engine.Exchanged
		if err == nil {
			n, err = do(r.Context(), string(dir))
		}
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			said := refusal{Message: err.Error()}
			if f := (*fault.Error)(nil); errors.As(err, &f) {
				said.Advice = f.Advice
			}
			_ = json.NewEncoder(w).Encode(said) // the command is gone
			return
		}
		_ = json.NewEncoder(w).Encode(n) // the command is gone
	}
}
