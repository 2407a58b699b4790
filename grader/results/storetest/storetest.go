// Package storetest is the suite that every [results.Store] passes. A store's own tests
// call [Test], and test beside it what only that store has.
package storetest

import (
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Opened is a store that can be closed.
type Opened interface {
	results.Store
	Close() error
}

// Test tests a store. At makes a place where nothing is kept, and returns a function that
// opens the store there: a second call, after the first store was closed, finds what that
// has kept.
func Test(t *testing.T, at func(t *testing.T) (open func() Opened)) {
	for _, one := range []struct {
		name string
		test func(t *testing.T, open func() Opened)
	}{
		{"Enter", testEnter},
		{"EnterAtOnce", testEnterAtOnce},
		{"NumbersAreGivenBack", testNumbersAreGivenBack},
		{"Append", testAppend},
		{"GradedAnew", testGradedAnew},
		{"Times", testTimes},
		{"Pending", testPending},
		{"PendingTime", testPendingTime},
		{"Files", testFiles},
		{"Drafts", testDrafts},
		{"Names", testNames},
	} {
		t.Run(one.name, func(t *testing.T) { one.test(t, at(t)) })
	}
}

// Record returns a record of an attempt.
func Record(student, content string, attempt int) results.Record {
	return results.Record{
		Schema: results.RecordSchema, Key: "key of " + content, Student: student, Exercise: "autograd", Attempt: attempt,
		Listed: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), ListedIn: "times.csv",
		Content: content, Recorded: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), Result: &verdict.Result{Score: attempt},
	}
}

func closed(t *testing.T, s Opened) {
	t.Helper()
	require.NoError(t, s.Close())
}

func enter(t *testing.T, s results.Store, content string) results.Attempt {
	t.Helper()
	a, err := s.Enter(results.Entry{Student: "alice", Exercise: "autograd", Content: content})
	require.NoError(t, err)
	return a
}

// Two gradings at a time never have one number, and a number that came to no verdict is given
// again.
func testEnter(t *testing.T, open func() Opened) {
	s := open()
	defer closed(t, s)
	first, second := enter(t, s, "a"), enter(t, s, "b")
	assert.Equal(t, []int{1, 2}, []int{first.Number, second.Number})
	assert.Equal(t, 2, enter(t, s, "b").Number, "the same again is the same attempt")

	require.NoError(t, s.Withdraw(second))
	assert.Equal(t, 3, enter(t, s, "c").Number, "the other grading of b goes on")
	require.NoError(t, s.Withdraw(results.Attempt{Entry: second.Entry, Number: 3}))
	require.NoError(t, s.Withdraw(second))
	assert.Equal(t, 2, enter(t, s, "d").Number)

	require.NoError(t, s.Append(Record("alice", "d", 2)))
	again := enter(t, s, "d")
	assert.Equal(t, 2, again.Number)
	require.NotNil(t, again.Held)
	require.NoError(t, s.Withdraw(again))
	assert.Equal(t, 3, enter(t, s, "e").Number, "an attempt with a record stays")
}

// All submissions of a rush that come in at once have numbers of their own.
func testEnterAtOnce(t *testing.T, open func() Opened) {
	s := open()
	defer closed(t, s)
	const rush = 50
	numbers := make(chan int, rush)
	for i := range rush {
		go func() {
			a, err := s.Enter(results.Entry{Student: "alice", Exercise: "autograd", Content: fmt.Sprint(i)})
			assert.NoError(t, err)
			assert.NoError(t, s.Append(Record("alice", fmt.Sprint(i), a.Number)))
			numbers <- a.Number
		}()
	}
	seen := map[int]bool{}
	for range rush {
		n := <-numbers
		assert.False(t, seen[n], "two submissions are attempt %d", n)
		seen[n] = true
	}
	assert.Len(t, s.Attempts(), rush)
}

// A number that was entered and not graded is free after a restart: a killed process has
// graded nothing.
func testNumbersAreGivenBack(t *testing.T, open func() Opened) {
	s := open()
	require.NoError(t, s.Append(Record("alice", "a", 1)))
	assert.Equal(t, 2, enter(t, s, "b").Number)
	closed(t, s)
	s = open()
	defer closed(t, s)
	assert.Equal(t, 2, enter(t, s, "c").Number)
}

// What was appended is found at once, and by whoever opens the store next.
func testAppend(t *testing.T, open func() Opened) {
	s := open()
	_, ok := s.Last("alice", "autograd")
	assert.False(t, ok)
	_, ok = s.ByKey("key of a")
	assert.False(t, ok)
	assert.Empty(t, s.Attempts())

	want := []results.Record{Record("bob", "x", 1), Record("alice", "a", 1), Record("alice", "b", 2), Record("bob", "y", 2)}
	for _, r := range want {
		require.NoError(t, s.Append(r))
	}
	check := func() {
		assert.Equal(t, want, s.Attempts())
		last, ok := s.Last("alice", "autograd")
		require.True(t, ok)
		assert.Equal(t, want[2], last)
		byKey, ok := s.ByKey("key of x")
		require.True(t, ok)
		assert.Equal(t, want[0], byKey)
	}
	check()
	closed(t, s)
	s = open()
	check()
	closed(t, s)
}

// The newest record of an attempt holds, in the place of the first.
func testGradedAnew(t *testing.T, open func() Opened) {
	s := open()
	for _, r := range []results.Record{Record("alice", "a", 1), Record("alice", "b", 2)} {
		require.NoError(t, s.Append(r))
	}
	anew := Record("alice", "a", 1)
	anew.Key, anew.Result.Score = "another key", 77
	require.NoError(t, s.Append(anew))
	check := func() {
		list := s.Attempts()
		require.Len(t, list, 2)
		assert.Equal(t, anew, list[0])
		last, _ := s.Last("alice", "autograd")
		assert.Equal(t, 2, last.Attempt)
		old, ok := s.ByKey("key of a")
		require.True(t, ok)
		assert.Equal(t, 1, old.Result.Score, "the old record is kept")
	}
	check()
	closed(t, s)
	s = open()
	check()
	closed(t, s)
}

// A record without the time of submission has the time of the record before, of the same
// attempt.
func testTimes(t *testing.T, open func() Opened) {
	s := open()
	defer closed(t, s)
	dated, anew := Record("alice", "a", 1), Record("alice", "a", 1)
	dated.Submitted, dated.Source = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), "git"
	require.NoError(t, s.Append(dated))
	require.NoError(t, s.Append(anew))
	last, _ := s.Last("alice", "autograd")
	assert.True(t, dated.Submitted.Equal(last.Submitted))
	assert.Equal(t, "git", last.Source)
}

func without(student, content string, hour int) results.Outcome {
	return results.Outcome{Pending: results.Pending{
		Schema: results.PendingSchema, Student: student, Exercise: "autograd", Content: content, Path: "x",
		Submitted: time.Date(2026, 12, 1, hour, 0, 0, 0, time.UTC), Recorded: time.Date(2026, 12, 1, 20, 0, 0, 0, time.UTC), Why: "the engine is gone",
	}}
}

// What has no verdict is listed until it has one.
func testPending(t *testing.T, open func() Opened) {
	s := open()
	require.NoError(t, s.UpdatePending(nil))
	assert.Empty(t, s.Pending())
	bob, alice := without("bob", "b", 9), without("alice", "a", 9)
	require.NoError(t, s.UpdatePending([]results.Outcome{bob, alice}))
	assert.Equal(t, []results.Pending{alice.Pending, bob.Pending}, s.Pending(), "by student")
	closed(t, s)
	s = open()
	defer closed(t, s)
	assert.Equal(t, []results.Pending{alice.Pending, bob.Pending}, s.Pending(), "after a restart")

	require.NoError(t, s.Append(Record("bob", "b", 1)))
	assert.Equal(t, []results.Pending{alice.Pending}, s.Pending(), "a record ends the wait")
	graded := without("alice", "a", 9)
	graded.Graded = true
	require.NoError(t, s.Append(Record("alice", "a", 1)))
	require.NoError(t, s.UpdatePending([]results.Outcome{graded}))
	assert.Empty(t, s.Pending())
	require.NoError(t, s.UpdatePending([]results.Outcome{without("alice", "a", 9)}))
	assert.Empty(t, s.Pending(), "what has a verdict is not pending")
	newer := without("alice", "c", 11)
	require.NoError(t, s.UpdatePending([]results.Outcome{newer}))
	assert.Equal(t, []results.Pending{newer.Pending}, s.Pending())
}

// Work that had no verdict keeps the time of then when it is entered.
func testPendingTime(t *testing.T, open func() Opened) {
	s := open()
	defer closed(t, s)
	waits := without("alice", "a", 9)
	require.NoError(t, s.UpdatePending([]results.Outcome{waits}))
	a, err := s.Enter(results.Entry{Student: "alice", Exercise: "autograd", Content: "a", Submitted: waits.Submitted.Add(time.Hour)})
	require.NoError(t, err)
	assert.True(t, waits.Submitted.Equal(a.Submitted))
	assert.Equal(t, 1, a.Number)
}

// The files of a submission come back as they were handed in, by its content.
func testFiles(t *testing.T, open func() Opened) {
	s := open()
	snapshot := submission.Of("students/alice", []submission.File{{Name: "a.go", Data: []byte("package a\n")}, {Name: "b.go", Data: []byte("package a\n\n// é\n")}})
	content := results.Content(snapshot)
	r := Record("alice", content, 1)
	r.Result.Submission = verdict.Submission{Dir: "students/alice", Hash: snapshot.Hash, Ignored: []string{"notes.txt"}}
	_, err := s.Files(r)
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, s.KeepFiles(content, snapshot))
	require.NoError(t, s.KeepFiles(content, snapshot), "a second time")
	closed(t, s)
	s = open()
	defer closed(t, s)
	kept, err := s.Files(r)
	require.NoError(t, err)
	assert.Equal(t, snapshot.Files, kept.Files)
	assert.Equal(t, "students/alice", kept.Dir)
	assert.Equal(t, []string{"notes.txt"}, kept.Ignored)
	assert.Equal(t, content, results.Content(kept))

	refused := submission.Of("students/bob", nil)
	refused.Problems = []verdict.Problem{{Rule: "no-files"}}
	content = results.Content(refused)
	require.NoError(t, s.KeepFiles(content, refused))
	r = Record("bob", content, 1)
	r.Result.Submission.Hash = refused.Hash
	_, err = s.Files(r)
	require.ErrorIs(t, err, fs.ErrNotExist, "it would be refused again")
}

// Drafts are kept beside what holds until they are discarded, for one regrade at a time.
func testDrafts(t *testing.T, open func() Opened) {
	s := open()
	d, err := s.Drafts()
	require.NoError(t, err)
	_, err = s.Drafts()
	require.Error(t, err, "one regrade at a time")
	require.NoError(t, d.Append(Record("alice", "a", 1)))
	_, ok := d.ByKey("key of a")
	assert.True(t, ok)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "a second time")
	assert.Empty(t, s.Attempts())
	closed(t, s)

	s = open()
	defer closed(t, s)
	d, err = s.Drafts()
	require.NoError(t, err)
	kept, ok := d.ByKey("key of a")
	assert.True(t, ok)
	assert.Equal(t, Record("alice", "a", 1), kept)
	require.NoError(t, d.Discard())
	require.NoError(t, d.Close())
	d, err = s.Drafts()
	require.NoError(t, err)
	_, ok = d.ByKey("key of a")
	assert.False(t, ok, "they were discarded")
	require.NoError(t, d.Close())
}

// A name is any text.
func testNames(t *testing.T, open func() Opened) {
	s := open()
	list := []string{"ada lovelace", "a.b", "*", ">", "=41", "名前", "ada@example.org", "A", "a"}
	for _, name := range list {
		require.NoError(t, s.Append(Record(name, "content of "+name, 1)), name)
		require.NoError(t, s.UpdatePending([]results.Outcome{without(name, "newer", 9)}))
	}
	closed(t, s)
	s = open()
	defer closed(t, s)
	for _, name := range list {
		r, ok := s.Last(name, "autograd")
		require.True(t, ok, name)
		assert.Equal(t, "content of "+name, r.Content)
	}
	assert.Len(t, s.Attempts(), len(list))
	assert.Len(t, s.Pending(), len(list))
}
