package process

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

const (
	lockRetry   = 100 * time.Millisecond
	warmMemory  = 4 << 30
	warmScratch = 1 << 30

	// warmFor is the time for which a filled cache counts as filled. The go command
	// deletes entries that were unused for some days, and filling a cache that is
	// still full takes a second.
	warmFor = 24 * time.Hour
)

// fillCache runs the warm build, unless a recent one exists. It uses a cache of
// grade's own: the user's may be read-only, huge, or filled with other flags. One
// process at a time fills it; a process that waited finds the cache filled.
func (s *Sandbox) fillCache(ctx context.Context) (string, error) {
	cache, err := toolchain.CacheDir("go-build-" + s.toolchain.Version)
	if err != nil {
		return "", err
	}
	return cache, s.warmOnce(ctx, cache, s.config.Warm, "compiling the standard library for submissions")
}

// fillRaceCache fills the same cache for the race detector.
func (s *Sandbox) fillRaceCache(ctx context.Context) error {
	if _, err := s.toolchain.Race(ctx, s.cache, warmFor); err != nil {
		return err
	}
	return s.warmOnce(ctx, s.cache, s.config.Race, "compiling the standard library for the race detector")
}

// warmOnce fills a cache, unless a recent fill exists.
func (s *Sandbox) warmOnce(ctx context.Context, cache string, w sandbox.Warm, progress string) error {
	// The go command ignores unknown files in its cache.
	warm := filepath.Join(cache, fmt.Sprintf("grade-warm-%.8x", sha256.Sum256([]byte(w.Key))))
	lock := flock.New(filepath.Join(cache, "grade.lock"))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return err
	}
	defer lock.Unlock()
	if info, err := os.Stat(warm); err == nil && time.Since(info.ModTime()) < warmFor {
		return nil
	}
	s.config.Progress(progress, 0, 0)
	if err := s.warm(ctx, cache, w); err != nil {
		return err
	}
	return os.WriteFile(warm, nil, 0o600)
}

func (s *Sandbox) warm(ctx context.Context, cache string, w sandbox.Warm) error {
	b, err := s.start(ctx, sandbox.Spec{Purpose: sandbox.Build, Memory: warmMemory, Scratch: warmScratch}, cache)
	if err != nil {
		return err
	}
	defer b.Close()
	return w.Fill(ctx, b)
}
