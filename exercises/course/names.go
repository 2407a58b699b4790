package course

// The layout of a course.
const (
	ExercisesDir   = "exercises"
	referenceDir   = "reference"
	configFile     = "exercise.yaml"
	readmeFile     = "README.md"
	starterDir     = "starter"
	hiddenDir      = "hidden"
	SubmissionsDir = "submissions"
	ExpectFile     = "expect.yaml"
)
