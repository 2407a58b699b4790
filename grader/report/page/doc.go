// Package page writes reports as web pages: [Grading] for a student, [Course] for the
// teachers of a course. A page is one file. It loads nothing and runs nothing, because
// its own policy forbids both, and it reads well on a phone, in the dark and aloud.
//
// The caller passes a result or a gradebook and gets bytes. Templates, style sheets and
// plots stay inside: no other format draws, and no other format depends on how a page is
// laid out. Its sentences come from package wording, as in every format.
//
// The steps of a page are: turn the model into plain words, draw what was measured as an
// SVG ([gonum.org/v1/plot], whose output is written anew so that it carries no style),
// and let html/template put both into their places. Only the style sheet and the drawn
// plots pass unescaped.
package page
