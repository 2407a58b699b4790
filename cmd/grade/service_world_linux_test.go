package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/service"
	"grade/service/engine"
	"grade/service/people"
)

// world is a cluster, a service, workers, and a watcher who hears all progress.
type world struct {
	*testing.T
	cluster *cluster
	serve   *child
	workers map[string]*laborer
	watch   *engine.Engine // sees what the service sees
	js      jetstream.JetStream
	door    *people.Door
	heard   chan service.Progress

	todo []declared

	acked map[string]declared // by student and exercise

	mu   sync.Mutex // guards told
	told map[string][]service.Progress
}

// laborer is a worker's process with cables of its own to the service and to its engine.
type laborer struct {
	*child
	nats, docker *cable
}

const patience = 4 * time.Second // --worker-timeout

func newWorld(t *testing.T) *world {
	w := &world{T: t, cluster: newCluster(t), workers: map[string]*laborer{}, heard: make(chan service.Progress, 100_000), acked: map[string]declared{}, told: map[string][]service.Progress{}}
	courseDir := w.choose()
	data, err := os.MkdirTemp("", "serve") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(data)) })
	w.serve = newChild(t, "serve", nil, "grade", "serve", "--course", courseDir, "--data", data, "--listen", "127.0.0.1:0", "--workers", "0",
		"--nats", w.cluster.url(), "--worker-timeout", patience.String())
	w.serve.start()
	w.address()
	w.look(w.cluster.url(), patience)
	w.observe()
	for _, name := range []string{"w1", "w2", "w3"} {
		w.employ(name, data)
	}
	eventually(t, 10*time.Minute, "three workers take jobs", func() bool { return w.taking() == 3 })
	return w
}

// address waits until the service answers, and returns where.
func (w *world) address() string {
	w.Helper()
	address := ""
	eventually(w.T, 10*time.Minute, "the service starts", func() bool {
		if all := strings.Split(w.serve.out.String(), "serving "); len(all) > 1 {
			address = addressIn("serving " + all[len(all)-1])
		}
		return address != ""
	})
	return address
}

// look opens the cluster beside the service, whose --worker-timeout is given; 0: it has none.
func (w *world) look(url string, ackWait time.Duration) {
	id, err := graderID()
	require.NoError(w, err)
	untilKept(w.T, "the engine opens", func(ctx context.Context) (err error) {
		w.watch, err = engine.Open(ctx, engine.Config{NATS: url, Grader: id, AckWait: ackWait, Log: slog.New(slog.DiscardHandler)})
		return err
	})
	w.Cleanup(func() { assert.NoError(w, w.watch.Close()) })
	untilKept(w.T, "the people are read", func(ctx context.Context) error {
		kv, err := w.watch.KV(ctx, bucketPeople)
		if err == nil {
			w.door, err = people.Open(ctx, kv, time.Now)
		}
		return err
	})
}

// observe hears what workers say.
func (w *world) observe() {
	nc, err := nats.Connect(w.cluster.url(), nats.MaxReconnects(-1))
	require.NoError(w, err)
	w.Cleanup(nc.Close)
	w.js, err = jetstream.New(nc)
	require.NoError(w, err)
	_, err = nc.Subscribe("progress.course.>", func(m *nats.Msg) {
		var p service.Progress
		if json.Unmarshal(m.Data, &p) == nil {
			w.heard <- p
		}
	})
	require.NoError(w, err)
}

// employ starts a worker with cables of its own.
func (w *world) employ(name, dir string) {
	host := engineClient(w.T).DaemonHost()
	socket, ok := strings.CutPrefix(host, "unix://")
	require.True(w, ok, "the engine listens on a socket of this machine: %s", host)
	l := &laborer{
		nats:   newCable(w.T, "tcp", "127.0.0.1:0", w.cluster.clients...),
		docker: newCable(w.T, "unix", filepath.Join(dir, name+".sock"), socket),
	}
	l.child = newChild(w.T, name, []string{"DOCKER_HOST=unix://" + filepath.Join(dir, name+".sock")},
		"grade", "work", "--nats", "nats://"+l.nats.address(), "--name", name, "--workers", "1")
	w.workers[name] = l
	l.start()
}

func (w *world) taking() (n int) {
	for _, state := range w.watch.Queue().Workers {
		if state.Takes() {
			n++
		}
	}
	return n
}
