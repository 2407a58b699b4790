package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func recordOf(command string, user, system uint16) (r record) {
	r.Version, r.User, r.System = recordVersion, user, system
	copy(r.Command[:], command)
	return r
}

func TestReadRecords(t *testing.T) {
	var b bytes.Buffer
	want := []record{recordOf("compile", 7, 1), recordOf("sixteen-letters-", 0, 0)}
	require.NoError(t, binary.Write(&b, binary.NativeEndian, want))
	assert.Equal(t, 128, b.Len(), "sizeof(struct acct_v3)")
	whole := b.Bytes()
	got, err := readRecords(bytes.NewReader(whole))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, "compile", got[0].command())
	assert.Equal(t, 80*time.Millisecond, got[0].cpu())
	assert.Equal(t, "sixteen-letters-", got[1].command())

	_, err = readRecords(bytes.NewReader(whole[:100]))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "half a record")
	_, err = readRecords(bytes.NewReader(make([]byte, 64)))
	assert.ErrorContains(t, err, "version 0")
}

// expand reads 13 bits and an exponent to the base 8.
func TestExpand(t *testing.T) {
	for c, ticks := range map[uint16]int{0: 0, 5: 5, 0x1fff: 0x1fff, 1<<13 | 0x400: 0x2000, 2<<13 | 3: 192} {
		assert.Equal(t, time.Duration(ticks)*tick, expand(c), "%#x", c)
	}
}

func TestParseProc(t *testing.T) {
	c, err := parseClocks("cpu  10 1 20 100 5 2 3 4 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	require.NoError(t, err)
	assert.Equal(t, clocks{all: 141 * tick, idle: 105 * tick}, c)
	_, err = parseClocks("cpu  10 1\n")
	require.ErrorContains(t, err, "/proc/stat begins with")

	p, spent, ok := parseProcess("42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0 20 0 1 0 777 0 0")
	assert.True(t, ok)
	assert.Equal(t, process{42, "777", "a) b (c"}, p)
	assert.Equal(t, 42*tick, spent)
	for _, bad := range []string{"", "version 6", "1 (x) S 1"} {
		_, _, ok = parseProcess(bad)
		assert.False(t, ok, bad)
	}
}

// Each command's time goes to one item, unknown commands to the last.
func TestBill(t *testing.T) {
	b := newBill([]record{
		recordOf("compile", 30, 10), recordOf("hidden.test", 10, 0), recordOf("supervisor", 5, 0), recordOf("runc:[2:INIT]", 2, 0), recordOf("grade", 1, 0), recordOf("cat", 1, 0),
	}, 200*tick, 100*tick)
	b.add("dockerd", 3*tick)
	var cpu []time.Duration
	for _, it := range b.items {
		cpu = append(cpu, it.cpu)
	}
	assert.Equal(t, []time.Duration{50 * tick, 5 * tick, 5 * tick, tick, tick}, cpu)
	text := b.String()
	assert.Contains(t, text, "compilers and tests             25.0 %  ████████                          500ms, and up to 40ms more in 2 processes\n")
	assert.Contains(t, text, "idle                            50.0 %")
	assert.Contains(t, text, "interrupts, parts of ticks      19.0 %")
	for _, all := range []time.Duration{0, -tick} { // clocks that stand still or go back
		assert.Contains(t, bill{all: all, idle: all, items: b.items}.String(), "idle")
	}
}

// openAccount and bill read the records of a real kernel.
func TestKeepAccounts(t *testing.T) {
	dir := t.TempDir()
	a, err := openAccount(filepath.Join(dir, "account"))
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	defer func() { _ = a.close() }()
	self, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(dir, "grade")
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, data, 0o700))
	_, err = openAccount(filepath.Join(dir, "another"))
	require.ErrorContains(t, err, "another bench")
	var cmd *exec.Cmd
	for now := a.total; now.all <= a.total.all; { // until the kernel's clock has advanced
		cmd = exec.Command(program, "-test.run=^$")
		require.NoError(t, cmd.Run())
		_, now, err = living()
		require.NoError(t, err)
	}
	b, err := a.bill(cmd.Process.Pid)
	require.NoError(t, err)
	i := slices.IndexFunc(billGroups, func(p billGroup) bool { return p.name == "grade" })
	assert.Positive(t, b.items[i].ended)
	assert.Positive(t, b.all)
	assert.Equal(t, len(billGroups)+4, strings.Count(b.String(), "\n"))
}

// There is no bill if another program takes the accounts over.
func TestAccountsTakenOver(t *testing.T) {
	dir := t.TempDir()
	a, err := openAccount(filepath.Join(dir, "account"))
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, keepAccounts(other))
	cmd := exec.Command("true")
	require.NoError(t, cmd.Run())
	_, err = a.bill(cmd.Process.Pid)
	require.ErrorContains(t, err, "to the end")
}
