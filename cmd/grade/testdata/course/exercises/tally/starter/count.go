package count

// Words counts words.
func Words(s string) int { return 0 }
