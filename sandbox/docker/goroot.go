package docker

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/docker/docker/api/types/image"

	"grade/sandbox/toolchain"
)

// rootKey identifies the toolchain of the build image.
func (e *Engine) rootKey(ctx context.Context) (string, error) {
	if e.config.BuildImage != "" {
		return "image " + e.config.BuildImage, nil
	}
	g, err := toolchain.Find(ctx)
	if err != nil {
		return "", err
	}
	version, err := os.ReadFile(filepath.Join(g.Root, "VERSION"))
	return fmt.Sprintf("goroot %s %s", e.arch, version), err
}

// baseImage returns an image with a toolchain: Config.BuildImage, or one made of
// this machine's GOROOT.
func (e *Engine) baseImage(ctx context.Context) (string, error) {
	if name := e.config.BuildImage; name != "" {
		ok, err := e.has(ctx, name)
		if !ok && err == nil {
			err = e.pull(ctx, name)
		}
		return name, err
	}
	g, err := toolchain.Find(ctx)
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != e.arch {
		return "", fmt.Errorf("this machine's Go is for %s/%s and the engine needs linux/%s: name a build image that has one, such as golang:%s",
			runtime.GOOS, runtime.GOARCH, e.arch, strings.TrimPrefix(g.Version, "go"))
	}
	key, err := e.rootKey(ctx)
	if err != nil {
		return "", err
	}
	base := tag(rootRepository, key)
	if ok, err := e.has(ctx, base); ok || err != nil {
		return base, err
	}
	if err := e.importRoot(ctx, base, g.Root); err != nil {
		return "", err
	}
	e.prune(ctx, base)
	return base, nil
}

func (e *Engine) pull(ctx context.Context, name string) error {
	e.config.Progress("pulling "+name, 0, 0)
	response, err := e.client.ImagePull(ctx, name, image.PullOptions{})
	if err != nil {
		return err
	}
	defer response.Close()
	return streamError(response)
}

// rootFile is one file of a GOROOT.
type rootFile struct {
	path string // on this machine
	name string // below the GOROOT, slash-separated
	size int64
}

// rootFiles lists the files of a GOROOT that a build needs: the go command, the
// tools, and the standard library's sources without its tests. It follows links,
// because some distributions keep the sources elsewhere.
func rootFiles(root string) ([]rootFile, error) {
	var files []rootFile
	for _, part := range []string{"VERSION", "go.env", "bin/go", "pkg/include", "pkg/tool/" + runtime.GOOS + "_" + runtime.GOARCH, "src"} {
		top, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(part)))
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			below, err := filepath.Rel(top, file)
			if err != nil {
				return err
			}
			name := path.Join(part, filepath.ToSlash(below))
			if d.IsDir() && (name == "src/cmd" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			files = append(files, rootFile{file, name, info.Size()})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// importRoot makes an image of a trimmed GOROOT.
func (e *Engine) importRoot(ctx context.Context, tag, root string) error {
	files, err := rootFiles(root)
	if err != nil {
		return err
	}
	var sent, total int64
	for _, f := range files {
		total += f.size
	}
	return e.importTar(ctx, tag, func(w *tar.Writer) error {
		for _, file := range files {
			n, err := addRootFile(w, file)
			if err != nil {
				return err
			}
			sent += n
			e.config.Progress("copying the Go toolchain", sent, total)
		}
		return nil
	})
}

func addRootFile(w *tar.Writer, file rootFile) (int64, error) {
	f, err := os.Open(file.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	mode := int64(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	err = w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: strings.TrimPrefix(goRoot, "/") + "/" + file.name,
		Mode: mode, Size: info.Size(), ModTime: info.ModTime(), Format: tar.FormatPAX,
	})
	if err != nil {
		return 0, err
	}
	return io.Copy(w, f)
}

// streamError reads an engine's progress messages to their end and returns the
// error among them, if any: the engine sends the call's status before it works.
func streamError(r io.Reader) error {
	for d := json.NewDecoder(r); ; {
		var m struct {
			Error string `json:"error"`
		}
		err := d.Decode(&m)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.Error != "" {
			return errors.New(m.Error)
		}
	}
}
