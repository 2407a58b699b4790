package course

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"hash"
	"io/fs"
	"path"
	"slices"
	"strings"

	"grade/exercises/course/document"
)

// Load reads one exercise and checks all of it. An error names every fault, each as a
// [document.Fault]; it wraps [fs.ErrNotExist] if the course has no such exercise.
func (c *Course) Load(name string) (*Exercise, error) {
	p := &document.Faults{Doing: "load exercise " + name}
	if !IsName(name) {
		return nil, fmt.Errorf("%s: a name consists of a to z and 0 to 9 and begins with a letter", p.Doing)
	}
	data, err := fs.ReadFile(c.fsys, path.Join(ExercisesDir, name, configFile))
	if err != nil {
		return nil, c.absent(p.Doing, err)
	}
	module, err := c.module()
	if err != nil {
		return nil, fmt.Errorf("%s: go.mod: %w", p.Doing, err)
	}
	e := &Exercise{Name: name, Module: module, ImportPath: path.Join(module, referenceDir, name)}
	cfg := readConfig(data, e, p)
	c.readFiles(e, p)
	cfg.addChecks(inspectHidden(e, p), p)
	e.checkGo(p)
	e.checkProvided(cfg.line["provided"], p)
	if err := p.Join(); err != nil {
		return nil, err
	}
	e.Hash = e.hash(data)
	return e, nil
}

// LoadAll reads every exercise, sorted by name, that can be read, and says what is wrong with
// the others.
func (c *Course) LoadAll() (list []*Exercise, broken []error, err error) {
	names, err := c.Names()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		e, err := c.Load(name)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		list = append(list, e)
	}
	return list, broken, nil
}

// LoadNaming reads every exercise whose exercise.yaml has a word in it, and leaves out those
// that cannot be read. All exercises with that package are among them. To read every exercise
// takes a hundred milliseconds.
func (c *Course) LoadNaming(word string) (list []*Exercise, err error) {
	names, err := c.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(c.fsys, path.Join(ExercisesDir, name, configFile))
		if err != nil || !bytes.Contains(data, []byte(word)) {
			continue
		}
		if e, err := c.Load(name); err == nil {
			list = append(list, e)
		}
	}
	return list, nil
}

// absent says which exercises there are instead.
func (c *Course) absent(doing string, err error) error {
	names, listErr := c.Names()
	if !errors.Is(err, fs.ErrNotExist) || listErr != nil || len(names) == 0 {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: the course has %s", doing, fs.ErrNotExist, strings.Join(names, ", "))
}

func (c *Course) readFiles(e *Exercise, p *document.Faults) {
	dir := path.Join(ExercisesDir, e.Name)
	var err error
	if e.Readme, err = fs.ReadFile(c.fsys, path.Join(dir, readmeFile)); err != nil {
		p.Add(readmeFile, 0, "%w", Reason(err))
	} else if len(bytes.TrimSpace(e.Readme)) == 0 {
		p.Add(readmeFile, 0, "the file is empty; describe every rule that is graded")
	}
	c.readPictures(e, p)
	e.Starter = c.readDir(path.Join(dir, starterDir), starterDir, p)
	e.Hidden = c.readDir(path.Join(dir, hiddenDir), hiddenDir, p)
	reference := path.Join(referenceDir, e.Name)
	files := c.readDir(reference, reference, p)
	for _, f := range files {
		// Its tests and their data take no part in a grading.
		if isSource(f.Name) {
			e.Reference = append(e.Reference, f)
		}
	}
	if len(files) > 0 && len(e.Reference) == 0 {
		p.Add(reference, 0, "no Go file")
	}
}

// readDir reads all files below dir, which faults name as shown.
func (c *Course) readDir(dir, shown string, p *document.Faults) []File {
	files, err := ReadTree(c.fsys, dir)
	if err != nil {
		p.Add(shown, 0, "%w", Reason(err))
	} else if len(files) == 0 {
		p.Add(shown, 0, "the folder is empty")
	}
	return files
}

// ReadTree reads all files below dir, sorted by name.
func ReadTree(fsys fs.FS, dir string) ([]File, error) {
	var files []File
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		shown := strings.TrimPrefix(name, dir+"/")
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s: want a regular file, not a link or a device: put a copy in its place", shown)
		}
		data, err := fs.ReadFile(fsys, name)
		files = append(files, File{shown, data})
		return err
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, err
}

// Reason removes the path from an error, because a fault names its file itself.
func Reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// checkGo checks the package clauses of the reference and the starter.
func (e *Exercise) checkGo(p *document.Faults) {
	e.checkClauses(e.Reference, path.Join(referenceDir, e.Name), p)
	e.checkClauses(e.Starter, starterDir, p)
	for _, f := range e.Starter {
		if path.Base(f.Name) == "go.mod" {
			p.Add(path.Join(starterDir, f.Name), 0, "remove it: it hides the folder from go:embed, and every student gets a new one with the starter")
		}
		if e.besideReadme(f.Name) {
			p.Add(path.Join(starterDir, f.Name), 0, "remove or rename it: every student gets the exercise's README.md and its pictures with the starter, and one of them has this name")
		}
	}
}

// besideReadme reports whether a student gets another file of that name: the README, or a
// picture beside it. Names that differ in case are one on some file systems.
func (e *Exercise) besideReadme(name string) bool {
	return strings.EqualFold(name, readmeFile) ||
		slices.ContainsFunc(e.Pictures, func(f File) bool { return strings.EqualFold(name, f.Name) })
}

func (e *Exercise) checkClauses(files []File, dir string, p *document.Faults) {
	sources := 0
	for _, f := range files {
		if !isGo(f.Name) {
			continue
		}
		name, fset := path.Join(dir, f.Name), token.NewFileSet()
		if isSource(f.Name) {
			sources++
		}
		tree, err := parser.ParseFile(fset, name, f.Data, parser.PackageClauseOnly)
		if err != nil {
			(&inspector{Faults: p}).syntax(name, err)
			continue
		}
		got := tree.Name.Name
		if e.Package != "" && got != e.Package && !(isTest(f.Name) && got == e.Package+"_test") {
			p.Add(name, fset.Position(tree.Name.Pos()).Line, "package %s; %s says package %s", got, configFile, e.Package)
		}
	}
	if len(files) > 0 && sources == 0 {
		p.Add(dir, 0, "no Go file")
	}
}

func (e *Exercise) checkProvided(line int, p *document.Faults) {
	for _, name := range e.Provided {
		switch {
		case !slices.ContainsFunc(e.Starter, func(f File) bool { return f.Name == name }):
			p.Add(configFile, line, "provided: no file %q in %s", name, starterDir)
		case !isSource(name):
			p.Add(configFile, line, "provided: %q is not a source file of the package", name)
		}
	}
}

// hash returns the SHA-256 over every file that influences a grade. Their lengths
// precede names and contents, so that no two exercises give the same bytes.
func (e *Exercise) hash(config []byte) string {
	h := sha256.New()
	sum(h, []byte("grade/exercise/v1"))
	sum(h, []byte(e.ImportPath))
	sum(h, config)
	for _, part := range []struct {
		dir   string
		files []File
	}{{hiddenDir, e.Hidden}, {referenceDir, e.Reference}, {starterDir, e.provided()}} {
		for _, f := range part.files {
			sum(h, []byte(path.Join(part.dir, f.Name)))
			sum(h, f.Data)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (e *Exercise) provided() (files []File) {
	for _, f := range e.Starter {
		if slices.Contains(e.Provided, f.Name) {
			files = append(files, f)
		}
	}
	return files
}

func sum(h hash.Hash, b []byte) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
}
