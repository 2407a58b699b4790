module example.com/course

go 1.26.0

ignore (
	starter
	submissions
)

require grade v0.0.0

// In a repository of its own a course has a copy of the kit, which "grade exercise new"
// writes: replace grade => ./kit
replace grade => ../..
