package hunt

import (
	"fmt"
	"io"
)

// WriteMetrics writes epochs as comma-separated values with a header. Its error is that
// of the writer, to which nothing is written after it.
func WriteMetrics(w io.Writer, epochs []Epoch) error {
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
