package prove

import "path"

// fitting returns what has a name that fits one of the patterns of [path.Match].
func fitting[T any](list []T, name func(T) string, patterns []string) (fit []T, err error) {
	for _, x := range list {
		for _, pattern := range patterns {
			fits, err := path.Match(pattern, name(x))
			if err != nil {
				return nil, err
			}
			if fits {
				fit = append(fit, x)
				break
			}
		}
	}
	return fit, nil
}

// used returns those of the patterns that fit the name of something.
func used[T any](list []T, name func(T) string, patterns []string) (fit []string, err error) {
	for _, pattern := range patterns {
		some, err := fitting(list, name, []string{pattern})
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			fit = append(fit, pattern)
		}
	}
	return fit, nil
}
