package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Process accounting: the kernel writes a record of every process that ends, of any
// user and in any container. Sampling would miss processes that live for
// milliseconds.

// tick is the unit of CPU time in these records and in /proc.
const tick = time.Second / 100

// record is a struct acct_v3 of <linux/acct.h>.
type record struct {
	Flag, Version                                                 uint8
	TTY                                                           uint16
	ExitCode, UID, GID, PID, PPID, Began                          uint32
	Elapsed                                                       float32
	User, System, Memory, IO, RW, MinorFaults, MajorFaults, Swaps uint16
	Command                                                       [16]byte
}

const recordVersion = 3

// readRecords reads the kernel's accounting file.
func readRecords(r io.Reader) (list []record, err error) {
	for {
		var one record
		err := binary.Read(r, binary.NativeEndian, &one)
		switch {
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, err
		case one.Version&0xf != recordVersion:
			return nil, fmt.Errorf("accounting record has version %d, want %d", one.Version&0xf, recordVersion)
		}
		list = append(list, one)
	}
}

// cpu returns the CPU time of all threads. User and system time are each rounded
// down to whole ticks.
func (r record) cpu() time.Duration { return expand(r.User) + expand(r.System) }

// expand reads a comp_t: 13 bits, and 3 of an exponent to the base 8.
func expand(c uint16) time.Duration { return time.Duration(c&0x1fff) << (3 * (c >> 13)) * tick }

func (r record) command() string {
	name, _, _ := bytes.Cut(r.Command[:], []byte{0})
	return string(name)
}

// account is a running accounting of processes.
type account struct {
	file   string
	lock   *flock.Flock
	before map[process]time.Duration
	total  clocks
}

// process identifies a living process. The start time tells it from later processes
// with the same number.
type process struct {
	pid     int
	began   string
	command string
}

// clocks holds the times of all CPUs together.
type clocks struct{ all, idle time.Duration }

// accountLock names the lock file of the process that keeps accounts. The kernel writes
// to one file only, and would switch to another process's file silently.
const accountLock = "grade-account.lock"

// openAccount starts accounting to a new file.
func openAccount(file string) (*account, error) {
	for _, other := range []string{"/var/log/account/pacct", "/var/log/pacct"} {
		if _, err := os.Stat(other); err == nil {
			return nil, fmt.Errorf("the kernel already keeps accounts in %s, and it can use only one file", other)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return nil, err
	}
	a := &account{file: file, lock: flock.New(filepath.Join(os.TempDir(), accountLock))}
	if ok, err := a.lock.TryLock(); err != nil || !ok {
		return nil, errors.Join(errors.New("another bench is keeping accounts"), err)
	}
	if err := keepAccounts(file); err != nil {
		return nil, errors.Join(fmt.Errorf("keep accounts of processes, which needs root: %w", err), a.lock.Unlock())
	}
	var err error
	if a.before, a.total, err = living(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// close stops accounting.
func (a *account) close() error {
	if a == nil {
		return nil
	}
	return errors.Join(keepAccounts(""), a.lock.Unlock())
}

// bill stops accounting and sums up. last is the process that has ended last: its
// record proves that the kernel kept accounts to the end.
func (a *account) bill(last int) (b bill, err error) {
	after, total, err := living()
	if err := errors.Join(err, a.close()); err != nil {
		return b, err
	}
	f, err := os.Open(a.file)
	if err != nil {
		return b, err
	}
	defer f.Close()
	records, err := readRecords(f)
	if err != nil {
		return b, fmt.Errorf("read the accounts: %w", err)
	}
	if !slices.ContainsFunc(records, func(r record) bool { return int(r.PID) == last }) {
		return b, errors.New("the kernel did not keep accounts to the end: another program took them over, or the disk is full (see kernel.acct in sysctl)")
	}
	b = newBill(records, total.all-a.total.all, total.idle-a.total.idle)
	for p, spent := range after { // processes that are still alive, such as the engine
		b.add(p.command, spent-a.before[p])
	}
	return b, nil
}

// living reads the CPU times of all living processes and of the machine.
func living() (list map[process]time.Duration, total clocks, err error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil, clocks{}, err
	}
	if total, err = parseClocks(string(stat)); err != nil {
		return nil, clocks{}, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, clocks{}, err
	}
	list = map[process]time.Duration{}
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil { // not a process, or it has just ended
			continue
		}
		if p, spent, ok := parseProcess(string(stat)); ok {
			list[p] = spent
		}
	}
	return list, total, nil
}

// parseClocks reads the first line of /proc/stat: user, nice, system, idle, iowait,
// irq, softirq and steal, in ticks. Further fields are parts of the first two.
func parseClocks(stat string) (c clocks, err error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return c, fmt.Errorf("/proc/stat begins with %q", line)
	}
	for i, field := range fields[1:8] { // what was stolen, no program here could have had
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return c, fmt.Errorf("/proc/stat: %w", err)
		}
		c.all += time.Duration(n) * tick
		if i == 3 || i == 4 {
			c.idle += time.Duration(n) * tick
		}
	}
	return c, nil
}

// parseProcess reads /proc/PID/stat, in which a command can have spaces and
// parentheses.
func parseProcess(stat string) (p process, spent time.Duration, ok bool) {
	open, shut := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || shut < open {
		return p, 0, false
	}
	rest := strings.Fields(stat[shut+1:])
	if len(rest) < 20 {
		return p, 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(stat[:open]))
	user, err1 := strconv.ParseInt(rest[11], 10, 64)
	system, err2 := strconv.ParseInt(rest[12], 10, 64)
	p = process{pid: pid, began: rest[19], command: stat[open+1 : shut]}
	return p, time.Duration(user+system) * tick, errors.Join(err, err1, err2) == nil
}
