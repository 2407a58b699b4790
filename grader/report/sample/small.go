package sample

import (
	"time"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/verdict"
)

// Policy returns rules that use every field.
func Policy() *course.Policy {
	p := course.NewPolicy()
	p.Title = "Deep Learning"
	due := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	p.Exercises = []course.Rules{
		{Exercise: "autograd", Weight: 2, Due: due, Attempts: 2, Count: course.CountBest, Canvas: "Autograd (4711)",
			Late: &course.Late{Grace: 5 * time.Minute, Deduct: 10, Per: 24 * time.Hour, Most: 50, Until: 72 * time.Hour}},
		{Exercise: "cosine", Weight: 1, Count: course.CountLast},
	}
	p.Extensions = []course.Extension{{Student: "grace", Due: due.AddDate(0, 0, 7)}}
	return p
}

// attempt is one of the samples, handed in so many hours after it was due.
func attempt(student, exercise string, number int, hours int, r *verdict.Result) gradebook.Attempt {
	r.Exercise = exercise
	return gradebook.Attempt{
		Student: student, Exercise: exercise, Number: number, Submitted: Policy().Exercises[0].Due.Add(time.Duration(hours) * time.Hour),
		Source: "the commit", Folder: "submissions/" + student + "/" + exercise, Result: r,
	}
}

// SmallCourse returns a course with every state that a submission can be in.
func SmallCourse() *gradebook.Book {
	b := gradebook.New(Policy(), nil, []gradebook.Attempt{
		attempt("ada", "autograd", 1, -5, Mixed()), attempt("ada", "autograd", 2, 30, AllPoints()), attempt("ada", "autograd", 3, 31, AllPoints()),
		attempt("ada", "cosine", 1, 0, AllPoints()),
		attempt("grace", "autograd", 1, 100, AllPoints()), attempt("grace", "cosine", 1, 0, Invalid()),
		attempt("margaret", "autograd", 1, 200, Mixed()), attempt("margaret", "cosine", 1, 0, CompileError()),
		attempt("tony", "autograd", 1, -1, Mixed()),
	}, []gradebook.Missing{
		{Student: "barbara", Exercise: "cosine", Folder: "submissions/barbara/cosine", Why: Secret},
		{Student: "margaret", Exercise: "cosine", Folder: "submissions/margaret/cosine", Why: Secret},
		{Student: "tony", Folder: "submissions/tony/notes", Why: Secret, Told: "no Go file in the submission"},
	})
	b.Roster = gradebook.Roster{
		{Name: "Lovelace, Ada", ID: "101", SISUserID: "S1", SISLoginID: "ada", Section: "Monday"},
		{Name: "Hoare, Tony", ID: "103", SISLoginID: "tony"},
		{Name: "Dijkstra, Edsger", ID: "104", SISLoginID: "edsger", Section: "Monday"},
		{Name: "Hopper, Grace", ID: "102", SISUserID: "GRACE", SISLoginID: "GRACE", Section: "Tuesday"},
	}
	return b
}

// RunOfCourse returns the part of a course that one run is about.
func RunOfCourse() *gradebook.Book {
	repeated := attempt("ada", "autograd", 1, -5, Mixed())
	repeated.Current = true
	b := gradebook.New(Policy(), []string{"matmul"}, []gradebook.Attempt{
		repeated, attempt("ada", "autograd", 2, -4, AllPoints()),
		attempt("cem", "cosine", 1, -2, AllPoints()), attempt("cem", "cosine", 2, -1, CompileError()),
		attempt("tony", "autograd", 1, -1, CompileError()),
	}, []gradebook.Missing{{Student: "tony", Exercise: "autograd", Folder: "submissions/tony/autograd", Why: Secret}})
	b.Part()
	return b
}

// Secret is an error of ours. No report may contain it.
const Secret = "a secret of the machine"
