// Package hunt in one file, with as few structures as it takes.
package hunt

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
)

var (
	ErrTab    = errors.New("hunt: no tab")
	ErrLabel  = errors.New("hunt: bad label")
	ErrConfig = errors.New("hunt: bad config")
	ErrSample = errors.New("hunt: bad sample")
)

type Example struct {
	Label string
	Words []string
	Count int
}

type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return "line " + strconv.Itoa(e.Line) + ": " + e.Err.Error() }
func (e *LineError) Unwrap() error { return e.Err }

type Entry struct {
	Index int
	Value float64
}

type Vector []Entry

type Sample struct {
	X     Vector
	Class int
}

type Config struct {
	Features int
	Classes  int
	Epochs   int
	Batch    int
	Rate     float64
	Seed     uint64
}

type Epoch struct {
	Loss     float64
	Accuracy float64
}

// scanner sees a byte at a time. It cannot know yet whether a \r ends the line, so it
// keeps it back.
type scanner struct {
	list   []Example
	found  map[string]int
	line   int
	began  bool // the line has a byte
	blank  bool // and nothing but blanks and tabs
	skip   bool // it is a comment
	tab    bool // the label is over
	bad    bool // the label is
	cr     bool
	label  []byte
	clean  []byte // label, and each word behind a blank
	word   []byte
	ranges []int // where words begin and end in clean
}

func (s *scanner) start() {
	s.line++
	s.began, s.blank, s.skip, s.tab, s.bad, s.cr = false, true, false, false, false, false
	s.clean, s.word, s.ranges = s.clean[:0], s.word[:0], s.ranges[:0]
}

func (s *scanner) see(b byte) {
	if s.cr {
		s.cr = false
		s.take('\r')
	}
	if b == '\r' {
		s.cr = true
		return
	}
	s.take(b)
}

func (s *scanner) take(b byte) {
	if !s.began {
		s.began, s.skip = true, b == '#'
	}
	if s.skip {
		return
	}
	space := b == ' ' || b == '\t'
	s.blank = s.blank && space
	switch {
	case !s.tab && b == '\t':
		s.tab = true
	case !s.tab:
		first := len(s.clean) == 0
		lower := b >= 'a' && b <= 'z'
		s.bad = s.bad || !lower && (first || b != '-' && b != '_' && (b < '0' || b > '9'))
		s.clean = append(s.clean, b)
	case space:
		s.close()
	default:
		s.word = append(s.word, b)
	}
}

func mark(b byte) bool {
	switch b {
	case '.', ',', ';', ':', '!', '?', '"', '\'', '(', ')':
		return true
	}
	return false
}

// close ends a word.
func (s *scanner) close() {
	i, j := 0, len(s.word)
	for i < j && mark(s.word[i]) {
		i++
	}
	for i < j && mark(s.word[j-1]) {
		j--
	}
	if i < j {
		s.clean = append(s.clean, ' ')
		s.ranges = append(s.ranges, len(s.clean))
		for _, b := range s.word[i:j] {
			if b >= 'A' && b <= 'Z' {
				b |= 0x20
			}
			s.clean = append(s.clean, b)
		}
		s.ranges = append(s.ranges, len(s.clean))
	}
	s.word = s.word[:0]
}

// finish ends a line.
func (s *scanner) finish() error {
	defer s.start()
	if s.blank || s.skip {
		return nil
	}
	if !s.tab {
		return &LineError{s.line, ErrTab}
	}
	labelEnd := len(s.clean)
	s.close()
	if len(s.ranges) > 0 {
		labelEnd = s.ranges[0] - 1
	}
	if s.bad || labelEnd == 0 {
		return &LineError{s.line, ErrLabel}
	}
	if i, ok := s.found[string(s.clean)]; ok {
		s.list[i].Count++
		return nil
	}
	key := string(s.clean)
	s.found[key] = len(s.list)
	words := make([]string, len(s.ranges)/2)
	for i := range words {
		words[i] = key[s.ranges[2*i]:s.ranges[2*i+1]]
	}
	s.list = append(s.list, Example{key[:labelEnd], words, 1})
	return nil
}

func Read(r io.Reader) ([]Example, error) {
	s := scanner{found: map[string]int{}}
	s.start()
	buffer := make([]byte, 1<<15)
	for {
		n, err := r.Read(buffer)
		for _, b := range buffer[:n] {
			if b != '\n' {
				s.see(b)
			} else if bad := s.finish(); bad != nil {
				return nil, bad
			}
		}
		if err == io.EOF {
			if bad := s.finish(); bad != nil {
				return nil, bad
			}
			return s.list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

type Vocabulary struct {
	words  []string
	idf    []float64
	number map[string]int32
}

func NewVocabulary(examples []Example, limit int) *Vocabulary {
	numbers := map[string]int{}
	for _, w := range [...]string{"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the", "this", "to", "was", "were", "with"} {
		numbers[w] = -1
	}
	var words []string
	var total, with []int
	var last []int
	for k, e := range examples {
		for _, w := range e.Words {
			n, ok := numbers[w]
			if n < 0 {
				continue
			}
			if !ok {
				n = len(words)
				numbers[w] = n
				words, total, with, last = append(words, w), append(total, 0), append(with, 0), append(last, -1)
			}
			total[n] += e.Count
			if last[n] != k {
				last[n] = k
				with[n]++
			}
		}
	}
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool {
		x, y := order[i], order[j]
		return total[x] > total[y] || total[x] == total[y] && words[x] < words[y]
	})
	if limit < 0 {
		limit = 0
	}
	if len(order) > limit {
		order = order[:limit]
	}
	v := &Vocabulary{number: map[string]int32{}}
	for i, n := range order {
		v.number[words[n]] = int32(i)
		v.words = append(v.words, words[n])
		v.idf = append(v.idf, 1+math.Log(float64(1+len(examples))/float64(1+with[n])))
	}
	return v
}

func (v *Vocabulary) Words() []string { return append([]string(nil), v.words...) }

func (v *Vocabulary) Vector(words []string) Vector {
	var times map[int]float64
	x := make(Vector, 0, min(len(words), len(v.words)))
	if len(words) > 8 {
		times = make(map[int]float64)
	}
	for _, w := range words {
		n, ok := v.number[w]
		switch {
		case !ok:
		case times != nil:
			times[int(n)]++
		default:
			x = x.count(int(n))
		}
	}
	for i, n := range times {
		x = append(x, Entry{i, n})
	}
	sort.Slice(x, func(i, j int) bool { return x[i].Index < x[j].Index })
	squares := 0.0
	for i := range x {
		x[i].Value *= v.idf[x[i].Index]
		squares += float64(x[i].Value * x[i].Value)
	}
	root := math.Sqrt(squares)
	for i := range x {
		x[i].Value /= root
	}
	return x
}

// count counts an index in a short vector.
func (x Vector) count(index int) Vector {
	for i := range x {
		if x[i].Index == index {
			x[i].Value++
			return x
		}
	}
	return append(x, Entry{index, 1})
}

// Model has the weights of class c for all features in weights[c].
type Model struct {
	bias    []float64
	weights [][]float64
}

func (m *Model) Probabilities(x Vector) []float64 {
	return m.fill(make([]float64, len(m.bias)), x)
}

func (m *Model) fill(p []float64, x Vector) []float64 {
	top := math.Inf(-1)
	for c, z := range m.bias {
		w := m.weights[c]
		for i := range x {
			z += float64(x[i].Value * w[x[i].Index])
		}
		p[c] = z
		if c == 0 || z > top {
			top = z
		}
	}
	sum := 0.0
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

func (m *Model) Predict(x Vector) int { return argmax(m.Probabilities(x)) }

func argmax(p []float64) int {
	at := 0
	for c := 1; c < len(p); c++ {
		if p[c] > p[at] {
			at = c
		}
	}
	return at
}

func Train(cfg Config, samples []Sample) (*Model, []Epoch, error) {
	if cfg.Features < 1 || cfg.Classes < 1 || cfg.Epochs < 0 || cfg.Batch < 1 || cfg.Rate-cfg.Rate != 0 {
		return nil, nil, ErrConfig
	}
	for i, s := range samples {
		ok := s.Class >= 0 && s.Class < cfg.Classes
		for k, e := range s.X {
			ok = ok && e.Index >= 0 && e.Index < cfg.Features && (k == 0 || e.Index > s.X[k-1].Index)
		}
		if !ok {
			return nil, nil, fmt.Errorf("sample %d: %w", i, ErrSample)
		}
	}
	m := &Model{bias: make([]float64, cfg.Classes), weights: make([][]float64, cfg.Classes)}
	for c := range m.weights {
		m.weights[c] = make([]float64, cfg.Features)
	}
	var epochs []Epoch
	ps := make([][]float64, min(cfg.Batch, len(samples))) // of all samples of a batch
	for i := range ps {
		ps[i] = make([]float64, cfg.Classes)
	}
	gradient := make([]float64, cfg.Features) // of a class
	if cfg.Epochs > 0 {
		epochs = make([]Epoch, cfg.Epochs)
	}
	for i := range epochs {
		order := rand.New(rand.NewPCG(cfg.Seed, uint64(i))).Perm(len(samples))
		right := 0
		for from := 0; from < len(order); from += len(ps) {
			batch := order[from:min(from+len(ps), len(order))]
			for k, at := range batch {
				s := samples[at]
				p := m.fill(ps[k], s.X)
				epochs[i].Loss -= math.Log(p[s.Class])
				if argmax(p) == s.Class {
					right++
				}
				p[s.Class] -= 1
			}
			m.learn(samples, batch, ps, gradient, cfg.Rate/float64(len(batch)))
		}
		epochs[i].Loss /= float64(len(order))
		epochs[i].Accuracy = float64(right) / float64(len(order))
	}
	return m, epochs, nil
}

// learn goes through a batch once for each class.
func (m *Model) learn(samples []Sample, batch []int, ps [][]float64, gradient []float64, r float64) {
	for c, w := range m.weights {
		sum := 0.0
		for k, at := range batch {
			d := ps[k][c]
			sum += d
			for _, e := range samples[at].X {
				gradient[e.Index] += float64(e.Value * d)
			}
		}
		m.bias[c] -= float64(r * sum)
		for _, at := range batch {
			for _, e := range samples[at].X {
				w[e.Index] -= float64(r * gradient[e.Index])
				gradient[e.Index] = 0
			}
		}
	}
}

func Tally(truth, predicted []int, classes int) (table [][]int) {
	if classes < 1 {
		return nil
	}
	limit := uint(classes)
	for range classes {
		table = append(table, make([]int, classes))
	}
	for i, t := range truth[:min(len(truth), len(predicted))] {
		if p := predicted[i]; uint(t) < limit && uint(p) < limit {
			table[t][p]++
		}
	}
	return table
}

func WriteMetrics(w io.Writer, epochs []Epoch) error {
	text := []byte("epoch,loss,accuracy\n")
	for i, e := range epochs {
		text = strconv.AppendInt(text, int64(i)+1, 10)
		text = append(text, ',')
		text = strconv.AppendFloat(text, e.Loss, 'f', 6, 64)
		text = append(text, ',')
		text = strconv.AppendFloat(text, e.Accuracy, 'f', 4, 64)
		text = append(text, '\n')
	}
	n, err := w.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return err
}
