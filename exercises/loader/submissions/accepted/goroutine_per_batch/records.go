package loader

import (
	"context"
	"io"
	"os"
	"sync"
)

// Records moves the file's offset, and lets nobody else at it meanwhile.
type Records struct {
	mu     sync.Mutex
	f      *os.File
	size   int
	n      int
	closed bool
}

func OpenRecords(path string, recordSize int) (*Records, error) {
	if recordSize <= 0 {
		return nil, ErrConfig
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	n := int(info.Size()) / recordSize
	if int64(n*recordSize) != info.Size() {
		f.Close()
		return nil, ErrSize
	}
	return &Records{f: f, size: recordSize, n: n}, nil
}

func (r *Records) Len() int { return r.n }

func (r *Records) Get(ctx context.Context, i int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, os.ErrClosed
	}
	if i < 0 || i >= r.n {
		return nil, ErrIndex
	}
	if _, err := r.f.Seek(int64(i)*int64(r.size), io.SeekStart); err != nil {
		return nil, err
	}
	b := make([]byte, r.size)
	if _, err := io.ReadFull(r.f, b); err != nil {
		return nil, err
	}
	return b, nil
}

func (r *Records) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	return r.f.Close()
}
