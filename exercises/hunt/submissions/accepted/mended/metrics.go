package hunt

import (
	"bufio"
	"fmt"
	"io"
)

// WriteMetrics writes epochs as comma-separated values with a header. Its error is that
// of the writer, to which nothing is written after it.
func WriteMetrics(w io.Writer, epochs []Epoch) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "epoch,loss,accuracy\n")
	for i, e := range epochs {
		if _, err := fmt.Fprintf(out, "%d,%.6f,%.4f\n", i+1, e.Loss, e.Accuracy); err != nil {
			return err
		}
	}
	return out.Flush()
}
