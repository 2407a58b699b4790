package boxes

import (
	"slices"
	"sync"
)

// maxIdle bounds the boxes that wait for another grading.
const maxIdle = 8

// idlePool holds the references' runners until the next grading of the same exercise.
type idlePool struct {
	mu   sync.Mutex
	list []idleRunner // the longest waiting comes first
}

type idleRunner struct {
	program string
	*Runner
}

// take returns a runner that has a program, or nil.
func (p *idlePool) take(program string) *Runner {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.list, func(r idleRunner) bool { return r.program == program })
	if i < 0 {
		return nil
	}
	found := p.list[i].Runner
	found.killed = 0 // in another grading
	p.list = slices.Delete(p.list, i, i+1)
	return found
}

// put adds a runner, in place of the longest waiting one if the pool is full.
func (p *idlePool) put(program string, r *Runner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, idleRunner{program, r})
	if len(p.list) > maxIdle {
		p.list[0].close()
		p.list = slices.Delete(p.list, 0, 1)
	}
}

func (p *idlePool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.list {
		r.close()
	}
	p.list = nil
}
