// Package report writes the result of a grading in one of many formats. Each format is one
// file, and a function of a [verdict.Result] or a [gradebook.Book] alone: the package
// awards no points and reads no clock, file or terminal, so that the same result gives the
// same bytes.
//
// What a submission can put into a result (file names, messages, details, its folder's
// name) is hostile until written: each format escapes for the place where it is read.
package report
