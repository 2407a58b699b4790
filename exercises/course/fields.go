package course

import (
	"maps"
	"slices"
	"time"

	"grade/exercises/course/document"
)

// Fields names the fields that are read of each mapping in exercise.yaml,
// equivalent.yaml and grade.yaml, as in "exercise" for those at the top and
// "exercise/limits" for those below. The schemas for editors are held against it.
func Fields() map[string][]string {
	d := document.File{Faults: &document.Faults{}}
	cfg, policy := &config{Exercise: &Exercise{}}, &policyReader{Policy: NewPolicy(), File: d}
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
	} {
		named[mapping] = slices.Collect(maps.Keys(fields))
	}
	return named
}
