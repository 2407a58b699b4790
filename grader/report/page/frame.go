package page

import (
	"io"

	"grade/grader/gradebook"
	"grade/grader/verdict"
)

// The functions here are for a site that shows reports in a frame of its own: what stands
// in the element main of a page, and the style sheet and the script to link to. A link does
// for both, where a file that needs no other has to carry them.

// GradingMain writes what [Grading] has in its element main.
func GradingMain(w io.Writer, r *verdict.Result, student string, counted *gradebook.Cell) error {
	data, err := newPage(r, student, counted)
	if err != nil {
		return err
	}
	return gradingPage.ExecuteTemplate(w, "main", data)
}

// CourseMain writes what [Course] has in its element main, which is of the class course.
func CourseMain(w io.Writer, b *gradebook.Book, pages Pages) error {
	if pages == nil {
		pages = func(string, string) string { return "" }
	}
	data, err := newCourse(b, pages)
	if err != nil {
		return err
	}
	return coursePage.ExecuteTemplate(w, "main", data)
}

// Style is the style sheet of both pages.
func Style() string { return courseStyle }

// Script sorts and filters the gradebook of [CourseMain].
func Script() string { return courseScript }
