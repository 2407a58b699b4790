package broadcast_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"grade/reference/broadcast"
)

var update = flag.Bool("update", false, "write exercises/broadcast/picture.svg anew")

// The picture of the exercise is what the reference draws.
func TestPicture(t *testing.T) {
	const file = "../../exercises/broadcast/picture.svg"
	want, err := broadcast.Add.SVG(
		broadcast.Operand{Name: "tens", Tensor: broadcast.Tensor{Shape: []int{3, 1}, Data: []float64{10, 20, 30}}},
		broadcast.Operand{Name: "ones", Tensor: broadcast.Tensor{Shape: []int{1, 4}, Data: []float64{1, 2, 3, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what the reference draws (%v): go test ./reference/broadcast -update", file, err)
	}
}

func ExampleOp_Apply() {
	x := broadcast.Tensor{Shape: []int{3, 1}, Data: []float64{10, 20, 30}}
	y := broadcast.Tensor{Shape: []int{1, 4}, Data: []float64{1, 2, 3, 4}}
	z, err := broadcast.Add.Apply(x, y)
	fmt.Println(z.Shape, z.Data, err)
	_, err = broadcast.Add.Apply(z, broadcast.Tensor{Shape: []int{2, 1}, Data: []float64{1, 2}})
	fmt.Println(err)
	// Output:
	// [3 4] [11 12 13 14 21 22 23 24 31 32 33 34] <nil>
	// broadcast: shapes do not fit together: dimension -2, size 3 of operand 0 and 2 of operand 1
}

func ExampleOp_Grad() {
	x := broadcast.Tensor{Shape: []int{2, 1}, Data: []float64{3, 5}}
	y := broadcast.Tensor{Shape: []int{2}, Data: []float64{10, 100}}
	dx, dy, err := broadcast.Mul.Grad(x, y, broadcast.Tensor{Shape: []int{2, 2}, Data: []float64{1, 1, 1, 1}})
	fmt.Println(dx, dy, err)
	// Output:
	// {[2 1] [110 110]} {[2] [8 8]} <nil>
}
