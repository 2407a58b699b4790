package hunt

import (
	"bufio"
	"io"
	"strconv"
)

// WriteMetrics writes epochs as comma-separated values with a header. Its error is that
// of the writer, to which nothing is written after it.
func WriteMetrics(w io.Writer, epochs []Epoch) error {
	out := bufio.NewWriter(w)
	out.WriteString("epoch,loss,accuracy\n") // Flush tells what went wrong
	for i, e := range epochs {
		line := strconv.AppendInt(out.AvailableBuffer(), int64(i+1), 10)
		line = strconv.AppendFloat(append(line, ','), e.Loss, 'f', 6, 64)
		line = strconv.AppendFloat(append(line, ','), e.Accuracy, 'f', 4, 64)
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
