package lora

// Merge adds scale·B·A of the active adapter to the base's weights, so that Forward costs
// no more than the base.
func (l *Layer) Merge() error {
	if l.merged {
		return ErrMerged
	}
	a := l.apart()
	if a == nil {
		return ErrUnknown
	}
	a.addTo(l.base, a.Scale())
	l.merged = true
	return nil
}

// Unmerge takes out of the weights what Merge added.
func (l *Layer) Unmerge() error {
	if !l.merged {
		return ErrNotMerged
	}
	a := l.adapters[l.active]
	a.addTo(l.base, -a.Scale())
	l.merged = false
	return nil
}

// Merged says whether the active adapter is in the base's weights.
func (l *Layer) Merged() bool { return l.merged }

// addTo adds c·B·A to the weights, a row at a time and without a matrix of their size.
func (a *Adapter) addTo(base *Linear, c float64) {
	for o := range base.Out {
		w := row(base.W, o, base.In)
		for k, b := range row(a.B, o, a.Rank) {
			axpy(w, c*b, row(a.A, k, base.In))
		}
	}
}
