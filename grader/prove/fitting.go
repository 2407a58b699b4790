package prove

import "path"

// fitting returns what has a name that fits one of the patterns of [path.Match], and those of
// the patterns that fit something.
func fitting[T any](list []T, name func(T) string, patterns []string) (fit []T, used []string, err error) {
	hit := make([]bool, len(patterns))
	for _, x := range list {
		chosen := false
		for i, pattern := range patterns {
			fits, err := path.Match(pattern, name(x))
			if err != nil {
				return nil, nil, err
			}
			hit[i], chosen = hit[i] || fits, chosen || fits
		}
		if chosen {
			fit = append(fit, x)
		}
	}
	for i, pattern := range patterns {
		if hit[i] {
			used = append(used, pattern)
		}
	}
	return fit, used, nil
}
