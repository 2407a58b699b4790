package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"gopkg.in/yaml.v3"

	"grade/bench/gotest"
	"grade/exercises/course"
	"grade/sandbox/toolchain"
)

// goJudge is contender d: the same build and the same hidden tests, each in a process of its
// own, through a go-judge that is up already and has its containers ready. It runs the
// submission only: neither the reference nor a judge.
type goJudge struct {
	*bare
	engine  *gotest.Engine
	root    string // GOROOT
	address string
	server  *exec.Cmd
	said    bytes.Buffer
}

const (
	judgeTree  = "/course" // where the module lies in its containers
	judgeCache = "/cache"  // where the build cache lies
	judgeUp    = 20 * time.Second
)

// newGoJudge starts a server and builds once, which fills the build cache. The engine says how
// the grader builds.
func newGoJudge(ctx context.Context, program string, engine *gotest.Engine, g toolchain.Go, e *course.Exercise) (j *goJudge, err error) {
	b, err := newTree(g, e)
	if err != nil {
		return nil, err
	}
	j = &goJudge{bare: b, engine: engine, root: g.Root}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	if err := j.start(ctx, program); err != nil {
		return nil, fmt.Errorf("start %s: %w: %s", program, err, j.said.Bytes())
	}
	_, err = j.round(ctx)
	return j, err
}

func (j *goJudge) start(ctx context.Context, program string) (err error) {
	mounts, err := j.mounts()
	if err != nil {
		return err
	}
	if j.address, err = freeAddress(); err != nil {
		return err
	}
	j.server = exec.CommandContext(ctx, program, "-http-addr", j.address, "-mount-conf", mounts, "-dir", j.at("files"), "-pre-fork", strconv.Itoa(runtime.NumCPU()), "-no-fallback", "-silent")
	j.server.Dir, j.server.Stdout, j.server.Stderr = j.dir, &j.said, &j.said
	if err := j.server.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, judgeUp)
	defer cancel()
	return j.up(ctx)
}

// freeAddress is one on which nothing listens just now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// up waits until the server answers.
func (j *goJudge) up(ctx context.Context) error {
	for {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+j.address+"/version", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(q); err == nil {
			return answer.Body.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mounts writes what a container sees, and returns the file's name.
func (j *goJudge) mounts() (string, error) {
	type mount struct {
		Type, Source, Target, Data string
		Readonly                   bool
	}
	for _, name := range []string{"cache", "files"} {
		if err := os.Mkdir(j.at(name), 0o700); err != nil {
			return "", err
		}
	}
	if err := openToAll(j.dir); err != nil {
		return "", err
	}
	conf := map[string]any{"workDir": "/w", "uid": 1536, "gid": 1536, "proc": true, "mount": []mount{
		{Type: "bind", Source: j.root, Target: j.root, Readonly: true},
		{Type: "bind", Source: j.at("work"), Target: judgeTree, Readonly: true},
		{Type: "bind", Source: j.at("cache"), Target: judgeCache},
		{Type: "bind", Source: "/dev/null", Target: "/dev/null"},
		{Type: "tmpfs", Target: "/w", Data: "size=256m"},
		{Type: "tmpfs", Target: "/tmp", Data: "size=256m"},
	}}
	data, err := yaml.Marshal(conf)
	if err != nil {
		return "", err
	}
	return j.at("mount.yaml"), os.WriteFile(j.at("mount.yaml"), data, 0o600)
}

// openToAll lets the user of a container read and write what lies in a folder.
func openToAll(dir string) error {
	return filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(name, 0o777)
	})
}

func (j *goJudge) close() {
	if j.server != nil && j.server.Process != nil {
		_ = j.server.Process.Signal(os.Interrupt)
		_ = j.server.Wait()
	}
	j.bare.close()
}

func (j *goJudge) round(ctx context.Context) (time.Duration, error) {
	if err := j.renew(); err != nil {
		return 0, err
	}
	if err := openToAll(j.at("work")); err != nil {
		return 0, err
	}
	started := time.Now()
	program, err := j.compile(ctx)
	if err != nil {
		return 0, err
	}
	group, running := errgroup.WithContext(ctx)
	for _, test := range gotest.Tests(j.exercise) { // the server runs as many at a time as there are CPUs
		group.Go(func() error {
			_, err := j.run(running, judgeRun{
				Args: []string{"hidden.test", "-test.run=^" + test + "$", "-test.count=1"}, Env: gotest.RuntimeOf(j.exercise), CopyIn: map[string]judgeFile{"hidden.test": {FileID: program}},
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	took := time.Since(started)
	return took, j.forget(ctx, program)
}

// compile returns the number under which the server keeps the program.
func (j *goJudge) compile(ctx context.Context) (string, error) {
	args, settings := j.engine.Build("/w/hidden.test", j.exercise)
	build := slices.Concat([]string{j.command, args[0], "-C", judgeTree}, args[1:])
	r, err := j.run(ctx, judgeRun{Args: build, CopyOutCached: []string{"hidden.test"}, Env: append(settings,
		"PATH="+j.root+"/bin", "HOME=/tmp", "GOCACHE="+judgeCache, "GOTOOLCHAIN=local", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0",
	)})
	return r.FileIDs["hidden.test"], err
}

type judgeFile struct {
	FileID string `json:"fileId,omitempty"`
	Name   string `json:"name,omitempty"`
	Max    int    `json:"max,omitempty"`
}

// judgeRun is one command, with the limits of an exercise.
type judgeRun struct {
	Args          []string             `json:"args"`
	Env           []string             `json:"env"`
	Files         []any                `json:"files"`
	CPULimit      time.Duration        `json:"cpuLimit"`
	ClockLimit    time.Duration        `json:"clockLimit"`
	MemoryLimit   int64                `json:"memoryLimit"`
	ProcLimit     int                  `json:"procLimit"`
	CopyIn        map[string]judgeFile `json:"copyIn,omitempty"`
	CopyOutCached []string             `json:"copyOutCached,omitempty"`
}

type judgeResult struct {
	Status  string
	Files   map[string]string
	FileIDs map[string]string `json:"fileIds"`
	Error   string
}

func (j *goJudge) run(ctx context.Context, r judgeRun) (got judgeResult, err error) {
	limits := j.exercise.Limits
	r.CPULimit, r.ClockLimit, r.MemoryLimit, r.ProcLimit = 4*limits.CPU, 4*limits.Wall, max(limits.Memory, 1<<30), 256
	r.Files = []any{map[string]string{"content": ""}, judgeFile{Name: "stdout", Max: int(limits.Output)}, judgeFile{Name: "stderr", Max: int(limits.Output)}}
	body, err := json.Marshal(map[string]any{"cmd": []judgeRun{r}})
	if err != nil {
		return got, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+j.address+"/run", bytes.NewReader(body))
	if err != nil {
		return got, err
	}
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return got, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return got, err
	}
	var list []judgeResult
	if err := json.Unmarshal(data, &list); err != nil || len(list) != 1 {
		return got, errors.Join(fmt.Errorf("go-judge says %.300q", data), err)
	}
	if got = list[0]; got.Status != "Accepted" {
		return got, fmt.Errorf("go-judge says %s of %v: %s %s", got.Status, r.Args, got.Error, got.Files)
	}
	return got, nil
}

// forget removes a program that the server keeps.
func (j *goJudge) forget(ctx context.Context, program string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+j.address+"/file/"+program, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("go-judge says %s of the program to be removed", answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}
