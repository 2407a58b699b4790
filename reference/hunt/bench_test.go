package hunt

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The contenders: /fields, /map and /fprintf are what one writes without a profile and
// without a mistake; /regexp, /dense and /strings are what the starter does at that place.

// words draws n words of a list.
func words(r *rand.Rand, n, of int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "word" + strconv.Itoa(r.IntN(of))
	}
	return list
}

// Lines of 20 words, 200 of which are different.
func BenchmarkRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = "label\t" + strings.Join(words(r, 20, 500), " ")
	}
	text := strings.Repeat(strings.Join(lines, "\n")+"\n", 50)
	run := func(name string, read func(io.Reader) ([]Example, error)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if list, err := read(strings.NewReader(text)); err != nil || len(list) != 200 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
	run("reference", Read)
	run("fields", func(r io.Reader) ([]Example, error) { return byFields(r, func(string) bool { return true }) })
	run("regexp", func(r io.Reader) ([]Example, error) {
		return byFields(r, func(s string) bool { return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(s) })
	})
}

// byFields is Read for lines without anything odd.
func byFields(r io.Reader, good func(label string) bool) (list []Example, err error) {
	in, index := bufio.NewScanner(r), map[string]int{}
	for in.Scan() {
		label, text, _ := strings.Cut(in.Text(), "\t")
		if !good(label) {
			return nil, ErrLabel
		}
		found := strings.Fields(strings.ToLower(text))
		for i, w := range found {
			found[i] = strings.Trim(w, marks)
		}
		key := label + "\t" + strings.Join(found, " ")
		if i, ok := index[key]; ok {
			list[i].Count++
			continue
		}
		index[key] = len(list)
		list = append(list, Example{label, found, 1})
	}
	return list, in.Err()
}

// Vectors of 20 words, for a vocabulary of 2,000.
func BenchmarkVector(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	v := NewVocabulary([]Example{{Words: words(r, 20_000, 2_000), Count: 1}}, 2_000)
	text := words(r, 20, 2_000)
	want := v.Vector(text)
	run := func(name string, vector func([]string) Vector) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if x := vector(text); !slices.Equal(x, want) {
					b.Fatal(x, want)
				}
			}
		})
	}
	run("reference", v.Vector)
	run("map", func(words []string) Vector {
		counts := map[int]int{}
		for _, w := range words {
			if i, ok := v.index[w]; ok {
				counts[i]++
			}
		}
		x := Vector{}
		for i, n := range counts {
			x = append(x, Entry{i, float64(n) * v.idf[i]})
		}
		slices.SortFunc(x, func(a, b Entry) int { return a.Index - b.Index })
		return scaled(x)
	})
	run("dense", func(words []string) Vector {
		counts, x := make([]float64, len(v.words)), Vector{}
		for _, w := range words {
			if i, ok := v.index[w]; ok {
				counts[i]++
			}
		}
		for i, n := range counts {
			if n > 0 {
				x = append(x, Entry{i, n * v.idf[i]})
			}
		}
		return scaled(x)
	})
}

func scaled(x Vector) Vector {
	norm := x.norm()
	for i := range x {
		x[i].Value /= norm
	}
	return x
}

// Three epochs of 1,000 samples of 20 entries, with 2,000 features.
func BenchmarkTrain(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	cfg := Config{Features: 2_000, Classes: 6, Epochs: 3, Batch: 10, Rate: 0.5}
	samples := make([]Sample, 1_000)
	for i := range samples {
		for f := r.IntN(100); f < cfg.Features; f += 1 + r.IntN(200) {
			samples[i].X = append(samples[i].X, Entry{f, r.NormFloat64()})
		}
		samples[i].Class = r.IntN(cfg.Classes)
	}
	run := func(name string, step func(*trainer, float64)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := newTrainer(cfg, samples)
				for batch := range slices.Chunk(rand.New(rand.NewPCG(1, 2)).Perm(3*len(samples)), cfg.Batch) {
					for _, i := range batch {
						s := &samples[i%len(samples)]
						t.model.into(t.p, s.X)
						t.add(s)
					}
					step(t, cfg.Rate/float64(len(batch)))
				}
			}
		})
	}
	run("reference", (*trainer).step)
	run("dense", func(t *trainer, rate float64) {
		descend(t.model.bias, t.bias, rate)
		descend(t.model.weights, t.gradient, rate)
		clear(t.isIn)
		t.touched = t.touched[:0]
	})
}

// The metrics of 1,000 epochs.
func BenchmarkWriteMetrics(b *testing.B) {
	epochs := make([]Epoch, 1_000)
	for i := range epochs {
		epochs[i] = Epoch{1 / float64(i+1), 0.5}
	}
	run := func(name string, write func(io.Writer, []Epoch) error) {
		b.Run(name, func(b *testing.B) {
			var out bytes.Buffer
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				if err := write(&out, epochs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("reference", WriteMetrics)
	run("fprintf", func(w io.Writer, epochs []Epoch) error {
		out := bufio.NewWriter(w)
		fmt.Fprint(out, "epoch,loss,accuracy\n")
		for i, e := range epochs {
			fmt.Fprintf(out, "%d,%.6f,%.4f\n", i+1, e.Loss, e.Accuracy)
		}
		return out.Flush()
	})
	run("strings", func(w io.Writer, epochs []Epoch) error {
		text := "epoch,loss,accuracy\n"
		for i, e := range epochs {
			text += fmt.Sprintf("%d,%.6f,%.4f\n", i+1, e.Loss, e.Accuracy)
		}
		_, err := io.WriteString(w, text)
		return err
	})
}
