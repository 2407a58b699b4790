package hunt

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// A benchmark for each stage. Change their sizes, and see what grows how.

// randomWords draws n words.
func randomWords(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", r.Uint32())
	}
	return words
}

// pickWords draws a text of n words.
func pickWords(r *rand.Rand, words []string, n int) []string {
	text := make([]string, n)
	for i := range text {
		text[i] = words[r.IntN(len(words))]
	}
	return text
}

// randomLines draws lines, some of which are equal, and a comment of the same size.
func randomLines(r *rand.Rand, lines, size int) string {
	words := randomWords(r, 500)
	var b strings.Builder
	for range lines {
		b.WriteString("label-" + string(rune('a'+r.IntN(5))) + "\t" + strings.Join(pickWords(r, words, size), " ") + "\n")
	}
	return b.String() + b.String() + "# " + strings.ReplaceAll(b.String(), "\n", " ")
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []int{2, 20, 150} {
		in := randomLines(rand.New(rand.NewPCG(1, 2)), 1_000, size)
		b.Run(fmt.Sprintf("%d words", size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := Read(strings.NewReader(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Sequences of equal beginning are the worst for whoever compares each with each.
func BenchmarkReadSimilar(b *testing.B) {
	begin := "x\t" + strings.Repeat("same ", 150)
	var in strings.Builder
	for i := range 1_000 {
		fmt.Fprintf(&in, "%s%d\n", begin, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(strings.NewReader(in.String())); err != nil {
			b.Fatal(err)
		}
	}
}

// randomBags draws examples.
func randomBags(r *rand.Rand, words []string, n, size int) []Example {
	list := make([]Example, n)
	for i := range list {
		list[i] = Example{Words: append(pickWords(r, words, size), "the", "of"), Count: 1}
	}
	return list
}

func BenchmarkVocabulary(b *testing.B) {
	for _, n := range []int{30, 5_000} {
		r := rand.New(rand.NewPCG(3, 4))
		list := randomBags(r, randomWords(r, n), 500, 20)
		b.Run(fmt.Sprintf("%d words", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewVocabulary(list, 1_000)
			}
		})
	}
}

func BenchmarkVectors(b *testing.B) {
	for _, size := range []int{4, 2_000} {
		r := rand.New(rand.NewPCG(5, 6))
		words := randomWords(r, 3_000)
		v := NewVocabulary([]Example{{Words: words, Count: 1}}, len(words))
		list := randomBags(r, words, 50, size)
		b.Run(fmt.Sprintf("%d words", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, e := range list {
					v.Vector(e.Words)
				}
			}
		})
	}
}

func BenchmarkTrain(b *testing.B) {
	for name, c := range map[string]struct {
		Config
		samples, entries int
	}{
		"classes": {Config{Features: 20, Classes: 80, Epochs: 3, Batch: 50, Rate: 0.1}, 500, 2},
		"wide":    {Config{Features: 5_000, Classes: 3, Epochs: 3, Batch: 4, Rate: 0.1}, 400, 10},
		"long":    {Config{Features: 600, Classes: 4, Epochs: 3, Batch: 100, Rate: 0.01}, 500, 300},
		"epochs":  {Config{Features: 20, Classes: 10, Epochs: 40, Batch: 50, Rate: 0.1}, 1_000, 2},
	} {
		list := randomSamples(rand.New(rand.NewPCG(7, 8)), c.Config, c.samples, c.entries)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Train(c.Config, list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPredict(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	cfg := Config{Features: 20, Classes: 100, Epochs: 1, Batch: 50, Rate: 0.1}
	list := randomSamples(r, cfg, 200, 3)
	m, _, err := Train(cfg, list)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range list {
			m.Predict(s.X)
		}
	}
}

func BenchmarkTally(b *testing.B) {
	r := rand.New(rand.NewPCG(11, 12))
	truth, predicted := make([]int, 100_000), make([]int, 100_000)
	for i := range truth {
		truth[i], predicted[i] = r.IntN(9), r.IntN(9)
	}
	b.ReportAllocs()
	for b.Loop() {
		Tally(truth, predicted, 9)
	}
}

func BenchmarkWriteMetrics(b *testing.B) {
	epochs := make([]Epoch, 2_000)
	for i := range epochs {
		epochs[i] = Epoch{Loss: 1 / float64(i+1), Accuracy: 0.5}
	}
	b.Run("memory", func(b *testing.B) {
		var out bytes.Buffer
		b.ReportAllocs()
		for b.Loop() {
			out.Reset()
			if err := WriteMetrics(&out, epochs); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("file", func(b *testing.B) {
		file, err := os.Create(b.TempDir() + "/metrics.csv")
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := file.Seek(0, io.SeekStart); err != nil {
				b.Fatal(err)
			}
			if err := WriteMetrics(file, epochs[:40]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// All of it.
func BenchmarkPipeline(b *testing.B) {
	in := randomLines(rand.New(rand.NewPCG(13, 14)), 1_000, 30)
	b.ReportAllocs()
	for b.Loop() {
		list, err := Read(strings.NewReader(in))
		if err != nil {
			b.Fatal(err)
		}
		v := NewVocabulary(list, 2_000)
		given := make([]Sample, len(list))
		for i, e := range list {
			given[i] = Sample{X: v.Vector(e.Words), Class: int(e.Label[len("label-")] - 'a')}
		}
		m, epochs, err := Train(Config{Features: len(v.Words()), Classes: 5, Epochs: 3, Batch: 20, Rate: 1}, given)
		if err != nil {
			b.Fatal(err)
		}
		truth, predicted := make([]int, len(given)), make([]int, len(given))
		for i, s := range given {
			truth[i], predicted[i] = s.Class, m.Predict(s.X)
		}
		Tally(truth, predicted, 5)
		if err := WriteMetrics(io.Discard, epochs); err != nil {
			b.Fatal(err)
		}
	}
}
