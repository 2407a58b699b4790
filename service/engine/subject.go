package engine

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"grade/grader/fault"
)

// A name of a student may be any text; a token of a subject may hold neither dots nor
// spaces nor stars. token writes a name as a token, and name reads it back.
//
// Letters, digits, '-' and '_' stand for themselves, every other byte for "=" and two
// hexadecimal digits, and the empty name is "=". Such tokens are also fit for the keys of a
// key-value bucket. Base32 was rejected because operators read
// subjects.
func token(name string) string {
	if name == "" {
		return "="
	}
	var b strings.Builder
	for i := range len(name) {
		if plainByte(name[i]) {
			b.WriteByte(name[i])
		} else {
			fmt.Fprintf(&b, "=%02X", name[i])
		}
	}
	return b.String()
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// checkPlain refuses names of courses and buckets that no stream can have.
func checkPlain(name string) error {
	for i := range len(name) {
		if !plainByte(name[i]) {
			return &fault.Error{Message: fmt.Sprintf("the name %q holds more than letters, digits, - and _", name), Advice: "give it another name"}
		}
	}
	return nil
}

// nameOf reads a token. It refuses what token does not write, so that a name has one token.
func nameOf(t string) (string, error) {
	if t == "=" {
		return "", nil
	}
	var b []byte
	for i := 0; i < len(t); i++ {
		if t[i] != '=' {
			b = append(b, t[i])
			continue
		}
		if i+3 > len(t) {
			return "", fmt.Errorf("token %q is cut", t)
		}
		n, err := strconv.ParseUint(t[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("token %q: %w", t, err)
		}
		b = append(b, byte(n))
		i += 2
	}
	if name := string(b); token(name) == t {
		return name, nil
	}
	return "", fmt.Errorf("token %q is not written as names are", t)
}

// The kinds of subjects. What lasts is attempt, result, failure and pending.
const (
	kindAttempt  = "attempt"  // attempt.<course>.<exercise>.<student>
	kindResult   = "result"   // result.<course>.<exercise>.<student>.<number>
	kindFailure  = "failure"  // failure.<course>.<exercise>.<student>.<number>
	kindPending  = "pending"  // pending.<course>.<exercise>.<student>
	kindJob      = "job"      // job.<course>.<grader>.<exercise>.<student>
	kindProgress = "progress" // progress.<course>.<exercise>.<student>.<number>
	kindWorker   = "worker"   // worker.<course>.<name>
	kindDraft    = "draft"    // draft.<course>.<key>
)

// kept are the kinds that last.
var kept = []string{kindAttempt, kindResult, kindFailure, kindPending}

// names are the streams, buckets and subjects of a course.
type names struct{ course string }

func (n names) subject(kind string, rest ...string) string {
	return kind + "." + n.course + "." + strings.Join(rest, ".")
}

func (n names) all(kind string) string { return n.subject(kind, ">") }

// cell is the subject of a student's work at an exercise.
func (n names) cell(kind string, c cellID) string {
	return n.subject(kind, token(c.exercise), token(c.student))
}

// numbered is the subject of an attempt.
func (n names) numbered(kind string, c cellID, number int) string {
	return n.subject(kind, token(c.exercise), token(c.student), strconv.Itoa(number))
}

// job is the subject of a job. It names the grader, so that a worker of another version is
// never given the job: given it back again and again, it would use up the tries.
func (n names) job(grader string, c cellID) string {
	return n.subject(kindJob, graderToken(grader), token(c.exercise), token(c.student))
}

func (n names) log() string         { return "log-" + n.course }
func (n names) jobs() string        { return "jobs-" + n.course }
func (n names) drafts() string      { return "drafts-" + n.course }
func (n names) submissions() string { return "submissions-" + n.course }
func (n names) courses() string     { return "courses-" + n.course }
func (n names) bucket(name string) string {
	return "kv-" + n.course + "-" + name
}

// graderToken names a grader in a subject and as a consumer: a long name by its digest, since
// two may differ in their last bytes alone, as in the version of Go.
func graderToken(grader string) string {
	const long = 16
	t := token(grader)
	if len(t) > long {
		return fmt.Sprintf("%x", sha256.Sum256([]byte(grader)))[:long]
	}
	return t
}

// cellID is a student at an exercise.
type cellID struct{ student, exercise string }

// parse splits a subject that lasts into its kind, cell and, if it has one, number.
func parse(subject string) (kind string, c cellID, number int, err error) {
	parts := strings.Split(subject, ".")
	if len(parts) < 4 || len(parts) > 5 {
		return "", c, 0, fmt.Errorf("subject %q has %d parts", subject, len(parts))
	}
	if c.exercise, err = nameOf(parts[2]); err != nil {
		return "", c, 0, err
	}
	if c.student, err = nameOf(parts[3]); err != nil {
		return "", c, 0, err
	}
	if len(parts) == 5 {
		number, err = strconv.Atoi(parts[4])
	}
	return parts[0], c, number, err
}
