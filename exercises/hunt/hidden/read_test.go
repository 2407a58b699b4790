package hidden

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"grade/observe"
	"grade/reference/hunt"
)

// A line is a label, a tab and a text (rule 1).
func TestRead(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{3, 0, 1, 2, 60} {
		text := lines("\n", plain(r, n)...)
		read(o, "lines", text)
		read(o, "the last one without an end", strings.TrimSuffix(text, "\n"))
	}
}

// One carriage return before the end of a line, or of the text, belongs to the end. Any
// other one is a part of a word (rule 1).
func TestLineEnds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		list := plain(r, 5)
		read(o, "all", lines("\r\n", list...))
		list[1] += "\r" // of five, which end by \n
		read(o, "some", lines("\n", list...))
		read(o, "at the end of the text", lines("\n", plain(r, 2)...)+list[2]+"\r")
		read(o, "two", list[2]+"\r\r\n"+list[0]+"\r\r")
		read(o, "three", list[2]+"\r\r\r\n")
		read(o, "alone", "x\t"+word(r)+"\r \r"+word(r)+" \r\n")
		read(o, "within a word", "x\t"+word(r)+"\r"+word(r)+"\n")
		read(o, "no words", "x\t\r\ny\t\r")
	}
}

// Lines of blanks and comments are skipped (rule 2).
func TestSkipped(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	list := plain(r, 12)
	skipped := []string{"", " ", "\t", " \t ", "\t\t", "#", "#" + word(r), "# \t" + word(r), "#a\t" + word(r), "\r", " \r", "#\r"}
	for i, k := range r.Perm(len(skipped)) {
		read(o, "after an example", list[i]+"\n"+skipped[k])
		read(o, "before an example", skipped[k]+"\n"+list[i])
		list = append(list, skipped[k])
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	read(o, "among examples", lines("\n", list...))
	read(o, "no # at the beginning", "a\t#"+word(r)+" #\nb\t# "+word(r))
}

// Words are parted by blanks and tabs, have small letters for A to Z, and lose the marks at
// their ends. All other bytes stay (rule 4).
func TestWords(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	text := func(name string, list ...string) {
		for _, s := range list {
			w := word(r)
			read(o, name, "x\t"+strings.ReplaceAll(strings.ReplaceAll(s, "*", w), "+", strings.ToUpper(w)))
		}
	}
	text("letters", "+", "* +", "+*+", "A Z AZ aZ @[`{", "0 9 +7")
	text("blanks", "* *", " *", "* ", "*  \t *", "\t*\t\t*\t", " \t ", "")
	for mark := range strings.SplitSeq(`.,;:!?"'()`, "") {
		text("marks", mark+"*", "*"+mark, mark+mark+"*"+mark, "*"+mark+"*", mark, mark+" *", mark+mark+mark+" * "+mark)
	}
	text("several marks", `("*!?") *'s ."*,*".`, "... * ()", `(*) (+)`, `"'`)
	text("no marks", "-* *-", "_*_", "*/ *%", "`*`", "[*] {*} <*>", "*& *@ #* $* ^* ~* | =*", `\*\`)
	text("bytes", "É é ÀÖÞ", "İ K ſ", "ẞ", "Σ ς", "“*”", "*…", "\xff *\xc3 \xe2\x82 \xffA", "\x00*", "¿*?", "Ａ", "Ǆ")
	text("blanks that are none", "*\v*", "*\f*", "*\u00a0*", "*\u2003*", "*\u0085*", "*\x85*", "*\xa0*", "\u3000*")
	every := make([]byte, 0, 256)
	for _, b := range r.Perm(256) {
		if b != '\n' {
			every = append(every, byte(b), 'A')
		}
	}
	read(o, "every byte", "x\t"+string(every))
	n := below(r, 256, 300)
	for _, many := range []string{strings.Repeat("!", n), strings.Repeat("(?'", n)} {
		text("many marks", many+"*", "*"+many, many+"*"+many, "* "+many+" *", "*"+many+"*")
	}
	text("many blanks", "*"+strings.Repeat(" ", n)+"*", strings.Repeat("\t", n)+"*"+strings.Repeat(" \t", n))
}

// Lines with the same label and the same words are one example, at the place of the first,
// and are counted. All others are different, whatever bytes are in their words (rule 5).
func TestEqual(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		list := plain(r, 6)
		for range 30 {
			list = append(list, list[r.IntN(6)])
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		read(o, "lines", lines("\n", list...))
		w := words(r, 3)
		read(o, "after cleaning", lines("\n", "x\t"+w[0]+" "+w[1], "x\t "+strings.ToUpper(w[0])+",\t("+w[1]+") ! \r", "x\t"+w[0]+"  "+w[1]))
		read(o, "other labels", lines("\n", "x\t"+w[0], "y\t"+w[0], "x\t"+w[0], "x0\t"+w[0], "x-\t"+w[0], "x_\t"+w[0]))
		read(o, "other orders", lines("\n", "x\t"+w[0]+" "+w[1], "x\t"+w[1]+" "+w[0], "x\t"+w[0]+" "+w[1]))
		read(o, "more words", lines("\n", "x\t"+w[0], "x\t"+w[0]+" "+w[0], "x\t", "x\t"+w[0]+" "+w[1]+" "+w[2], "x\t"+w[0]+" "+w[1], "x\t \t", "x\t"+w[0]))
		read(o, "words that end elsewhere", lines("\n", "x\t"+w[0]+w[1]+" "+w[2], "x\t"+w[0]+" "+w[1]+w[2], "x\t"+w[0]+w[1]+w[2], "x"+w[0]+"\t"+w[1], "x\t"+w[0]+w[1],
			"x\t"+w[0]+"-"+w[1], "x\t"+w[0]+" "+w[1], "x\t"+w[0]+"\x00"+w[1], "x\t"+w[0]+"|"+w[1], "x\t"+w[0]+","+w[1], "x\t"+w[0]+"\x1f"+w[1]))
	}
	// What stands between words where lines are compared may stand in a word, too.
	w := words(r, 5)
	alike := []string{"x\t" + w[0] + " " + w[1]}
	for _, sep := range between() {
		if !strings.Contains(" \t\n", sep) {
			alike = append(alike, "x\t"+w[0]+sep+w[1])
		}
	}
	for _, sep := range []string{"-", "_", "0", "9", "z", "--", "__"} {
		alike = append(alike, "x"+sep+w[0]+"\t"+w[1])
	}
	read(o, "words that look alike when they are joined", lines("\n", alike...))
	list := []string{letters(r, 1), letters(r, 'a'), letters(r, 'c'), letters(r, '9')} // 257 bytes with the lengths
	read(o, "words that look alike with their lengths", lines("\n", "x\t"+strings.Join(list, " "), "x\t"+prefixed(list, 1)))
}

// A line without a tab and a bad label are errors, with the number of the first such line
// (rules 2, 3 and 6).
func TestLineErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bad := []string{word(r), " " + word(r), word(r) + " x", "\r\r", "\v", "\u00a0",
		"\tx", " \tx", "A\tx", "aB\tx", "0\tx", "7a\tx", "-a\tx", "_a\tx", "a b\tx", " a\tx", "a \tx", "a.\tx", "é\tx", "aé\tx", "a\xff\tx", " #\tx", "a#\tx", "a\r\tx", "a\x00\tx", "a/\tx", "a:\tx", "`\tx", "a{\tx", "a`\tx", "a@\tx"}
	for _, k := range r.Perm(len(bad)) {
		n := below(r, 0, 3)
		before := append(plain(r, n), slices.Repeat([]string{"", "# comment"}, r.IntN(3))...)
		text := strings.Join(append(before, bad[k]), "\n")
		read(o, "at the end", text)
		read(o, "with an end", text+"\r\n")
		read(o, "the first of two", lines("\n", append(before, bad[k], bad[r.IntN(len(bad))], "x\t"+word(r))...))
	}
	for _, n := range []int{below(r, 256, 300), below(r, 65_536, 65_800)} {
		for _, line := range []string{"", "# comment", plain(r, 1)[0]} {
			read(o, "behind many lines", strings.Repeat(line+"\n", n)+bad[r.IntN(len(bad))]+"\n")
		}
	}
	nearlyEqual(o, r)
	read(o, "good labels", lines("\n", "a\tx", "z\tx", "a0\tx", "a9\tx", "a-\tx", "a_\tx", "a-_0z\tx", letters(r, 300)+"\tx"))
}

// nearlyEqual reads lines that are good ones but for their fault, behind these and before them.
func nearlyEqual(o *observe.Observer, r *rand.Rand) {
	for _, more := range []int{0, 20, 6_000} {
		label, text, _ := strings.Cut(plain(r, 1)[0], "\t")
		text += letters(r, more)
		good := label + "\t" + text
		for _, text := range []string{text, word(r)} {
			for _, label := range []string{strings.ToUpper(label), strings.ToUpper(label[:1]) + label[1:], label[:1] + strings.ToUpper(label[1:]),
				" " + label, label + " ", "\t" + label, label + ".", "(" + label, label + "\r", label + "\u00a0", "\ufeff" + label, "\x00" + label, label[:1] + " " + label[1:], ""} {
				read(o, "behind a good one that is nearly equal", lines("\n", good, good, label+"\t"+text, good))
				read(o, "before a good one that is nearly equal", lines("\n", plain(r, 1)[0], label+"\t"+text, good))
			}
			for _, between := range []string{" ", "", "\v", "  "} {
				read(o, "without the tab, behind a good one", lines("\n", good, good, label+between+text, good))
			}
		}
	}
}

// errOwn is an error of a reader.
var errOwn = errors.New("the reader's own")

// broken gives a text and then an error, which may come with the last bytes of the text.
type broken struct {
	text     string
	err      error
	together bool
}

func (b *broken) Read(p []byte) (int, error) {
	n := copy(p, b.text)
	b.text = b.text[n:]
	if b.text == "" && (n == 0 || b.together) {
		return n, b.err
	}
	return n, nil
}

// pieces gives its strings one by one, at most.
type pieces struct {
	list     []string
	together bool // the end with the last of them
}

func (in *pieces) Read(p []byte) (n int, err error) {
	if len(in.list) > 0 {
		n = copy(p, in.list[0])
		if in.list[0] = in.list[0][n:]; in.list[0] == "" {
			in.list = in.list[1:]
		}
		if !in.together || len(in.list) > 0 {
			return n, nil
		}
	}
	return n, io.EOF
}

// outcome shows all that Read makes of a text.
func outcome(in io.Reader) string {
	var b strings.Builder
	list, err := hunt.Read(in)
	for _, e := range list {
		b.WriteString(strconv.Quote(e.Label) + quoted(e.Words) + strconv.Itoa(e.Count) + "\n")
	}
	if at, ok := errors.AsType[*hunt.LineError](err); ok {
		b.WriteString(strconv.Itoa(at.Line))
	}
	b.WriteString(strconv.FormatBool(err == nil) + strconv.FormatBool(errors.Is(err, hunt.ErrTab)) + strconv.FormatBool(errors.Is(err, hunt.ErrLabel)))
	return b.String()
}

// A reader may give its text in any pieces, and its end with the last of them (rule 6).
// Where a piece ends makes no difference, whatever the line is.
func TestPieces(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		text := strings.TrimSuffix(lines("\r\n", plain(r, below(r, 2, 20))...), "\r\n")
		for i, in := range []io.Reader{iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text)), iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(text))), &broken{text, io.EOF, true}} {
			list, err := hunt.Read(in)
			name := "pieces, " + strconv.Itoa(i)
			failure(o, name, err)
			examples(o, name, list)
		}
	}
	// Each of these lines, cut anywhere, is what it is in one piece.
	w := words(r, 3)
	odd := []string{" \t" + w[0], "\t \tx", "  x", " #\tx", "x \ty", "7\tx", w[0], "a\r\tb", "\r\r\n", " \r\t",
		" \t \r\ny\t\"A." + w[1], "#\t#\n \t\n\nz\t(b) \r", "#" + w[2] + "\r\nx\t#" + w[0] + "\r", "x\t#\n#y\r\n\r\n#", "x\t \r\r\nx\t\r", "a-b\t\t..É,\xc3\xa9 \u00a0\na-b\t..É,\xc3\xa9\t\u00a0"}
	for i, text := range odd {
		text = "\n" + text
		once, same := outcome(strings.NewReader(text)), 0
		for cut := range len(text) + 1 {
			for _, list := range [][]string{{text[:cut], text[cut:]}, {text[:cut], "", text[cut:]}, {text[:cut/2], text[cut/2 : cut], text[cut:]}} {
				for _, together := range []bool{false, true} {
					if outcome(&pieces{slices.Clone(list), together}) == once {
						same++
					}
				}
			}
		}
		for _, in := range []io.Reader{iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(text)))} {
			if outcome(in) == once {
				same++
			}
		}
		o.Int("the same in other pieces: text "+strconv.Itoa(i+1), same)
		// A buffer of a usual size ends within it.
		same = 0
		for _, size := range []int{512, 4_096, 8_192, 32_768, 65_536} {
			before := "#" + strings.Repeat("y", size)
			for cut := range min(len(text), 8) {
				if outcome(strings.NewReader(before[:size-1-cut]+text)) == once {
					same++
				}
			}
		}
		o.Int("the same behind a long comment: text "+strconv.Itoa(i+1), same)
	}
}

// once gives a text and then an error, one single time and perhaps with the last bytes of the
// text. After that it gives more, as if nothing had happened, and then io.EOF.
type once struct {
	before, after string
	err           error
	together      bool
	piece         int // as many bytes at a time
}

func (in *once) Read(p []byte) (n int, err error) {
	p = p[:min(len(p), in.piece)]
	if in.before == "" && in.err == nil {
		if in.after == "" {
			return 0, io.EOF
		}
		n = copy(p, in.after)
		in.after = in.after[n:]
		return n, nil
	}
	n = copy(p, in.before)
	if in.before = in.before[n:]; in.before == "" && (n == 0 || in.together) {
		err, in.err = in.err, nil
	}
	return n, err
}

// Where the reader fails, its error is returned, unless a whole line before it has a fault.
// What there is of a last line is not looked at, however long it is. The first error or io.EOF counts, alone or
// with bytes, however many, whatever the reader would give after it (rule 6).
func TestReaderErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	long := strings.Repeat("x\t"+letters(r, 3_000)+"\n", 60)
	for _, own := range []error{errOwn, io.ErrUnexpectedEOF, &hunt.LineError{Line: 7, Err: errOwn},
		fmt.Errorf("disk: %w", io.EOF), errors.Join(errOwn, io.EOF), fmt.Errorf("net: %w", io.ErrUnexpectedEOF), fmt.Errorf("own: %w", hunt.ErrTab), io.ErrNoProgress} {
		for _, together := range []bool{false, true} {
			good := lines("\n", plain(r, below(r, 1, 9))...)
			for i, text := range []string{"", good, good + "x\ty", good + "half a line", good + "\r", "half a line",
				good + "no tab\n", "A\tx\n" + good, "no tab\nhalf", good + strings.Repeat("y", 70_000), long, "no tab\n" + long, long + "A\tx\n"} {
				list, err := hunt.Read(&broken{text, own, together})
				name := "text " + strconv.Itoa(i)
				o.Bool(name+": the reader's error", err == own)
				o.Error(name+": error", err, hunt.ErrTab, hunt.ErrLabel, io.ErrUnexpectedEOF, errOwn, io.EOF)
				o.Bool(name+": no examples", list == nil)
			}
		}
	}
	for i, own := range []error{errOwn, io.ErrUnexpectedEOF, fmt.Errorf("disk: %w", io.EOF), io.ErrNoProgress, io.EOF} {
		good := lines("\n", plain(r, below(r, 1, 9))...)
		for k, before := range []string{"", good, good + "x\ty", good + "\r", "half a line", "x\t" + letters(r, 65_534) + "\n" + good, "x\t" + letters(r, 70_000)} {
			for _, after := range []string{"", "\n", " z\n" + good, good, "no tab\n", "A\tx\n"} {
				for j, together := range []bool{false, true} {
					in := &once{before, after, own, together, 1 << 20}
					if len(before) < 1_000 && (i+k+j)%2 == 0 {
						in.piece = below(r, 1, 9)
					}
					name := "an error once, text " + strconv.Itoa(k)
					if own == io.EOF {
						o.Bool(name+": the end", outcome(in) == outcome(strings.NewReader(before)))
						continue
					}
					list, err := hunt.Read(in)
					o.Bool(name+": the reader's error", err == own)
					o.Bool(name+": no examples", list == nil)
				}
			}
		}
	}
	filled(o)
	halfFaulty(o)
}

// halfFaulty records what Read makes of a faulty line of any length, where the reader fails within it and
// behind its end.
func halfFaulty(o *observe.Observer) {
	r := o.Rand()
	text := letters(r, 300_000)
	for _, n := range []int{below(r, 1, 60), below(r, 4_097, 9_000), below(r, 65_537, 99_000), below(r, 262_145, 300_000)} {
		for _, faulty := range []string{"A\t", "\t", " a\t", "a b\t", "7", "No tab "} {
			half := lines("\n", plain(r, below(r, 0, 3))...) + faulty + text[:n]
			for _, together := range []bool{false, true} {
				list, err := hunt.Read(&broken{half, errOwn, together})
				o.Bool("the reader's error within a faulty line", err == errOwn)
				o.Bool("the reader's error within a faulty line: no examples", list == nil)
				_, err = hunt.Read(&broken{half + "\n", errOwn, together})
				failure(o, "the reader's error behind a faulty line", err)
			}
		}
	}
}

// Lines may have any length (rule 1), and are what short ones are (rules 4 and 5).
func TestLongLines(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{4_095, 4_096, 4_097, 65_535, 65_536, 65_537, 131_072, 1<<20 + below(r, 1, 99)} {
		before, w := plain(r, 2), letters(r, n-2) // a line of n bytes
		read(o, "a long word", lines("\n", before[0], "x\t"+w, before[1]))
		read(o, "in two", lines("\n", before[0], "x\t"+w[:n/2]+" "+w[n/2:]+"\r", before[1]))
		read(o, "a carriage return at its end", lines("\n", before[0], "x\t"+w[1:]+"\r", before[1]))
		read(o, "a comment", lines("\n", before[0], "#"+w, before[1]))
		read(o, "without an end", lines("\n", before...)+"x\t"+w)
		read(o, "blanks", lines("\n", before[0], strings.Repeat(" \t", n/2), before[1]))
		read(o, "blanks before a tab", lines("\n", before[0], strings.Repeat(" ", n)+"\tx"))
		read(o, "blanks before a word", lines("\n", before[0], strings.Repeat(" ", n)+"x"))
	}
	// Several, none of which is a part of the next.
	longest := letters(r, 1<<18)
	read(o, "long lines", lines("\n", "x\t"+longest, plain(r, 1)[0], "y\t"+longest[1<<17:], "#"+longest[1<<16:], "z\t"+longest[1<<14:], "x\t"+longest))
	// Two that differ in one letter, anywhere between their ends.
	for _, n := range []int{9_000, 150_000, 400_000, 900_000} {
		one := "x\t" + letters(r, n+r.IntN(n))
		other := []byte(one)
		at := below(r, len(one)/5, len(one)*4/5)
		other[at] = 'a' + (other[at]-'a'+1+byte(r.IntN(25)))%26
		list, err := hunt.Read(strings.NewReader(lines("\n", one, string(other), one)))
		failure(o, "long lines that differ in one letter", err)
		o.Int("long lines that differ in one letter: examples", len(list))
		for _, e := range list {
			o.Int("long lines that differ in one letter: count", e.Count)
		}
	}
	many := some(r, words(r, 500), 70_000)
	read(o, "70,000 words", "x\t"+strings.Join(many, " "))
	read(o, "a long label", letters(r, 65_536+r.IntN(99))+"\tx")
	marks := strings.Repeat("(?", 32_768+r.IntN(99))
	read(o, "many marks", lines("\n", "x\t"+marks+word(r)+marks, "x\t"+marks))
	// A carriage return is a character also where a buffer ends or begins, whatever its size is.
	for _, at := range []int{511, 512} {
		line := []byte("x\t" + letters(r, 1<<17+9))
		for ; at < len(line); at += 512 {
			line[at] = '\r'
		}
		read(o, "carriage returns in a long line", lines("\n", string(line), "y\tx"))
	}
	// One that is longer than a buffer that somebody might think is enough for all.
	endless := strings.Repeat(letters(r, 1<<12+1), below(r, 1_300, 1_400))
	for _, line := range []string{"x\t" + endless, "#" + endless, strings.Repeat(" ", len(endless))} {
		got, err := hunt.Read(strings.NewReader(lines("\n", line, "y\tx")))
		failure(o, "behind a line of some mebibytes", err)
		o.Int("letters of a line of some mebibytes", sumOf(got))
		examples(o, "behind a line of some mebibytes", got[max(0, len(got)-1):])
	}
	list := []string{letters(r, 1)} // with the lengths, 65,537 bytes
	for i := range 129 {
		list = append(list, letters(r, 257*min(2, 1+i/4)))
	}
	read(o, "words that look alike with their lengths", lines("\n", "x\t"+strings.Join(list, " "), "x\t"+prefixed(list, 2)))
}

// The words of an example are its own: what is written into them, or appended to them,
// changes no other one, and no later Read (rule 7).
func TestOwnExamples(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	text := []byte(lines("\n", plain(r, 20)...))
	list, err := hunt.Read(bytes.NewReader(text))
	failure(o, "read", err)
	again := mustRead(t, string(text))
	clear(text)
	examples(o, "after the text was overwritten", list)
	for i := range list {
		_ = append(list[i].Words, "appended")
		examples(o, "after an append", list)
	}
	for i := 0; i < len(list); i += 2 {
		for k := range list[i].Words {
			list[i].Words[k] = "written"
		}
		list[i].Label, list[i].Count = "written", -1
	}
	examples(o, "after words were written", list)
	examples(o, "of another call", again)
	read(o, "a later call", lines("\n", plain(r, 20)...))
	examples(o, "after a later call", again)
	// So it is with any number of words, also with none.
	var texts []string
	for _, w := range words(r, 1_500) {
		texts = append(texts, w+"\t!", w+"\t"+strings.Join(some(r, []string{w, "x", "y"}, below(r, 0, 3)), " "))
	}
	list = mustRead(t, lines("\n", texts...))
	for i := range list {
		_ = append(list[i].Words, "appended")
		_ = append(list[i].Words, "appended", "appended", "appended")
	}
	examples(o, "after appends to all", list)
}

// Many lines: one example that comes 70,000 times, and 66,000 that differ. Lines that differ
// are different examples, also where a hash of them is the same (rule 5).
func TestManyLines(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	list := plain(r, 3)
	read(o, "equal ones", strings.Repeat(list[0]+"\n", 70_000+r.IntN(500))+lines("\n", list...))
	// Many labels, so that the starter has few examples to look through.
	w := words(r, 60)
	text := make([]string, 66_000)
	for i := range text {
		text[i] = "l" + strconv.Itoa(i%9_973) + "\t" + strconv.Itoa(i) + " " + w[i%len(w)]
	}
	many := mustRead(t, lines("\n", text...)+lines("\n", text[65_530:65_560]...))
	o.Int("different ones", len(many))
	for _, at := range []int{0, 255, 256, 32_767, 32_768, 65_500, max(0, len(many)-480)} {
		if at+10 <= len(many) {
			examples(o, "of them", many[at:at+10])
		}
	}
	if len(many) >= 65_570 {
		examples(o, "of the last of them", many[65_525:65_565])
	}
	for range 2 {
		x, y := alikeWords(r)
		read(o, "long words", lines("\n", "x\t"+x, "x\t"+y, "x\t"+x))
		read(o, "long labels", lines("\n", x+"\tx", y+"\tx", y+"\tx"))
		p, q := alike(w[0], w[1+r.IntN(50)])
		var others []string // texts that differ in one word
		for i := range 120 {
			text := slices.Clone(p[:120])
			text[i] = w[51+i%2]
			others = append(others, "x\t"+strings.Join(text, " "))
		}
		read(o, "one other word", lines("\n", append(others, others[r.IntN(120)])...))
		read(o, "long texts", lines("\n", "x\t"+strings.Join(p, " "), "x\t"+strings.Join(q, " "), "x\t"+strings.Join(p, " ")))
	}
}
