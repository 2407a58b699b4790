package docker

import (
	"archive/tar"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"grade/sandbox"
	"grade/sandbox/toolchain"
)

// Programs with the race detector have two images of their own, made when a grading first
// needs them. The one that they are built in is the build image with more in its cache.
// The one that they run in is the run image with the C library that they load, which is
// this machine's: the engine's containers have this machine's architecture, and the
// detector is linked against nothing else.
const (
	raceRunRepository   = "grade-race-run"
	raceBuildRepository = "grade-race-build"
)

// race compiles, on this machine, what gcc has to compile; [toolchain.Go.Race] says within.
func (e *Engine) race(ctx context.Context, within time.Duration) (toolchain.Race, error) {
	if e.config.BuildImage != "" {
		return toolchain.Race{}, fmt.Errorf("%w: submissions are built in an image, %s, and not with this machine's toolchain", sandbox.ErrNoRace, e.config.BuildImage)
	}
	g, err := toolchain.Find(ctx)
	if err != nil {
		return toolchain.Race{}, err
	}
	if e.arch != runtime.GOARCH {
		return toolchain.Race{}, fmt.Errorf("%w: the engine is for %s and this machine for %s", sandbox.ErrNoRace, e.arch, runtime.GOARCH)
	}
	cache, err := toolchain.CacheDir("race-" + g.Version)
	if err != nil {
		return toolchain.Race{}, err
	}
	return g.Race(ctx, cache, within)
}

// raceRunImage makes an image of the supervisor and the libraries, where a program looks
// for them.
func (e *Engine) raceRunImage(ctx context.Context) (string, error) {
	supervisor, err := e.supervisor(ctx)
	if err != nil {
		return "", err
	}
	run, _, err := e.tags(ctx, supervisor)
	if err != nil {
		return "", err
	}
	race, err := e.race(ctx, 0)
	if err != nil {
		return "", err
	}
	made := tag(raceRunRepository, run, race.Key)
	return made, e.ensure(ctx, made, e.has, func(ctx context.Context) error {
		e.config.Progress("making the image that programs with the race detector run in", 0, 0)
		return e.importTar(ctx, made, func(w *tar.Writer) error {
			if err := addSupervisor(w, supervisor); err != nil {
				return err
			}
			return addFiles(w, race.Libraries, func(file string) string { return file })
		})
	})
}

// raceBuildImage makes the build image with a cache for the race detector: the packages
// that gcc has compiled come from this machine, the others are compiled in the image.
func (e *Engine) raceBuildImage(ctx context.Context) (string, error) {
	if err := e.Prepare(ctx, sandbox.Build); err != nil {
		return "", err
	}
	base := e.images.build.name()
	race, err := e.race(ctx, 0)
	if err != nil {
		return "", err
	}
	made := tag(raceBuildRepository, base, race.Key, e.config.Race.Key)
	return made, e.ensure(ctx, made, e.hasWithVolume(&e.images.raceBuild), func(ctx context.Context) error {
		e.config.Progress("compiling the standard library for the race detector", 0, 0)
		if race, err = e.race(ctx, toolchain.RaceFresh); err != nil {
			return err
		}
		compiled, err := cacheFiles(race.Cache)
		if err != nil {
			return err
		}
		from, err := e.warm(ctx, base, e.config.Race, func(w *tar.Writer) error {
			return addFiles(w, compiled, func(file string) string {
				return path.Join(goCache, filepath.ToSlash(strings.TrimPrefix(file, race.Cache)))
			})
		})
		if err != nil {
			return err
		}
		return e.fillVolume(ctx, &e.images.raceBuild, from, made)
	})
}

// cacheFiles lists the entries of a build cache, which lie in folders, and the library.
func cacheFiles(cache string) (files []string, err error) {
	err = filepath.WalkDir(cache, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (filepath.Dir(file) != cache || d.Name() == sandbox.CompilerLibrary) {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

// addFiles copies this machine's files to an archive, under the names that as gives them.
func addFiles(w *tar.Writer, files []string, as func(string) string) error {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		err = w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: strings.TrimPrefix(as(file), "/"), Mode: 0o755, Size: int64(len(data)),
			ModTime: time.Now(), Format: tar.FormatPAX,
		})
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}
