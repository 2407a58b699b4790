package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const printed = `goos: linux
BenchmarkChain/reference-2   	      10	       200 ns/op	      48 B/op	       2 allocs/op
BenchmarkChain/two-pass-2    	      10	       900 ns/op	       0 B/op	       0 allocs/op
BenchmarkAlone-2             	      10	       900 ns/op	       0 B/op	       0 allocs/op
BenchmarkWide/naive          	      10	       1e3 ns/op	       0 B/op	       0 allocs/op
BenchmarkWide/reference      	      10	       500 ns/op	       0 B/op	       0 allocs/op
BenchmarkSum/rows/reference-2 	      10	       500 ns/op	       0 B/op	       0 allocs/op
BenchmarkSum/rows/of-3-2     	      10	       400 ns/op	       0 B/op	       0 allocs/op
BenchmarkSum/all/reference-2 	      10	       300 ns/op	       0 B/op	       0 allocs/op
PASS
`

func TestResults(t *testing.T) {
	var r results
	for _, out := range []string{printed, strings.ReplaceAll(printed, "900", "700"), strings.ReplaceAll(printed, "900", "600")} {
		require.NoError(t, r.read(strings.NewReader(out)))
	}
	var b strings.Builder
	require.NoError(t, r.print(&b, "course/reference/chain"))
	assert.Equal(t, `
course/reference/chain

  Chain                                time    ratio       bytes/op    allocs/op
    reference                         200ns    1.00x             48            2
    two-pass                          700ns    3.50x              0            0

  Wide                                 time    ratio       bytes/op    allocs/op
    naive                               1µs    2.00x              0            0
    reference                         500ns    1.00x              0            0

  Sum/rows                             time    ratio       bytes/op    allocs/op
    reference                         500ns    1.00x              0            0
    of-3                              400ns    0.80x              0            0

  Sum/all                              time    ratio       bytes/op    allocs/op
    reference                         300ns    1.00x              0            0
`, b.String())
}

func TestResultsWithoutReference(t *testing.T) {
	var r results
	require.NoError(t, r.read(strings.NewReader("BenchmarkChain/naive 1 5 ns/op\n")))
	assert.ErrorContains(t, r.print(&strings.Builder{}, "p"), `benchmark Chain has no contender called "reference"`)
	assert.ErrorContains(t, r.read(strings.NewReader("BenchmarkChain/naive 1 5x ns/op\n")), "5x")
}
