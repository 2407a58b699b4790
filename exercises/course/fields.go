package course

import (
	"maps"
	"slices"
	"time"

	"grade/exercises/course/document"
)

// Fields lists the fields of each mapping in exercise.yaml, equivalent.yaml, grade.yaml
// and chapters.yaml, under names such as "exercise" for the top and "exercise/limits" for a
// mapping below. A test compares the schemas for editors with it.
func Fields() map[string][]string {
	d := document.File{Faults: &document.Faults{}}
	cfg, policy := &config{Exercise: &Exercise{}}, &policyReader{Policy: NewPolicy(), File: d}
	chapters := &chapterReader{}
	named := map[string][]string{}
	for mapping, fields := range map[string]document.Fields{
		"exercise":          cfg.fields(d),
		"exercise/limits":   (&Limits{}).fields(),
		"exercise/check":    (&checkConfig{}).fields(),
		"equivalent":        equivalentFields(d, nil),
		"equivalent/mutant": (&Equivalent{}).fields(),
		"grade":             policy.fields(),
		"grade/rules":       policy.rules(&Rules{}),
		"grade/late":        (&Late{}).fields(),
		"grade/extension":   (&Extension{}).fields(time.UTC),
		"chapters":          chapters.fields(),
		"chapters/chapter":  chapters.chapter(&Chapter{}),
		"chapters/entry":    (&Entry{}).fields(),
	} {
		named[mapping] = slices.Collect(maps.Keys(fields))
	}
	return named
}
