package main

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/turn"
	"grade/service"
	"grade/service/engine"
)

// What is kept goes on being kept and read, each within some seconds, whichever server of
// the cluster is killed.
func TestEachServerKilled(t *testing.T) {
	turn.Take(t)
	if testing.Short() {
		t.Skip("NOT TESTED: -short: choosing leaders takes half a minute")
	}
	t.Parallel()
	c := newCluster(t)
	var e *engine.Engine
	untilKept(t, "a new cluster", func(ctx context.Context) (err error) {
		e, err = engine.Open(ctx, engine.Config{NATS: c.url(), Grader: "g", Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		return err
	})
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	_, _, err := e.SetCourse(t.Context(), course.Folder(sampleCourse(t)))
	require.NoError(t, err)
	kv, err := e.KV(t.Context(), "people")
	require.NoError(t, err)
	nc, err := nats.Connect(c.url(), nats.MaxReconnects(-1))
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	n := 0
	works := func(what string) {
		t.Helper()
		n++
		u := service.Upload{Student: "ada", Exercise: "mean", Snapshot: submission.Of("upload", []submission.File{{Name: "a.go", Data: fmt.Appendf(nil, "package mean // %d\n", n)}})}
		begun := time.Now()
		untilKept(t, what, func(ctx context.Context) error {
			_, err := kv.Put(ctx, "key", fmt.Append(nil, n), 0)
			return err
		})
		untilKept(t, what, func(ctx context.Context) error {
			got, err := kv.Get(ctx, "key")
			if err == nil {
				require.Equal(t, fmt.Sprint(n), string(got.Value))
			}
			return err
		})
		untilKept(t, what, func(ctx context.Context) error {
			a, err := e.HandIn(ctx, u)
			if err == nil {
				require.Equal(t, n, a.Number)
			}
			return err
		})
		t.Logf("%s: kept and read after %v", what, time.Since(begun).Round(time.Millisecond))
	}
	leaders := func() (text string) {
		for _, s := range []string{"log-course", "jobs-course", "KV_kv-course-people", "OBJ_submissions-course"} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			if s, err := js.Stream(ctx, s); err == nil {
				i := s.CachedInfo()
				text += fmt.Sprintf("%s: R%d led by %s; ", i.Config.Name, i.Config.Replicas, i.Cluster.Leader)
			} else {
				text += err.Error() + "; "
			}
			cancel()
		}
		return text
	}
	works("whole")
	for _, name := range []string{"n1", "n2", "n3"} {
		t.Log(leaders())
		c.nodes[name].kill()
		works("without " + name)
		c.nodes[name].start()
		works("with " + name + " again")
	}
}
