package helpers

func Half(x float64) float64 { return x / 2 }
