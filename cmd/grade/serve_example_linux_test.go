package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/turn"
	"grade/service"
)

const servingExample = courseRoot + "/examples/serving"

func init() { programs["natsconfigured"] = natsConfigured }

// natsConfigured is a NATS server: natsconfigured --config FILE.
func natsConfigured() {
	o, err := server.ProcessConfigFile(os.Args[2])
	if err == nil {
		o.NoSigs = true
		runNATS(o)
	}
	fmt.Fprintln(os.Stderr, "natsconfigured:", err)
	os.Exit(125)
}

// commandOf returns what the last ExecStart of a unit runs, without the folder of the
// program, after replacing some of its text.
func commandOf(t *testing.T, unit string, replace ...string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(servingExample, unit))
	require.NoError(t, err)
	defer f.Close()
	command := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "ExecStart="); ok {
			command = rest
		}
	}
	require.NotEmpty(t, command, unit)
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, command, replace[i], unit)
		command = strings.Replace(command, replace[i], replace[i+1], 1)
	}
	args := strings.Fields(command)
	args[0] = filepath.Base(args[0])
	return args
}

// What the units run are commands of grade, with flags that there are.
func TestServingUnitsRunCommands(t *testing.T) {
	for _, unit := range []string{"grade-serve.service", "grade-work.service", "grade-export.service", "cluster/grade-serve.conf", "cluster/grade-work.conf"} {
		args := commandOf(t, unit)
		require.Equal(t, "grade", args[0], unit)
		isCommand(t, args[1:])
	}
}

// systemd finds no fault with the units.
func TestServingUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("NOT TESTED: systemd-analyze is not installed")
	}
	units, err := filepath.Glob(filepath.Join(servingExample, "*.[st]*er*"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(servingExample, "cluster", "*.service"))
	require.NoError(t, err)
	require.Len(t, append(units, more...), 5)
	dir := t.TempDir()
	for _, unit := range append(units, more...) {
		b, err := os.ReadFile(unit)
		require.NoError(t, err)
		text := strings.NewReplacer("/usr/local/bin/grade", "/bin/true", "/usr/local/bin/nats-server", "/bin/true", "docker.service", "").Replace(string(b))
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(unit)), []byte(text), 0o600))
	}
	for _, unit := range append(units, more...) {
		out, _ := exec.Command("systemd-analyze", "verify", filepath.Join(dir, filepath.Base(unit))).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			assert.NotContains(t, line, filepath.Base(unit)+":", "systemd-analyze verify")
		}
	}
}

// The example's cluster keeps a service: a worker grades what is handed in, and two of the
// three servers may end, one after the other. Nothing that is said holds the password.
func TestServingExampleCluster(t *testing.T) {
	turn.Take(t)
	if testing.Short() {
		t.Skip("NOT TESTED: -short: a cluster and two gradings take half a minute")
	}
	t.Parallel()
	engineClient(t) // skips without one
	nodes, nats, forWorkers := exampleCluster(t)
	dir := sampleCourse(t)
	w := &world{T: t, acked: map[string]declared{}, told: map[string][]service.Progress{}}
	engineURL := []string{"GRADE_NATS=" + nats} // in the environment, which no list of processes shows
	w.serve = newChild(t, "serve", engineURL, commandOf(t, "cluster/grade-serve.conf", "/srv/course", dir, "/var/lib/grade", shortDir(t),
		":443 --autocert grade.example.org", "127.0.0.1:0")...)
	w.serve.start()
	w.address()
	work := newChild(t, "work", []string{"GRADE_NATS=" + forWorkers}, commandOf(t, "cluster/grade-work.conf")...)
	work.start()
	w.look(nats, 0)
	all, _, err := course.Open(course.Folder(dir)).LoadAll()
	require.NoError(t, err)
	for i := range 2 {
		d := declaredOf(t, all[0], i)
		w.handIn(d)
		eventually(t, 10*time.Minute, "a result", func() bool { return len(w.watch.Store().Attempts()) == i+1 })
		d.holds(t, w.watch.Store().Attempts()[i].Result)
		nodes[i].kill()
		nodes[i].start()
	}
	for _, p := range []*child{w.serve, work} {
		assert.NotContains(t, p.log.String(), "change-me", p.name)
		assert.NotContains(t, strings.Join(p.args, " "), "change-me", p.name)
	}
}

// exampleCluster starts the three servers of the example, and returns where clients connect.
func exampleCluster(t *testing.T) (nodes []*child, pages, workers string) {
	t.Helper()
	conf := commandOf(t, "cluster/nats.service", "/etc/grade/nats.conf", filepath.Join(servingExample, "cluster", "nats.conf"))
	routes := []string{reserved(t), reserved(t), reserved(t)}
	var clients []string
	for i, route := range routes {
		name, at := fmt.Sprintf("n%d", i+1), reserved(t)
		env := append(environment(t, "cluster/nats.env", "10.0.0.1:6222", routes[0], "10.0.0.2:6222", routes[1], "10.0.0.3:6222", routes[2]),
			"NODE="+name, "LISTEN="+at, "CLUSTER_LISTEN="+route, "STORE="+filepath.Join(t.TempDir(), name)) // each machine's own
		node := newChild(t, name, env, append([]string{"natsconfigured"}, conf[1:]...)...)
		node.start()
		nodes, clients = append(nodes, node), append(clients, at)
	}
	urls := map[string]string{}
	for _, file := range []string{"cluster.env", "worker.env"} {
		url := environment(t, "cluster/"+file, "10.0.0.1:4222", clients[0], "10.0.0.2:4222", clients[1], "10.0.0.3:4222", clients[2])[0]
		urls[file] = strings.TrimPrefix(url, "GRADE_NATS=")
	}
	led(t, urls["cluster.env"])
	return nodes, urls["cluster.env"], urls["worker.env"]
}

// environment reads a file of variables as systemd does, after replacing some of its text.
func environment(t *testing.T, name string, replace ...string) (env []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(servingExample, name))
	require.NoError(t, err)
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, string(b), replace[i], name)
	}
	for line := range strings.Lines(strings.NewReplacer(replace...).Replace(string(b))) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			env = append(env, key+"="+strings.Trim(value, "'"))
		}
	}
	return env
}
