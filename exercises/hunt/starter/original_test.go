package hunt

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// This is the package as you got it, under other names: what yours is compared with. Leave
// it as it is.

// Read returns the examples of a text, equal ones once.
func originalRead(r io.Reader) ([]Example, error) {
	data, failed := io.ReadAll(r)
	lines := strings.Split(string(data), "\n")
	if failed != nil {
		lines = lines[:len(lines)-1] // the last one is not whole
	}
	var examples []Example
	byLabel := map[string][]int{} // the examples of a label
	for i, line := range lines {
		e, ok, err := originalParse(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, &LineError{Line: i + 1, Err: err}
		}
		if ok {
			examples = originalInsert(examples, byLabel, e)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return examples, nil
}

// parse reads a line; ok is false if there is no example in it.
func originalParse(line string) (e Example, ok bool, err error) {
	if strings.Trim(line, " \t") == "" || strings.HasPrefix(line, "#") {
		return Example{}, false, nil
	}
	label, text, found := strings.Cut(line, "\t")
	if !found {
		return Example{}, false, ErrTab
	}
	if !originalIsLabel(label) {
		return Example{}, false, ErrLabel
	}
	return Example{Label: label, Words: originalSplit(text), Count: 1}, true, nil
}

// isLabel reports whether s is a letter, followed by letters, digits, _ and -.
func originalIsLabel(s string) bool {
	return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(s)
}

// split returns the words of a text.
func originalSplit(text string) []string {
	words := []string{}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' }) {
		word = originalLower(strings.Trim(word, ".,;:!?\"'()"))
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

// lower makes small letters of A to Z, and leaves all other bytes as they are.
func originalLower(word string) string {
	b := []byte(word)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// insert adds an example, or counts the one that is equal to it.
func originalInsert(examples []Example, byLabel map[string][]int, e Example) []Example {
	for _, i := range byLabel[e.Label] {
		if slices.Equal(examples[i].Words, e.Words) {
			examples[i].Count++
			return examples
		}
	}
	byLabel[e.Label] = append(byLabel[e.Label], len(examples))
	return append(examples, e)
}

// Vocabulary numbers words, the most frequent first. Any number of goroutines may use it.
type originalVocabulary struct {
	words []string
	idf   []float64
}

// NewVocabulary takes the limit most frequent words of the examples.
func originalNewVocabulary(examples []Example, limit int) *originalVocabulary {
	c := &originalCounts{}
	for _, e := range examples {
		c.add(e)
	}
	sort.Sort(c)
	v := &originalVocabulary{}
	for i := range min(limit, len(c.words)) {
		v.words = append(v.words, c.words[i])
		v.idf = append(v.idf, originalIdf(len(examples), c.examples[i]))
	}
	return v
}

// counts is how often words come.
type originalCounts struct {
	words    []string
	totals   []int
	examples []int // that have the word
}

// add counts the words of an example.
func (c *originalCounts) add(e Example) {
	seen := map[string]bool{}
	for _, word := range e.Words {
		if originalIsStopWord(word) {
			continue
		}
		i := originalFind(c.words, word)
		if i < 0 {
			i = len(c.words)
			c.words, c.totals, c.examples = append(c.words, word), append(c.totals, 0), append(c.examples, 0)
		}
		c.totals[i] += e.Count
		if !seen[word] {
			seen[word] = true
			c.examples[i]++
		}
	}
}

// The most frequent words come first, and of these the smallest.
func (c *originalCounts) Less(i, j int) bool {
	if c.totals[i] != c.totals[j] {
		return c.totals[i] > c.totals[j]
	}
	return c.words[i] < c.words[j]
}

func (c *originalCounts) Len() int { return len(c.words) }

func (c *originalCounts) Swap(i, j int) {
	c.words[i], c.words[j] = c.words[j], c.words[i]
	c.totals[i], c.totals[j] = c.totals[j], c.totals[i]
	c.examples[i], c.examples[j] = c.examples[j], c.examples[i]
}

// isStopWord reports whether a word is in no vocabulary.
func originalIsStopWord(word string) bool {
	stop := map[string]bool{
		"a": true, "an": true, "and": true, "are": true, "as": true, "at": true, "be": true, "by": true,
		"for": true, "from": true, "in": true, "is": true, "it": true, "of": true, "on": true, "or": true,
		"that": true, "the": true, "this": true, "to": true, "was": true, "were": true, "with": true,
	}
	return stop[word]
}

// find returns the index of a word, or -1.
func originalFind(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

// idf is the smoothed inverse document frequency of scikit-learn's TfidfTransformer.
func originalIdf(examples, with int) float64 {
	return math.Log(float64(1+examples)/float64(1+with)) + 1
}

// Words returns the words by their index.
func (v *originalVocabulary) Words() []string {
	words := []string{}
	return append(words, v.words...)
}

// Vector weighs the words that the vocabulary has: their number times their idf, scaled
// to a length of 1.
func (v *originalVocabulary) Vector(words []string) Vector {
	values := make([]float64, len(v.words))
	for _, word := range words {
		if i := originalFind(v.words, word); i >= 0 {
			values[i]++
		}
	}
	for i := range values {
		values[i] *= v.idf[i]
	}
	length := originalNorm(values)
	x := Vector{}
	for i, value := range values {
		if value != 0 {
			x = append(x, Entry{Index: i, Value: value / length})
		}
	}
	return x
}

// norm is the square root of the sum of the squares, added from left to right.
func originalNorm(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += float64(value * value)
	}
	return math.Sqrt(sum)
}

// Train fits a softmax regression to samples by gradient descent in mini-batches, and
// returns what each epoch came to.
func originalTrain(cfg Config, samples []Sample) (*originalModel, []Epoch, error) {
	if err := originalCheck(cfg, samples); err != nil {
		return nil, nil, err
	}
	model := originalNewModel(cfg.Features, cfg.Classes)
	var forecasts []originalForecast
	for i := range cfg.Epochs {
		order := rand.New(rand.NewPCG(cfg.Seed, uint64(i))).Perm(len(samples))
		for len(order) > 0 {
			var batch []Sample
			for _, i := range order[:min(cfg.Batch, len(order))] {
				batch = append(batch, samples[i])
			}
			forecasts = append(forecasts, originalStep(model, cfg.Rate, batch)...)
			order = order[len(batch):]
		}
	}
	return model, originalSummarize(forecasts, cfg.Epochs, len(samples)), nil
}

func originalCheck(cfg Config, samples []Sample) error {
	if cfg.Features < 1 || cfg.Classes < 1 || cfg.Epochs < 0 || cfg.Batch < 1 || math.IsNaN(cfg.Rate) || math.IsInf(cfg.Rate, 0) {
		return fmt.Errorf("%w: %+v", ErrConfig, cfg)
	}
	for i, s := range samples {
		if s.Class < 0 || s.Class >= cfg.Classes {
			return fmt.Errorf("%w: number %d: class %d", ErrSample, i, s.Class)
		}
		last := -1
		for _, e := range s.X {
			if e.Index <= last || e.Index >= cfg.Features {
				return fmt.Errorf("%w: number %d: index %d", ErrSample, i, e.Index)
			}
			last = e.Index
		}
	}
	return nil
}

// forecast is what the model said of a sample before it learned from it.
type originalForecast struct {
	probabilities []float64
	class         int // the right one
}

// step moves the model by the mean gradient of a batch.
func originalStep(model *originalModel, rate float64, batch []Sample) []originalForecast {
	var forecasts []originalForecast
	gradient := originalNewModel(model.features, model.classes)
	for _, s := range batch {
		p := model.Probabilities(s.X)
		forecasts = append(forecasts, originalForecast{probabilities: p, class: s.Class})
		for c := range p {
			d := p[c]
			if c == s.Class {
				d--
			}
			gradient.addBias(c, d)
			for _, e := range s.X {
				gradient.add(e.Index, c, float64(e.Value*d))
			}
		}
	}
	model.descend(gradient, rate/float64(len(batch)))
	return forecasts
}

// summarize computes the metrics of each epoch.
func originalSummarize(forecasts []originalForecast, epochs, samples int) []Epoch {
	metrics := []Epoch{}
	for i := range epochs {
		loss, right := 0.0, 0
		for _, f := range forecasts[i*samples : (i+1)*samples] {
			loss -= math.Log(f.probabilities[f.class])
			if originalBest(f.probabilities) == f.class {
				right++
			}
		}
		metrics = append(metrics, Epoch{Loss: loss / float64(samples), Accuracy: float64(right) / float64(samples)})
	}
	return metrics
}

// Model is a softmax regression. Any number of goroutines may use it.
type originalModel struct {
	mu       sync.RWMutex
	features int
	classes  int
	weights  []float64 // a row for each feature, with a number for each class
	bias     []float64
}

func originalNewModel(features, classes int) *originalModel {
	return &originalModel{features: features, classes: classes, weights: make([]float64, features*classes), bias: make([]float64, classes)}
}

// weight returns the weight of a feature for a class.
func (m *originalModel) weight(feature, class int) float64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.weights[feature*m.classes+class]
}

// add adds to the weight of a feature for a class.
func (m *originalModel) add(feature, class int, by float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.weights[feature*m.classes+class] += by
}

// addBias adds to the bias of a class.
func (m *originalModel) addBias(class int, by float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bias[class] += by
}

// descend moves all weights against their gradients.
func (m *originalModel) descend(gradient *originalModel, rate float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, g := range gradient.weights {
		m.weights[i] -= float64(rate * g)
	}
	for i, g := range gradient.bias {
		m.bias[i] -= float64(rate * g)
	}
}

// Probabilities returns the probability of each class.
func (m *originalModel) Probabilities(x Vector) []float64 {
	scores := []float64{}
	for c := range m.classes {
		scores = append(scores, m.score(x, c))
	}
	p := []float64{}
	for c := range m.classes {
		p = append(p, originalSoftmax(scores, c))
	}
	return p
}

// score is what speaks for a class.
func (m *originalModel) score(x Vector, class int) float64 {
	sum := m.bias[class]
	for _, e := range x {
		sum += float64(e.Value * m.weight(e.Index, class))
	}
	return sum
}

// softmax is the probability of a class. The largest score is taken off first, so that no
// exponential overflows.
func originalSoftmax(scores []float64, class int) float64 {
	largest := scores[0]
	for _, z := range scores {
		if z > largest {
			largest = z
		}
	}
	sum := 0.0
	for _, z := range scores {
		sum += math.Exp(z - largest)
	}
	return math.Exp(scores[class]-largest) / sum
}

// Predict returns the class with the highest probability, of equal ones the first.
func (m *originalModel) Predict(x Vector) int { return originalBest(m.Probabilities(x)) }

// best returns the index of the largest number, of equal ones the first.
func originalBest(p []float64) int {
	order := []int{}
	for i := range p {
		order = append(order, i)
	}
	sort.SliceStable(order, func(i, j int) bool { return p[order[i]] > p[order[j]] })
	return order[0]
}

// Tally counts pairs: row t, column p of the result is how often p was predicted where t
// is the truth.
func originalTally(truth, predicted []int, classes int) [][]int {
	counts := map[string]int{}
	for i := range min(len(truth), len(predicted)) {
		counts[fmt.Sprintf("%d/%d", truth[i], predicted[i])]++
	}
	table := [][]int{}
	for t := range classes {
		row := []int{}
		for p := range classes {
			row = append(row, counts[fmt.Sprintf("%d/%d", t, p)])
		}
		table = append(table, row)
	}
	return table
}

// WriteMetrics writes epochs as comma-separated values with a header. Its error is that
// of the writer, to which nothing is written after it.
func originalWriteMetrics(w io.Writer, epochs []Epoch) error {
	text := "epoch,loss,accuracy\n"
	for i, e := range epochs {
		text += fmt.Sprintf("%d,%.6f,%.4f\n", i+1, e.Loss, e.Accuracy)
	}
	for i := range len(text) {
		n, err := w.Write([]byte{text[i]})
		if err != nil {
			return err
		}
		if n < 1 {
			return io.ErrShortWrite
		}
	}
	return nil
}
