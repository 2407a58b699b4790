package verdict

// A Problem is one reason to refuse a submission, with its place in the author's files.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0: the file as a whole
	Rule    string `json:"rule"`
	Message string `json:"message"` // what is wrong and what to do instead
	Excerpt
}
