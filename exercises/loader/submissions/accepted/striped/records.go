package loader

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

type Records struct {
	f    *os.File
	size int64
	n    int
	once sync.Once
	err  error
}

func OpenRecords(path string, recordSize int) (*Records, error) {
	if recordSize <= 0 {
		return nil, ErrConfig
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil && end%int64(recordSize) != 0 {
		err = fmt.Errorf("%w: %s", ErrSize, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Records{f: f, size: int64(recordSize), n: int(end / int64(recordSize))}, nil
}

func (r *Records) Len() int { return r.n }

func (r *Records) Get(ctx context.Context, i int) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	default:
	}
	if i < 0 || i >= r.n {
		return nil, fmt.Errorf("%w: %d", ErrIndex, i)
	}
	b := make([]byte, r.size)
	if _, err := io.ReadFull(io.NewSectionReader(r.f, int64(i)*r.size, r.size), b); err != nil {
		return nil, err
	}
	return b, nil
}

func (r *Records) Close() error {
	r.once.Do(func() { r.err = r.f.Close() })
	return r.err
}
