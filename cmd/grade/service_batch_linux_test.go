package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/turn"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/engine"
	"grade/service/worker"
)

// graded by a service of its own, in this process: the records of some submissions.
func gradedByService(t *testing.T, dir string, todo []declared) *engine.Engine {
	t.Helper()
	id, err := graderID()
	require.NoError(t, err)
	e, err := engine.Open(t.Context(), engine.Config{DataDir: t.TempDir(), Grader: id})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	_, broken, err := e.SetCourse(t.Context(), course.Folder(dir))
	require.NoError(t, err)
	require.Empty(t, broken)
	jobs, err := e.Jobs(t.Context(), "w1")
	require.NoError(t, err)
	w := worker.New(jobs, worker.Config{Slots: 2, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Open: func(ctx context.Context) (worker.Bench, error) {
		return openBench(ctx, sandboxFlags{Kind: sandboxDocker, ReserveCPU: true})
	}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-ended)
	}()
	for _, d := range todo {
		_, err := e.HandIn(t.Context(), service.Upload{Student: d.student, Exercise: d.exercise, Snapshot: d.snapshot, At: handedIn, Source: "service"})
		require.NoError(t, err)
	}
	eventually(t, 10*time.Minute, "all are graded", func() bool { return len(e.Store().Attempts()) == len(todo) })
	return e
}

var handedIn = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

// gradedByBatch grades the same submissions with the same seeds.
func gradedByBatch(t *testing.T, dir string, todo []declared, seeds map[string]string) map[string]results.Record {
	t.Helper()
	b, err := openBench(t.Context(), sandboxFlags{Kind: sandboxDocker, ReserveCPU: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	all, broken, err := course.Open(course.Folder(dir)).LoadAll()
	require.NoError(t, err)
	require.Empty(t, broken)
	store, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	var list []intake.Submission
	for _, d := range todo {
		list = append(list, intake.Submission{
			Student: d.student, Exercise: d.exercise, Path: filepath.Join("students", d.student, d.exercise),
			Read:      func(context.Context) (*submission.Snapshot, error) { return d.snapshot, nil },
			Submitted: func(context.Context) (time.Time, string, error) { return handedIn, "service", nil },
		})
	}
	_, err = batch.Run(t.Context(), store, list, batch.Options{Exercises: all, Grader: b.identity, Workers: 2, Now: time.Now,
		Grade: func(ctx context.Context, s *submission.Snapshot, e *course.Exercise, _ string) (*verdict.Result, error) {
			return gradeWith(b.Grader)(ctx, s, e, seeds[results.Content(s)])
		}})
	require.NoError(t, err)
	by := map[string]results.Record{}
	for _, r := range store.Attempts() {
		by[r.Student] = r
	}
	return by
}

// A submission that a service grades and one that a batch grades with the same seed have the
// same record, field by field, but for where and when it was, and for what a clock or a
// kernel has measured. What the service exports gives the gradebook of its pages.
func TestServiceAndBatchAgree(t *testing.T) {
	turn.Take(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT TESTED: -short: real gradings take half a minute")
	}
	openEngine(t)
	dir := sampleCourse(t)
	all, _, err := course.Open(course.Folder(dir)).LoadAll()
	require.NoError(t, err)
	var todo []declared
	for i := 0; i < 8; i += 2 {
		todo = append(todo, declaredOf(t, all[0], i))
	}
	e := gradedByService(t, dir, todo)
	seeds := map[string]string{}
	for _, r := range e.Store().Attempts() {
		seeds[r.Content] = r.Result.Seed
	}
	by := gradedByBatch(t, dir, todo, seeds)
	require.Len(t, by, len(todo))
	for _, r := range e.Store().Attempts() {
		assert.Equal(t, "w1", r.Worker)
		assert.Equal(t, decided(by[r.Student]), decided(r))
	}

	backup := t.TempDir()
	_, err = e.Export(t.Context(), backup)
	require.NoError(t, err)
	exported, err := file.Read(backup)
	require.NoError(t, err)
	policy := gradebook.NewPolicy([]string{all[0].Name})
	assert.Equal(t, batch.Book(policy, e.Store().Attempts(), e.Store().Pending(), nil), batch.Book(policy, exported.Attempts(), exported.Pending(), nil))
}

// decided is a record without what is about where and when it ran.
func decided(r results.Record) results.Record {
	r.Worker, r.Host, r.Path, r.Recorded = "", "", "", time.Time{}
	result := *r.Result
	result.Started, result.Phases = time.Time{}, verdict.Phases{}
	result.Checks = nil
	for _, c := range r.Result.Checks {
		c.Reference, c.Submission = verdict.Figures{PeakSource: c.Reference.PeakSource, Runs: c.Reference.Runs}, verdict.Figures{PeakSource: c.Submission.PeakSource, Runs: c.Submission.Runs}
		result.Checks = append(result.Checks, c)
	}
	r.Result = &result
	return r
}
