package engine

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// objects keeps data by the hash of its content, each once.
type objects struct {
	bucket jetstream.ObjectStore
	stream jetstream.Stream // that the bucket is in
	name   string
	known  *sync.Map // hashes of what is there for sure
	busy   *keyed
}

// openObjects opens a bucket that is there.
func openObjects(ctx context.Context, js jetstream.JetStream, name string) (objects, error) {
	o := objects{name: name, known: &sync.Map{}, busy: &keyed{}}
	var err error
	if o.stream, err = bucketStream(ctx, js, "OBJ_"+name); err == nil {
		o.bucket, err = js.ObjectStore(ctx, name)
	}
	return o, err
}

func (e *Engine) createObjects(ctx context.Context, name string, replicas int) (o objects, err error) {
	err = e.create(ctx, name, func(ctx context.Context) (err error) {
		err = e.ensureBucket(ctx, "OBJ_"+name, replicas, func() error {
			_, err := e.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: name, Storage: jetstream.FileStorage, Replicas: replicas})
			return err
		})
		if err == nil {
			o, err = openObjects(ctx, e.js, name)
		}
		return err
	})
	return o, err
}

// has reports whether there is data with a hash.
func (o objects) has(ctx context.Context, hash string) (bool, error) {
	if _, ok := o.known.Load(hash); ok {
		return true, nil
	}
	err := again(ctx, func(ctx context.Context) error {
		_, err := o.bucket.GetInfo(ctx, hash)
		return err
	})
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// put keeps data, unless it is there. Two writers of one hash wait for each other, because
// the second to write would remove what the first has written.
func (o objects) put(ctx context.Context, hash string, data func() ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	defer o.busy.lock(hash)()
	if _, ok := o.known.Load(hash); ok {
		return nil
	}
	want, err := data()
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		if ok, err := o.holds(ctx, hash, want); ok || err != nil {
			return err
		}
		if tries == putTries {
			return fmt.Errorf("the files %.12s come back as others than were kept", hash)
		}
		if err := again(ctx, func(ctx context.Context) error {
			_, err := o.bucket.PutBytes(ctx, hash, want)
			return err
		}); err != nil {
			return err
		}
	}
}

// putTries is how often data is written that does not come back as it was.
const putTries = 3

// holds reports whether the data of a hash is what is wanted. What was written is read once in
// each process: while a cluster chooses a leader, a client may send a piece of an object again
// as another one, and nothing would mend it later.
func (o objects) holds(ctx context.Context, hash string, want []byte) (bool, error) {
	var got []byte
	err := again(ctx, func(ctx context.Context) (err error) {
		got, err = o.read(ctx, hash)
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound), errors.Is(err, jetstream.ErrMsgNotFound):
		return false, nil
	case err != nil || !bytes.Equal(got, want):
		return false, err
	}
	o.known.Store(hash, true)
	return true, nil
}

// get returns data by its hash. The error wraps [fs.ErrNotExist] if there is none.
func (o objects) get(ctx context.Context, hash string) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	err = again(ctx, func(ctx context.Context) error {
		data, err = o.read(ctx, hash)
		return err
	})
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		err = fmt.Errorf("the files %.12s are not kept: %w", hash, fs.ErrNotExist)
	}
	return data, err
}

// read reads the chunks of an object one by one. The bucket's own reader makes a consumer,
// which credentials of a worker would have to allow, and with it to send what it reads
// anywhere.
func (o objects) read(ctx context.Context, hash string) ([]byte, error) {
	info, err := o.bucket.GetInfo(ctx, hash)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, info.Size)
	chunks := fmt.Sprintf("$O.%s.C.%s", o.name, info.NUID)
	next := uint64(1)
	for range info.Chunks {
		m, err := o.stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(chunks))
		if err != nil {
			return nil, err
		}
		data, next = append(data, m.Data...), m.Sequence+1
	}
	return data, nil
}

// packed writes the files of a submission as a zip.
func packed(s *submission.Snapshot) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range s.Files {
		entry, err := w.Create(f.Name)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// unpacked reads the snapshot of a submission that packed has written. It refuses files
// that are not what was handed in.
func unpacked(data []byte, h handIn) (*submission.Snapshot, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var files []submission.File
	for _, f := range r.File {
		content, err := member(f)
		if err != nil {
			return nil, err
		}
		files = append(files, submission.File{Name: f.Name, Data: content})
	}
	s := submission.Of(h.Dir, files)
	s.Ignored, s.Problems = h.Ignored, h.Problems
	if results.Content(s) != h.Content {
		return nil, fmt.Errorf("the files %.12s are not what was handed in", h.Content)
	}
	return s, nil
}

func member(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// handIn is what is kept of a snapshot beside its files.
type handIn struct {
	Dir, Content string
	Ignored      []string
	Problems     []verdict.Problem
}
