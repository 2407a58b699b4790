package loader

import (
	"context"
	"io"
	"os"
)

// Records looks at the size of its file once, and reads with a section reader.
type Records struct {
	f    *os.File
	all  *io.SectionReader
	size int
}

func OpenRecords(path string, recordSize int) (*Records, error) {
	if recordSize < 1 {
		return nil, ErrConfig
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && fi.Size()%int64(recordSize) > 0 {
		err = ErrSize
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Records{f, io.NewSectionReader(f, 0, fi.Size()), recordSize}, nil
}

func (r *Records) Len() int { return int(r.all.Size()) / r.size }

func (r *Records) Get(ctx context.Context, i int) ([]byte, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case i < 0, i >= r.Len():
		return nil, ErrIndex
	}
	b := make([]byte, r.size)
	if _, err := r.all.ReadAt(b, int64(r.size)*int64(i)); err != nil {
		return nil, err
	}
	return b, nil
}

func (r *Records) Close() error {
	r.f.Close() // of a file that was read only, what could it say
	return nil
}
