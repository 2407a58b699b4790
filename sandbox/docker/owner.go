package docker

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/system"
)

// OwnerLabel names the process that a container belongs to, as "<boot
// id>/<namespace> <process> <its start time> <its engine>", which stays unique when
// process numbers are reused. The last part is random: a process that opens a second
// engine, to see whether it answers, must not remove the containers of the first.
const OwnerLabel = "grade.owner"

// strayAge is the age at which a container counts as left behind if its owner is in
// another boot or namespace, where it cannot be looked up. A box of a reference waits
// for the next grading, as long as a batch takes.
const strayAge = 6 * time.Hour

// owner returns the label's value for one more engine of this process.
func owner() (string, error) {
	boot, err := bootID()
	if err != nil {
		return "", err
	}
	start, err := startTime(os.Getpid())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %s %s", boot, os.Getpid(), start, rand.Text()), nil
}

// bootID identifies the scope of process numbers: this boot of this machine, and
// the process's namespace. Two graders in different containers can share an engine
// and must not take each other for dead. The host's name replaces a boot id that
// cannot be read.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		name, err := os.Hostname()
		return "host:" + name, err
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(b)) + "/" + namespace, err
}

// startTime returns the start of a process, in the kernel's ticks since boot: field
// 22 of its stat, the 20th behind the name in parentheses. Without /proc it is
// always "0", so every process counts as alive. The start of one that has ended and was not
// waited for is "ended": what does not wait for its children, as the first process of many
// a container, keeps their numbers for ever.
func startTime(pid int) (string, error) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return "0", nil
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	if state := string(fields[0]); state == "Z" || state == "X" {
		return "ended", nil
	}
	return string(fields[19]), nil
}

// orphaned reports whether the process that label names is certainly dead.
func orphaned(label, boot string, created, now time.Time) bool {
	var theirBoot, start string
	var pid int
	if _, err := fmt.Sscanf(label, "%s %d %s", &theirBoot, &pid, &start); err != nil {
		return now.Sub(created) > strayAge
	}
	if theirBoot != boot {
		return now.Sub(created) > strayAge
	}
	if dead(pid) {
		return true
	}
	// A living process whose start time cannot be read counts as the owner.
	got, err := startTime(pid)
	return err == nil && got != start
}

// sweep removes containers whose owner is dead, and the engine's own: it runs before the
// first box is made and after the last is closed. A supervisor ends with its owner by
// itself; sweep removes containers that never started or did not end.
func (e *Engine) sweep(ctx context.Context) error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	list, err := asked(ctx, func(ctx context.Context) ([]container.Summary, error) {
		return e.client.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", OwnerLabel))})
	})
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	for _, c := range list {
		label := c.Labels[OwnerLabel]
		if label != "" && (label == e.owner || orphaned(label, boot, time.Unix(c.Created, 0), clock(e.info))) {
			call, cancel := bounded(ctx)
			// Another grade may remove it at the same time, so an error is fine.
			_ = e.client.ContainerRemove(call, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
			cancel()
		}
	}
	return nil
}

// clock is what the engine's clock showed when it was opened: the ages of containers are
// by that clock, and another machine's may differ. Without it no container is old.
func clock(info system.Info) time.Time {
	now, _ := time.Parse(time.RFC3339Nano, info.SystemTime)
	return now
}
