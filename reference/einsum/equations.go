package einsum

// Equations for what is known under a name. README.md has the operands and results.
const (
	Dot              = "i,i->"
	Outer            = "i,j->ij"
	MatMul           = "ij,jk->ik"
	Trace            = "ii->"
	Diagonal         = "ii->i"
	RowSums          = "ij->i"
	SwapLast         = "...ij->...ji"
	BatchMatMul      = "bij,bjk->bik"
	SquaredNorms     = "ij,ij->i"
	Bilinear         = "bn,onm,bm->bo"
	AttentionScores  = "bqhd,bkhd->bhqk"
	AttentionOutputs = "bhqk,bkhd->bqhd"
)
