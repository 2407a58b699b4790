// Package report writes a grading down: one file a format, each a function of a
// [verdict.Result] and nothing else. It decides nothing about points and asks no
// clock, file or terminal; the same result gives the same bytes.
//
// What a submission can put into a result (file names, messages, details, its
// folder's name) is hostile until written: each format escapes for the place where
// it is read.
package report
