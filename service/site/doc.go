// Package site is the pages and the JSON API of a course: what students hand in and read,
// what staff look at, how everybody gets in. It grades nothing and keeps nothing: an
// [Engine] does. What a role may do is a column of one table, [Routes].
//
// Each address answers with a page, or with the same as JSON where the request says Accept:
// application/json. Pages work without JavaScript; with it, files can be dropped and checks
// come in live. Nothing is loaded from elsewhere, and a strict policy on content says so.
//
// What a submission can put into a result is hostile until written: all of it goes through
// html/template, encoding/json, or the writers of grader/report.
package site
