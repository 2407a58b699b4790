// It makes "go test ./..." work for students. grade does not look at it.
module example.com/students

go 1.26.0
