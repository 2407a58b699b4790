TEXT ·product(SB), 4, $0-24
	MOVSD x+0(FP), X0
	MULSD y+8(FP), X0
	MOVSD X0, ret+16(FP)
	RET
